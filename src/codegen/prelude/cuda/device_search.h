// Positions in sorted arrays, in the order that NumPy gives elements.

// A number of any dtype, in its first bytes.
struct AnyNumber {
  u64 bits[2];
};

// Sets the word where an element is less than the one before it.
template <class T, class Load>
ACCEL_DEVICE void find_unsorted(const char* sorted, i64 step, i64 length, i64* word, Load load) {
  const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k > 0 && k < length && comes_before(load(sorted + k * step), load(sorted + (k - 1) * step))) *word = 1;
}

// The number of elements before `wanted`; `is_right`: and of those equal to it.
template <class T, class Load>
ACCEL_DEVICE i64 find_position(const char* sorted, i64 step, i64 length, T wanted, bool is_right, Load load) {
  i64 low = 0, high = length;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    const T element = load(sorted + middle * step);
    if (is_right ? !comes_before(wanted, element) : comes_before(element, wanted))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The positions of `count` elements of rows of n at `wanted`, or of the number if that is null.
template <class T, class Load>
ACCEL_DEVICE void find_positions(const char* sorted, i64 step, i64 length, const char* wanted, AnyNumber number,
                                 const RowLayout& layout, i64 n, i64 count, bool is_right, i64* to, Load load) {
  const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const T one = wanted == nullptr ? load((const char*)number.bits) : load(wanted + layout.offset(k / n) + k % n * layout.along);
  to[k] = find_position(sorted, step, length, one, is_right, load);
}
