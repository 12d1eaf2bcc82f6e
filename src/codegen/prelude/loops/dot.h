// Products of two vectors, added up in the order of NumPy's BLAS: four elements at a time where one has gaps, one by one where
// both are short. Used when the loop has these bits, which is tried once. Which products are added without being rounded is up
// to the compiler that made the BLAS: none, those that are added one by one, or of four elements two as well.
enum class Fused { not_tried, unknown, nowhere, singles, pairs };
ACCEL_INLINE f64 product_and(f64 a, f64 b, f64 sum) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, sum);
#else
  return rounded(a * b) + sum;
#endif
}
#if defined(__AVX512F__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef f64 Lanes __attribute__((vector_size(8 * lanes), aligned(8), may_alias));
ACCEL_INLINE Lanes product_and(Lanes a, Lanes b, Lanes sums) {
#if __has_builtin(__builtin_elementwise_fma)  // clang's, since 17; of x86 it has fewer and fewer others
  return __builtin_elementwise_fma(a, b, sums);
#elif defined(__AVX512F__)
  return __builtin_ia32_vfmaddpd512_mask(a, b, sums, 0xff, 4);
#elif defined(__FMA__)
  return __builtin_ia32_vfmaddpd256(a, b, sums);
#else
  for (int k = 0; k < lanes; ++k) sums[k] = product_and(a[k], b[k], sums[k]);
  return sums;
#endif
}
template <Fused fused, class Number>
ACCEL_INLINE Number two_products(Number a, Number b, Number c, Number d) {
  if constexpr (fused == Fused::pairs) return product_and(a, b, c * d);
  return a * b + c * d;
}
template <Fused fused>
ACCEL_INLINE f64 single_product(f64 a, f64 b, f64 sum) {
  if constexpr (fused == Fused::nowhere) return rounded(a * b) + sum;
  return product_and(a, b, sum);
}
template <Fused fused>
ACCEL_INLINE f64 dot_with_gaps(const char* a, i64 da, const char* b, i64 db, i64 n, f64 even = 0, f64 odd = 0) {
  for (; n >= 4; n -= 4, a += 4 * da, b += 4 * db) {
    even += two_products<fused>(load_f64(a), load_f64(b), load_f64(a + 2 * da), load_f64(b + 2 * db));
    odd += two_products<fused>(load_f64(a + da), load_f64(b + db), load_f64(a + 3 * da), load_f64(b + 3 * db));
  }
  for (; n > 0; --n, a += da, b += db) even = single_product<fused>(load_f64(a), load_f64(b), even);
  return even + odd;
}
template <Fused fused>
ACCEL_INLINE f64 dot_of_few(const char* a, const char* b, i64 n) {
  f64 sum = 0;
  for (i64 k = 0; k < n; ++k) sum = single_product<fused>(load_f64(a + 8 * k), load_f64(b + 8 * k), sum);
  return 0.0 + sum;  // as NumPy does: no negative zero
}
constexpr i64 most_with_gaps = 1024, most_without_gaps = 15;  // longer ones: a call more costs nothing
template <Fused fused>
ACCEL_INLINE f64 dot_of(const char* a, i64 da, const char* b, i64 db, i64 n) {
  return da == 8 && db == 8 ? dot_of_few<fused>(a, b, n) : dot_with_gaps<fused>(a, da, b, db, n);
}

