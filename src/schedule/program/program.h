#pragma once
// Program: a Graph turned into loops over buffers. Product of schedule, input of codegen.
//
// A Program is a list of nests. A nest is a tree of statements. Statements compute scalars into temps (each assigned where
// it is declared, visible until the end of the enclosing body), move them to and from buffers, call NumPy's
// inner loops on tiles, and reduce. Indices, extents and strides are Dims of Program::dims: over the entry's symbols and over
// loop variables. A Program holds no host pointers and no thread counts.
//
// A program with control flow has blocks: steps, then a jump, a branch or an exit. A step runs a nest or computes scalars.
// Scalars that blocks share are temps assigned by scalar steps and edges; arrays that blocks share are buffers, which edges
// exchange. Without blocks the nests run in order and the kernel is left through exit 0.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace accel {

enum class BufferKind : uint8_t {
  input,    // array argument: data pointer from the caller
  output,   // fresh result memory from the caller: dense, elements in the value's order
  temp,     // heap memory of one launch, visible to all nests
  scratch,  // memory of one thread inside one nest (tiles, rows)
  cell,     // one element: a scalar that a nest hands to later steps
  alias,    // another name of the buffer `binding`, for elements of it that a nest reads and does not store
};

struct Buffer {
  BufferKind kind = BufferKind::temp;
  DType dtype = DType::float64;
  Dim elements;      // capacity; for scratch it may depend on symbols only
  int binding = -1;  // input: index among array inputs; output: index among outputs; alias: the buffer
  std::string name;
  std::vector<Dim> shape,
      strides;  // of a program with blocks; output: the result's shape; input: its shape and strides in bytes
};

using BufferId = int;
using TempId = int;

// Address of an element: buffer + offset bytes; `offset` is over symbols and loop variables.
struct Address {
  BufferId buffer = -1;
  Dim offset;
};

// One entry of the import table: NumPy's inner loop of a ufunc or gufunc for given dtypes.
struct LoopImport {
  Op op = Op::add;
  std::vector<DType> dtypes;  // operands then results
  bool operator==(const LoopImport&) const = default;
};

enum class LoopKind : uint8_t {
  serial,
  simd,      // iterations are independent and touch contiguous memory: may be vectorised
  parallel,  // iterations are independent: split over threads; only at the top of a nest
};

struct Stmt;
using Body = std::vector<Stmt>;

enum class StmtKind : uint8_t {
  loop,             // for var in [0, extent): body
  tile,             // for var in [0, extent) step `step`, with count = min(step, extent - var): body
  constant,         // dst = literal
  index,            // dst = dim as int64
  input,            // dst = scalar input (symbol slot `slot`, bits)
  load,             // dst = *address
  store,            // *address = args[0]
  compute,          // dst = op(args...), inline text of the op's row
  declare,          // var dst (an accumulator) = args[0]
  assign,           // dst = args[0]; dst was declared
  call,             // NumPy inner loop `import` on `operands` for `extent` elements
  pairwise,         // dst = pairwise sum over var in [0, extent) of args[0], computed by body
  masked_pairwise,  // dst = args[1] plus the pairwise sum of each longest sequence of args[0] over var in [0, extent) where
                    // args[2] holds, both computed by body
  fold,             // dst = args[1] combined by op with args[0] for every var in [0, extent), computed by body, in any order
  argreduce,  // dst (int64) = index of the extreme of args[0] over var in [0, extent), computed by body; op is argmin or argmax
  gather,     // dst = *(address + sum of args[k] * core_strides[k])
  scatter,    // *(address + sum of args[k + 1] * core_strides[k]) = args[0]
  list,       // dst (int64) = args[1] plus the number of var in [0, extent) where args[0], computed by body, holds: the int64
              // args[2] + var of the k-th of them is stored at address + 8 * (args[1] + k), where in all args[3] are listed
  repeat,     // for var in [0, extent): body, until args[0], declared in it, is 0 (no args: to the end); quiet: short, never
              // asked whether the run is interrupted
  bind,       // the symbol `dim` is args[0] from here on; in scalar steps alone
  slice,      // dst = how many of the next `extent` iterations of a loop, each of `dim` element operations, run before the run
              // is asked whether it is interrupted; args[0]: as many as the time before, 0 at first; in scalar steps alone
  // What the caller does; in scalar steps alone. numbers: that of the call, of its result, of the axis.
  boxed,        // calls the caller's function on operands: buffers of core_dims and core_strides (shapes and strides one after
                // the other), and for operands without a buffer the next of args; dst = 0
  python,       // the same for a function that may do anything: what was done before it is never put back
  extent,       // dst = extent of an axis of a result
  receive,      // dst = a result
  draw,         // dst = what the caller's function, one of NumPy's C functions, draws with args; numbers: the function's
  interrupted,  // dst = whether the run is to leave here; numbers: 1 where the exit only raises, 2 where it hands its state
                // over
  receive_array,  // the elements at address = a result of shape core_dims
  gufunc,         // NumPy gufunc loop `import`: operands with core dims `core` and outer loops done by the statement's loops
};

