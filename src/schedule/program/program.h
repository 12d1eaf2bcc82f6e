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
  cell,     // one element: a scalar that a nest passes to later steps
  alias,    // another id of the buffer `binding`, for elements that a nest reads and does not store
};

struct Buffer {
  BufferKind kind = BufferKind::temp;
  DType dtype = DType::float64;
  Dim elements;      // capacity; for scratch it may depend on symbols only
  int binding = -1;  // input: index among array inputs; output: index among outputs; alias: the buffer
  std::string name;
  std::vector<Dim> shape,
      strides;  // with blocks: output: the result's shape; input: its shape and its strides in bytes
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
  parallel,  // iterations are independent: split over threads; for the CPU only at the top of a nest
};

struct Stmt;
using Body = std::vector<Stmt>;

enum class StmtKind : uint8_t {
  loop,             // for var in [0, extent): body
  tile,             // for var in [0, extent) step `step`, with count = min(step, extent - var): body
  constant,         // dst = literal
  index,            // dst = dim as int64
  input,            // dst = scalar input (slot `slot`, bits)
  load,             // dst = *address
  store,            // *address = args[0]
  compute,          // dst = op(args...), inline text of the op's row
  declare,          // var dst (an accumulator) = args[0]
  assign,           // dst = args[0]; dst was declared
  call,             // NumPy inner loop `import` on `operands` for `extent` elements
  pairwise,         // dst = pairwise sum over var in [0, extent) of args[0], computed by body
  masked_pairwise,  // dst = args[1] plus the pairwise sums of all maximal sequences of args[0] over var in [0, extent) where
                    // args[2] holds, both computed by body
  fold,  // dst = args[1] combined by op with args[0] for every var in [0, extent), computed by body, in any order that depends
         // on extents alone
  argreduce,  // dst (int64) = index of the extreme of args[0] over var in [0, extent), computed by body; op is argmin or argmax
  accumulate,  // for var in [0, extent): dst = args[0], computed by body, combined by op with the dst before, if there is one;
               // *address = dst. For devices; op is associative
  gather,      // dst = *(address + sum of args[k] * core_strides[k]); core_dims, for devices: args[k] below 0 or beyond
               // core_dims[k] is replaced by the nearest index, and where one of these is 0 there is no access
  scatter,     // *(address + sum of args[k + 1] * core_strides[k]) = args[0]; core_dims as for gather
  list,        // dst (int64) = args[1] + the number of var in [0, extent) for which args[0], computed by body, holds; args[2] +
               // var of each is stored (int64) at address + 8 * k, with k counting up from args[1]; args[3]: how many in all
  listed,  // at the end of the body of a list on devices: body runs for each of its elements, number `count` of the list's run,
           // which is number var in the list of `extent`; it is not stored
  repeat,  // for var in [0, extent): body, until args[0], declared in the body, is 0 (without args: to the end); quiet: short,
           // never polls for interrupts
  bind,    // binds the symbol `dim` to args[0] from here on; in scalar steps only
  slice,   // dst = number of the next `extent` iterations of a loop, of `dim` element operations each, to run before the next
           // poll; args[0]: this number for the previous slice, 0 for the first; in scalar steps only
  // Work of the caller, in scalar steps only. numbers: index of the call, of its result, of the axis.
  boxed,        // calls the caller's function on operands: buffers with core_dims and core_strides (all shapes and strides in
                // sequence); an operand without a buffer is the next of args; dst = 0
  python,       // calls code with unknown effects, operands as for boxed; stores before it are never rolled back
  extent,       // dst = extent of an axis of a result
  receive,      // dst = a result
  draw,         // dst = a random number that one of NumPy's C functions draws with args; numbers: index of the function
  interrupted,  // dst = whether an interrupt ends the run here; numbers: 1 if the exit only raises, 2 if it receives the state
  receive_array,  // the elements at address = a result of shape core_dims
  gufunc,         // NumPy gufunc loop `import` over core dims; the statement's enclosing loops are the outer ones
};

// Computes dst from single elements, without a loop or a call.
inline bool is_number(StmtKind kind) {
  return kind == StmtKind::constant || kind == StmtKind::index || kind == StmtKind::input || kind == StmtKind::load ||
         kind == StmtKind::compute;
}

// Stores elements to memory.
inline bool is_store(StmtKind kind) {
  return kind == StmtKind::store || kind == StmtKind::scatter || kind == StmtKind::list || kind == StmtKind::accumulate;
}

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
  int64_t step = 0;   // tile
  int64_t chunk = 0;  // pairwise: > 0 divides the run into chunks, each with a tree of its own, which are added in order
  bool divide_work =
      false;  // pairwise, fold, argreduce: at the top of its nest; may be split over threads (sums: at tree nodes)
  Address address;
  Literal literal;
  Dim dim;                            // index
  int slot = -1;                      // input
  int import = -1;                    // call, gufunc: index into Program::imports
  std::vector<CallOperand> operands;  // call: operands then results
  std::vector<int> numbers;           // boxed, python, extent, receive
  std::vector<Dim> core_dims;         // gufunc: dims as NumPy passes them after the outer count; gather, scatter: see there
  std::vector<Dim> core_strides;      // gufunc: as NumPy passes them after the outer strides; gather, scatter: bytes per index
  int node = -1;                      // node of the graph, for events
  Location where;                     // of that node in the source, for accel.explain
  bool quiet =
      false;  // compute: raises no events, being on Python's numbers or a repetition of a computation that has raised them
  Body body;
};

