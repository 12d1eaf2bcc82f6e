#include "ir/analysis/reduction_plan.h"

#include <algorithm>
#include <optional>

#include "ir/analysis/memory_strides.h"
#include "ir/axes.h"

namespace accel {

namespace {

constexpr int64_t buffer_size = 8192;  // numpy.getbufsize(), elements

// Run-time decisions as integer expressions. Extents and values to choose from are >= 0; conditions are 0 or 1 (for
// empty operands, where nothing depends on them, they may be other small numbers).
class Choices {
 public:
  explicit Choices(DimTable& dims) : dims_(dims) {}

  Dim number(int64_t value) { return dims_.constant(value); }
  Dim less(Dim a, int64_t limit) { return dims_.min(number(1), dims_.max(number(0), dims_.sub(number(limit), a))); }
  Dim is_zero(Dim a) { return dims_.sub(number(1), dims_.min(number(1), dims_.max(a, dims_.mul(a, -1)))); }
  Dim is_one(Dim extent) { return dims_.sub(number(1), dims_.min(number(1), dims_.sub(extent, number(1)))); }
  Dim either(Dim a, Dim b) { return dims_.max(a, b); }

  // Minima with a bound that is 0 or beyond every extent: products of conditions would multiply out into long polynomials.
  Dim select(Dim condition, Dim yes, Dim no) {
    if (yes == no || dims_.is_constant(condition, 1)) return yes;
    if (dims_.is_constant(condition, 0)) return no;
    Dim bound = dims_.mul(condition, beyond), other = dims_.sub(number(beyond), bound);
    return dims_.max(dims_.min(yes, bound), dims_.min(no, other));
  }

  // The largest multiple of `core` that fits a buffer, and at least one.
  Dim fill_buffer(Dim core) {
    Dim count = dims_.floordiv(number(buffer_size), dims_.max(core, number(1)));
    return dims_.mul(core, dims_.max(count, number(1)));
  }

  // Whether `a` is not 0 unless an extent is: a sum of products of extents with factors of one sign.
  bool is_certainly_not_zero(Dim a, const std::vector<Dim>& extents) {
    if (dims_.as_constant(a)) return !dims_.is_constant(a, 0);
    std::vector<Dim> terms = dims_.kind(a) == DimKind::add ? dims_.operands(a) : std::vector{a};
    int positive = 0, negative = 0;
    for (Dim term : terms) {
      int64_t sign = 1;
      for (Dim factor : dims_.kind(term) == DimKind::mul ? dims_.operands(term) : std::vector{term}) {
        if (auto value = dims_.as_constant(factor)) {
          sign = *value;
        } else if (std::find(extents.begin(), extents.end(), factor) == extents.end()) {
          return false;
        }
      }
      ++(sign > 0 ? positive : negative);
    }
    return positive == 0 || negative == 0;
  }

 private:
  static constexpr int64_t beyond = int64_t{1} << 50;
  DimTable& dims_;
};

// Axes that NpyIter has coalesced into one.
struct Group {
  Dim extent;
  Dim stride;
};

struct Cuts {
  Dim block;
  Dim chunk;
};

// How NumPy cuts a run whose reduced axes are `axes`, fastest first (npyiter_find_buffering_setup and
// npyiter_copy_to_buffers). What depends on extents and strides is decided at run time, by the expressions.
class RunCutter {
 public:
  RunCutter(DimTable& dims, bool cast, bool may_coalesce)
      : dims_(dims), choose_(dims), cast_(cast), may_coalesce_(may_coalesce) {}

  // A cut of the run's whole extent means no cut.
  Cuts cut(const std::vector<Group>& axes) {
    total_ = choose_.number(1);
    for (const Group& axis : axes) {
      total_ = dims_.mul(total_, axis.extent);
      extents_.push_back(axis.extent);
    }
    return coalesce({axes[0]}, std::span(axes).subspan(1));
  }

  Dim total() const { return total_; }

 private:
  Cuts select(Dim condition, const Cuts& yes, const Cuts& no) {
    return {choose_.select(condition, yes.block, no.block), choose_.select(condition, yes.chunk, no.chunk)};
  }

