// Algebraic identities that keep every bit and every floating-point event: chains of views, casts and copies without effect,
// constants known at capture.

#include <algorithm>

#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

// A rule may rewrite `node` in place (returns true), or set `same` to a value of the same type that equals the result.
struct Rewrite {
  Graph& graph;
  Node& node;
  const std::vector<bool>& bases;  // by value: memory that stores go to
  ValueId same = no_value;

  const Type& result() const { return graph.type(node.results[0]); }
  ValueId operand() const { return node.operands[0]; }
  // The operand's producer when it is an `op`, else null. The views of a store end at its base, so the operands of the base are
  // not looked at.
  const Node* inner(Op op) const {
    if (graph.is_input(operand()) || bases[static_cast<size_t>(operand())]) return nullptr;
    const Node& producer = graph.producer(operand());
    return producer.op == op ? &producer : nullptr;
  }
};

using Rule = bool (*)(Rewrite&);

// view(view(x)) of one kind where the outer view alone says what the result is: reshape, broadcast_to.
bool skip_inner_view(Rewrite& r) {
  const Node* inner = r.inner(r.node.op);
  if (!inner) return false;
  r.node.operands = inner->operands;
  return true;
}

bool join_transposes(Rewrite& r) {
  const Node* inner = r.inner(Op::transpose);
  if (!inner) return false;
  for (int& axis : r.node.attrs.axes) axis = inner->attrs.axes[static_cast<size_t>(axis)];
  r.node.operands = inner->operands;
  return true;
}

// transpose(x) that keeps every axis in place.
bool drop_plain_transpose(Rewrite& r) {
  if (std::is_sorted(r.node.attrs.axes.begin(), r.node.attrs.axes.end())) r.same = r.operand();
  return false;
}

bool drop_squeeze_of_expand(Rewrite& r) {
  const Node* inner = r.inner(Op::expand_dims);
  if (inner && inner->attrs.axes == r.node.attrs.axes) r.same = inner->operands[0];
  return false;
}

bool drop_without_axes(Rewrite& r) {
  if (r.node.attrs.axes.empty()) r.same = r.operand();
  return false;
}

bool drop_full_slice(Rewrite& r) {
  auto all = [&](const std::vector<Dim>& dims, int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [&](Dim d) { return r.graph.dims.is_constant(d, value); });
  };
  if (all(r.node.attrs.dims, 0) && all(r.node.attrs.steps, 1)) r.same = r.operand();
  return false;
}

// An op that gives back its operand (the types are compared by the caller).
bool drop_identity(Rewrite& r) {
  r.same = r.operand();
  return false;
}

bool drop_real_conjugate(Rewrite& r) {
  if (dtype_kind(r.result().dtype) != 'c') r.same = r.operand();
  return false;
}

void become_constant(Rewrite& r, Literal literal) {
  r.node.op = Op::constant;
  r.node.operands.clear();
  r.node.attrs = Attributes{};
  r.node.attrs.literal = literal;
}

bool fold_dim(Rewrite& r) {
  auto value = r.graph.dims.as_constant(r.node.attrs.dims[0]);
  if (!value) return false;
  become_constant(r, Literal::of_int(DType::int64, *value));
  return true;
}

// astype(constant) where the constant has the same value in the new dtype.
bool fold_cast(Rewrite& r) {
  const Node* inner = r.inner(Op::constant);
  DType to = r.result().dtype;
  if (!inner || dtype_kind(inner->attrs.literal.dtype) != 'i') return false;
  int64_t value = inner->attrs.literal.as_int();
  char kind = dtype_kind(to);
  if (kind == 'i' || kind == 'u' || kind == 'b') {
    Literal literal = Literal::of_int(to, value);
    if (literal.as_int() != value || (kind == 'u' && value < 0)) return false;
    become_constant(r, literal);
    return true;
  }
  Literal literal = Literal::of_double(to, static_cast<double>(value));
  constexpr int64_t exact = int64_t{1} << 53;
  if (value < -exact || value > exact || literal.as_complex() != static_cast<double>(value)) return false;
  become_constant(r, literal);
  return true;
}