// A number of one element for dst, without a loop or a call.
inline bool is_number(StmtKind kind) {
  return kind == StmtKind::constant || kind == StmtKind::index || kind == StmtKind::input || kind == StmtKind::load ||
         kind == StmtKind::compute;
}

// The other way: memory gets numbers.
inline bool is_store(StmtKind kind) { return kind == StmtKind::store || kind == StmtKind::scatter || kind == StmtKind::list; }

inline bool is_for_caller(StmtKind kind) {
  return kind == StmtKind::boxed || kind == StmtKind::python || kind == StmtKind::extent || kind == StmtKind::receive ||
         kind == StmtKind::draw || kind == StmtKind::interrupted || kind == StmtKind::receive_array;
}

// Operand of a call: where it starts and the byte distance of its elements.
struct CallOperand {
  Address address;
  Dim stride;
};

struct Stmt {
  StmtKind kind = StmtKind::compute;
  LoopKind loop_kind = LoopKind::serial;
  Op op = Op::add;
  DType dtype = DType::float64;  // of dst (load, compute, declare, ...) or of the stored element
  TempId dst = -1;
  std::vector<TempId> args;
  Dim var;    // loop, tile, pairwise, argreduce: the variable (a symbol for which DimTable::is_variable)
  Dim count;  // tile: variable that holds the number of elements of this tile
  Dim extent;
  int64_t step = 0;          // tile
  int64_t chunk = 0;         // pairwise: > 0 cuts the run into chunks, each a tree of its own, added in order
  bool divide_work = false;  // pairwise, fold, argreduce: the top of its nest; may be split over threads (sums: at tree nodes)
  Address address;
  Literal literal;
  Dim dim;                            // index
  int slot = -1;                      // input
  int import = -1;                    // call, gufunc: index into Program::imports
  std::vector<CallOperand> operands;  // call: operands then results
  std::vector<int> numbers;           // boxed, python, extent, receive
  std::vector<Dim> core_dims;         // gufunc: dims as NumPy passes them after the outer count
  std::vector<Dim> core_strides;      // gufunc: as NumPy passes them after the outer strides; gather, scatter: bytes per index
  int node = -1;                      // node of the graph it comes from, for events
  Location where;                     // of that node in the source, for explain
  bool quiet = false;                 // compute: without events: on Python's numbers, or done before
  Body body;
};

// A unit that runs from start to end before the next one starts. Its top statement may be a parallel loop.
struct Nest {
  std::string name;
  Body body;
  bool on_calling_thread = false;  // contains a loop that must not run in a worker thread
  Dim work;                        // estimate of the number of element operations, for the threading threshold
};

enum class StepKind : uint8_t {
  scalars,  // body: no loops, and no calls but the caller's
  nest,
  grow,     // `buffer`, a temp, gets memory for `elements`; it keeps what it has
  protect,  // `buffer`, memory that Python sees, is about to be written: keep it, if a run that fails has to put it back
};

struct BlockStep {
  StepKind kind = StepKind::scalars;
  Body body;
  int nest = -1;  // index into Program::nests
  BufferId buffer = -1;
  Dim elements{};  // grow
};

// The way to another block: parameters get their values, all at once.
struct Edge {
  int target = -1;
  std::vector<std::pair<TempId, TempId>> scalars;    // parameter, value
  std::vector<std::pair<BufferId, BufferId>> swaps;  // buffers that exchange their memory, one after the other
};