  Cuts coalesce(std::vector<Group> done, std::span<const Group> rest) {
    if (rest.empty()) return cut_groups(done);
    Group inner = done.back(), outer = rest[0];
    Dim condition = coalesces(inner, outer, rest.size() == 1);
    std::optional<Cuts> yes, no;
    if (!dims_.is_constant(condition, 0)) {
      std::vector<Group> merged = done;
      // NpyIter gives an axis of extent 1 no stride: the merged axis has the stride of the other axis.
      merged.back() = {dims_.mul(inner.extent, outer.extent), merged_stride(inner, outer)};
      yes = coalesce(std::move(merged), rest.subspan(1));
    }
    if (!dims_.is_constant(condition, 1)) {
      done.push_back(outer);
      no = coalesce(std::move(done), rest.subspan(1));
    }
    if (!no) return *yes;
    return yes ? select(condition, *yes, *no) : *no;
  }

  // An axis of extent 1 coalesces with any other. An outer axis of extent 1 need not: cut_groups() has an equal result with it,
  // unless it lies between two axes that coalesce without it.
  Dim coalesces(const Group& inner, const Group& outer, bool last) {
    if (!may_coalesce_) return choose_.number(0);
    Dim gap = dims_.sub(outer.stride, dims_.mul(inner.stride, inner.extent));
    if (dims_.is_constant(gap, 0)) return choose_.number(1);
    Dim trivial = choose_.is_one(inner.extent);
    if (!last) trivial = choose_.either(trivial, choose_.is_one(outer.extent));
    return choose_.is_certainly_not_zero(gap, extents_) ? trivial : choose_.either(trivial, choose_.is_zero(gap));
  }

  Dim merged_stride(const Group& inner, const Group& outer) {
    Dim gap = dims_.sub(outer.stride, dims_.mul(inner.stride, inner.extent));
    if (dims_.is_constant(gap, 0)) return inner.stride;
    // Strides may be negative, so this is no select().
    return dims_.add(inner.stride, dims_.mul(choose_.is_one(inner.extent), dims_.sub(outer.stride, inner.stride)));
  }

  // Of groups that do not coalesce. NumPy copies the fastest groups through a buffer while the product of all but
  // the slowest of them (the core) is smaller than the buffer; it prefers no copy when a run fills half a buffer.
  Cuts cut_groups(const std::vector<Group>& groups) {
    if (groups.size() == 1) return {total_, cast_ ? choose_.number(buffer_size) : total_};
    std::vector<Dim> products = {groups[0].extent};
    for (size_t k = 1; k < groups.size(); ++k) products.push_back(dims_.mul(products.back(), groups[k].extent));
    // Without a buffer each fastest group is a piece: cutting the block at its multiples is equivalent. It fills more than half
    // a buffer, so fill_buffer() returns it unchanged.
    Cuts out = cast_ ? Cuts{products[0], choose_.number(buffer_size)} : Cuts{products[1], choose_.fill_buffer(products[0])};
    for (size_t k = cast_ ? 1 : 2; k < groups.size(); ++k) {
      Dim core = products[k - 1];
      out = select(choose_.less(core, buffer_size), {products[k], choose_.fill_buffer(core)}, out);
    }
    return out;
  }

  DimTable& dims_;
  Choices choose_;
  bool cast_;
  bool may_coalesce_;
  std::vector<Dim> extents_;
  Dim total_;
};

// Whether NumPy's inner loop treats a run otherwise than element by element in the accumulator's dtype.
bool has_pieces(Op ufunc, DType accumulator) {
  return (ufunc == Op::add && is_inexact(accumulator)) || accumulator == DType::float16;
}

// How fast the axes of an operand are; `still` ones have no stride.
struct Pace {
  std::vector<int> speed;
  std::vector<bool> still;

