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

// Memory that one or several arrays look at.
struct Storage {
  SourceId source = -1;        // the argument it belongs to; -1: fresh memory made by the captured code
  ValueId current = no_value;  // the whole memory as a graph value of the base's shape, current version; an argument's: unset
                               // until it is read (StorageVersions::contents)
  int version = 0;             // counts stores
  // A copy that NumPy does not make when it has less than two elements: then this is its memory, which must stay at this
  // version. It can be read, and nothing else; exits make it as NumPy does.
  std::shared_ptr<Storage> maybe;
  int maybe_version = 0;
  std::shared_ptr<const ViewOrCopy> maybe_made;
  // A dynamic list has a copy of the contents as a row, which stands for an array that looks at this memory: nobody may store
  // to it.
  bool held = false;
  // The places that np.nonzero finds: their views have strides also where there are no elements.
  bool strided_when_empty = false;
  bool read_only = false;  // fresh memory: the array that is all of it
  // The number by which a run knows the array that is all of the memory, once a call has been shown it:
  // AbstractValue::identity.
  Ref identity;
};

// Strided view of a storage's memory in bytes, over entry symbols. For arrays that Python gets to see as views.
struct Lens {
  std::vector<Dim> shape, strides;
  Dim offset;
  DType dtype = DType::float64;

  bool operator==(const Lens&) const = default;
};

struct ArrayState {
  std::shared_ptr<Storage> storage;
  std::vector<ViewStep> path;  // empty: the whole storage
  Lens lens;
  ValueId value = no_value;  // contents at `version`; read through StorageVersions::read
  int version = 0;
  bool writeable = true;
};

// How NumPy makes what is a view or a copy: array.reshape of the shape of the result, or array.ravel().
struct ViewOrCopy {
  ArrayState array;
  bool ravels = false;
};

// What a truth value says about integers.
struct Relation {
  Dim left, right;
  Comparison comparison = Comparison::eq;
};

// A masked selection has the elements of its `array`, lanes under the mask, that the mask selects: one axis in place of the
// mask's.
struct Predicate {
  ValueId mask = no_value;
  int first = 0;      // axis of `array` where the mask's axes begin
  int rank = 0;       // of the mask
  bool view = false;  // selected from memory and not computed: where first > 0, NumPy's result is a view
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
  PyRef object;          // constant: the object; object: the instance seen; function: its code; others: null
  SourceId source = -1;  // where the object can be fetched from at a call; -1: made by captured code (or constant)
  ArrayState array;
  ScalarState scalar;
  Predicate predicate;
  std::vector<Ref> items;  // tuple, list; dict: values; slice: start, stop, step; iterator: what is iterated; cell: one or
                           // none; method: callable, self; function: globals, defaults, kwdefaults, closure, annotations (null
                           // Ref = none); scalar: the numbers of which it is the first one with its type and bits, if it is one
                           // of several; constant: what is called with what to make one, if each call of the code makes its own
  std::vector<PyRef> keys;  // dict
  size_t position = 0;      // iterator: items consumed
  // Number or tuple: one of several objects, as the path or data say. What an exit makes is none of them.
  bool is_one_of_several = false;
  // Made by the captured code, and shown to a call: the number by which the run knows the object, which it has from then on; -1
  // on paths where no call was shown it. Null: no call can have been. Of an array that is all of its memory: the storage's.
  Ref identity;
  Ref iterated;  // iterator: the container it walks (for its recipe). list, dynamic_list: the dynamic list whose item it is,
                 // the one at `scalar.dim`: it is changed there alone
  Ref columns;   // dynamic_list
  std::shared_ptr<const Frame> suspended;  // generator: its frame without locals and stack
};

// Where `is` asks for a number that is one of several.
inline constexpr const char* unknown_identity = "identity of a number that paths or data choose";

inline bool is_sequence(const Ref& value) { return value->kind == AbstractKind::tuple || value->kind == AbstractKind::list; }

// Which operands are objects that nobody but the operation knows.
struct Temporaries {
  bool left = false, right = false;
};

// Whether a call may tell an object that the captured code has made from an equal one, and nobody can change it but for an
// array's elements: then it has AbstractValue::identity.
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
