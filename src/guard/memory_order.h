#pragma once
// The order of an array's axes in memory, as NumPy's iterator sorts them.

#include <cstdint>

namespace accel {

// Writes the axes from slowest to fastest to order[0, ndim): by decreasing |stride|, ties and axes without a stride of their
// own (extent 1 or stride 0) as in C order. Requires ndim <= 64.
void memory_order(int ndim, const intptr_t* dims, const intptr_t* strides, uint8_t* order);

// Writes an order in which the strides are those of gapless memory, those of axes of extent 1 too. False: there is none.
bool dense_order(int ndim, const intptr_t* dims, const intptr_t* strides, int64_t item_size, uint8_t* order);

// Whether memory_order gives exactly `order`.
bool has_memory_order(int ndim, const intptr_t* dims, const intptr_t* strides, const uint8_t* order);

// Whether the array has no gaps with its axes in this order: C order is 0, 1, ... Axes of extent 1 do not count, and
// arrays without elements have no gaps in any order.
bool is_gapless(int ndim, const intptr_t* dims, const intptr_t* strides, const uint8_t* order, int64_t item_size);

// Whether an axis of extent 1 has a negative stride. Such an array has no gaps, but NumPy's loops see a negative stride.
bool has_backward_single(int ndim, const intptr_t* dims, const intptr_t* strides);

}  // namespace accel
