#include "schedule/loops/numbering.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace accel {

namespace {

// The new numbers of the variables of one nest.
class Numbering {
 public:
  explicit Numbering(DimTable& dims) : dims_(dims) {}

  // Renumbers a nest; returns whether any number changed.
  bool number(Nest& nest) {
    visit(nest.body);
    replace(nest.work);
    return std::any_of(numbers_.begin(), numbers_.end(), [](const auto& entry) { return entry.first != entry.second; });
  }

 private:
  void visit(Body& body) {
    for (Stmt& stmt : body) {
      for (Dim* variable : {&stmt.var, &stmt.count}) add(*variable);
      for (Dim* d : {&stmt.var, &stmt.count, &stmt.extent, &stmt.address.offset, &stmt.dim}) replace(*d);
      for (CallOperand& operand : stmt.operands) {
        replace(operand.address.offset);
        replace(operand.stride);
      }
      for (auto* list : {&stmt.core_dims, &stmt.core_strides})
        for (Dim& d : *list) replace(d);
      visit(stmt.body);
    }
  }

  // Assigns the next number; loops in sequence may share a variable, which keeps its first number.
  void add(Dim variable) {
    if (variable.id < 0) return;
    const int number = DimTable::first_variable + static_cast<int>(numbers_.size());
    if (numbers_.try_emplace(*dims_.as_symbol(variable), number).second) replaced_.clear();
  }

  void replace(Dim& d) {
    if (d.id < 0) return;
    auto [known, is_new] = replaced_.try_emplace(d.id);
    if (is_new) {
      known->second = dims_.substitute(d, [&](int symbol) -> std::optional<Dim> {
        auto found = numbers_.find(symbol);
        return found == numbers_.end() ? std::nullopt : std::optional(dims_.symbol(found->second));
      });
    }
    d = known->second;
  }

  DimTable& dims_;
  std::map<int, int> numbers_;
  std::unordered_map<int32_t, Dim> replaced_;  // cache of substitutions, valid for the current numbers
};

}  // namespace

Result<bool> number_variables(ProgramState& state) {
  bool changed = false;
  for (Nest& nest : state.program.nests) changed = Numbering(state.program.dims).number(nest) || changed;
  return changed;
}

}  // namespace accel
