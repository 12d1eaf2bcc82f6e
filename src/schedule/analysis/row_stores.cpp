#include "schedule/analysis/row_stores.h"

#include <algorithm>
#include <set>

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/loop_calls.h"

namespace accel {

namespace {

constexpr int64_t most_rows_apart = 8;
constexpr int64_t fewest_rows = 16;           // with fewer, row buffers save nothing
constexpr int64_t most_bytes_kept = 1 << 20;  // of rows that wait to be stored, which should stay in cache
constexpr int64_t fewest_row_elements = 128;  // when rows have several lengths and so need a loop each

// Traces the stored values back to the elements of memory that they read.
class OverwrittenReads {
 public:
  OverwrittenReads(const Graph& graph, const std::vector<NodeId>& stores, const std::function<bool(ValueId)>& in_memory)
      : graph_(graph), dims_(graph.dims), in_memory_(in_memory) {
    out_.stores = stores;
  }

  std::optional<RowStores> run() {
    const Type& type = graph_.type(store(0).operands[2]);
    if (type.rank() == 0) return std::nullopt;
    std::vector<uint8_t> order = type.axis_order();
    for (int k = 0; k < type.rank(); ++k) own_.push_back(dims_.new_variable());
    lead_ = *dims_.as_symbol(own_[order[0]]);
    for (size_t k = 0; k < out_.stores.size() && good_; ++k) add_target(k);
    for (size_t k = 0; k < out_.stores.size() && good_; ++k) {
      const Node& node = store(k);
      if (!one_shape_) begin_other_shape(k);
      for (size_t operand = 2; operand < node.operands.size(); ++operand) visit(node.operands[operand], own_, no_value);
    }
    if (!good_ || !(one_shape_ ? pays() : shares_rows())) return std::nullopt;
    return std::move(out_);
  }

 private:
  struct Target {
    ValueId base = no_value;
    Index index;
    size_t axis = 0;  // of the base: the axis that the rows run along
    Dim first;
    int64_t step = 0;
  };

  const Node& store(size_t k) const { return graph_.nodes[static_cast<size_t>(out_.stores[k])]; }

  void add_target(size_t k) {
    const Type &type = graph_.type(store(k).operands[2]), &first = graph_.type(store(0).operands[2]);
    Target target{store(k).operands[0], own_, 0, {}, 0};
    good_ = type.rank() == first.rank() && type.axis_order() == first.axis_order();
    one_shape_ = one_shape_ && type.shape == first.shape;
    for (const Target& other : targets_) good_ = good_ && other.base != target.base;
    for (ValueId v = store(k).operands[1]; good_ && v != target.base; v = graph_.producer(v).operands[0]) {
      good_ = !graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view && is_plain(graph_.producer(v).op);
      if (good_) target.index = map_view_index(dims_, graph_, graph_.producer(v), target.index);
    }
    if (!good_) return;
    int axes = 0;
    for (size_t axis = 0; axis < target.index.size(); ++axis)
      if (dims_.names(target.index[axis], lead_)) target.axis = axis, ++axes;
    std::optional<Dim> step = axes == 1 ? dims_.slope(target.index[target.axis], lead_) : std::nullopt;
    target.step = step ? dims_.as_constant(*step).value_or(0) : 0;
    good_ = target.step != 0;
    if (!good_) return;
    target.first = dims_.substitute(target.index[target.axis], lead_, 0);
    good_ = !dims_.has_variables(target.first);
    targets_.push_back(std::move(target));
  }

  // Begins the values of store k, which must not read the memory that other stores write.
  void begin_other_shape(size_t k) {
    seen_.clear();
    current_ = k;
    good_ = good_ && targets_[k].step == 1;
    out_.row_axes.push_back(targets_[k].axis);
    sources_.emplace_back();
  }

  static bool is_plain(Op op) { return op != Op::reshape && op != Op::real && op != Op::imag && op != Op::parts; }

  // `part`: the outermost view of the memory that is read, below broadcasts and new axes.
  void visit(ValueId v, const Index& index, ValueId part) {
    std::vector<int32_t> key{v, part};
    for (Dim d : index) key.push_back(d.id);
    if (!good_ || !seen_.insert(std::move(key)).second) return;
    if (in_memory_(v)) return read(v, index, part);
    const Node& node = graph_.producer(v);
    switch (op_class(node.op)) {
      case OpClass::view: {
        bool whole = node.op != Op::broadcast_to && node.op != Op::expand_dims;
        Index inner = node.op == Op::real || node.op == Op::imag ? index : map_view_index(dims_, graph_, node, index);
        return visit(node.operands[0], inner, part == no_value && whole ? v : part);
      }
      case OpClass::leaf:
        for (ValueId operand : node.operands) visit(operand, {}, no_value);
        return;
      case OpClass::pointwise:
        good_ = good_ && !is_loop_call(graph_, node);
        for (ValueId operand : node.operands) visit(operand, graph_.type(operand).rank() == 0 ? Index{} : index, no_value);
        return;
      default:
        good_ = false;
    }
  }

