#pragma once
// The caller's objects that the captured code changes: attributes of instances, items of dicts and lists. On a path their
// abstract values hold what the code has set; exits store it (Exit::stores).

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

  // The code looks into the object at a source, whose type is guarded: a guard says that it is none of those that are changed,
  // and shares no dict with them. Starts again when it is one of them; where it shares a dict, an object and its __dict__, the
  // change is left to the interpreter.
  void meet(const Ref& object);
  // The code reads items of a dict without an operation on the dict: globals, defaults of keywords. A guard says that it is
  // none of those that are changed, nor the __dict__ of one; else the change is left to the interpreter. `source`: -1 for a
  // dict that is the same object in every call.
  void read_namespace(PyObject* dict, SourceId source = -1);
  // The code changes an object that it has met and that holds what it held when the call began: at run time an exit may come
  // after the change although the walk comes to it before (in a loop).
  void change(const Ref& object);
  // In the order of their sources.
  const std::vector<Ref>& all() const { return changed_; }
  bool is_changed(const Ref& object) const { return came_.contains(object->source); }
  // What an object held when the call began.
  const AbstractValue& as_it_came(const Ref& object) const;
  // A dict of the caller's had as many items, or these keys in this order, when the call began. Nothing for other dicts.
  void guard_length(const Ref& dict);
  void guard_keys(const Ref& dict);
  // How many keys a dict has got.
  size_t added_keys(const Ref& dict) const { return dict->keys.size() - as_it_came(dict).keys.size(); }
  // What the code has set, and has not set back where only exits store it: name, key or index, and value.
  std::vector<std::pair<PyRef, Ref>> stores_of(const Ref& object) const;
  // The process makes a call: what the code has set is stored before it, and again at every exit. Starts again where this was
  // not known. Fails where the call cannot be made.
  Status show();
  // All changed objects hold again what they held when the call began, but for these.
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

// Index of the attribute among those that `object` has as `keys`, or nullopt.
std::optional<size_t> own_attribute(const AbstractValue& object, PyObject* name);

}  // namespace accel