// What the threads of a device do in a nest. Its items are the iterations of its parallel loops (analysis/items.h).
enum class Mapping : uint8_t {
  none,      // not for a device
  elements,  // a thread computes an item
  rows,      // neighbouring threads compute an item: they share its reductions and inner loops
  columns,   // neighbouring threads compute neighbouring items, and the runs of reductions are divided between blocks
  ordered,   // a thread computes an item; items that store to one address run in order, those of different ones at once
  library,   // the host calls a library for each statement
};

// A unit that runs from start to end before the next one starts. Its top statement may be a parallel loop.
struct Nest {
  std::string name;
  Body body;
  Mapping mapping = Mapping::none;
  bool on_calling_thread = false;  // contains a loop that must not run in a worker thread
  Dim work;                        // estimate of the number of element operations, for the threading threshold
};

enum class StepKind : uint8_t {
  scalars,  // body: without loops; the only calls are the caller's
  nest,
  grow,     // `buffer`, a temp, is enlarged to `elements` and keeps its content
  protect,  // `buffer`, memory that Python sees, is about to be written: back it up if a failing run has to restore it
};

struct BlockStep {
  StepKind kind = StepKind::scalars;
  Body body;
  int nest = -1;  // index into Program::nests
  BufferId buffer = -1;
  Dim elements{};  // grow
};

// An edge to another block: its parameters are assigned, all at once.
struct Edge {
  int target = -1;
  std::vector<std::pair<TempId, TempId>> scalars;    // parameter, value
  std::vector<std::pair<BufferId, BufferId>> swaps;  // buffers that exchange their memory, in this order
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
  TempId condition = -1;       // branch: edges[0] when true, edges[1] when false
  bool is_guessed = false;     // branch: not turned into selects (ir/graph.h)
  bool is_deferrable = false;  // branch: as in Terminator
  Edge edges[2];
  int poll = 0;  // jump, branch: as in Terminator
  int exit = 0;
  std::vector<ExitOutput> outputs;
};

// Symbols with small values at capture: codegen adds a copy of nests with these values fixed.
struct Variant {
  std::vector<std::pair<int, int64_t>> fixed;  // symbol, value
  std::vector<int> nests;  // with blocks: the nests that are copied and chosen individually; empty: all, chosen at the start
};

// A loop of blocks whose iterations are independent: threads may share all but the last one. The header branches on the
// counter, and edges[0] continues the loop. Exits from within an iteration are side exits.
struct ParallelLoop {
  int header = 0;
  std::vector<int> blocks;  // header included, ascending
  TempId counter = -1;      // of the header, changes by `step`
  int64_t step = 1;
  Dim end;                        // exclusive bound of the counter
  Dim work;                       // estimate of the element operations of one iteration
  int64_t least = 0;              // number of iterations from which sharing pays
  std::vector<BufferId> own;      // temps private to an iteration
  std::vector<BufferId> written;  // other memory that is stored to; each iteration accesses a separate part
  bool leaves = false;            // whether an iteration may leave through a side exit
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
  // The index of an import, which is added if it is new.
  int add_import(const LoopImport& import) {
    auto it = std::find(imports.begin(), imports.end(), import);
    if (it == imports.end()) it = imports.insert(it, import);
    return static_cast<int>(it - imports.begin());
  }
  // The buffer that has the memory: itself, or the target of an alias.
  BufferId memory_of(BufferId id) const {
    const Buffer& buffer = buffers[static_cast<size_t>(id)];
    return buffer.kind == BufferKind::alias ? buffer.binding : id;
  }

  bool is_early(BufferId id) const { return std::find(early.begin(), early.end(), id) != early.end(); }

  // Whether a symbol is set by `bind` statements, so that it is unknown at the start.
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
  std::vector<ProgramBlock> blocks;  // blocks[0] is the entry
  std::vector<int> bound_symbols;    // symbols that `bind` statements set
  std::vector<BufferId> early;       // temps and outputs of a size known at the start, which are allocated there
  std::vector<Variant> variants;
  std::vector<ParallelLoop> parallel_loops;
  Target target;                // as in the graph
  bool records_events = false;  // as in the graph
  int symbol_count = 0;
  int input_count = 0;  // array inputs
  int output_count = 0;
};

// Whether a statement of the body, or of the bodies in it, passes the test.
template <class Test>
bool any_statement(const Body& body, Test test) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& s) { return test(s) || any_statement(s.body, test); });
}

// Temps that a body reads and does not compute itself, ascending.
std::vector<TempId> temps_from_outside(const Body& body);

std::string print_program(const Program& program);
Result<Program> parse_program(std::string_view text);  // print -> parse -> print is the identity

}  // namespace accel