  void read(ValueId base, const Index& index, ValueId part) {
    auto target = std::find_if(targets_.begin(), targets_.end(), [&](const Target& t) { return t.base == base; });
    if (!one_shape_) {
      if (target == targets_.end()) return void(sources_.back().insert(base));
      good_ = good_ && base == targets_[current_].base && index == target->index;
      return;
    }
    if (target == targets_.end() || index == target->index || is_fixed(index)) return;
    Dim place = index[target->axis];
    std::optional<Dim> step = dims_.slope(place, lead_);
    for (int symbol : dims_.symbols(place)) good_ = good_ && (!DimTable::is_variable(symbol) || symbol == lead_);
    if (!good_ || !step) return fail();
    if (dims_.is_constant(*step, 0)) return copy(part);
    std::optional<int64_t> apart = dims_.as_constant(dims_.sub(place, target->index[target->axis]));
    if (!apart) return fail();
    if (*apart % target->step != 0) return;  // never overlaps the stored rows
    int64_t rows = *apart / target->step;
    out_.before = std::max(out_.before, -rows);
    out_.after = std::max(out_.after, rows);
    out_.own_elements = false;
    if (rows != 0 || !is_of_row(index)) out_.direct = false;
  }

  void fail() { good_ = false; }

  // Whether it is a single element, which is read before the loops.
  bool is_fixed(const Index& index) const {
    return std::none_of(index.begin(), index.end(), [&](Dim d) { return dims_.has_variables(d); });
  }
  // Whether it is one element per row.
  bool is_of_row(const Index& index) const {
    return std::all_of(index.begin(), index.end(), [&](Dim d) {
      std::vector<int> symbols = dims_.symbols(d);
      return std::all_of(symbols.begin(), symbols.end(), [&](int s) { return !DimTable::is_variable(s) || s == lead_; });
    });
  }

  int64_t hint(ValueId v) { return dims_.evaluate(dims_.product(graph_.type(v).shape), graph_.hints); }

  void copy(ValueId part) {
    if (part == no_value || 4 * hint(part) > hint(store(0).operands[2])) return fail();
    if (std::find(out_.copied.begin(), out_.copied.end(), part) == out_.copied.end()) out_.copied.push_back(part);
  }

  bool pays() {
    if (out_.direct) return true;
    const Type& type = graph_.type(store(0).operands[2]);
    if (type.rank() < 2 || out_.before + out_.after > most_rows_apart) return false;
    int64_t rows = dims_.evaluate(type.shape[type.axis_order()[0]], graph_.hints), bytes = 0;
    for (size_t k = 0; k < out_.stores.size(); ++k)
      bytes += hint(store(k).operands[2]) * item_size(graph_.type(store(k).operands[2]).dtype);
    return rows >= fewest_rows && bytes / rows * (out_.before + out_.after + 1) <= most_bytes_kept;
  }

  // Whether fusing rows of several shapes pays: each store after the first reads an array that an earlier one reads.
  bool shares_rows() {
    for (size_t k = 0; k < out_.stores.size(); ++k) {
      const Type& type = graph_.type(store(k).operands[2]);
      int64_t rows = dims_.evaluate(type.shape[type.axis_order()[0]], graph_.hints);
      if (rows < fewest_rows || hint(store(k).operands[2]) / rows < fewest_row_elements) return false;
      auto is_shared = [&](ValueId v) {
        return graph_.type(v).rank() == type.rank() &&
               std::any_of(sources_.begin(), sources_.begin() + static_cast<long>(k),
                           [&](const std::set<ValueId>& earlier) { return earlier.contains(v); });
      };
      if (k > 0 && std::none_of(sources_[k].begin(), sources_[k].end(), is_shared)) return false;
    }
    return true;
  }

  const Graph& graph_;
  DimTable dims_;
  const std::function<bool(ValueId)>& in_memory_;
  RowStores out_;
  std::vector<Target> targets_;
  bool one_shape_ = true;
  size_t current_ = 0;                      // with several shapes: the store whose value is visited
  std::vector<std::set<ValueId>> sources_;  // with several shapes, per store so far: the arrays it reads
  std::set<std::vector<int32_t>> seen_;
  Index own_;
  int lead_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<RowStores> row_stores(const Graph& graph, const std::vector<NodeId>& stores,
                                    const std::function<bool(ValueId)>& in_memory) {
  return OverwrittenReads(graph, stores, in_memory).run();
}

}  // namespace accel
