#pragma once
// Graph: a captured function as values and ops. Product of capture, input of passes and schedule.
//
// Semantics, stated once:
// * Value semantics. An op never changes a value; a view is a strided view of its operand; store and put yield a new version of
//   their base. A use of an older version reads the old contents: schedule copies where that is a conflict, and says so.
// * Pointwise ops act element by element on operands of the result's shape and of the dtypes of NumPy's loop: broadcasting
//   and casts are ops of their own (broadcast_to, astype).
// * Real + - * / sqrt are IEEE 754 operations rounded once in their dtype: no contraction, no reassociation. float16 is
//   computed in float32 and rounded after every op. Integers wrap. NaNs propagate as in NumPy; signed zeros are preserved.
// * A sum (reduce of add on floating or complex dtypes) has the order of additions that ir/analysis/reduction_plan.h gives for
//   the operand's shape, order and `buffered` attribute. Other reductions go from the first element to the last in the
//   operand's order.
// * An op whose result is of Python kind has no floating-point events.
// * An op with floating-point events raises them for each element it computes in NumPy. Passes may not remove, merge or
//   move such an op so that an event appears, disappears or changes its category.
// * Evaluation order of nodes is program order.
// * An array input is pinned: versions of it (results of store and put, block parameters that only such versions reach) live in
//   the argument's own memory, updated in program order. A store to a pinned base is an effect and stays, used or not.
//   Nothing else in a graph changes memory that Python can reach.
// * A graph is left through `ret` (exit 0) or `leave` (exit e). The operands are the outputs of that exit. Exits are numbered
//   densely; the outputs of the graph are those of exit 0, then those of exit 1, and so on (ir/analysis/flow.h).
// * Where a terminator leads back to the header of a loop, an interrupted run may leave through its `poll` exit, which has
//   no outputs: what the iterations so far have stored to pinned memory stays. A pass that reorders iterations, or delays
//   their stores, clears `poll`.
// * A kernel that reports failure (an event that the caller does not accept, no memory, an interrupt) has left no trace: pinned
//   memory holds what it held before. So any region can be discarded and run again in the interpreter. What it did before a
//   `python_call` is not undone: then the interpreter resumes after that call.
// * `bind` gives a symbol its value from there on; dims may name it wherever the bind dominates, and so may the shapes of the
//   parameters of its block: each time that the block is entered these are as long as their arguments are. Such a symbol has a
//   slot in the entry's symbol array like any other, whose value is not read.
// * Ops of class boxed have effects, in program order: they are neither removed nor merged nor moved. They see the elements of
//   their operands and nothing else of a graph's memory.
// * Elements of lanes(x, mask) where the mask is false do not exist: pointwise ops on them give any value and have no events.

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/integers/dim.h"
#include "ir/op.h"

namespace accel {

// Python kinds and NumPy dtypes are kept apart: a py_scalar is a Python bool, int, float or complex held in
// bool_, int64, float64 or complex128; a numpy_scalar is an instance of np.generic; an array may have rank 0.
enum class ValueKind : uint8_t { array, numpy_scalar, py_scalar };

struct Type {
  ValueKind kind = ValueKind::array;
  DType dtype = DType::float64;
  std::vector<Dim> shape;      // empty for scalars
  std::vector<uint8_t> order;  // axes from slowest to fastest in the memory NumPy would have used; empty = C order
  bool operator==(const Type&) const = default;

  int rank() const { return static_cast<int>(shape.size()); }
  bool is_c_order() const;
  // order, or 0..rank-1 when empty.
  std::vector<uint8_t> axis_order() const;
};

using ValueId = int32_t;
using NodeId = int32_t;
using BlockId = int32_t;
constexpr ValueId no_value = -1;
constexpr int64_t most_elements = int64_t{1} << 47;  // of an array: addresses end there

// A typed constant, bit-exact: the first item_size(dtype) bytes hold the value.
struct Literal {
  DType dtype = DType::int64;
  uint64_t bits[2] = {0, 0};
  bool operator==(const Literal&) const = default;

