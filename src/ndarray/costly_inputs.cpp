#include "ndarray/costly_inputs.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace accel {
namespace {

constexpr int most_ranges = 2;
constexpr intptr_t piece_elements = 512;  // of a piece: what it needs stays in the nearest cache
constexpr int events_of_floats = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;

constexpr double infinity = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max(),
                 least = std::numeric_limits<double>::denorm_min();

// Ranges, ends included, in which all exact results round to one float; `usual`: a number outside of them.
struct Row {
  Op op;
  double usual;
  double ranges[most_ranges][2];
};
constexpr Row rows[] = {
    {Op::log, 2.5, {{-infinity, -least}, {-0.0, 0.0}}},
    {Op::log2, 2.5, {{-infinity, -least}, {-0.0, 0.0}}},
    {Op::log10, 2.5, {{-infinity, -least}, {-0.0, 0.0}}},
    {Op::log1p, 2.5, {{-infinity, -1.0000000000000002}, {-1.0, -1.0}}},
    {Op::exp, 2.5, {{-most, -746.0}, {710.0, most}}},
    {Op::exp2, 2.5, {{-most, -1076.0}, {1024.0, most}}},
    {Op::arcsin, 0.25, {{-infinity, -1.0000000000000002}, {1.0000000000000002, infinity}}},
    {Op::arccos, 0.25, {{-infinity, -1.0000000000000002}, {1.0000000000000002, infinity}}},
    {Op::arccosh, 2.5, {{-infinity, -least}, {-0.0, 0.9999999999999999}}},
};

// Integers in the order of the floats, so that comparing raises no flags; -0 comes right before 0. NaNs are beyond infinity.
int64_t key_of(double value) {
  auto bits = std::bit_cast<int64_t>(value);
  return bits ^ static_cast<int64_t>(static_cast<uint64_t>(bits >> 63) >> 1);
}
double of_key(int64_t key) { return std::bit_cast<double>(key_of(std::bit_cast<double>(key))); }

}  // namespace

struct CostlyInputs {
  struct Range {
    int64_t first = 0, last = 0;  // keys
    double result = 0;
    int events = 0;
  };
  double usual = 0;
  Range ranges[most_ranges];
};

