// Stable sorts of rows, by merging, in the order that NumPy gives elements: NaN is last.

template <class T>
ACCEL_DEVICE bool comes_before(T a, T b) {
  return a < b;
}
ACCEL_DEVICE bool comes_before(f32 a, f32 b) { return a < b || (b != b && a == a); }
ACCEL_DEVICE bool comes_before(f64 a, f64 b) { return a < b || (b != b && a == a); }
#if defined(ACCEL_HAS_HALF)
ACCEL_DEVICE bool comes_before(f16 a, f16 b) { return comes_before(cast<f32>(a), cast<f32>(b)); }
#endif
// Numbers without NaN come first, then those with one in the imaginary part, the real part, and both.
template <class R>
ACCEL_DEVICE bool comes_before(complex_of<R> a, complex_of<R> b) {
  const int nan_of_a = 2 * (a.re != a.re) + (a.im != a.im), nan_of_b = 2 * (b.re != b.re) + (b.im != b.im);
  if (nan_of_a != nan_of_b) return nan_of_a < nan_of_b;
  if (a.re < b.re || a.re > b.re) return a.re < b.re;
  return a.im < b.im;
}

// A block sorts or merges a tile: each thread some elements that follow each other.
constexpr int sort_threads = 256;
template <class T, bool with_positions>
constexpr int sort_items = (sizeof(T) > 8 ? 8 : 16) / (with_positions ? 2 : 1);
template <class T, bool with_positions>
constexpr int sort_tile = sort_threads * sort_items<T, with_positions>;

// Elements of a tile in shared memory. One element is left out after each `items`, which one thread has: else the threads of a
// warp would read and write the same bank.
template <class T, int items>
struct Tile {
  static constexpr int size(int elements) { return elements + elements / items; }
  T* data;
  int begin;

  ACCEL_METHOD T& operator[](i64 k) const {
    const unsigned at = (unsigned)(begin + (int)k);
    return data[at + at / items];
  }
  ACCEL_METHOD Tile operator+(int count) const { return {data, begin + count}; }
};

// How many of the first `count` elements of two runs that are merged are of the first run. `Run`: a pointer, or a Tile.
template <class Run>
ACCEL_DEVICE i64 count_of_first(Run a, i64 a_count, Run b, i64 b_count, i64 count) {
  i64 low = count > b_count ? count - b_count : 0, high = count < a_count ? count : a_count;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if (comes_before(b[count - 1 - middle], a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The elements of a thread; `with_positions`: with their positions in the row. Loops are unrolled, so that registers hold them.
template <class T, bool with_positions>
struct SortItems {
  static constexpr int most = sort_items<T, with_positions>;
  using Keys = Tile<T, most>;
  using Positions = Tile<i64, most>;
  T keys[most];
  i64 positions[with_positions ? most : 1];

  ACCEL_METHOD void take_all(int count, Keys from, Positions from_positions) {
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (k >= count) continue;
      keys[k] = from[k];
      if constexpr (with_positions) positions[k] = from_positions[k];
    }
  }
  ACCEL_METHOD void give(int count, Keys to, Positions to_positions) const {
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (k >= count) continue;
      to[k] = keys[k];
      if constexpr (with_positions) to_positions[k] = positions[k];
    }
  }
  // `count` elements, from number `first` on, of the merge of two runs: the second lies after the first in `from`. The next
  // elements of both are in registers.
  ACCEL_METHOD void merge(Keys from, Positions from_positions, int a_count, int b_count, int first, int count) {
    const int end = a_count + b_count;
    int i = (int)count_of_first(from, a_count, from + a_count, b_count, first), j = a_count + first - i;
    T of_first = from[i < end ? i : 0], of_second = from[j < end ? j : 0];
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (k >= count) continue;
      const bool is_of_first = j == end || (i < a_count && !comes_before(of_second, of_first));
      keys[k] = is_of_first ? of_first : of_second;
      if constexpr (with_positions) positions[k] = from_positions[is_of_first ? i : j];
      i += is_of_first;
      j += !is_of_first;
      const int at = is_of_first ? i : j;
      const T next = from[at < end ? at : 0];
      if (is_of_first)
        of_first = next;
      else
        of_second = next;
    }
  }
  ACCEL_METHOD void swap_with_next(int k) {
    const T key = keys[k];
    keys[k] = keys[k + 1], keys[k + 1] = key;
    if constexpr (with_positions) {
      const i64 position = positions[k];
      positions[k] = positions[k + 1], positions[k + 1] = position;
    }
  }
  // Odd-even transposition sort, which is stable: Knuth, The Art of Computer Programming 5.3.4, exercise 37.
  ACCEL_METHOD void sort(int count) {
#pragma unroll
    for (int pass = 0; pass < most; ++pass)
#pragma unroll
      for (int k = pass % 2; k + 1 < most; k += 2)
        if (k + 1 < count && comes_before(keys[k + 1], keys[k])) swap_with_next(k);
  }
};

