#pragma once
// KernelFunction: one function of the kernel, written statement by statement: a nest, or what a nest runs in parallel.
//
// It becomes two functions of the text. The outer one, called by the kernel or by the runtime's threads, provides heap scratch
// and brackets the inner one with the floating-point flags. The inner one has the buffers as restrict parameters: names of
// buffers never alias within a nest.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/index_ranges.h"
#include "codegen/analysis/masked_loop.h"
#include "codegen/analysis/vector_loop.h"
#include "codegen/emit/code.h"

namespace accel {

// What the functions of one copy of the nests share: the program, with some symbols fixed.
struct Copy {
  const Program& program;
  const Facts& facts;
  DimTable dims;                 // the program's, and what substitution adds
  std::map<int, int64_t> fixed;  // symbol, value
  // Of a program with blocks: the events of all it does. Its flags gather them from start to end.
  std::optional<int> all_events = std::nullopt;
};

// What the functions of a nest get from their caller instead of reading it from the frame, so that nests which differ in
// nothing but their buffers and sizes can share functions: sums and products of symbols without loop variables.
struct GivenDims {
  std::vector<Dim> dims;
  bool is_complete = true;  // false: the functions name other numbers of the program
};

class KernelFunction {
 public:
  // given: null when the function reads symbols and buffers from the frame; of_regions: likewise of those that it runs in
  // parallel. Regions that get them share functions, too.
  KernelFunction(Copy& copy, const Nest& nest, std::string name, GivenDims* given = nullptr, GivenDims* of_regions = nullptr)
      : copy_(copy), nest_(nest), name_(std::move(name)), given_(given), of_regions_(of_regions) {}

  virtual ~KernelFunction() = default;

  // Text of the nest's functions; the last one is `static void <name>(Frame* frame, <temps that the nest gets>)`. In a program
  // with blocks it is `static void <name>_body(Frame* frame, int* status, <buffers>, <temps>)`, which leaves its events in the
  // flags. With given dims both get buffers, temps and these.
  Result<std::string> write_nest();
  // Requires write_nest(): buffers that the body of a nest gets.
  std::vector<BufferId> body_buffers() const;
  int region_count() const { return regions_; }

 protected:
  struct Parameter {
    std::string type, name;
    std::string argument;  // what the caller passes
    Dim dim = {};          // that it is, if any
  };

  // kernel_function.cpp: functions, regions and names
  KernelFunction region(const Body& body);
  void call_directly(KernelFunction& inner, const std::string& count);
  void launch(KernelFunction& inner, const Body& body, const std::string& count, const std::string& grain);
  void parallel_loop(const Stmt& stmt);
  std::string assemble(int events, bool is_region);
  void write_inner(Code& out, bool is_region);
  void write_outer(Code& out, int events, bool is_region);
  void write_symbols(Code& out) const;
  void place_scratch();
  std::string parameter_text(bool is_region) const;
  void recompute(TempId temp);
  void check_scratch_is_local();
  void fail_with(std::string detail);
  Dim resolve(Dim d);  // with fixed symbols and unrolled variables
  Dim with_given(Dim d);
  Dim given(Dim d);
  std::vector<BufferId> passed_buffers() const;
  void take_given();
  void add_region(KernelFunction& inner, const std::string& text);
  std::string dim(Dim d);
  Dim named_divisions(Dim d);
  int own_variable();
  std::string printed(Dim d);
  std::optional<int64_t> known(Dim d) { return copy_.dims.as_constant(resolve(d)); }
  std::string variable(Dim var) const;
  std::string address(const Address& address);
  std::string buffer(BufferId id);
  BufferId memory_of(BufferId id) const { return copy_.program.memory_of(id); }
  DType dtype(TempId temp) const { return copy_.program.temps[static_cast<size_t>(temp)]; }
  std::string type(TempId temp) const { return dtype_info(dtype(temp)).emitted; }
  const Buffer& buffer_info(BufferId id) const { return copy_.program.buffers[static_cast<size_t>(id)]; }

  // emit_stmt.cpp: one writer per kind of statement
  using Writer = void (KernelFunction::*)(const Stmt&);
  static Writer writer(StmtKind kind);
  void write(const Body& body);
  void write(const Body& body, size_t place);
  void write_plain(const Body& body, size_t place);
  void write(const Stmt& stmt) { (this->*writer(stmt.kind))(stmt); }
  void loop(const Stmt& stmt);
  void tile(const Stmt& stmt);
  void repeat(const Stmt& stmt);
  void plain_repeat(const Stmt& stmt);
  static std::string break_if_interrupted(const std::string& iteration);
  void constant(const Stmt& stmt);
  void index(const Stmt& stmt);
  virtual void input(const Stmt& stmt);
  void load(const Stmt& stmt);
  void store(const Stmt& stmt);
  bool may_be_foreseen(const Stmt& comparison, size_t operand) const;
  bool may_give_constant(const Stmt& stmt, size_t operand) const;
  bool is_of_constants(TempId temp) const;
  bool is_narrow_mask(TempId temp, int size) const;
  bool chooses_constants(const Stmt& stmt) const;
  bool is_chosen_alone(TempId temp) const;
  bool is_loaded(TempId temp) const;
  void compute(const Stmt& stmt);
  void gather(const Stmt& stmt);
  void scatter(const Stmt& stmt);
  std::string indexed_address(const Stmt& stmt, size_t first);
  void declare(const Stmt& stmt);
  void assign(const Stmt& stmt);
  void call(const Stmt& stmt);
  void call_for_one(const Body& body, size_t place);
  void gufunc(const Stmt& stmt);