namespace {

struct Answer {
  double result = 0;
  int events = 0;
};

Answer ask(const AccelImport& loop, double value) {
  Answer out;
  char* args[] = {reinterpret_cast<char*>(&value), reinterpret_cast<char*>(&out.result)};
  const intptr_t dims[] = {1}, strides[] = {sizeof(double), sizeof(double)};
  std::feclearexcept(FE_ALL_EXCEPT);
  loop.loop(loop.context, args, dims, strides, loop.auxdata);
  out.events = std::fetestexcept(events_of_floats);
  return out;
}

// Seconds for some elements of one value, at best.
double seconds(const AccelImport& loop, double value) {
  constexpr int count = 64, times = 7;
  double from[count], to[count], best = infinity;
  std::fill(from, from + count, value);
  char* args[] = {reinterpret_cast<char*>(from), reinterpret_cast<char*>(to)};
  const intptr_t dims[] = {count}, strides[] = {sizeof(double), sizeof(double)};
  for (int k = 0; k < times; ++k) {
    auto start = std::chrono::steady_clock::now();
    loop.loop(loop.context, args, dims, strides, loop.auxdata);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Whether the loop gives equal bits and events for samples of the whole range, and at least one event; stores them in `out`.
bool is_constant(const AccelImport& loop, const double (&ends)[2], CostlyInputs::Range& out) {
  constexpr uint64_t samples = 64;
  out.first = key_of(ends[0]), out.last = key_of(ends[1]);
  const uint64_t width = static_cast<uint64_t>(out.last) - static_cast<uint64_t>(out.first);
  Answer first = ask(loop, ends[0]);
  out.result = first.result, out.events = first.events;
  for (uint64_t k = 0; k <= samples; ++k) {
    uint64_t step = k == samples ? width : width / samples * k;
    Answer other = ask(loop, of_key(static_cast<int64_t>(static_cast<uint64_t>(out.first) + step)));
    bool same = std::bit_cast<uint64_t>(other.result) == std::bit_cast<uint64_t>(first.result);
    if (!same || other.events != first.events) return false;
  }
  return first.events != 0;
}

std::unique_ptr<const CostlyInputs> find(const Row& row, const AccelImport& loop) {
  auto found = std::make_unique<CostlyInputs>();
  std::fenv_t before;
  std::feholdexcept(&before);
  found->usual = row.usual;
  bool constant = true, costly = false;
  double usual = seconds(loop, row.usual);
  for (int k = 0; k < most_ranges && constant; ++k) {
    constant = is_constant(loop, row.ranges[k], found->ranges[k]);
    costly = costly || seconds(loop, std::clamp(row.ranges[k][0], -1e4, 1e4)) > 1.25 * usual;
  }
  std::fesetenv(&before);
  return constant && costly ? std::move(found) : nullptr;
}

// Where fewer than one of so many elements are costly, leaving them out costs more than it saves.
constexpr intptr_t least_share = 4;

[[gnu::always_inline]] inline uint64_t is_inside(const CostlyInputs::Range& range, int64_t key) {
  return static_cast<uint64_t>((key >= range.first) & (key <= range.last));
}

// Whether so many of the elements are costly that leaving them out pays: a sample of every 13th element, as the test costs
// time, too. The step is odd, so that data with a period of a power of two are sampled evenly.
bool has_many_costly(const CostlyInputs& inputs, const double* from, intptr_t count) {
  constexpr intptr_t step = 13;
  const CostlyInputs::Range low = inputs.ranges[0], high = inputs.ranges[1];
  uint64_t found = 0;
  for (intptr_t k = 0; k < count; k += step) {
    const int64_t key = key_of(from[k]);
    found += is_inside(low, key) | is_inside(high, key);
  }
  return static_cast<intptr_t>(found) * least_share * step >= count;
}

// Calls the loop for contiguous elements, without the costly ones. Returns the events of these. After a piece without events
// the elements are not tested: data of one kind seldom begin to be costly.
int call_for_piece(SparedLoop& spared, char* const* args, intptr_t count, const intptr_t* strides, int* failed) {
  const CostlyInputs& inputs = *spared.inputs;
  const AccelImport& loop = spared.loop;
  const auto* from = reinterpret_cast<const double*>(args[0]);
  auto* to = reinterpret_cast<double*>(args[1]);
  const bool had_events = spared.had_events.load(std::memory_order_relaxed);
  if (!had_events || !has_many_costly(inputs, from, count)) {
    *failed |= loop.loop(loop.context, args, &count, strides, loop.auxdata);
    const bool has_events = std::fetestexcept(events_of_floats) != 0;
    if (has_events != had_events) spared.had_events.store(has_events, std::memory_order_relaxed);
    return 0;
  }
  double usual[piece_elements], results[piece_elements + 1];
  uint8_t ranges[piece_elements];  // 0: none
  const CostlyInputs::Range low = inputs.ranges[0], high = inputs.ranges[1];
  intptr_t usual_count = 0;
  for (intptr_t k = 0; k < count; ++k) {
    const int64_t key = key_of(from[k]);
    const uint64_t range = is_inside(low, key) | is_inside(high, key) << 1;
    ranges[k] = static_cast<uint8_t>(range);
    usual[usual_count] = from[k];
    usual_count += static_cast<intptr_t>(range == 0);
  }
  if (usual_count > 0) {
    char* const own[] = {reinterpret_cast<char*>(usual), reinterpret_cast<char*>(results)};
    *failed |= loop.loop(loop.context, own, &usual_count, strides, loop.auxdata);
  }
  results[usual_count] = 0;  // is read, not used
  const uint64_t constants[] = {0, std::bit_cast<uint64_t>(low.result), std::bit_cast<uint64_t>(high.result)};
  unsigned ranges_found = 0;
  intptr_t next = 0;
  for (intptr_t k = 0; k < count; ++k) {
    const unsigned range = ranges[k];
    const uint64_t computed = -static_cast<uint64_t>(range == 0);
    to[k] = std::bit_cast<double>((std::bit_cast<uint64_t>(results[next]) & computed) | constants[range]);
    next += static_cast<intptr_t>(range == 0);
    ranges_found |= range;
  }
  return ((ranges_found & 1) != 0 ? low.events : 0) | ((ranges_found & 2) != 0 ? high.events : 0);
}

// Whether the arrays are contiguous and either disjoint or identical, so that no element is overwritten before it is read.
bool is_simple(char* const* args, intptr_t count, const intptr_t* strides) {
  constexpr intptr_t size = sizeof(double);
  if (strides[0] != size || strides[1] != size) return false;
  return args[0] == args[1] || args[0] + count * size <= args[1] || args[1] + count * size <= args[0];
}

}  // namespace

const CostlyInputs* costly_inputs(Op op, DType from, DType to, const AccelImport& loop) {
  if (from != DType::float64 || to != DType::float64) return nullptr;
  const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.op == op; });
  if (row == std::end(rows)) return nullptr;
  static auto* cache = new std::map<Op, std::unique_ptr<const CostlyInputs>>;
  auto found = cache->find(op);
  if (found == cache->end()) found = cache->emplace(op, find(*row, loop)).first;
  return found->second.get();
}

int call_without_costly_inputs(void*, char* const* args, const intptr_t* dims, const intptr_t* strides, void* auxdata) {
  auto& spared = *static_cast<SparedLoop*>(auxdata);
  if (!is_simple(args, dims[0], strides))
    return spared.loop.loop(spared.loop.context, args, dims, strides, spared.loop.auxdata);
  int failed = 0, events = 0;
  for (intptr_t begin = 0; begin < dims[0]; begin += piece_elements) {
    char* const piece[] = {args[0] + begin * strides[0], args[1] + begin * strides[1]};
    events |= call_for_piece(spared, piece, std::min(piece_elements, dims[0] - begin), strides, &failed);
  }
  if (events != 0) std::feraiseexcept(events);
  return failed;
}

}  // namespace accel