  static Literal of_int(DType dtype, int64_t value);    // integer and bool dtypes (uint64: same bits)
  static Literal of_double(DType dtype, double value);  // floating and complex dtypes, rounded to the dtype
  static Literal of_complex(DType dtype, std::complex<double> value);
  int64_t as_int() const;                   // requires an integer or bool dtype
  std::complex<double> as_complex() const;  // any dtype
  std::string text() const;                 // round-trips through parse_literal
};
std::optional<Literal> parse_literal(DType dtype, std::string_view text);

// What a reduction by `op` with an accumulator of `dtype` gives for no elements; nullopt: NumPy has no identity of `op`.
std::optional<Literal> identity_of(Op op, DType dtype);

// What an op needs beside its operands; ops.inc says which op reads what.
struct Attributes {
  std::vector<int> axes;
  std::vector<Dim> dims;
  std::vector<Dim> steps;
  Op ufunc = Op::add;  // reduce: the combining op
  bool buffered =
      false;            // reduce: NumPy casts the operand inside the reduction, buffer by buffer (operand is the uncast value)
  bool unread = false;  // full: all elements are written before they are read
  Literal literal;      // constant
  int call = -1;        // call: number in the caller's table of functions
  bool operator==(const Attributes&) const = default;
};

// Where a node comes from: index into Graph::sources, line in that file.
struct Location {
  int source = -1;
  int line = 0;
  int site = -1;  // of floating-point events, a number of the capture's (event_sites.h); -1: none. Not part of the text.
};

struct Node {
  Op op = Op::constant;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attributes attrs;
  Location where;
};

struct Value {
  Type type;
  NodeId producer = -1;  // -1: a block parameter
  BlockId block = 0;
};

// Memory layout of an array input.
enum class Layout : uint8_t {
  dense,    // no gaps, axes in Type::order (C order when empty)
  strided,  // strides in bytes are Input::strides; Type::order holds the axes by decreasing |stride|
};

// A parameter of the entry block. Arrays are data pointers in the kernel's buffer array, in the order of the inputs that
// are arrays; scalars are 8-byte slots of the symbol array (complex: two), first slot in `slot`, bits of the dtype.
struct Input {
  std::string name;
  Layout layout = Layout::dense;
  std::vector<Dim> strides;  // bytes, per axis, when strided
  int slot = -1;             // scalars
};

enum class TerminatorKind : uint8_t { ret, jump, branch, leave };

struct Terminator {
  TerminatorKind kind = TerminatorKind::ret;
  std::vector<ValueId> operands;  // ret, leave: the outputs; branch: condition
  int exit = 0;                   // leave
  BlockId targets[2] = {-1, -1};  // jump: [0]; branch: [0] when true, [1] when false
  std::vector<ValueId> target_arguments[2];
  bool is_guessed =
      false;  // branch: better a jump, which may be guessed right, than a selection, which waits for the condition
  bool is_deferrable = false;  // branch: [1] is an exit, and what comes after [0] accesses no memory outside of arrays if the
                               // condition does not hold either: it may be tested later, before the run has effects
  int poll = 0;  // jump, branch: the exit that an interrupted run takes where this leads back to a loop; 0: there is none
};

inline int target_count(const Terminator& t) {
  return t.kind == TerminatorKind::jump ? 1 : t.kind == TerminatorKind::branch ? 2 : 0;
}
inline bool is_exit(const Terminator& t) { return target_count(t) == 0; }
inline int exit_number(const Terminator& t) { return t.kind == TerminatorKind::leave ? t.exit : 0; }

struct Block {
  std::vector<ValueId> params;
  std::vector<NodeId> nodes;  // in program order
  Terminator terminator;
};

class Graph {
 public:
  DimTable dims;
  std::vector<Input> inputs;         // parallel to blocks[0].params
  std::vector<std::string> symbols;  // name of symbol k, for people ("points.shape[0]")
  std::vector<int64_t> hints;        // value of symbol k when the graph was captured (scalars: bits)
  std::vector<Dim> known;            // over symbols of the entry: each is >= 0
  std::vector<std::string> sources;  // file names
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Block> blocks;  // blocks[0] is the entry
  Target target;              // what it is compiled for
  // Whether it matters how often a node has events: none is moved out of a loop, or computed with what has events of its own.
  bool records_events = false;
  // Exits that no block leaves through any more, by number: the types of their outputs.
  std::map<int, std::vector<Type>> closed_exits;

  Graph() : blocks(1) {}

  const Type& type(ValueId v) const { return values[v].type; }
  Block& entry() { return blocks[0]; }
  const Block& entry() const { return blocks[0]; }
  const std::vector<ValueId>& outputs() const { return blocks[0].terminator.operands; }  // straight-line graphs

  int add_symbol(std::string name, int64_t hint);
  ValueId add_input(Input input, Type type);
  ValueId add_param(BlockId block, Type type);
  // Appends a node to `block`; returns its first result.
  ValueId add_node(BlockId block, Op op, std::vector<ValueId> operands, Attributes attrs, std::vector<Type> results,
                   Location where = {});
  bool is_input(ValueId v) const { return values[v].producer < 0; }  // or a block parameter
  const Node& producer(ValueId v) const { return nodes[values[v].producer]; }
  // Index of v among entry().params, or -1.
  int input_index(ValueId v) const;
  std::vector<int> use_counts() const;  // per value, outputs included
};

// Of a reduce, no_value when there is none: the scalar to start from; the bool array whose false elements do not count
// (`where=`).
ValueId initial_of(const Graph& graph, const Node& reduce);
ValueId mask_of(const Graph& graph, const Node& reduce);

// Floating-point events that a node may raise in NumPy, as EventBits (op.h).
int numpy_events(const Graph& graph, const Node& node);
// Those of them that its kernel reports on the graph's target. 0: the node may be removed, merged and moved.
int node_events(const Graph& graph, const Node& node);

}  // namespace accel
