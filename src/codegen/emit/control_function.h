#pragma once
// ControlFunction: the function that runs the blocks of a program: scalar steps are its own statements, nests are called.

#include "codegen/analysis/failures.h"
#include "codegen/emit/kernel_function.h"

namespace accel {

// A function of a nest, for the values that `fixed` gives symbols.
struct NestFunction {
  std::string name;
  std::vector<BufferId> buffers;  // that its body gets
  std::vector<std::pair<int, int64_t>> fixed;
  bool is_shared = false;         // by nests that differ in what they give it: buffers, temps and then `dims`
  std::vector<std::string> dims;  // DimTable::text()
};

class ControlFunction : private KernelFunction {
 public:
  // `nests`: functions of this copy's nests in the order of Program::nests; of each the first one that fits is called, and the
  // last one fits always.
  ControlFunction(Copy& copy, const std::vector<std::vector<NestFunction>>& nests, std::string name);

  // Text of `static void <name>(Frame* frame, Kept* kept)`.
  Result<std::string> write_program();

 private:
  // control_loops.cpp: loops whose iterations threads share
  ControlFunction(const ControlFunction& whole, const ParallelLoop& loop, std::string name);
  Status write_loops();
  Result<std::string> write_loop();
  void write_part(Code& out);
  std::vector<TempId> temps_for(const ParallelLoop& loop) const;
  void share(size_t number);
  void run_loop(size_t number, const ParallelLoop& loop);
  void keep_written(const ParallelLoop& loop);
  bool is_own(BufferId id) const;
  bool is_bound(int symbol) const;
  std::optional<size_t> loop_entered(size_t from, int target) const;
  int leaves(const ParallelLoop& loop) const;

  void find_shared();
  std::string effort() const;
  void open_blocks(Code& out, const std::string& parameters);
  void close_blocks(Code& out);
  void write_locals(Code& out);
  std::string blocks_text() const;
  void write_wrapper(Code& out);
  std::string elements_text(BufferId id);
  void write_block(size_t number);
  bool is_under_branch(size_t number) const;
  bool has_hidden_events(const ProgramBlock& block) const;
  void scalars(const BlockStep& step);
  void forget_panels(const Stmt& stmt);
  void run(const BlockStep& step);
  void call_nest(size_t number);
  std::string label(size_t from, int target) const;
  void go(size_t from, int which);
  void define(const Stmt& stmt, const std::string& value) override;
  void input(const Stmt& stmt) override;
  std::string dims_text(const std::vector<Dim>& dims);
  void refresh(BufferId id);
  void stop_unless(const std::string& condition);
  std::string events_text() const;

  // control_polls.cpp
  void find_polls();
  Turns turns_of_loop(const std::vector<size_t>& blocks, const std::set<size_t>& headers) const;
  std::string turns_text(const Turns& turns);
  std::string time_to_ask(TempId question);
  bool asks_itself(const ProgramBlock& block) const;
  std::optional<size_t> asked_by(const ProgramBlock& exit) const;
  bool is_counted(size_t header, size_t latch) const;
  void find_strip(size_t header, size_t latch, size_t statements);
  void write_poll(size_t from, const std::string& condition);
  void end_strip(size_t number);
  std::optional<int64_t> known_number(const ProgramBlock& block, TempId temp) const;
  bool ends_soon(size_t header, size_t latch, const Stmt& test) const;
  int64_t step_of(size_t header, size_t latch, TempId counter) const;
  bool is_inside(size_t latch, int block, size_t header) const;
  const Stmt* computation(const ProgramBlock& block, TempId temp) const;

  // control_exits.cpp
  void exit(const ProgramBlock& block);
  void find_homes();
  void save(TempId temp);
  void give_by_table(const ProgramBlock& block);
  void write_exit_tables(Code& out) const;

  // control_memory.cpp
  void find_fixed();
  void find_held();
  void pass_edge(size_t from, const Edge& edge, std::vector<std::optional<std::set<BufferId>>>& at_start,
                 std::vector<size_t>& open);
  std::set<BufferId> written_by(const BlockStep& step) const;
  void protect(size_t block, size_t step);
  void grow(const BlockStep& step);
  bool knows_memory_after(size_t block, size_t step);
  std::string hold_memory_after(size_t block, size_t step, std::string condition);
  void keep_input(BufferId id);
  std::string keep_call(const std::string& kept, BufferId id);
  void hold(BufferId id);
  std::string hold_text(BufferId id, const std::string& otherwise);
  bool is_in_place(const ExitOutput& output) const;

  // control_calls.cpp
  void boxed(const Stmt& stmt);
  bool is_received_output(const Stmt& stmt) const;
  void receive_array(const Stmt& stmt, const std::string& numbers);
  void boxed_call(const Stmt& stmt, const std::string& number);

  const Program& program_;
  const std::vector<std::vector<NestFunction>>& nests_;
  std::set<TempId> shared_;                    // declared at the top of the function
  std::map<std::string, std::string> inputs_;  // scalar inputs: name, text of its value
  std::set<BufferId> held_;                    // buffers that have memory at this point
  std::vector<std::set<BufferId>> held_at_start_;
  std::set<BufferId> fixed_;  // buffers whose memory is the same from start to end
  std::vector<BufferId> protected_;
  PolledEdges polls_;
  std::set<std::pair<size_t, int>> back_edges_;  // block, number
  std::map<TempId, Turns> questions_;            // by conditions of blocks that ask themselves: what an iteration counts for
  std::set<std::pair<size_t, int>> optional_polls_;  // no reason to keep memory that is written: a run may have to go on
  // Short counted loops whose iterations run in strips, by header: the run is asked after each.
  struct Strip {
    size_t latch = 0;
    long length = 0;  // added to the counter
    TempId counter = -1, end = -1;
    Dim fixed_end;  // an end that is the same in the whole run
  };
  std::map<size_t, Strip> strips_;
  std::map<TempId, int> homes_;  // numbers that exits hand over from memory: where they are there; empty: each writes its own
  // By exit, in the order in which they are written: for each output from `first` on the memory that it is taken from.
  struct ExitTable {
    int first = 0, parent = -1;
    std::vector<int> homes;                    // no_home: an output of another kind
    std::vector<std::pair<int, int>> changes;  // what differs from the parent: output - first, home
  };
  std::vector<ExitTable> exit_tables_;
  bool has_draws_ = false, holds_by_call_ = false, has_loops_ = true;
  int events_ = 0;                           // of scalar steps
  const ParallelLoop* loop_ = nullptr;       // the function runs a part of its iterations; null: the whole program
  std::vector<std::set<int>> loop_symbols_;  // of the whole program's loops: symbols that their functions name
};

// Whether a buffer gets its memory from control flow.
bool needs_holding(const Buffer& buffer);
// Slots for symbols, with those that schedule binds behind those of the caller.
long symbol_room(const Program& program);
// Buffers that `protect` steps name, ascending.
std::vector<BufferId> protected_buffers(const Program& program);

}  // namespace accel
