#include "guard/memory_order.h"

#include <algorithm>

namespace accel {
namespace {

// |stride| as the iterator sees it: axes of extent 1 have none.
int64_t weight(const intptr_t* dims, const intptr_t* strides, int axis) {
  if (dims[axis] == 1) return 0;
  return strides[axis] < 0 ? -strides[axis] : strides[axis];
}

// Whether every neighbour pair settles its order by itself. Then the sort needs not be repeated.
bool is_strictly_sorted(int ndim, const intptr_t* dims, const intptr_t* strides, const uint8_t* order) {
  for (int k = 0; k < ndim; k++) {
    int64_t here = weight(dims, strides, order[k]);
    if (here == 0) return false;
    if (k == 0) continue;
    int64_t before = weight(dims, strides, order[k - 1]);
    if (before < here || (before == here && order[k - 1] > order[k])) return false;
  }
  return true;
}

}  // namespace

// An insertion sort from the fastest axis on, as in NpyIter: a comparison with a stride of 0 decides nothing, the search
// continues after it. The result is not always a sorted sequence, so it cannot be replaced by another sort.
void memory_order(int ndim, const intptr_t* dims, const intptr_t* strides, uint8_t* order) {
  for (int k = 0; k < ndim; k++) order[k] = static_cast<uint8_t>(k);
  for (int next = ndim - 2; next >= 0; next--) {
    uint8_t axis = order[next];
    int64_t own = weight(dims, strides, axis);
    int position = next;
    for (int other = next + 1; own != 0 && other < ndim; other++) {
      int64_t faster = weight(dims, strides, order[other]);
      if (faster == 0) continue;
      if (faster <= own) break;
      position = other;
    }
    for (int k = next; k < position; k++) order[k] = order[k + 1];
    order[position] = axis;
  }
}

bool dense_order(int ndim, const intptr_t* dims, const intptr_t* strides, int64_t item_size, uint8_t* order) {
  for (int k = 0; k < ndim; k++) order[k] = static_cast<uint8_t>(k);
  std::stable_sort(order, order + ndim, [&](uint8_t a, uint8_t b) {
    if (strides[a] != strides[b]) return strides[a] > strides[b];
    return dims[a] != 1 && dims[b] == 1;  // which adds nothing to the stride of a slower axis
  });
  int64_t expected = item_size;
  for (int k = ndim - 1; k >= 0; k--) {
    if (strides[order[k]] != expected) return false;
    expected *= dims[order[k]];
  }
  return true;
}

bool has_memory_order(int ndim, const intptr_t* dims, const intptr_t* strides, const uint8_t* order) {
  if (is_strictly_sorted(ndim, dims, strides, order)) return true;
  uint8_t actual[64];
  memory_order(ndim, dims, strides, actual);
  for (int k = 0; k < ndim; k++) {
    if (actual[k] != order[k]) return false;
  }
  return true;
}

bool is_gapless(int ndim, const intptr_t* dims, const intptr_t* strides, const uint8_t* order, int64_t item_size) {
  int64_t expected = item_size;
  bool gapless = true;
  for (int k = ndim - 1; k >= 0; k--) {
    int axis = order[k];
    if (dims[axis] == 0) return true;
    if (dims[axis] != 1 && strides[axis] != expected) gapless = false;
    expected *= dims[axis];
  }
  return gapless;
}

bool has_backward_single(int ndim, const intptr_t* dims, const intptr_t* strides) {
  for (int k = 0; k < ndim; k++) {
    if (strides[k] < 0 && dims[k] == 1) return true;
  }
  return false;
}

}  // namespace accel
