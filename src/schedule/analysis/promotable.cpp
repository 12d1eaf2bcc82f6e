#include "schedule/analysis/promotable.h"

#include <algorithm>

#include "ir/analysis/integers.h"
#include "schedule/analysis/index_maps.h"

namespace accel {

namespace {

constexpr size_t most_elements = 8;

// Whether a value of this dtype has the same bits in a register as in memory.
bool stays_exact(DType dtype) {
  return is_integer_dtype(dtype) || dtype == DType::float32 || dtype == DType::float64 || dtype == DType::complex64 ||
         dtype == DType::complex128;
}

class Search {
 public:
  Search(Graph& graph, const NaturalLoop& loop)
      : graph_(graph), loop_(loop), before_(predecessors(graph)), bindings_(bound_symbols(graph)) {}

  std::optional<PromotableElements> run() {
    if (!has_plain_body() || !find_entry()) return std::nullopt;
    const std::vector<ValueId>& params = block(loop_.header).params;
    for (size_t k = 0; k < params.size(); ++k) {
      const Type& type = graph_.type(params[k]);
      if (type.rank() == 0 || !stays_exact(type.dtype)) continue;
      out_.param = params[k];
      out_.start = block(out_.entry.from).terminator.target_arguments[out_.entry.number][k];
      if (graph_.type(out_.start) != graph_.type(out_.param)) continue;
      find_versions();
      if (find_stores() && are_in_line() && has_plain_uses() && is_proved()) return out_;
    }
    return std::nullopt;
  }

 private:
  const Block& block(BlockId b) const { return graph_.blocks[static_cast<size_t>(b)]; }
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  bool is_inside(BlockId b) const { return loop_.blocks.contains(b); }
  bool is_version(ValueId v) const { return out_.versions.contains(v); }
  bool is_store(const Node& each) const { return each.op == Op::store && is_version(each.operands[0]); }

  bool is_plain(const Node& each) const {
    if (is_view(each.op)) return true;
    if (each.op == Op::store) return each.operands.size() == 3 && graph_.type(each.operands[1]).rank() == 0;
    bool is_number = op_class(each.op) == OpClass::leaf || op_class(each.op) == OpClass::pointwise;
    return is_number && graph_.type(each.results[0]).rank() == 0;
  }

  bool has_plain_body() const {
    return std::all_of(loop_.blocks.begin(), loop_.blocks.end(), [&](BlockId b) {
      return std::all_of(block(b).nodes.begin(), block(b).nodes.end(), [&](NodeId n) { return is_plain(node(n)); });
    });
  }

  bool find_entry() {
    for (BlockId from : before_[static_cast<size_t>(loop_.header)]) {
      if (is_inside(from)) continue;
      const Terminator& t = block(from).terminator;
      bool both = target_count(t) == 2 && t.targets[0] == t.targets[1];
      if (out_.entry.from >= 0 || both) return false;
      out_.entry = {from, t.targets[0] == loop_.header ? 0 : 1};
    }
    return out_.entry.from >= 0;
  }

  // --- versions -----------------------------------------------------------------------------------------------------------

  void find_versions() {
    out_.versions = {out_.param};
    for (bool again = true; again;) {
      size_t size = out_.versions.size();
      for (BlockId b : loop_.blocks) {
        for (NodeId n : block(b).nodes)
          if (is_store(node(n))) out_.versions.insert(node(n).results[0]);
        add_params(block(b).terminator);
      }
      again = out_.versions.size() != size;
    }
  }

  void add_params(const Terminator& t) {
    for (int edge = 0; edge < target_count(t); ++edge) {
      if (!is_inside(t.targets[edge])) continue;
      const std::vector<ValueId>& given = t.target_arguments[edge];
      for (size_t k = 0; k < given.size(); ++k)
        if (is_version(given[k])) out_.versions.insert(block(t.targets[edge]).params[k]);
    }
  }

  // The index of the array's version in a list of parameters or arguments; nullopt if it is not among them.
  std::optional<size_t> index_in(const std::vector<ValueId>& values) const {
    auto found = std::find_if(values.begin(), values.end(), [&](ValueId v) { return is_version(v); });
    return found == values.end() ? std::nullopt : std::optional(static_cast<size_t>(found - values.begin()));
  }