  // emit_lanes.cpp: argmin and argmax of many elements side by side
  bool has_lanes(const Stmt& stmt);
  void lanes(const Stmt& stmt, const std::string& first, const std::string& last);
  std::optional<size_t> reduced_in_lanes(const Body& body, Dim lane);
  void lanes_of_reduction(const Stmt& stmt, size_t reduction);
  bool is_near(const Body& body, Dim lane);
  std::optional<int64_t> stride_over(Dim offset, Dim variable);
  const Stmt* streamed_store(const Stmt& loop);
  void begin_strip(const Stmt& loop, const Stmt& store);
  void end_strip(const Stmt& store);

  // emit_masked.cpp: loops that pass over elements no mask selects
  std::optional<MaskedLoop> passes_over(const Stmt& stmt) const;
  void loop_in_halves(const Stmt& stmt, const MaskedLoop& halves, const std::string& first, const std::string& last);
  std::string open_strip(const Stmt& stmt);
  void first_half(const Stmt& stmt, const MaskedLoop& halves, bool by_squares);
  const Stmt& modulus_of(const Stmt& comparison, const MaskedLoop& halves) const;
  void compare_squares(const Stmt& comparison, const MaskedLoop& halves);
  void write_limits(const MaskedLoop& halves);
  void second_half(const Stmt& stmt, const MaskedLoop& halves);

  // emit_vectors.cpp: repeated loops over lanes in vectors
  void repeat_in_groups(const Stmt& stmt, const VectorLoop& loop);
  void repeat_in_vectors(const Stmt& stmt, const VectorLoop& loop);
  void load_vectors(const VectorLoop& loop);
  void iterate_vectors(const Stmt& stmt, const VectorLoop& loop);
  void check_ended_lanes(const Stmt& stmt, const VectorLoop& loop);
  void store_vectors(const VectorLoop& loop);
  void store_assigned(const Stmt& stmt, const VectorLoop& loop, const VectorLoop::Assigned& assigned);
  void write_sources(const VectorLoop& loop, const std::vector<TempId>& temps);
  void open_vectors(const VectorLoop& loop);

  // emit_interleaved.cpp: loops over complex numbers in vectors of whole numbers
  std::optional<DType> interleaved(const Stmt& loop);
  std::string elements(const Stmt& stmt, TempId number, const Stmt& loop);
  void interleaved_loop(const Stmt& stmt, DType dtype, const std::string& first, const std::string& last);
  void write_interleaved(const Stmt& stmt, const Stmt& loop);

  void plain_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  // A variable of which base + variable is divided.
  struct Period {
    Dim base, length;
  };
  std::optional<Period> period_of(const Stmt& loop);
  void enter_period(const Stmt& stmt, const Period& period, int round, int place);
  void leave_period(const Stmt& stmt, int round, int place);
  void loop_by_periods(const Stmt& stmt, const Period& period, const std::string& first, const std::string& last);
  void counted_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  void tiled_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  virtual void define(const Stmt& stmt, const std::string& value);
  void keep(const Stmt& stmt);  // shows the value to the sink if its computation has to stay
  void library_call(const Stmt& stmt, const std::string& function, std::vector<std::string> dims,
                    std::vector<std::string> strides);
  // The extent when the loop over it is to be written out, with room for it in the function's budget.
  std::optional<int64_t> straight_extent(const Stmt& stmt, int64_t most);
  // Whether nothing of a body becomes a loop, a call or a store to scratch.
  bool is_straight(const Body& body);
  bool fills_tile(const Stmt& loop);
  void straight(const Stmt& stmt, int64_t count, const std::function<void(int64_t)>& after_element);

