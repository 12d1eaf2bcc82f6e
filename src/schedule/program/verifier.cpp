#include "schedule/program/verifier.h"

#include <set>
#include <string>
#include <vector>

namespace accel {

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program),
        dims_(program.dims),
        visible_(program.temps.size(), false),
        bound_(program.bound_symbols.begin(), program.bound_symbols.end()) {}

  Status verify() {
    check_buffers();
    find_shared_temps();
    for (size_t k = 0; k < program_.nests.size() && error_.empty(); ++k) {
      place_ = "nest " + std::to_string(k);
      check_body(program_.nests[k].body);
    }
    for (size_t k = 0; k < program_.blocks.size() && error_.empty(); ++k) {
      place_ = "block " + std::to_string(k);
      check_block(program_.blocks[k]);
    }
    place_ = "program";
    check_lists();
    if (error_.empty()) return Unit{};
    return fail(Reason::internal_error, "malformed program: " + error_);
  }

 private:
  void require(bool holds, const char* what) {
    if (!holds && error_.empty()) error_ = place_ + ": " + what;
  }
  template <class List>
  static bool is_index(int k, const List& list) {
    return k >= 0 && static_cast<size_t>(k) < list.size();
  }
  void require_temp(TempId t) { require(is_index(t, program_.temps), "no such temp"); }
  void require_buffer(BufferId b) { require(is_index(b, program_.buffers), "no such buffer"); }
  void require_block(int b) { require(is_index(b, program_.blocks), "no such block"); }

  void check_buffers() {
    place_ = "buffers";
    for (const Buffer& buffer : program_.buffers) {
      check_dim(buffer.elements);
      if (buffer.kind != BufferKind::alias) continue;
      require_buffer(buffer.binding);
      require(error_.empty() && program_.memory_of(buffer.binding) == buffer.binding, "a name of a name");
    }
  }

  // Temps that scalar steps and edges assign are visible everywhere, as the order of blocks is not known here.
  void find_shared_temps() {
    for (const ProgramBlock& block : program_.blocks) {
      for (const BlockStep& step : block.steps)
        for (const Stmt& stmt : step.body) share(stmt.dst);
      for (const Edge& edge : block.edges)
        for (const auto& [parameter, value] : edge.scalars) share(parameter);
    }
  }
  void share(TempId t) {
    if (is_index(t, program_.temps)) visible_[static_cast<size_t>(t)] = true;
  }

  // Temps of a body are visible to its end and to the statement that owns it.
  void check_body(const Body& body, const Stmt* of = nullptr) {
    std::vector<TempId> computed;
    for (const Stmt& stmt : body) {
      check(stmt);
      if (stmt.dst < 0) continue;
      require_temp(stmt.dst);
      if (!error_.empty()) return;
      if (visible_[static_cast<size_t>(stmt.dst)]) continue;
      visible_[static_cast<size_t>(stmt.dst)] = true;
      computed.push_back(stmt.dst);
    }
    if (of) check_args(*of);
    for (TempId t : computed) visible_[static_cast<size_t>(t)] = false;
  }

  void check(const Stmt& stmt) {
    check_dim(stmt.extent);
    std::vector<int> opened;
    for (Dim variable : {stmt.var, stmt.count}) open(variable, opened);
    check_address(stmt.address);
    if (stmt.kind != StmtKind::bind) check_dim(stmt.dim);
    for (const CallOperand& operand : stmt.operands) {
      check_address(operand.address);
      check_dim(operand.stride);
    }
    for (const auto* list : {&stmt.core_dims, &stmt.core_strides})
      for (Dim d : *list) check_dim(d);
    if (stmt.kind == StmtKind::call || stmt.kind == StmtKind::gufunc)
      require(is_index(stmt.import, program_.imports), "no such import");
    if (stmt.body.empty())
      check_args(stmt);
    else
      check_body(stmt.body, &stmt);
    for (int symbol : opened) variables_.erase(symbol);
  }

  void open(Dim variable, std::vector<int>& opened) {
    if (variable.id < 0) return;
    const std::optional<int> symbol = dims_.as_symbol(variable);
    require(symbol && DimTable::is_variable(*symbol), "a loop over what is no variable");
    if (!error_.empty()) return;
    require(variables_.insert(*symbol).second, "a loop over the variable of a loop around it");
    opened.push_back(*symbol);
  }

  void check_args(const Stmt& stmt) {
    for (TempId t : stmt.args) {
      require_temp(t);
      require(!error_.empty() || visible_[static_cast<size_t>(t)], "a temp that is used before it is computed");
    }
  }

  void check_address(const Address& address) {
    if (address.buffer >= 0) require_buffer(address.buffer);
    check_dim(address.offset);
  }

  void check_dim(Dim d) {
    if (d.id < 0 || !error_.empty()) return;
    for (int symbol : dims_.symbols(d)) {
      const bool is_known = symbol < program_.symbol_count || bound_.contains(symbol) || variables_.contains(symbol);
      if (!is_known) require(false, DimTable::is_variable(symbol) ? "a variable outside of its loop" : "no such symbol");
    }
  }

  void check_block(const ProgramBlock& block) {
    for (const BlockStep& step : block.steps) {
      if (step.kind == StepKind::nest) require(is_index(step.nest, program_.nests), "no such nest");
      if (step.kind == StepKind::grow || step.kind == StepKind::protect) require_buffer(step.buffer);
      check_dim(step.elements);
      check_body(step.body);
    }
    if (block.end == BlockEnd::branch) require_temp(block.condition);
    const int edges = block.end == BlockEnd::exit ? 0 : block.end == BlockEnd::jump ? 1 : 2;
    for (int k = 0; k < edges; ++k) check_edge(block.edges[k]);
    for (const ExitOutput& output : block.outputs) {
      require((output.buffer >= 0) != (output.scalar >= 0), "an output that is not one thing");
      output.buffer >= 0 ? require_buffer(output.buffer) : require_temp(output.scalar);
      for (Dim d : output.shape) check_dim(d);
    }
  }

  void check_edge(const Edge& edge) {
    require_block(edge.target);
    for (const auto& [parameter, value] : edge.scalars) {
      require_temp(parameter);
      require_temp(value);
    }
    for (const auto& [a, b] : edge.swaps) {
      require_buffer(a);
      require_buffer(b);
    }
  }

  void check_lists() {
    for (BufferId id : program_.early) require_buffer(id);
    for (const Variant& variant : program_.variants)
      for (int nest : variant.nests) require(is_index(nest, program_.nests), "a variant of no nest");
    for (const ParallelLoop& loop : program_.parallel_loops) {
      require_block(loop.header);
      for (int b : loop.blocks) require_block(b);
      require_temp(loop.counter);
      for (const auto* list : {&loop.own, &loop.written})
        for (BufferId id : *list) require_buffer(id);
    }
  }

  const Program& program_;
  const DimTable& dims_;
  std::vector<bool> visible_;  // by temp
  std::set<int> bound_;
  std::set<int> variables_;  // variables of open loops
  std::string place_, error_;
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).verify(); }

}  // namespace accel
