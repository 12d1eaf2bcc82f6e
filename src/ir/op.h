#pragma once
// The ops of the IR. The table is ops.inc.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/target.h"

namespace accel {

enum class Op : uint16_t {
#define OP(name, ...) name,
#include "ir/ops.inc"
#undef OP
};

enum class OpClass : uint8_t {
  leaf,       // makes a value from attributes and scalars
  view,       // a strided view of operand 0: no arithmetic, no memory
  pointwise,  // one result element from one element of each operand; operands have the result's shape
  reduction,  // drops attrs.axes of operand 0
  gufunc,     // opaque call of a NumPy gufunc loop
  join,       // assembles operands side by side
  gather,     // elements of operand 0 at run-time indices
  update,     // a new version of operand 0
  scan,       // walks its operand element by element, in order
  boxed,      // done by the caller's process, in program order, on the thread that runs the kernel
};

// Properties that ops share; a row of the table names all that hold for its op.
enum class OpProperty : int {
  comparison = 1 << 0,
  extreme = 1 << 1,      // one of its operands: combining in any order, or an element twice, gives the same
  idempotent = 1 << 2,   // combining with an element twice gives the same
  reduces = 1 << 3,      // has a compiled reduction
  elides = 1 << 4,       // Python's operator stores the result into a left operand that is a temporary (NumPy's elision)
  commutes = 1 << 5,     // with `elides`: into a right operand, too
  division = 1 << 6,     // the text takes about as long as a division
  instruction = 1 << 7,  // the C++ compiler makes instructions of the text, and no call of a function
  python = 1 << 8,       // on scalars, as CPython computes it
  library = 1 << 9,      // on scalars, by a function of the C library
};
constexpr OpProperty operator|(OpProperty a, OpProperty b) {
  return static_cast<OpProperty>(static_cast<int>(a) | static_cast<int>(b));
}

struct OpInfo {
  const char* name;
  OpClass op_class;
  const char* class_name;
  int arity;
  const char* inline_dtypes;
  const char* events;
  const char* identity;
  const char* cpp;
  const char* cuda;
  int results = 1;
  const char* vector_forms = "";
  OpProperty properties{};
};

const OpInfo& op_info(Op op);
int op_count();
std::optional<Op> op_from_name(std::string_view name);

// Whether the emitted text computes `op` for operands of `dtype` with NumPy's bits (else: NumPy's inner loop).
bool is_inline(Op op, DType dtype);

// Floating-point events, with the values of NumPy's FPE flags; event_error: NumPy raises an exception.
enum EventBits : int { event_divide = 1, event_overflow = 2, event_underflow = 4, event_invalid = 8, event_error = 16 };

// Events that `op` may raise in NumPy for operands of `dtype` (not astype: see cast_events).
int op_events(Op op, DType dtype);
// Whether the emitted text may raise event_invalid for NaN where NumPy has none, unless the kernel has quiet comparisons.
bool signals_on_nan(Op op);
// Events that a cast may raise.
int cast_events(DType from, DType to);
// Those of `events` that a target has: where the hardware records none, only errors are left.
int events_on(Target target, int events);

// The function of the prelude's part "vectors" for a first operand of kind r(eal), c(omplex) or b(ool); empty: none.
std::string vector_function(Op op, char kind);
// Whether the emitted text may have vectors of whole complex numbers as operands.
bool has_interleaved_form(Op op);

// The ops that compute one result of `op` each; empty when it has one result.
std::vector<Op> ops_of_results(Op op);

// The core axes of a gufunc's operands, then of its result: equal numbers are equal extents, counted from 0 in the order in
// which NumPy passes them.
std::vector<std::vector<int>> core_signature(Op op);

inline OpClass op_class(Op op) { return op_info(op).op_class; }
inline bool is_view(Op op) { return op_class(op) == OpClass::view; }
inline bool is_update(Op op) { return op_class(op) == OpClass::update; }

// Whether a node of `op` has these attributes.
inline bool op_has_ufunc(Op op) { return op == Op::reduce || op == Op::accumulate || op == Op::update_at; }
inline bool op_has_call(Op op) { return op == Op::call || op == Op::python_call || op == Op::draw; }
inline bool op_has_literal(Op op) { return op == Op::constant; }

inline bool has_property(Op op, OpProperty any_of) {
  return (static_cast<int>(op_info(op).properties) & static_cast<int>(any_of)) != 0;
}
inline bool is_comparison(Op op) { return has_property(op, OpProperty::comparison); }
inline bool is_extreme(Op op) { return has_property(op, OpProperty::extreme); }
// Ops on scalars as CPython computes them.
inline bool is_python_op(Op op) { return has_property(op, OpProperty::python | OpProperty::library); }

}  // namespace accel