// One result of an exit: a scalar, or the elements of a buffer. An output buffer is the result itself.
struct ExitOutput {
  int output = 0;  // index among the outputs of all exits
  TempId scalar = -1;
  BufferId buffer = -1;
  DType dtype = DType::float64;
  std::vector<Dim> shape;
};

enum class BlockEnd : uint8_t { jump, branch, exit };

struct ProgramBlock {
  std::vector<BlockStep> steps;
  BlockEnd end = BlockEnd::exit;
  TempId condition = -1;    // branch: edges[0] when true, edges[1] when false
  bool is_guessed = false;  // branch: stays a jump (ir/graph.h)
  Edge edges[2];
  int poll = 0;  // jump, branch: as in Terminator
  int exit = 0;
  std::vector<ExitOutput> outputs;
};

// Symbols with a small value seen at capture: codegen adds a copy of the nests with these fixed.
struct Variant {
  std::vector<std::pair<int, int64_t>> fixed;  // symbol, value
  std::vector<int> nests;  // of a program with blocks: those that are copied and chosen one by one; none: all, at the start
};

// A loop of blocks whose iterations are independent: threads may share all but the last one. The header branches on its
// counter, edges[0] goes on. Ways out of the middle, if it has any, lead to side exits alone.
struct ParallelLoop {
  int header = 0;
  std::vector<int> blocks;  // header included, ascending
  TempId counter = -1;      // of the header, changes by `step`
  int64_t step = 1;
  Dim end;                        // what the counter does not reach
  Dim work;                       // estimate of the element operations of one iteration
  int64_t least = 0;              // iterations that are worth sharing
  std::vector<BufferId> own;      // temps of one iteration
  std::vector<BufferId> written;  // other memory that is stored to, by each iteration at places of its own
  bool leaves = false;            // whether there are ways out of the middle
};

struct Program {
  TempId add_temp(DType dtype) {
    temps.push_back(dtype);
    return static_cast<TempId>(temps.size()) - 1;
  }
  BufferId add_buffer(Buffer buffer) {
    buffers.push_back(std::move(buffer));
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  // The index of an import, which is there afterwards if it was not before.
  int add_import(const LoopImport& import) {
    auto it = std::find(imports.begin(), imports.end(), import);
    if (it == imports.end()) it = imports.insert(it, import);
    return static_cast<int>(it - imports.begin());
  }
  // The buffer whose memory it is: itself, or the one that it is another name of.
  BufferId memory_of(BufferId id) const {
    const Buffer& buffer = buffers[static_cast<size_t>(id)];
    return buffer.kind == BufferKind::alias ? buffer.binding : id;
  }

  bool is_early(BufferId id) const { return std::find(early.begin(), early.end(), id) != early.end(); }

  // Whether a symbol has its values from `bind` statements: it is not known at the start.
  bool is_bound(int symbol) const {
    return std::find(bound_symbols.begin(), bound_symbols.end(), symbol) != bound_symbols.end();
  }
  bool is_known_at_start(Dim d) const {
    std::vector<int> symbols = dims.symbols(d);
    return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) { return is_bound(symbol); });
  }

  // Floating-point events that a statement itself may raise (EventBits), without those of its body.
  int own_events(const Stmt& stmt) const;

  DimTable dims;
  std::vector<Buffer> buffers;
  std::vector<LoopImport> imports;
  std::vector<DType> temps;  // dtype of each temp
  std::vector<Nest> nests;
  std::vector<ProgramBlock> blocks;  // blocks[0] is where the kernel starts
  std::vector<int> bound_symbols;    // have their values from `bind` statements
  std::vector<BufferId> early;       // temps and outputs of a size known at the start that get their memory there
  std::vector<Variant> variants;
  std::vector<ParallelLoop> parallel_loops;
  bool records_events = false;  // the graph's
  int symbol_count = 0;
  int input_count = 0;  // array inputs
  int output_count = 0;
};

std::string print_program(const Program& program);
Result<Program> parse_program(std::string_view text);  // print -> parse -> print is the identity

}  // namespace accel
