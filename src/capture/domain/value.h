#pragma once
// Abstract values: what capture knows of each Python object while it walks the bytecode.

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/domain/value_scope.h"
#include "capture/domain/view_step.h"
#include "cpython/py_ref.h"
#include "guard/guard_set.h"
#include "ir/builder.h"
#include "ir/graph.h"

namespace accel {

struct AbstractValue;
struct Frame;
using Ref = std::shared_ptr<AbstractValue>;  // identity of the Ref is identity of the Python object

enum class AbstractKind : uint8_t {
#define KIND(name, ...) name,
#include "capture/domain/kinds.inc"
#undef KIND
};

struct ViewOrCopy;

// Memory that one array or several views share.
struct Storage {
  SourceId source = -1;        // the argument that owns it; -1: made by the captured code
  ValueId current = no_value;  // the whole memory at the current version, of the base's shape. Of an argument: unset until it
                               // is read (StorageVersions::contents)
  int version = 0;             // counts stores
  // Set for a copy that NumPy replaces by a view when it has fewer than two elements: the storage of that view, which must not
  // be stored to after `maybe_version`. Such an array can only be read; an exit makes it by NumPy's own function
  // (`maybe_made`).
  std::shared_ptr<Storage> maybe;
  int maybe_version = 0;
  std::shared_ptr<const ViewOrCopy> maybe_made;
  // A row of a dynamic list is a copy of this memory and stands for an array over it, so no store to the memory is allowed.
  bool held = false;
  // Index arrays of np.nonzero: views of them have their ordinary strides even if there are no elements.
  bool strided_when_empty = false;
  bool read_only = false;  // fresh memory: whether the array that covers it is read-only
  // AbstractValue::identity of the array that covers the memory.
  Ref identity;
};

// Strided view of a storage in bytes, over entry symbols: what Python sees as shape and strides of an array.
struct StridedLayout {
  std::vector<Dim> shape, strides;
  Dim offset;
  DType dtype = DType::float64;

  bool operator==(const StridedLayout&) const = default;
};

struct ArrayState {
  std::shared_ptr<Storage> storage;
  std::vector<ViewStep> path;  // empty: the whole storage
  StridedLayout layout;
  ValueId value = no_value;  // contents at `version`; read through StorageVersions::read
  int version = 0;
  bool writeable = true;
};

// The operation by which NumPy makes either a view or a copy: array.reshape to the result's shape, or array.ravel().
struct ViewOrCopy {
  ArrayState array;
  bool ravels = false;
};

// A comparison of integers that is equivalent to a bool of compiled code.
struct Relation {
  Dim left, right;
  Comparison comparison = Comparison::eq;
};

// Describes a masked selection: `array` holds all elements, `mask` selects some, and in the Python array one axis replaces
// those that the mask covers.
struct Predicate {
  ValueId mask = no_value;
  int first = 0;      // axis of `array` where the mask's axes begin
  int rank = 0;       // of the mask
  bool view = false;  // selected from memory, not computed: if first > 0, NumPy's result is a view
};

struct ScalarState {
  ValueKind kind = ValueKind::py_scalar;  // py_scalar or numpy_scalar
  DType dtype = DType::int64;
  std::optional<Dim> dim;            // integers that are expressions of symbols
  ValueId value = no_value;          // else: rank-0 graph value
  std::optional<Relation> relation;  // bools: true exactly when it holds
};

struct AbstractValue : ScopedValue {
  AbstractKind kind = AbstractKind::null;
  PyRef object;          // constant: the object; object: the instance seen at capture; function: its code; else AbstractKind
  SourceId source = -1;  // where a call finds the object; -1: a constant, or made by the captured code
  ArrayState array;
  ScalarState scalar;
  Predicate predicate;
  // tuple, list: the items; dict: values; slice: start, stop, step; iterator: what is iterated; cell: its content, if any;
  // method: callable, self; function: globals, defaults, kwdefaults, closure, annotations (null Ref = none); scalar that is one
  // of several: the candidates, of which it is the first with equal type and bits; constant that each evaluation creates anew:
  // the callable and the arguments that make it.
  std::vector<Ref> items;
  std::vector<PyRef> keys;  // of a dict, instance, partial
  size_t position = 0;      // iterator: items consumed
  // A number or tuple that stands for one of several objects, depending on path or data. Its identity is unknown; exits make a
  // new object, unless `items` of a number has the candidates.
  bool is_one_of_several = false;
  // The number by which the run knows an object of the captured code that was passed to a call; -1 on paths without that call.
  // Null if no call can have seen it. For an array that covers its memory, Storage::identity is used instead.
  Ref identity;
  Ref iterated;  // iterator: the container it iterates over, for its recipe. list, dynamic_list: the dynamic list whose row
                 // `scalar.dim` it is; stores go to that row
  Ref columns;   // dynamic_list of tuples: the dynamic lists of their parts
  std::shared_ptr<const Frame> suspended;  // generator: its frame without locals and stack
};

// Detail of the failure when `is` compares a number with is_one_of_several.
inline constexpr const char* unknown_identity = "identity of a number that paths or data choose";

inline bool is_sequence(const Ref& value) { return value->kind == AbstractKind::tuple || value->kind == AbstractKind::list; }

// Which operands are referred to by nothing but the running operation, so that NumPy may reuse their memory.
struct Temporaries {
  bool left = false, right = false;
};

// Whether the object has AbstractValue::identity: made by the captured code, immutable but for an array's elements, and
// distinguishable by a call from an equal object.
inline bool has_identity(const AbstractValue& value) {
  if (value.source >= 0) return false;
  switch (value.kind) {
    case AbstractKind::array:
    case AbstractKind::text:
      return true;
    case AbstractKind::scalar:
      return value.scalar.kind == ValueKind::numpy_scalar || value.scalar.dtype != DType::bool_;
    case AbstractKind::tuple:
      return !value.object;
    case AbstractKind::constant:
      return !value.items.empty();
    default:
      return false;
  }
}

}  // namespace accel
