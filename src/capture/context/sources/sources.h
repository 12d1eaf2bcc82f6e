#pragma once
// Sources: access paths of objects that capture has read, and the guards on what it found. Each path has one id; no guard is
// added twice.

#include <Python.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "guard/guard_set.h"

namespace accel {

// An access path, and the object that an attempt found there.
struct SeenPlace {
  std::vector<Source> path;
  PyRef object;
};

class Sources {
 public:
  // `changed`: texts of sources whose values are data even where they would be constants.
  Sources(GuardSet& guards, const std::set<std::string>& changed) : guards_(guards), changed_(changed) {}

  SourceId local(int index, const std::string& name);
  SourceId cell(int index, const std::string& name);              // of the entry function's closure
  SourceId cell_object(PyObject* cell, const std::string& name);  // content of a cell of a constant function
  SourceId cell_content(SourceId cell, const std::string& name);  // of a cell found at a source
  SourceId pinned(PyObject* object, const std::string& name);     // a fixed object: parent of the sources that it leads to
  SourceId global(PyObject* dict, PyObject* name, const std::string& text);
  SourceId attribute(SourceId parent, PyObject* name);
  SourceId item(SourceId parent, int index);
  SourceId dict_item(SourceId parent, PyObject* key);

  const Source& operator[](SourceId id) const { return guards_.sources[static_cast<size_t>(id)]; }
  size_t size() const { return guards_.sources.size(); }
  // The source and its ancestors, outermost first; and the source of such a path in another attempt.
  std::vector<Source> path_to(SourceId id) const;
  SourceId place_at(const std::vector<Source>& path);
  SourceId find(const std::string& text) const;  // -1: unknown
  const std::string& text(SourceId id) const { return (*this)[id].text; }
  // Whether a source is reached from globals or cells, not from arguments. Such values seldom change, so numbers there are
  // constants until another version has found other values.
  bool is_environment(SourceId id) const;
  bool has_changed(SourceId id) const { return changed_.contains(text(id)); }

  void guard_identity(SourceId id, PyObject* object);
  bool is_identified(SourceId id, PyObject* object) const;  // whether guard_identity was called for both
  void guard_type(SourceId id, PyTypeObject* type);
  void guard_equals(SourceId id, PyObject* object);
  void guard_length(SourceId id, int64_t length);
  void guard_keys(SourceId id, const std::vector<PyRef>& keys);  // of a dict, in order
  void guard_unbound(SourceId id);
  void guard_bound(SourceId id);
  // GuardKinds writeable, distinct, disjoint, same, same_names, bound: on one source, or on two.
  void guard_memory(GuardKind kind, SourceId id, SourceId other, bool holds);

 private:
  using Key = std::tuple<int, int, int, const void*, std::string>;
  SourceId add(Source source);
  void add_guard(GuardKind kind, SourceId id, PyObject* object, int64_t value, std::string text);

  GuardSet& guards_;
  const std::set<std::string>& changed_;
  std::map<Key, SourceId> known_;
  std::set<std::tuple<int, SourceId, const void*, int64_t>> guarded_;
};

}  // namespace accel