  Pace(const Type& operand, std::vector<bool> without_stride) : speed(operand.shape.size()), still(std::move(without_stride)) {
    std::vector<uint8_t> order = operand.axis_order();
    for (size_t k = 0; k < order.size(); ++k) speed[order[k]] = static_cast<int>(k);
  }
  // Whether `axis` is faster than `other`; nullopt when there is nothing to compare.
  std::optional<bool> is_faster(int axis, int other) const {
    auto a = static_cast<size_t>(axis), b = static_cast<size_t>(other);
    return still[a] || still[b] ? std::nullopt : std::optional(speed[a] > speed[b]);
  }
};

// Axes from fastest to slowest as NpyIter sorts them: axes stay in C order where one operand requires it or where no operand
// can compare them.
std::vector<int> iteration_order(int rank, const std::vector<Pace>& operands) {
  std::vector<int> out;
  for (int axis = rank - 1; axis >= 0; --axis) {
    size_t position = out.size();
    for (size_t k = out.size(); k-- > 0;) {
      bool some = false, all = true;
      for (const Pace& operand : operands) {
        std::optional<bool> faster = operand.is_faster(axis, out[k]);
        some = some || faster;
        all = all && faster.value_or(true);
      }
      if (!some) continue;
      if (!all) break;
      position = k;
    }
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(position), axis);
  }
  return out;
}

struct Reduction {
  const Type& operand;
  const std::vector<int>& axes;
  Op ufunc;
  DType accumulator;
  bool buffered;
};

Reduction reduction_of(const Graph& graph, const Node& reduce) {
  return {graph.type(reduce.operands[0]), reduce.attrs.axes, reduce.attrs.ufunc, graph.type(reduce.results[0]).dtype,
          reduce.attrs.buffered};
}

std::vector<bool> axes_without_stride(const DimTable& dims, const Type& operand, const std::vector<Dim>& strides) {
  std::vector<bool> out;
  for (size_t k = 0; k < strides.size(); ++k) {
    out.push_back(dims.is_constant(strides[k], 0) || dims.is_constant(operand.shape[k], 1));
  }
  return out;
}

std::vector<int> own_order(const DimTable& dims, const Type& operand, const std::vector<Dim>& strides) {
  return iteration_order(operand.rank(), {Pace(operand, axes_without_stride(dims, operand, strides))});
}

ReductionPlan make_plan(DimTable& dims, const Reduction& r, const std::vector<Dim>& strides, bool may_coalesce) {
  ReductionPlan plan;
  std::vector<Group> run;
  std::vector<int> trivial;
  bool in_run = true;
  for (int axis : own_order(dims, r.operand, strides)) {
    Dim extent = r.operand.shape[static_cast<size_t>(axis)];
    bool reduced = contains_axis(r.axes, axis);
    if (dims.is_constant(extent, 1)) {
      if (reduced) trivial.push_back(axis);
      continue;
    }
    in_run = in_run && reduced;
    if (reduced) (in_run ? plan.run_axes : plan.outer_axes).push_back(axis);
    if (in_run) run.push_back({extent, strides[static_cast<size_t>(axis)]});
  }
  plan.outer_axes.insert(plan.outer_axes.end(), trivial.begin(), trivial.end());
  std::reverse(plan.outer_axes.begin(), plan.outer_axes.end());
  std::reverse(plan.run_axes.begin(), plan.run_axes.end());
  plan.pairwise = r.ufunc == Op::add && is_inexact(r.accumulator) && !run.empty();
  if (run.empty() || !has_pieces(r.ufunc, r.accumulator)) return plan;
  RunCutter cutter(dims, r.buffered, may_coalesce);
  Cuts cuts = cutter.cut(run);
  Dim one = dims.constant(1);
  if (cuts.block != cutter.total()) plan.block = dims.max(cuts.block, one);
  if (cuts.chunk != cutter.total()) plan.chunk = dims.max(cuts.chunk, one);
  if (plan.block.id < 0 && plan.chunk.id >= 0) plan.buffer_chunk = dims.as_constant(plan.chunk).value_or(0);
  return plan;
}

// Whether axes, fastest last, are one in memory whatever the extents are.
bool certainly_coalesce(DimTable& dims, const Type& type, const std::vector<Dim>& strides, const std::vector<int>& axes) {
  for (size_t k = 1; k < axes.size(); ++k) {
    auto outer = static_cast<size_t>(axes[k - 1]), inner = static_cast<size_t>(axes[k]);
    if (dims.sub(strides[outer], dims.mul(strides[inner], type.shape[inner])) != dims.constant(0)) return false;
  }
  return true;
}

// Whether axes coalesce under the mask as they do without, where that shows.
bool preserves_pieces(DimTable& dims, const Graph& graph, ValueId operand, ValueId mask, const std::vector<int>& run_axes) {
  auto strides = memory_strides(dims, graph, operand), mask_strides = memory_strides(dims, graph, mask);
  return strides && mask_strides && certainly_coalesce(dims, graph.type(operand), *strides, run_axes) &&
         certainly_coalesce(dims, graph.type(mask), *mask_strides, run_axes);
}

}  // namespace