template <bool is_matrix, Fused fused>
static bool same_dot(const AccelImport* entry, char* a, iptr da, char* b, iptr db, iptr n) {
  f64 sum = 0;
  char* const args[] = {a, b, (char*)&sum};
  const iptr sizes[] = {1, 1, n, 1}, vector_sizes[] = {1, n};
  const iptr steps[] = {0, 0, 0, 0, da, db, 0, 8, 8}, vector_steps[] = {0, 0, 0, da, db};
  entry->loop(entry->context, args, is_matrix ? sizes : vector_sizes, is_matrix ? steps : vector_steps, entry->auxdata);
  return __builtin_bit_cast(u64, opaque(sum)) == __builtin_bit_cast(u64, dot_of<fused>(a, da, b, db, n));
}
template <bool is_matrix, Fused fused>
static bool has_known_dots(const AccelImport* entry, char* memory) {
  constexpr i64 items = 4 * most_with_gaps;
  u64 state = 1;
  for (i64 k = 0; k < items; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    store_f64(memory + 8 * k, (f64)((i64)state >> 11) * 0x1p-52);
  }
  char* const other = memory + 8 * most_with_gaps;
  bool same = true;
  for (i64 n = 0; n <= most_without_gaps; ++n)
    same = same && same_dot<is_matrix, fused>(entry, memory, 8, other, 8, n) &&
           same_dot<is_matrix, fused>(entry, memory + 8, 8, other, 8, n);
  for (i64 n = 0; n <= most_with_gaps; n += n < 70 ? 1 : 159) {
    same = same && same_dot<is_matrix, fused>(entry, memory, 8, other + 8 * (n & 3), 24, n);
    same = same && same_dot<is_matrix, fused>(entry, other, 16, memory, 8, n);
    same = same && (n > 300 || same_dot<is_matrix, fused>(entry, memory, 16, other, 40, n));
  }
  return same;
}
template <int import, bool is_matrix>
struct Dots {
  static Fused fused;
  static __attribute__((noinline, cold)) bool learn(Frame* frame) {
    if (fused == Fused::not_tried) {
      const auto control = fp_control();
      const AccelImport* const entry = frame->imports + import;
      char* const memory = (char*)frame->runtime->allocate(32 * most_with_gaps);
      fused = memory == nullptr                                          ? Fused::unknown
              : has_known_dots<is_matrix, Fused::pairs>(entry, memory)   ? Fused::pairs
              : has_known_dots<is_matrix, Fused::singles>(entry, memory) ? Fused::singles
              : has_known_dots<is_matrix, Fused::nowhere>(entry, memory) ? Fused::nowhere
                                                                         : Fused::unknown;
      if (memory != nullptr) frame->runtime->release(memory);
      fp_set_control(control);
    }
    return fused >= Fused::nowhere;
  }
};
template <int import, bool is_matrix>
Fused Dots<import, is_matrix>::fused = Fused::not_tried;

