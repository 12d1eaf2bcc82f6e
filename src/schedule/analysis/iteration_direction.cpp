#include "schedule/analysis/iteration_direction.h"

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/index_maps.h"

namespace accel {

namespace {

constexpr int64_t buffer_elements = 8192;  // np.getbufsize()

// Conditions on sizes as symbolic expressions with values 0 and 1, so that the kernel decides: `min` is and, `max` is or.
class Conditions {
 public:
  explicit Conditions(DimTable& dims) : dims_(dims) {}

  Dim at_least(Dim a, Dim b) {
    Dim one = dims_.constant(1);
    return dims_.min(one, dims_.max(dims_.constant(0), dims_.add(dims_.sub(a, b), one)));
  }
  Dim equal(Dim a, Dim b) { return a == b ? dims_.constant(1) : dims_.min(at_least(a, b), at_least(b, a)); }

 private:
  DimTable& dims_;
};

// Byte strides that NumPy sees for a value; a value without memory here is a fresh dense array in NumPy.
std::vector<Dim> numpy_strides(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v) {
  if (std::optional<StridedView> view = strided_view(dims, graph, places, v)) return view->strides;
  return dense_strides(dims, graph.type(v));
}

// An array whose axes are listed from the fastest to the slowest.
class Walked {
 public:
  Walked(DimTable& dims, std::vector<Dim> shape, std::vector<Dim> strides)
      : dims_(dims), is_(dims), shape_(std::move(shape)), strides_(std::move(strides)) {}

  // Whether a single stride covers the first `count` axes.
  Dim is_one(size_t count) {
    Dim out = dims_.constant(1);
    for (size_t slower = 1; slower < count; ++slower) {
      Dim between = dims_.constant(1);
      for (size_t faster = slower; faster-- > 0;) {
        between = dims_.mul(between, shape_[faster]);
        Dim follows = is_.equal(strides_[slower], dims_.mul(strides_[faster], between));
        out = dims_.min(out, dims_.max(follows, dims_.max(is_short(slower), is_short(faster))));
      }
    }
    return out;
  }
  // Whether the stride of any of the first `count` axes, of extent above 1, is negative.
  Dim is_backwards(size_t count) {
    Dim out = dims_.constant(0);
    for (size_t k = 0; k < count; ++k) {
      Dim is_long = dims_.sub(dims_.constant(1), is_short(k));
      out = dims_.max(out, dims_.min(is_long, is_.at_least(dims_.constant(-1), strides_[k])));
    }
    return out;
  }

 private:
  Dim is_short(size_t axis) { return is_.at_least(dims_.constant(1), shape_[axis]); }

  DimTable& dims_;
  Conditions is_;
  std::vector<Dim> shape_, strides_;
};

}  // namespace

// Follows the cost model of npyiter_find_buffering_setup in numpy/_core/src/multiarray/nditer_constr.c. Where only some arrays
// have a single stride along some axes, that function does not merge these axes.
Dim walked_backwards(DimTable& dims, const Graph& graph, const std::vector<Place>& places, const Node& node, ValueId operand) {
  const Type& type = graph.type(node.results[0]);
  const std::vector<uint8_t> order = type.axis_order();
  auto from_fastest = [&](const std::vector<Dim>& by_axis) {
    std::vector<Dim> out;
    for (size_t k = order.size(); k-- > 0;) out.push_back(by_axis[order[k]]);
    return out;
  };
  const std::vector<Dim> shape = from_fastest(type.shape);
  auto walk = [&](ValueId v) { return Walked(dims, shape, from_fastest(numpy_strides(dims, graph, places, v))); };
  std::vector<Walked> arrays;
  for (ValueId v : node.operands)
    if (graph.type(v).rank() == type.rank()) arrays.push_back(walk(v));
  for (ValueId v : node.results) arrays.push_back(walk(v));
  Walked own = walk(operand);
  const size_t rank = shape.size();
  Dim cost = dims.constant(1), extent = dims.constant(1);
  for (Walked& each : arrays) cost = dims.add(cost, dims.sub(dims.constant(1), each.is_one(rank)));
  const Dim in_buffer = dims.min(dims.product(shape), dims.constant(buffer_elements));
  Dim out = dims.min(own.is_one(rank), own.is_backwards(rank));
  for (size_t count = 1; count < rank; ++count) {
    extent = dims.mul(extent, shape[count - 1]);
    Dim passed = Conditions(dims).at_least(dims.mul(cost, extent), dims.add(in_buffer, dims.constant(1)));
    for (Walked& each : arrays) passed = dims.min(passed, each.is_one(count));
    out = dims.max(out, dims.min(passed, own.is_backwards(count)));
  }
  return out;
}

}  // namespace accel