ReductionPlan masked_plan(DimTable& dims, const Graph& graph, ValueId operand, ValueId mask, const std::vector<int>& axes,
                          Op ufunc, DType accumulator, bool buffered) {
  Reduction r{graph.type(operand), axes, ufunc, accumulator, buffered};
  ReductionPlan plan;
  if (auto strides = memory_strides(dims, graph, operand)) plan = make_plan(dims, r, *strides, true);
  bool casts_quietly = !buffered || cast_events(r.operand.dtype, accumulator) == 0;
  plan.known = plan.known && casts_quietly && iteration_axes(dims, graph, operand, mask, nullptr) &&
               (!has_pieces(ufunc, accumulator) || preserves_pieces(dims, graph, operand, mask, plan.run_axes));
  return plan;
}

std::optional<std::vector<int>> iteration_axes(DimTable& dims, const Graph& graph, ValueId operand, ValueId mask,
                                               const Companion* out) {
  const Type& type = graph.type(operand);
  auto strides = memory_strides(dims, graph, operand);
  if (!strides) return std::nullopt;
  std::vector<int> own = own_order(dims, type, *strides);
  std::vector<Pace> all = {Pace(type, axes_without_stride(dims, type, *strides))};
  if (mask != no_value) {
    auto mask_strides = memory_strides(dims, graph, mask);
    if (!mask_strides) return std::nullopt;
    all.emplace_back(graph.type(mask), axes_without_stride(dims, graph.type(mask), *mask_strides));
  }
  if (out != nullptr) {
    Type shown = {ValueKind::array, type.dtype, type.shape, out->order};
    all.emplace_back(shown, axes_without_stride(dims, shown, out->strides));
  }
  return iteration_order(type.rank(), all) == own ? std::optional(own) : std::nullopt;
}

ReductionPlan reduction_plan(DimTable& dims, const Graph& graph, const Node& reduce) {
  Reduction r = reduction_of(graph, reduce);
  ValueId mask = mask_of(graph, reduce);
  if (mask != no_value) return masked_plan(dims, graph, reduce.operands[0], mask, r.axes, r.ufunc, r.accumulator, r.buffered);
  auto strides = memory_strides(dims, graph, reduce.operands[0]);
  if (strides) return make_plan(dims, r, *strides, true);
  ReductionPlan plan = make_plan(dims, r, contiguous_strides(dims, r.operand), false);
  plan.known = !has_pieces(r.ufunc, r.accumulator);
  return plan;
}

ReductionPlan reduction_plan(DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc, DType accumulator,
                             bool buffered, bool strided) {
  return make_plan(dims, {operand, axes, ufunc, accumulator, buffered}, contiguous_strides(dims, operand), !strided);
}

namespace {

// Kept axes inside the fastest reduced axis: without them that axis would be the run. Kept axes between two reduced ones:
// without them the run would include both.
std::vector<int> specialised_axes(const DimTable& dims, const Reduction& r, const std::vector<int>& fastest_first) {
  std::vector<int> out, between;
  if (!has_pieces(r.ufunc, r.accumulator)) return out;
  for (int axis : fastest_first) {
    if (!contains_axis(r.axes, axis)) {
      if (!dims.as_constant(r.operand.shape[static_cast<size_t>(axis)])) between.push_back(axis);
    } else if (!dims.is_constant(r.operand.shape[static_cast<size_t>(axis)], 1)) {
      out.insert(out.end(), between.begin(), between.end());
      between.clear();
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<int> axes_specialised_on_one(const DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc,
                                         DType accumulator) {
  std::vector<uint8_t> order = operand.axis_order();
  return specialised_axes(dims, {operand, axes, ufunc, accumulator, false}, {order.rbegin(), order.rend()});
}

std::vector<int> axes_specialised_on_one(DimTable& dims, const Graph& graph, const Node& reduce) {
  Reduction r = reduction_of(graph, reduce);
  auto strides = memory_strides(dims, graph, reduce.operands[0]);
  return specialised_axes(dims, r, own_order(dims, r.operand, strides.value_or(contiguous_strides(dims, r.operand))));
}

}  // namespace accel
