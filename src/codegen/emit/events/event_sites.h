#pragma once
// EventSites: which sites of the source the floating-point events of statements belong to, and what the flags of the hardware
// say about them.

#include <map>

#include "codegen/emit/writer.h"

namespace accel {

class EventSites : public Writer {
 public:
  using Writer::Writer;

  // The events of a body by site.
  std::map<int, int> sites_of(const Body& body);
  // Whether a statement raises flags that are no events: what gives numbers of Python's is quiet.
  bool has_stray_flags(const Body& body) const;
  // Suffix of the names of the functions that clear the flags before these statements and read them afterwards.
  std::string flags_suffix(const Body& body);
  // Whether one of the statements is a loop that runs tile by tile, with events.
  bool has_repeat(const Body& body);
  // The first such loop at any depth; null: there is none.
  const Stmt* repeat_in(const Body& body);

 private:
  bool has_events(const Stmt& repeat);
};

}  // namespace accel