// Shared memory for the tile of a block.
template <class T, bool with_positions>
struct TileMemory {
  using Items = SortItems<T, with_positions>;
  static constexpr int tile = sort_tile<T, with_positions>;
  alignas(16) unsigned char keys[Items::Keys::size(tile) * sizeof(T)];
  i64 positions[with_positions ? Items::Positions::size(tile) : 1];
};

// Copies the first `count` elements of a tile.
template <class T, bool with_positions>
ACCEL_DEVICE void store_tile(typename SortItems<T, with_positions>::Keys keys,
                             typename SortItems<T, with_positions>::Positions positions, int count, T* to, i64* to_positions) {
  for (int k = (int)threadIdx.x; k < count; k += sort_threads) {
    to[k] = keys[k];
    if constexpr (with_positions) to_positions[k] = positions[k];
  }
}

ACCEL_DEVICE int clamped(i64 value, i64 most) { return (int)(value < 0 ? 0 : value < most ? value : most); }

// Sorts the tiles of rows of n elements, which then lie side by side.
template <class T, bool with_positions, class Load>
ACCEL_DEVICE void sort_tiles(const char* from, const RowLayout& layout, i64 n, T* to, i64* to_positions, Load load) {
  constexpr int items = sort_items<T, with_positions>, tile = sort_tile<T, with_positions>;
  using Items = SortItems<T, with_positions>;
  __shared__ TileMemory<T, with_positions> memory;
  const typename Items::Keys keys{(T*)memory.keys, 0};
  const typename Items::Positions positions{memory.positions, 0};
  const i64 tiles = (n + tile - 1) / tile, row = (i64)blockIdx.x / tiles, begin = (i64)blockIdx.x % tiles * tile;
  const int count = clamped(n - begin, tile), first = (int)threadIdx.x * items, mine = clamped(count - first, items);
  from += layout.offset(row);
  for (int k = (int)threadIdx.x; k < count; k += sort_threads) {
    keys[k] = load(from + (begin + k) * layout.along);
    if constexpr (with_positions) positions[k] = begin + k;
  }
  __syncthreads();
  Items own;
  own.take_all(mine, keys + first, positions + first);
  own.sort(mine);
  own.give(mine, keys + first, positions + first);
  for (int width = items; width < count; width *= 2) {
    __syncthreads();
    const int pair = first / (2 * width) * (2 * width), a_count = clamped(count - pair, width);
    if (mine > 0) own.merge(keys + pair, positions + pair, a_count, clamped(count - pair - a_count, width), first - pair, mine);
    __syncthreads();
    own.give(mine, keys + first, positions + first);
  }
  __syncthreads();
  store_tile<T, with_positions>(keys, positions, count, to + row * n + begin,
                                to_positions + (with_positions ? row * n + begin : 0));
}

