#pragma once
// Methods of numpy.random.Generator and RandomState: compiled code asks the process to call them, or calls their C functions.

#include <optional>
#include <string>
#include <vector>

#include "capture/protocol/primitive.h"
#include "ir/graph.h"

namespace accel {

// The arguments of a call by the method's own parameter names; null where one is missing.
struct Given {
  std::vector<std::string> names;
  std::vector<Ref> values;
  Ref operator[](const char* name) const;
  bool has(const char* name) const;
};

// A single number of `kind` that the kernel draws itself (rng_functions.inc); nullopt: the method has to be called.
Result<std::optional<Ref>> drawn_number(Capture& capture, PyObject* callable, const char* method, const Given& given,
                                        ValueKind kind, bool legacy);

}  // namespace accel
