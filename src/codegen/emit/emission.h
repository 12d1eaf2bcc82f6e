#pragma once
// Emission: what the writers of one function of the text share: the text so far, its names, and how it is being written at this
// point. Writers (writer.h) have no state of their own.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "codegen/emit/code.h"
#include "codegen/emit/device/device_item.h"
#include "codegen/emit/names.h"

namespace accel {

struct Emission {
  Emission(Copy& copy_, const Nest& nest_, GivenDims* given) : copy(copy_), nest(nest_), names(copy_, given) {}

  // The first failure counts.
  void fail_with(std::string detail) {
    if (!failure) failure = fail(Reason::internal_error, cat("nest ", nest.name, ": ", detail));
  }

  Copy& copy;
  const Nest& nest;
  Names names;
  Code code{1};
  std::optional<Failure> failure;
  std::set<TempId> declared;  // temps that the function declares at its start: their definitions assign to them
  // Scalar inputs that the function reads once, at its start: name, text of the value. Nullopt: each use reads its input.
  std::optional<std::map<std::string, std::string>> inputs;

  std::optional<DeviceItem> device;  // of functions for a device

  // What the function needs at its start.
  bool has_sink = false;
  bool has_lanes = false;

  // How statements are written at this point.
  int64_t copies = 1;             // of a statement that unrolling makes here
  bool in_unit = false;           // inside text whose events are recorded together
  bool in_rows = false;           // inside a loop that runs tile by tile and whose iterations have rows for their events
  bool in_vectors = false;        // inside a loop that g++ is to make vectors of
  bool in_lanes = false;          // argmin and argmax have no branches; they set `open` where these are needed
  bool is_pinned = false;         // the compiler must not move what is computed
  std::optional<int> group_lane;  // the variable of loops over lanes while they are written for a group of them
  std::string strip_address;      // replaces the address of the loop's only store; empty: none
};

}  // namespace accel