  // Whether every point of the loop sees exactly one version of the array, and uses and passes on only that one.
  bool are_in_line() {
    std::map<BlockId, ValueId> begin;
    out_.end.clear();
    begin[loop_.header] = out_.param;
    for (size_t pass = 0; pass < loop_.blocks.size() && out_.end.size() < loop_.blocks.size(); ++pass)
      for (BlockId b : loop_.blocks) {
        if (out_.end.contains(b)) continue;
        auto at = begin.find(b);
        if (at == begin.end()) continue;
        std::optional<ValueId> last = walk(b, at->second);
        if (!last) return false;
        out_.end[b] = *last;
        const Terminator& t = block(b).terminator;
        for (int edge = 0; edge < target_count(t); ++edge) {
          if (!is_inside(t.targets[edge])) continue;
          std::optional<size_t> place = index_in(block(t.targets[edge]).params);
          begin.emplace(t.targets[edge], place ? block(t.targets[edge]).params[*place] : *last);
        }
      }
    return out_.end.size() == loop_.blocks.size() &&
           std::all_of(loop_.blocks.begin(), loop_.blocks.end(), [&](BlockId b) { return passes_version(b, begin); });
  }

  // The version at the end of a block that begins with `version`; nullopt if the block uses another one.
  std::optional<ValueId> walk(BlockId b, ValueId version) const {
    for (NodeId n : block(b).nodes) {
      const Node& each = node(n);
      for (ValueId v : each.operands)
        if (is_version(v) && v != version) return std::nullopt;
      if (is_store(each)) version = each.results[0];
    }
    return version;
  }

  // Whether each edge out of a block passes the block's last version exactly where the target expects the array.
  bool passes_version(BlockId b, const std::map<BlockId, ValueId>& begin) const {
    const Terminator& t = block(b).terminator;
    ValueId last = out_.end.at(b);
    for (int edge = 0; edge < target_count(t); ++edge) {
      const std::vector<ValueId>& given = t.target_arguments[edge];
      if (std::any_of(given.begin(), given.end(), [&](ValueId v) { return is_version(v) && v != last; })) return false;
      if (std::count(given.begin(), given.end(), last) > 1) return false;
      if (!is_inside(t.targets[edge])) continue;
      const std::vector<ValueId>& params = block(t.targets[edge]).params;
      std::optional<size_t> place = index_in(params);
      if (place ? given[*place] != last : begin.at(t.targets[edge]) != last) return false;
    }
    return true;
  }

  // --- uses ---------------------------------------------------------------------------------------------------------------

  // Collects the elements that the loop stores to; false when an index varies in the loop or there are too many.
  bool find_stores() {
    out_.stores.clear();
    elements_.clear();
    for (BlockId b : loop_.blocks)
      for (NodeId n : block(b).nodes) {
        const Node& each = node(n);
        if (!is_store(each)) continue;
        if (graph_.type(each.operands[2]).kind == ValueKind::array || !is_of_dtype(each.operands[1])) return false;
        Index index = index_of(each.operands[1]);
        if (std::find(elements_.begin(), elements_.end(), index) != elements_.end()) continue;
        if (elements_.size() == most_elements || !std::all_of(index.begin(), index.end(), [&](Dim d) { return is_fixed(d); }))
          return false;
        elements_.push_back(std::move(index));
        out_.stores.push_back(n);
      }
    return !elements_.empty();
  }

  Index index_of(ValueId view) { return element_behind_views(graph_.dims, graph_, view, {}).index; }
  bool is_of_dtype(ValueId view) const { return graph_.type(view).dtype == graph_.type(out_.param).dtype; }

  bool is_fixed(Dim d) const {
    std::vector<int> symbols = graph_.dims.symbols(d);
    return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) {
      auto bound = bindings_.find(symbol);
      return bound != bindings_.end() && is_inside(bound->second.block);
    });
  }

  void find_views() {
    views_.clear();
    for (bool again = true; again;) {
      size_t size = views_.size();
      for (BlockId b : loop_.blocks)
        for (NodeId n : block(b).nodes)
          if (is_view(node(n).op) && uses_array(node(n))) views_.insert(node(n).results[0]);
      again = views_.size() != size;
    }
  }