// A call sees the elements of its operands: copies of them are not needed.
bool skip_copied_operands(Rewrite& r) {
  bool changed = false;
  for (ValueId& v : r.node.operands) {
    while (!r.graph.is_input(v) && r.graph.producer(v).op == Op::copy) {
      ValueId copied = r.graph.producer(v).operands[0];
      if (r.graph.type(copied) != r.graph.type(v)) break;
      v = copied;
      changed = true;
    }
  }
  return changed;
}

constexpr struct {
  Op op;
  Rule rule;
} rules[] = {
    {Op::reshape, skip_inner_view},
    {Op::reshape, drop_identity},
    {Op::broadcast_to, skip_inner_view},
    {Op::broadcast_to, drop_identity},
    {Op::transpose, join_transposes},
    {Op::transpose, drop_plain_transpose},
    {Op::squeeze, drop_without_axes},
    {Op::squeeze, drop_squeeze_of_expand},
    {Op::expand_dims, drop_without_axes},
    {Op::call, skip_copied_operands},
    {Op::slice, drop_full_slice},
    {Op::astype, drop_identity},
    {Op::astype, fold_cast},
    {Op::positive, drop_identity},
    {Op::conjugate, drop_real_conjugate},
    {Op::dim, fold_dim},
};

class Simplifier {
 public:
  explicit Simplifier(Graph& graph)
      : graph_(graph),
        returned_(returned_values(graph)),
        replacement_(no_replacement(graph)),
        bases_(graph.values.size(), false) {
    for (const Node& node : graph.nodes)
      if (op_info(node.op).op_class == OpClass::update) bases_[static_cast<size_t>(node.operands[0])] = true;
    while (pass_bases_on()) {
    }
  }

  bool run() {
    for (Block& block : graph_.blocks) {
      for (NodeId n : block.nodes) simplify(graph_.nodes[static_cast<size_t>(n)]);
    }
    if (replaced_) replace_uses(graph_, replacement_);
    return changed_;
  }

 private:
  // Operands come first in program order, so one walk sees simplified operands.
  void simplify(Node& node) {
    for (ValueId& v : node.operands) v = replacement_[static_cast<size_t>(v)];
    for (const auto& row : rules) {
      if (node.op != row.op) continue;
      Rewrite rewrite{graph_, node, bases_};
      changed_ |= row.rule(rewrite);
      if (rewrite.same != no_value && replace(node, rewrite.same)) return;
    }
  }

  // What a block gives to another one is stored to where the other block's parameter is. Whether there was such a value.
  bool pass_bases_on() {
    bool found = false;
    for (const Block& block : graph_.blocks) {
      for (int edge = 0; edge < target_count(block.terminator); ++edge) {
        const std::vector<ValueId>& given = block.terminator.target_arguments[edge];
        const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(block.terminator.targets[edge])].params;
        for (size_t k = 0; k < params.size(); ++k) {
          if (!bases_[static_cast<size_t>(params[k])] || bases_[static_cast<size_t>(given[k])]) continue;
          bases_[static_cast<size_t>(given[k])] = found = true;
        }
      }
    }
    return found;
  }

  bool replace(const Node& node, ValueId same) {
    ValueId result = node.results[0];
    // A store to memory of its own leaves the operand as it is.
    if (bases_[static_cast<size_t>(result)] && op_info(node.op).op_class != OpClass::view) return false;
    if (returned_[static_cast<size_t>(result)] || graph_.type(result) != graph_.type(same)) return false;
    if (replacement_[static_cast<size_t>(result)] == same) return true;
    replacement_[static_cast<size_t>(result)] = same;
    if (bases_[static_cast<size_t>(result)]) bases_[static_cast<size_t>(same)] = true;
    replaced_ = changed_ = true;
    return true;
  }

  Graph& graph_;
  std::vector<bool> returned_;
  std::vector<ValueId> replacement_;
  std::vector<bool> bases_;
  bool replaced_ = false;
  bool changed_ = false;
};

}  // namespace

bool simplify(Graph& graph) { return Simplifier(graph).run(); }

}  // namespace accel
