#include "capture/context/sources/sources.h"

#include <algorithm>
#include <cstdio>

#include "capture/domain/repr.h"

namespace accel {

namespace {

// Equal str keys are one key; other keys are distinguished by identity.
std::string key_text(PyObject* name) {
  if (name == nullptr) return {};
  if (PyUnicode_CheckExact(name)) return "s" + utf8(name);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "p%p", static_cast<void*>(name));
  return buffer;
}

Source make_source(SourceKind kind, SourceId parent, int index, PyObject* name, PyObject* dict, std::string text) {
  Source source;
  source.kind = kind;
  source.parent = parent;
  source.index = index;
  source.name = PyRef::borrow(name);
  source.dict = PyRef::borrow(dict);
  source.text = std::move(text);
  return source;
}

}  // namespace

SourceId Sources::add(Source source) {
  Key key{static_cast<int>(source.kind), source.parent, source.index, source.dict.get(), key_text(source.name.get())};
  auto [it, fresh] = known_.try_emplace(key, static_cast<SourceId>(guards_.sources.size()));
  if (fresh) guards_.sources.push_back(std::move(source));
  return it->second;
}

SourceId Sources::local(int index, const std::string& name) {
  return add(make_source(SourceKind::local, -1, index, nullptr, nullptr, name));
}

SourceId Sources::cell(int index, const std::string& name) {
  return add(make_source(SourceKind::cell, -1, index, nullptr, nullptr, name));
}

SourceId Sources::cell_object(PyObject* cell, const std::string& name) {
  return add(make_source(SourceKind::cell, -1, -1, nullptr, cell, name));
}

SourceId Sources::cell_content(SourceId cell, const std::string& name) {
  return add(make_source(SourceKind::cell, cell, -1, nullptr, nullptr, name));
}

SourceId Sources::pinned(PyObject* object, const std::string& name) {
  return add(make_source(SourceKind::pinned, -1, -1, nullptr, object, name));
}

SourceId Sources::global(PyObject* dict, PyObject* name, const std::string& text) {
  return add(make_source(SourceKind::global, -1, -1, name, dict, text));
}

SourceId Sources::attribute(SourceId parent, PyObject* name) {
  return add(make_source(SourceKind::attribute, parent, -1, name, nullptr, text(parent) + "." + utf8(name)));
}

SourceId Sources::item(SourceId parent, int index) {
  return add(make_source(SourceKind::item, parent, index, nullptr, nullptr, text(parent) + "[" + std::to_string(index) + "]"));
}

SourceId Sources::dict_item(SourceId parent, PyObject* key) {
  return add(make_source(SourceKind::dict_item, parent, -1, key, nullptr, text(parent) + "[" + short_repr(key) + "]"));
}

std::vector<Source> Sources::path_to(SourceId id) const {
  std::vector<Source> path;
  for (; id >= 0; id = (*this)[id].parent) path.insert(path.begin(), (*this)[id]);
  return path;
}

SourceId Sources::place_at(const std::vector<Source>& path) {
  SourceId id = -1;
  for (Source source : path) {
    source.parent = id;
    id = add(std::move(source));
  }
  return id;
}

SourceId Sources::find(const std::string& text) const {
  auto named = [&](const Source& source) { return source.text == text; };
  auto found = std::find_if(guards_.sources.begin(), guards_.sources.end(), named);
  return found == guards_.sources.end() ? -1 : static_cast<SourceId>(found - guards_.sources.begin());
}

bool Sources::is_environment(SourceId id) const {
  for (; (*this)[id].parent >= 0; id = (*this)[id].parent) {
    if (has_changed(id)) return false;
    // Attributes of an instance are data, wherever the instance was found.
    if ((*this)[id].kind == SourceKind::attribute) return false;
  }
  if (has_changed(id)) return false;
  SourceKind kind = (*this)[id].kind;
  return kind == SourceKind::global || kind == SourceKind::cell || kind == SourceKind::pinned;
}

void Sources::add_guard(GuardKind kind, SourceId id, PyObject* object, int64_t value, std::string text) {
  if (!guarded_.emplace(static_cast<int>(kind), id, object, value).second) return;
  Guard guard;
  guard.kind = kind;
  guard.source = id;
  guard.object = PyRef::borrow(object);
  guard.value = value;
  guard.text = std::move(text);
  guards_.guards.push_back(std::move(guard));
}

void Sources::guard_identity(SourceId id, PyObject* object) {
  add_guard(GuardKind::identity, id, object, 0, text(id) + " is " + short_repr(object));
}

bool Sources::is_identified(SourceId id, PyObject* object) const {
  return guarded_.contains({static_cast<int>(GuardKind::identity), id, object, 0});
}

void Sources::guard_type(SourceId id, PyTypeObject* type) {
  add_guard(GuardKind::type, id, reinterpret_cast<PyObject*>(type), 0, "type(" + text(id) + ") is " + type->tp_name);
}

void Sources::guard_equals(SourceId id, PyObject* object) {
  add_guard(GuardKind::equals, id, object, 0, text(id) + " == " + short_repr(object));
}

void Sources::guard_length(SourceId id, int64_t length) {
  add_guard(GuardKind::length, id, nullptr, length, "len(" + text(id) + ") == " + std::to_string(length));
}

void Sources::guard_keys(SourceId id, const std::vector<PyRef>& keys) {
  if (!guarded_.emplace(static_cast<int>(GuardKind::keys), id, nullptr, 0).second) return;
  PyRef all = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(keys.size())));
  for (size_t i = 0; i < keys.size(); ++i) PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), keys[i].new_reference());
  add_guard(GuardKind::keys, id, all.get(), 0, "the keys of " + text(id) + " are " + short_repr(all.get()));
}

void Sources::guard_memory(GuardKind kind, SourceId id, SourceId other, bool holds) {
  const char* what = kind == GuardKind::writeable    ? " is writeable"
                     : kind == GuardKind::distinct   ? " has elements that share no memory"
                     : kind == GuardKind::disjoint   ? " shares no memory with "
                     : kind == GuardKind::bound      ? " is set, and is not "
                     : kind == GuardKind::same_names ? " shares its names with "
                                                     : " is ";
  if (!guarded_.emplace(static_cast<int>(kind), id, nullptr, other).second) return;
  Guard guard;
  guard.kind = kind;
  guard.source = id;
  guard.other = other;
  guard.value = holds ? 1 : 0;
  guard.text = (holds ? "" : "not: ") + text(id) + what + (other >= 0 ? text(other) : std::string());
  guards_.guards.push_back(std::move(guard));
}

void Sources::guard_unbound(SourceId id) { add_guard(GuardKind::unbound, id, nullptr, 0, text(id) + " is not set"); }

void Sources::guard_bound(SourceId id) { add_guard(GuardKind::bound, id, nullptr, 0, text(id) + " is set"); }

}  // namespace accel
