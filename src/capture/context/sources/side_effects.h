#pragma once
// Objects of the caller that the captured code mutates: attributes of instances, items of dicts and lists. On a path, their
// abstract values hold the new contents; exits store them (Exit::stores).

#include <Python.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/context/sources/sources.h"
#include "capture/domain/value.h"

namespace accel {

struct SpeculationLog;

class ChangedObjects {
 public:
  ChangedObjects(SpeculationLog& speculation, Sources& sources) : speculation_(speculation), sources_(sources) {}

  // The code reads the object at a source, whose type is guarded. A guard ensures that it is none of the mutated objects and
  // shares no attribute dict with one. Throws Restart if it is one of them; if it shares a dict (an object and its __dict__),
  // the mutation is left to the interpreter.
  void meet(const Ref& object);
  // The code reads items of a dict implicitly (globals, defaults of keywords). A guard ensures that it is no mutated dict and
  // no __dict__ of a mutated object; otherwise the mutation is left to the interpreter. `source`: -1 for a dict that is the
  // same object in every call.
  void read_namespace(PyObject* dict, SourceId source = -1);
  // Registers an object as mutated while it still has its contents from when the call began. This happens before the walk
  // reaches the mutation, because in a loop an exit may run after the mutation although the walk meets the exit first.
  void change(const Ref& object);
  // The mutated objects, ordered by source.
  const std::vector<Ref>& all() const { return changed_; }
  bool is_changed(const Ref& object) const { return came_.contains(object->source); }
  // The contents of an object when the call began.
  const AbstractValue& as_it_came(const Ref& object) const;
  // Guards the length, or the keys and their order, that a dict of the caller had when the call began. Nothing for other dicts.
  void guard_length(const Ref& dict);
  void guard_keys(const Ref& dict);
  // The number of keys added to a dict during the call.
  size_t added_keys(const Ref& dict) const { return dict->keys.size() - as_it_came(dict).keys.size(); }
  // The stores that an exit must make: name, key or index, and value. A value equal to the original one is omitted, unless it
  // was stored before a call of the process.
  std::vector<std::pair<PyRef, Ref>> stores_of(const Ref& object) const;
  // Prepares a call of the process: mutations so far are stored before it, and again at every exit. Throws Restart if the log
  // did not have that. Fails where the call cannot be made.
  Status show();
  // Resets all mutated objects that are not in `restored` to their contents when the call began.
  void forget(const std::set<const AbstractValue*>& restored);

 private:
  void keep_apart(const Ref& changed, const Ref& other);
  void keep_off(const Ref& changed, PyObject* dict, SourceId source);
  [[noreturn]] void leave_alone(const Ref& changed, SourceId other);
  bool is_shown(const Ref& object, const PyRef& name) const;

  SpeculationLog& speculation_;
  Sources& sources_;
  std::vector<Ref> met_, changed_;
  std::vector<std::pair<PyRef, SourceId>> namespaces_;
  std::map<SourceId, AbstractValue> came_;
};

// Index of the attribute in `keys` of the object, or nullopt.
std::optional<size_t> own_attribute(const AbstractValue& object, PyObject* name);

}  // namespace accel
