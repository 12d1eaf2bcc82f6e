#pragma once
// Sources: the places capture has looked at, and the guards on what it saw there. One id per place, no guard twice.

#include <Python.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "guard/guard_set.h"

namespace accel {

// A place, and what an attempt has seen there.
struct SeenPlace {
  std::vector<Source> path;
  PyRef object;
};

class Sources {
 public:
  // `changed`: texts of sources that are data wherever they are.
  Sources(GuardSet& guards, const std::set<std::string>& changed) : guards_(guards), changed_(changed) {}

  SourceId local(int index, const std::string& name);
  SourceId cell(int index, const std::string& name);              // of the entry function's closure
  SourceId cell_object(PyObject* cell, const std::string& name);  // contents of a cell that a constant function owns
  SourceId cell_content(SourceId cell, const std::string& name);  // of a cell found at a source
  SourceId pinned(PyObject* object, const std::string& name);     // always this object: parent of what hangs on it
  SourceId global(PyObject* dict, PyObject* name, const std::string& text);
  SourceId attribute(SourceId parent, PyObject* name);
  SourceId item(SourceId parent, int index);
  SourceId dict_item(SourceId parent, PyObject* key);

  const Source& operator[](SourceId id) const { return guards_.sources[static_cast<size_t>(id)]; }
  size_t size() const { return guards_.sources.size(); }
  // The place and those it hangs on, outermost first; and the same place again in another attempt.
  std::vector<Source> path_to(SourceId id) const;
  SourceId place_at(const std::vector<Source>& path);
  SourceId find(const std::string& text) const;  // -1: there is none yet
  const std::string& text(SourceId id) const { return (*this)[id].text; }
  // Globals, cells and what hangs on them: seldom changed, so numbers found there are constants until another version has found
  // others. Arguments are not.
  bool is_environment(SourceId id) const;
  bool has_changed(SourceId id) const { return changed_.contains(text(id)); }

  void guard_identity(SourceId id, PyObject* object);
  bool is_identified(SourceId id, PyObject* object) const;  // by such a guard
  void guard_type(SourceId id, PyTypeObject* type);
  void guard_equals(SourceId id, PyObject* object);
  void guard_length(SourceId id, int64_t length);
  void guard_keys(SourceId id, const std::vector<PyRef>& keys);  // of a dict, in their order
  void guard_unbound(SourceId id);
  void guard_bound(SourceId id);
  // writeable, distinct, disjoint, same, same_names, bound: of one source or of two.
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