// Two runs of `width` elements that are merged, and the tile of the result that begins at `begin`. Positions are those in a
// row.
struct MergedRuns {
  i64 pair, a_count, b_count, first;

  ACCEL_METHOD MergedRuns(i64 n, i64 width, i64 begin) {
    pair = begin / (2 * width) * (2 * width);
    a_count = index_min(n - pair, width);
    b_count = index_min(n - pair - a_count, width);
    first = begin - pair;
  }
};

// For each tile of the merge of runs of `width` elements, how many elements before it are of the first run.
template <class T, bool with_positions>
ACCEL_DEVICE void divide_runs(const T* from, i64 n, i64 width, i64 count, i64* bounds) {
  const i64 tiles = (n + sort_tile<T, with_positions> - 1) / sort_tile<T, with_positions>;
  const i64 number = (i64)blockIdx.x * sort_threads + threadIdx.x;
  if (number >= count) return;
  const MergedRuns runs(n, width, number % tiles * sort_tile<T, with_positions>);
  const T* const a = from + number / tiles * n + runs.pair;
  bounds[number] = count_of_first(a, runs.a_count, a + runs.a_count, runs.b_count, runs.first);
}

// Merges runs of `width` elements, a multiple of a tile, two by two. `bounds`: of divide_runs.
template <class T, bool with_positions>
ACCEL_DEVICE void merge_runs(const T* from, const i64* from_positions, T* to, i64* to_positions, i64 n, i64 width,
                             const i64* bounds) {
  constexpr int items = sort_items<T, with_positions>, tile = sort_tile<T, with_positions>;
  using Items = SortItems<T, with_positions>;
  __shared__ TileMemory<T, with_positions> memory;
  const typename Items::Keys keys{(T*)memory.keys, 0};
  const typename Items::Positions positions{memory.positions, 0};
  const i64 tiles = (n + tile - 1) / tile, row = (i64)blockIdx.x / tiles, begin = (i64)blockIdx.x % tiles * tile;
  const MergedRuns runs(n, width, begin);
  const i64 rest = runs.a_count + runs.b_count - runs.first;
  const int count = clamped(rest, tile);
  const i64 a_begin = bounds[blockIdx.x], a_end = rest > tile ? bounds[blockIdx.x + 1] : runs.a_count;
  const int of_a = (int)(a_end - a_begin);
  for (int k = (int)threadIdx.x; k < count; k += sort_threads) {
    const i64 at = row * n + runs.pair + (k < of_a ? a_begin + k : runs.a_count + runs.first - a_begin + k - of_a);
    keys[k] = from[at];
    if constexpr (with_positions) positions[k] = from_positions[at];
  }
  __syncthreads();
  const int own_first = (int)threadIdx.x * items, mine = clamped(count - own_first, items);
  Items own;
  if (mine > 0) own.merge(keys, positions, of_a, count - of_a, own_first, mine);
  __syncthreads();
  own.give(mine, keys + own_first, positions + own_first);
  __syncthreads();
  store_tile<T, with_positions>(keys, positions, count, to + row * n + begin,
                                to_positions + (with_positions ? row * n + begin : 0));
}

// Copies rows that lie side by side to where the layout has them.
template <class T, class Store>
ACCEL_DEVICE void store_rows(const T* from, char* to, const RowLayout& layout, i64 n, i64 count, Store store) {
  const i64 k = (i64)blockIdx.x * sort_threads + threadIdx.x;
  if (k < count) store(to + layout.offset(k / n) + k % n * layout.along, from[k]);
}

// Sets the word where two elements of a sorted row are equal.
template <class T>
ACCEL_DEVICE void find_equal(const T* keys, i64 n, i64 count, i64* word) {
  const i64 k = (i64)blockIdx.x * sort_threads + threadIdx.x;
  if (k < count && k % n > 0 && !comes_before(keys[k - 1], keys[k])) *word = 1;
}
