#include "guard/overlap.h"

#include <algorithm>
#include <cstdlib>

namespace accel {
namespace {

constexpr int most_terms = 2 * most_axes + 1;
constexpr int most_steps = 2000;

// stride * x with 0 <= x <= most.
struct Term {
  int64_t stride, most;
};

// The bytes between the first and one past the last of the array, from its data pointer on.
struct Extent {
  int64_t low = 0, high = 0;
};

bool is_empty(const ArrayLayout& array) {
  return std::any_of(array.dims, array.dims + array.ndim, [](intptr_t extent) { return extent == 0; });
}

Extent extent_of(const ArrayLayout& array) {
  Extent out{0, array.item_bytes};
  for (int k = 0; k < array.ndim; k++) {
    int64_t span = (array.dims[k] - 1) * array.strides[k];
    (span < 0 ? out.low : out.high) += span;
  }
  return out;
}

// Whether a sum of terms can be `wanted`: a search, pruned by what the later terms can reach.
class Sum {
 public:
  void add(int64_t stride, int64_t most) {
    if (most <= 0 || stride == 0) return;
    for (int k = 0; k < count_; k++) {
      if (terms_[k].stride != stride) continue;
      terms_[k].most += most;
      return;
    }
    terms_[count_++] = {stride, most};
  }

  bool can_be(int64_t wanted) {
    std::sort(terms_, terms_ + count_, [](const Term& a, const Term& b) { return a.stride > b.stride; });
    reach_[count_] = 0;
    for (int k = count_; k-- > 0;) reach_[k] = reach_[k + 1] + terms_[k].stride * terms_[k].most;
    return search(0, wanted);
  }

 private:
  bool search(int k, int64_t wanted) {
    if (wanted < 0 || wanted > reach_[k]) return false;
    if (k == count_ || wanted == 0) return true;
    if (steps_++ > most_steps) return true;
    const Term& term = terms_[k];
    int64_t last = std::min(wanted / term.stride, term.most);
    int64_t left = wanted - reach_[k + 1];
    int64_t first = left <= 0 ? 0 : (left + term.stride - 1) / term.stride;
    for (int64_t x = last; x >= first; x--) {
      if (search(k + 1, wanted - x * term.stride)) return true;
    }
    return false;
  }

  Term terms_[most_terms];
  int64_t reach_[most_terms + 1];
  int count_ = 0;
  int steps_ = 0;
};

}  // namespace

// Byte p of element i of a is byte q of element j of b. With all strides made positive, that is a sum of terms.
bool share_memory(const ArrayLayout& a, const ArrayLayout& b) {
  if (is_empty(a) || is_empty(b)) return false;
  Extent in_a = extent_of(a), in_b = extent_of(b);
  if (a.data + in_a.high <= b.data + in_b.low || b.data + in_b.high <= a.data + in_a.low) return false;
  Sum sum;
  for (const ArrayLayout* array : {&a, &b}) {
    for (int k = 0; k < array->ndim; k++) sum.add(std::abs(array->strides[k]), array->dims[k] - 1);
  }
  sum.add(1, a.item_bytes - 1 + b.item_bytes - 1);
  return sum.can_be((b.data + in_b.high - 1) - (a.data + in_a.low));
}

bool has_distinct_elements(const ArrayLayout& array) {
  if (array.warns_when_written) return false;
  if (array.c_contiguous || array.f_contiguous || is_empty(array)) return true;
  Term axes[most_axes];
  int count = 0;
  for (int k = 0; k < array.ndim; k++) {
    if (array.dims[k] > 1) axes[count++] = {std::abs(array.strides[k]), array.dims[k] - 1};
  }
  std::sort(axes, axes + count, [](const Term& a, const Term& b) { return a.stride < b.stride; });
  int64_t span = array.item_bytes;
  for (int k = 0; k < count; k++) {
    if (axes[k].stride < span) return false;
    span += axes[k].stride * axes[k].most;
  }
  return true;
}

}  // namespace accel