  // emit_record.cpp: text that notes which site had which event
  std::map<int, int> sites_of(const Body& body);
  void recorded(const Body& body, size_t place);
  void in_one_unit(const Body& body, const std::map<int, int>& sites, const std::function<void()>& text);
  bool has_stray_flags(const Body& body) const;
  std::string flags_suffix(const Body& body);
  bool has_events(const Stmt& repeat);
  bool has_repeat(const Body& body);
  const Stmt* repeat_in(const Body& body);
  void loop_over_tiles(const Stmt& stmt, const std::string& first, const std::string& last);
  void recorded_tile(const Body& body);
  void recorded_repeat(const Stmt& stmt);
  std::string record_text(int site, const std::string& events) const;
  void recorded_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  void fast_loop(const Stmt& stmt, const std::string& first, const std::string& last);
  bool has_pieces(const Stmt& stmt);
  void loop_by_pieces(const Stmt& stmt, const std::string& first, const std::string& last);
  void write_pieces(const Stmt& stmt, const std::string& first, const std::string& last);
  bool has_parts(TempId temp) const { return dtype_kind(dtype(temp)) == 'c'; }

  // emit_reduce.cpp
  void pairwise(const Stmt& stmt);
  void masked_pairwise(const Stmt& stmt);
  void list(const Stmt& stmt);
  void fold(const Stmt& stmt);
  void argreduce(const Stmt& stmt);
  void element(const Stmt& stmt, const std::string& name, const std::string& type, const std::string& value);
  void element_by_period(const Stmt& stmt, const Period& period, const std::string& name, const std::string& type,
                         const std::string& value);
  bool straight_pairwise(const Stmt& stmt);
  std::string tree(const Stmt& stmt, const std::string& begin, const std::string& count);
  void write_source(const Stmt& stmt);
  std::optional<std::string> contiguous_source(const Stmt& stmt);
  std::string combined(const Stmt& stmt, const std::string& a, const std::string& b);
  bool is_extreme_of_floats(const Stmt& stmt) const;
  bool may_pass_over(const Stmt& stmt);
  bool stops_early(const Stmt& stmt);
  std::string folded(const Stmt& stmt, const std::string& first, const std::string& begin, const std::string& end);
  void divided(const Stmt& stmt);
  void divided_pairwise(const Stmt& stmt);
  void divided_chunks(const Stmt& stmt);
  void divided_fold(const Stmt& stmt);
  void divided_argreduce(const Stmt& stmt);
  struct Extremes {
    Stmt stmt;          // without the roots, if any
    bool roots;         // compared are the roots of its elements
    std::string order;  // arguments of RootOrder, or the element type
    std::string type() const;
  };
  Extremes write_beats(const Stmt& stmt);
  std::optional<Stmt> over_squares(const Stmt& stmt) const;
  std::optional<Stmt> over_bools(const Stmt& stmt);
  void write_folded(const Stmt& stmt);
  std::string extreme(const Stmt& stmt, const std::string& begin, const std::string& end);
  void launch_tasks(const Stmt& stmt, const std::string& total, const std::function<std::string(KernelFunction&)>& task,
                    const std::string& settled = "");

  Copy& copy_;
  const Nest& nest_;
  std::string name_;
  GivenDims *given_, *of_regions_;
  std::map<std::string, std::string> known_regions_;  // names by text
  std::set<int> given_used_;                          // those that the text names
  Code code_{1};
  std::map<int, Dim> unrolled_;       // variable, value
  IndexRanges ranges_{copy_.dims};    // of the variables of loops around
  std::map<int32_t, int> divisions_;  // quotients and remainders that are worked out ahead of all loops, and their numbers
  std::vector<std::string> divided_;  // texts of these
  bool names_divisions_ = false;
  int own_variables_ = 0;              // of loops that only the text has
  std::set<int> symbols_;              // symbols the text names
  std::set<BufferId> buffers_;         // buffers the text names
  std::set<BufferId> stack_, heap_;    // scratch among them
  std::vector<Parameter> parameters_;  // of a region: members of its arguments
  std::string before_;                 // text of inner functions
  int64_t written_out_ = 1;            // copies of a statement that unrolling makes here
  int regions_ = 0;
  bool has_sink_ = false;
  bool in_unit_ = false;     // inside text whose events are recorded together
  bool is_pinned_ = false;   // what is computed is to be done right there
  bool in_rows_ = false;     // inside a loop that runs tile by tile and whose iterations have rows for their events
  bool in_vectors_ = false;  // inside a loop that g++ is to make vectors of
  bool has_lanes_ = false;
  std::optional<int> group_lane_;  // the variable of loops over lanes while they are written for a group of them
  std::string strip_address_;      // where the only store goes instead
  bool in_lanes_ = false;          // argmin and argmax are written without branches, and say in `open` that this is not enough
  std::optional<Failure> failure_;
};

// The text with the names of buffers, dims, temps and loop variables numbered in the order in which they come.
std::string with_numbered_names(const std::string& text);

// Whether the nest's function is part of its caller, so that it cannot be shared.
bool is_inlined(const Nest& nest);

// Temps that steps before a nest compute and its function gets, in this order.
std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest);

inline std::string temp_name(TempId temp) { return cat("t", temp); }

}  // namespace accel
