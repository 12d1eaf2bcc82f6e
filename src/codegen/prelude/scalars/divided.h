// Pairwise sums and folds divided over threads. A sum is divided at the nodes of its tree, so its bits do not depend on it.
constexpr int most_tasks = 1024;

// Trees of at most this many elements are tasks. The tree has about 256 to 512 of them.
ACCEL_INLINE i64 task_elements(i64 n) { return index_max(n / 256 + 16, 8192); }

struct Tasks {
  i64 begin[most_tasks], size[most_tasks];
  int count = 0;
};

template <class S>
static __attribute__((noinline)) void split_tree(Tasks& tasks, i64 begin, i64 n, i64 largest) {
  if (n <= largest) {
    tasks.begin[tasks.count] = begin;
    tasks.size[tasks.count++] = n;
    return;
  }
  const i64 half = left_of<S>(n);
  split_tree<S>(tasks, begin, half, largest);
  split_tree<S>(tasks, begin + half, n - half, largest);
}
template <class S>
static __attribute__((noinline)) typename S::Total join_tree(const typename S::Total*& sums, i64 n, i64 largest) {
  if (n <= largest) return *sums++;
  const i64 half = left_of<S>(n);
  const typename S::Total left = join_tree<S>(sums, half, largest);
  return S::add(left, join_tree<S>(sums, n - half, largest));
}
// Tasks of equal size.
ACCEL_INLINE void split_evenly(Tasks& tasks, i64 begin, i64 n, i64 size) {
  tasks.count = 0;
  for (i64 done = 0; done < n && tasks.count < most_tasks; done += size) {
    tasks.begin[tasks.count] = begin + done;
    tasks.size[tasks.count++] = index_min(n - done, size);
  }
}