  bool uses_array(const Node& each) const {
    return std::any_of(each.operands.begin(), each.operands.end(),
                       [&](ValueId v) { return is_version(v) || is_view_of_version(v); });
  }
  bool is_view_of_version(ValueId v) const { return views_.contains(v); }

  // Whether the loop only reads and writes single elements of the array. Collects the views of single elements.
  bool has_plain_uses() {
    find_views();
    out_.views.clear();
    others_.clear();
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      for (NodeId n : block(b).nodes) {
        const Node& each = node(n);
        if (is_inside(b)
                ? uses_array(each) && !is_plain_use(each, b)
                : std::any_of(each.operands.begin(), each.operands.end(), [&](ValueId v) { return is_view_of_version(v); }))
          return false;
      }
      const Terminator& t = block(b).terminator;
      for (const std::vector<ValueId>* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        if (std::any_of(list->begin(), list->end(), [&](ValueId v) { return is_view_of_version(v); })) return false;
    }
    return true;
  }

  bool is_plain_use(const Node& each, BlockId b) {
    if (is_view(each.op)) {
      ValueId v = each.results[0];
      if (graph_.type(v).rank() > 0) return true;
      if (!is_of_dtype(v)) return false;
      Index index = index_of(v);
      if (auto found = std::find(elements_.begin(), elements_.end(), index); found != elements_.end())
        out_.views[v] = static_cast<size_t>(found - elements_.begin());
      else
        others_.emplace_back(std::move(index), b);
      return true;
    }
    if (each.op == Op::store) return is_store(each);  // the value is a number
    return each.op == Op::astype && graph_.type(each.operands[0]).rank() == 0 && is_view_of_version(each.operands[0]) &&
           graph_.type(each.results[0]).kind != ValueKind::array;
  }

  // --- proofs about indices -----------------------------------------------------------------------------------------------

  bool is_proved() {
    Integers integers(graph_);
    for (size_t k = 0; k < elements_.size(); ++k) {
      const Index& element = elements_[k];
      if (!is_there_before(integers, element)) return false;
      for (size_t other = 0; other < k; ++other)
        if (!differ(integers, element, elements_[other], out_.entry.from, out_.entry.number)) return false;
      for (const auto& [index, b] : others_)
        if (!differ(integers, index, element, b, -1)) return false;
    }
    return true;
  }

  static std::optional<Linear> distance(const Linear& low, const Linear& high) {
    std::optional<Linear> out = high.plus(low, -1);
    return out ? out->plus(Linear(1), -1) : std::nullopt;
  }

  bool is_there_before(Integers& integers, const Index& element) const {
    const std::vector<Dim>& shape = graph_.type(out_.param).shape;
    for (size_t axis = 0; axis < element.size(); ++axis) {
      Linear at = integers.linear(element[axis]);
      std::optional<Linear> rest = distance(at, integers.linear(shape[axis]));
      for (const auto& sum : {std::optional(at), rest})
        if (!sum || !integers.prove(*sum, out_.entry.from, out_.entry.number)) return false;
    }
    return true;
  }

  // Whether two indices provably differ along some axis at the end of a block (edge -1) or on one of its edges.
  bool differ(Integers& integers, const Index& a, const Index& b, BlockId block, int edge) const {
    for (size_t axis = 0; axis < a.size(); ++axis) {
      Linear one = integers.linear(a[axis]), other = integers.linear(b[axis]);
      for (const auto& apart : {distance(one, other), distance(other, one)})
        if (apart && integers.prove(*apart, block, edge)) return true;
    }
    return false;
  }

  Graph& graph_;
  const NaturalLoop& loop_;
  std::vector<std::vector<BlockId>> before_;
  std::map<int, SymbolBinding> bindings_;
  std::vector<Index> elements_;
  std::vector<std::pair<Index, BlockId>> others_;  // elements that the loop reads but does not store to, and the reading block
  std::set<ValueId> views_;                        // views of versions
  PromotableElements out_;
};

}  // namespace

std::optional<PromotableElements> promotable_elements(Graph& graph, const NaturalLoop& loop) {
  return Search(graph, loop).run();
}

}  // namespace accel
