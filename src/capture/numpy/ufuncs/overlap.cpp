#include "capture/numpy/ufuncs/overlap.h"

#include <algorithm>
#include <optional>

namespace accel {

namespace {

// How the loop's reads of an operand relate to its writes of the out. ahead: elements are read before they are written; behind:
// some are read afterwards; between: the views have no common element.
enum class Pair { apart, ahead, behind, between, unclear };

class PairOfViews {
 public:
  PairOfViews(Capture& capture, const StridedLayout& in, const StridedLayout& out)
      : capture_(capture), dims_(capture.dims()), in_(in), out_(out) {}

  Pair classify(std::optional<Dim> step, std::optional<Dim> out_step) {
    if (in_ == out_ || lies_apart()) return Pair::apart;
    if (!step || !out_step) return Pair::unclear;
    Dim distance = dims_.sub(in_.offset, out_.offset), zero = dims_.constant(0);
    bool forward = capture_.facts().decide(*step, Comparison::gt, zero);
    if (forward && capture_.facts().decide(*step, Comparison::ge, *out_step) &&
        capture_.facts().decide(distance, Comparison::ge, zero))
      return Pair::ahead;
    if (!forward && capture_.facts().decide(*step, Comparison::lt, zero) &&
        capture_.facts().decide(*step, Comparison::le, *out_step) && capture_.facts().decide(distance, Comparison::le, zero))
      return Pair::ahead;
    bool stays = capture_.facts().decide_equal(*step, zero);
    if ((!stays && !capture_.facts().decide_equal(*step, *out_step)) || capture_.facts().decide_equal(*out_step, zero))
      return Pair::unclear;
    return capture_.facts().decide_equal(dims_.mod(distance, *out_step), zero) ? Pair::behind : Pair::between;
  }

 private:
  struct Range {
    Dim first, last;  // offsets of elements
  };

  Range range(const StridedLayout& layout) {
    Range out = {layout.offset, layout.offset};
    for (size_t k = 0; k < layout.shape.size(); ++k) {
      Dim span = dims_.mul(dims_.sub(layout.shape[k], dims_.constant(1)), layout.strides[k]);
      Dim& end = capture_.facts().decide(layout.strides[k], Comparison::ge, dims_.constant(0)) ? out.last : out.first;
      end = dims_.add(end, span);
    }
    return out;
  }

  bool lies_apart() {
    Range in = range(in_), out = range(out_);
    return capture_.facts().decide(in.first, Comparison::gt, out.last) ||
           capture_.facts().decide(out.first, Comparison::gt, in.last);
  }

  Capture& capture_;
  DimTable& dims_;
  const StridedLayout &in_, &out_;
};

// Bytes from one element to the next if NumPy's loop can treat the array as a vector.
std::optional<Dim> vector_step(Capture& capture, const Operand& array) {
  const StridedLayout& layout = layout_of(array.ref);
  if (layout.shape.size() == 1) return is_one(capture, layout.shape[0]) ? capture.dims().constant(0) : layout.strides[0];
  if (is_c_contiguous(capture, array.ref)) return capture.dims().constant(item_size(layout.dtype));
  return std::nullopt;
}

}  // namespace

LoopMemory loop_memory(Capture& capture, const std::vector<Operand>& operands, const std::vector<Operand>& outs, DType dtype,
                       bool iterated) {
  auto in_place = [&](const Operand& operand) { return operand.is_array() && operand.type.dtype == dtype; };
  std::vector<Pair> pairs;
  for (const Operand& out : outs) {
    if (!in_place(out)) continue;
    for (const Operand& operand : operands) {
      if (!in_place(operand) || operand.ref->array.storage != out.ref->array.storage) continue;
      PairOfViews pair(capture, layout_of(operand.ref), layout_of(out.ref));
      pairs.push_back(pair.classify(vector_step(capture, operand), vector_step(capture, out)));
    }
  }
  auto any = [&](Pair kind) { return std::find(pairs.begin(), pairs.end(), kind) != pairs.end(); };
  if (any(Pair::unclear)) return LoopMemory::unclear;
  bool copies = iterated || outs.size() > 1 || any(Pair::behind);
  if (any(Pair::between)) return copies ? LoopMemory::unclear : LoopMemory::overlapping;
  if (any(Pair::ahead) || any(Pair::behind)) return copies ? LoopMemory::copied : LoopMemory::overlapping;
  return LoopMemory::apart;
}

}  // namespace accel