// Products of one row with columns of memory that follow each other are computed together, ahead of their use: the columns
// share cache lines. The last elements are left out, as their number differs between products.
constexpr int panel_columns = 16;
struct Panel {
  const char *row, *column;  // of the product that is expected next
  i64 row_step, column_step;
  int next;            // the column that is; panel_columns: none is known
  i64 depth;           // elements that are in the sums
  u64 row_size, size;  // bytes, from the first element to the last, that the sums are made of
  const char* first;   // of the columns
  f64 even[panel_columns], odd[panel_columns];
};
ACCEL_INLINE Lanes broadcast(f64 value) { return value - Lanes{}; }
template <Fused fused>
static __attribute__((noinline)) void fill_panel(Panel* panel) {
  const auto control = fp_control();
  const char *a = panel->row, *b = panel->column;
  const i64 da = panel->row_step, db = panel->column_step;
  constexpr int parts = panel_columns / lanes;
  Lanes even[parts] = {}, odd[parts] = {};
  for (i64 k = 0; k < panel->depth; k += 4, a += 4 * da, b += 4 * db) {
    const Lanes a0 = broadcast(load_f64(a)), a1 = broadcast(load_f64(a + da)), a2 = broadcast(load_f64(a + 2 * da)),
                a3 = broadcast(load_f64(a + 3 * da));
#pragma GCC unroll 4
    for (int p = 0; p < parts; ++p) {
      const Lanes *b0 = (const Lanes*)b + p, *b1 = (const Lanes*)(b + db) + p, *b2 = (const Lanes*)(b + 2 * db) + p,
                  *b3 = (const Lanes*)(b + 3 * db) + p;
      even[p] += two_products<fused>(a0, *b0, a2, *b2);
      odd[p] += two_products<fused>(a1, *b1, a3, *b3);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < parts; ++p) *((Lanes*)panel->even + p) = even[p], *((Lanes*)panel->odd + p) = odd[p];
  panel->next = 0;
  if (fp_control() == control) return;
  fp_set_control(control);  // the events may be of products that are not used
  panel->next = panel_columns;
}
template <Fused fused>
ACCEL_INLINE f64 panel_dot(Panel* panel, const char* end, const char* a, i64 da, const char* b, i64 db, i64 n) {
  const bool expected = (panel->row == a) & (panel->column == b) & (panel->row_step == da) & (panel->column_step == db);
  if (!expected) {
    *panel = {a, b + 8, da, db, panel_columns};
    return dot_with_gaps<fused>(a, da, b, db, n);
  }
  if ((panel->next == panel_columns) | (panel->depth > n)) {
    const i64 depth = n & ~(i64)3;
    panel->next = panel_columns;
    panel->size = (u64)((depth - 1) * db + 8 * panel_columns);
    if (n >= 16 && db >= 8 * panel_columns && panel->size <= (u64)(end - b)) {
      panel->first = b, panel->depth = depth, panel->row_size = (u64)((depth - 1) * da + 8);
      fill_panel<fused>(panel);
    }
  }
  panel->column = b + 8;
  if (panel->next == panel_columns) return dot_with_gaps<fused>(a, da, b, db, n);
  const int k = panel->next++;
  const i64 depth = panel->depth;
  return dot_with_gaps<fused>(a + depth * da, da, b + depth * db, db, n - depth, panel->even[k], panel->odd[k]);
}
// Something has been written at `to`, or anywhere; threads that share a loop may do so at once.
ACCEL_INLINE void forget(Panel* panel) { __atomic_store_n(&panel->next, panel_columns, __ATOMIC_RELAXED); }
ACCEL_INLINE void forget_panels(Frame* frame, int count, const char* to) {
  for (int k = 0; k < count; ++k) {
    Panel* const panel = frame->panels + k;
    const bool inside =
        ((u64)(to - panel->first + 15) < panel->size + 15) | ((u64)(to - panel->row + 15) < panel->row_size + 15);
    if (__builtin_expect(inside, 0)) forget(panel);
  }
}
static __attribute__((noinline)) void forget_panels(Frame* frame, int count) {
  for (int k = 0; k < count; ++k) forget(frame->panels + k);
}

template <int panel, Fused fused>
ACCEL_INLINE f64 dot_by_panel(Frame* frame, const char* a, i64 da, const char* b, i64 db, i64 n, const char* end) {
  if (panel < 0 || (da == 8 && db == 8)) return dot_of<fused>(a, da, b, db, n);
  return panel_dot<fused>(frame->panels + panel, end, a, da, b, db, n);
}
// Stores the product, or is false: then the loop is called. `panel`: the number of its panel, whose columns end before `end`.
template <int import, bool is_matrix, int panel = -1>
ACCEL_INLINE bool dot(Frame* frame, const char* a, i64 da, const char* b, i64 db, i64 n, char* out, const char* end = nullptr) {
  using Learned = Dots<import, is_matrix>;
  const bool gaps = da != 8 || db != 8;
  const bool plain = da > 0 && db > 0 && ((da | db) & 7) == 0 && n <= (gaps ? most_with_gaps : most_without_gaps);
  if (!plain || (__builtin_expect(Learned::fused < Fused::nowhere, 0) && !Learned::learn(frame))) return false;
  const f64 sum = Learned::fused == Fused::pairs     ? dot_by_panel<panel, Fused::pairs>(frame, a, da, b, db, n, end)
                  : Learned::fused == Fused::singles ? dot_by_panel<panel, Fused::singles>(frame, a, da, b, db, n, end)
                                                     : dot_by_panel<panel, Fused::nowhere>(frame, a, da, b, db, n, end);
  store_f64(out, sum);
  return true;
}
