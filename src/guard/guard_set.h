#pragma once
// GuardSet: what a compiled entry assumed about the call, checked in nanoseconds. Product of capture, read by dispatch.
//
// A source is an access path to a Python object: a local of the entry's frame, a global, a closure cell, an attribute or item
// of another source. Guards test sources, bind the symbols of the graph (dims, strides, numbers) and relate symbols. Sources
// and guards hold paths, never addresses of values that they do not own: a GuardSet owns what it compares with.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpython/py_ref.h"
#include "guard/comparison.h"
#include "ir/graph.h"

namespace accel {

enum class SourceKind : uint8_t {
  local,      // locals[index] (localsplus order, as bind_arguments gives them; a cell variable's initial value)
  cell,       // contents of the cell function.__closure__[index]; or of the cell `dict`, or `parent`, when that is set
  pinned,     // the object `dict` itself: parent of what hangs on it
  global,     // dict[name], dict owned here; missing: builtins are a source of their own
  attribute,  // fetch_attribute(parent, name), see fetch.h: runs no Python code
  item,       // parent[index], parent an exact tuple or list
  dict_item,  // parent[name], parent an exact dict
};

using SourceId = int;

struct Source {
  SourceKind kind = SourceKind::local;
  SourceId parent = -1;
  int index = -1;
  PyRef name;        // str or key
  PyRef dict;        // global: the dict; cell: the cell object or null; pinned: the object
  std::string text;  // for people: "points", "self.scale", "numpy.add"
};

// In the order in which the guards of arguments are tested: cheap tests first.
enum class GuardKind : uint8_t {
  identity,  // source is object
  type,      // type(source) is object
  equals,  // type(source) is type(object) and source == object (exact int, float [bitwise], complex, bool, str, bytes, tuple of
           // those)
  length,  // len(source) == value, source an exact tuple, list or dict
  keys,    // the keys of source, an exact dict, are those of the tuple object, in this order
  array,   // exact ndarray or DeviceArray as ArrayGuard says, aligned; binds dims to symbols [first_symbol, ndim) and, when
           // strided, strides (bytes) to the ndim symbols after them
  number,  // type(source) is object (int, float, complex, bool or a NumPy scalar type); binds its bits to symbol slot
           // first_symbol (int: value must fit int64; complex128: two slots)
  foreign_array,  // exact ndarray that no `array` guard accepts: another dtype, byte order or alignment, or too many axes
  writeable,      // array source's writeable flag == value
  unbound,        // there is no such local, global, attribute or item
  bound,          // there is one, and it is not what `other` (-1, or the attribute of the class) holds
  same,           // whether `source` and `other` hold one object == value
  same_names,     // whether `source` and `other` are one object or share a dict of names (namespace_of) == value
  distinct,       // whether no two elements of the array source share memory == value
  disjoint,       // whether the array sources `source` and `other` share no memory == value
  relation,       // left `comparison` right, over symbols: RelationGuard
};

// What an array has to be, and the symbols that it binds.
struct ArrayGuard {
  DType dtype = DType::float64;
  int ndim = 0;
  Layout layout = Layout::dense;
  std::vector<uint8_t> order;  // axes slowest to fastest; empty = C
  int first_symbol = -1;
  int input = -1;   // index of the data pointer among array inputs, -1: not an input
  int device = -1;  // a DeviceArray on the CUDA device of this number; -1: an ndarray
};

// The symbols that a number binds.
struct NumberGuard {
  DType dtype = DType::float64;
  int first_symbol = -1;
};

struct RelationGuard {
  Dim left;
  Comparison comparison = Comparison::eq;
  Dim right;
};

struct Guard {
  GuardKind kind = GuardKind::identity;
  SourceId source = -1;
  SourceId other = -1;  // disjoint, same, same_names, bound
  PyRef object;         // identity, type, equals, keys, number
  int64_t value = 0;    // length; whether it is so: writeable, distinct, disjoint, same, same_names
  ArrayGuard array;
  NumberGuard number;
  RelationGuard relation;
  std::string text;  // for people: "points.dtype == float64"
};

// An attribute, or item of a dict or list (name: the index), that a run has set: guards still speak of the object that was
// there before.
struct Replaced {
  PyRef object, name, now, before;  // before: null when there was none
};

// What a successful check produced. Arrays are the caller's, sized by the GuardSet.
struct Binding {
  int64_t* symbols = nullptr;    // symbol_count
  void** inputs = nullptr;       // input_count data pointers
  PyObject** sources = nullptr;  // source_count objects, borrowed (alive while the locals and what they hold are)
  const std::vector<Replaced>* replaced = nullptr;  // replacements that the check undoes; null: none
};

struct SealedGuards;

class GuardSet {
 public:
  DimTable dims;  // the table of the relations' Dims
  std::vector<Source> sources;
  std::vector<Guard> guards;
  int symbol_count = 0;
  int input_count = 0;
  // Sources whose objects the caller reads from Binding::sources. Set before seal(); empty means all of them.
  std::vector<SourceId> wanted;

  // Call once after sources and guards are complete: orders the tests fail-fast and subscribes to dict versions.
  void seal();

  // True when every guard holds; fills `binding`. Runs no Python code, raises nothing. `function` gives the closure.
  bool check(PyObject* function, PyObject* const* locals, Binding& binding) const noexcept;

  // Hands every Python object it owns to `visit`, for tp_traverse.
  int traverse(visitproc visit, void* arg) const;

  // The source of the array whose data pointer is this input (ArrayGuard::input); -1: none.
  SourceId array_source(int input) const;
  // Whether an array is on a device.
  bool has_device_arrays() const;

  // The first guard that does not hold, for people ("points.shape[1] == 2"); empty when all hold.
  std::string first_failure(PyObject* function, PyObject* const* locals) const;

 private:
  std::shared_ptr<SealedGuards> sealed_;
};

}  // namespace accel
