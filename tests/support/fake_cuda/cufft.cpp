// cuFFT for tests without a device: the functions that accel calls, on memory of the host, by the definition of the transform.
// It checks what the real one documents: plans are made before they run, with a workspace and a stream, for dtypes that fit.

#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <vector>

#include "library_calls.h"

namespace {

constexpr int invalid_plan = 1, invalid_value = 4;
constexpr size_t workspace_bytes = 1024;
constexpr int of_float = 0, of_double = 1, of_complex = 4, of_double_complex = 5;  // cudaDataType

struct Plan {
  long long points = 0, count = 0;
  int from = -1, to = -1;
  bool has_stream = false, allocates = true;
  void* workspace = nullptr;
};

std::map<int, Plan>& plans() {
  static std::map<int, Plan> all;
  return all;
}

bool is_complex(int dtype) { return dtype == of_complex || dtype == of_double_complex; }
bool is_double(int dtype) { return dtype == of_double || dtype == of_double_complex; }

// Point k of the transform of n points, the spectrum of which may be given by its first half.
template <class T>
std::complex<long double> point(const T* from, long long n, bool is_half, long long k, int sign) {
  std::complex<long double> sum = 0;
  for (long long i = 0; i < n; i++) {
    const bool is_mirrored = is_half && i > n / 2;
    const T element = from[is_mirrored ? n - i : i];
    const std::complex<long double> value = is_mirrored ? std::conj(std::complex<long double>(element)) : element;
    const long double angle = sign * 2 * std::acos(-1.0L) * static_cast<long double>(i * k % n) / static_cast<long double>(n);
    sum += value * std::complex<long double>(std::cos(angle), std::sin(angle));
  }
  return sum;
}

template <class From, class To>
void run(const Plan& plan, From* from, To* to, int sign) {
  constexpr bool is_to_real = !std::is_same_v<To, std::complex<float>> && !std::is_same_v<To, std::complex<double>>;
  constexpr bool is_of_real = !std::is_same_v<From, std::complex<float>> && !std::is_same_v<From, std::complex<double>>;
  const long long half = plan.points / 2 + 1, in = is_to_real ? half : plan.points, out = is_of_real ? half : plan.points;
  for (long long row = 0; row < plan.count; row++) {
    std::vector<To> made;
    for (long long k = 0; k < out; k++) {
      const auto value = point(from + row * in, plan.points, is_to_real, k, sign);
      if constexpr (is_to_real)
        made.push_back(static_cast<To>(value.real()));
      else
        made.push_back(static_cast<To>(value));
    }
    if (is_to_real) std::memset(static_cast<void*>(from + row * in), 0x5a, static_cast<size_t>(in) * sizeof(From));
    std::memcpy(static_cast<void*>(to + row * out), made.data(), static_cast<size_t>(out) * sizeof(To));
  }
}

template <class R>
void run_width(const Plan& plan, void* from, void* to, int sign) {
  using C = std::complex<R>;
  if (!is_complex(plan.from)) return run(plan, static_cast<R*>(from), static_cast<C*>(to), -1);
  if (!is_complex(plan.to)) return run(plan, static_cast<C*>(from), static_cast<R*>(to), 1);
  run(plan, static_cast<C*>(from), static_cast<C*>(to), sign);
}

}  // namespace

extern "C" {
int cufftCreate(int* plan) {
  static int last = 0;
  plans()[*plan = ++last];
  return 0;
}
int cufftSetAutoAllocation(int plan, int allocates) {
  plans().at(plan).allocates = allocates != 0;
  return 0;
}
int cufftXtMakePlanMany(int plan, int rank, long long* n, long long* input_embed, long long, long long, int from,
                        long long* output_embed, long long, long long, int to, long long count, size_t* bytes, int execution) {
  const bool fits = is_double(from) == is_double(to) && (is_complex(from) || is_complex(to)) && is_complex(execution);
  if (rank != 1 || n[0] < 1 || count < 1 || input_embed != nullptr || output_embed != nullptr || !fits) return invalid_value;
  Plan& made = plans().at(plan);
  made = {n[0], count, from, to, false, made.allocates, nullptr};
  *bytes = workspace_bytes;
  return 0;
}
int cufftSetWorkArea(int plan, void* memory) {
  plans().at(plan).workspace = memory;
  return 0;
}
int cufftSetStream(int plan, void*) {
  plans().at(plan).has_stream = true;
  return 0;
}
int cufftXtExec(int number, void* from, void* to, int direction) {
  const Plan& plan = plans().at(number);
  if (plan.points == 0 || !plan.has_stream || plan.allocates || plan.workspace == nullptr) return invalid_plan;
  const size_t alignment = is_double(plan.from) ? 16 : 8;  // of complex numbers, also for floats
  if (reinterpret_cast<size_t>(from) % alignment != 0 || reinterpret_cast<size_t>(to) % alignment != 0) return invalid_value;
  const bool is_of_real = !is_complex(plan.from), is_to_real = !is_complex(plan.to);
  if (direction != (is_of_real ? -1 : is_to_real ? 1 : direction)) return invalid_value;
  if (direction != -1 && direction != 1) return invalid_value;
  fake_cuda::DeviceWork work;
  std::memset(plan.workspace, 0x5a, workspace_bytes);
  is_double(plan.from) ? run_width<double>(plan, from, to, direction) : run_width<float>(plan, from, to, direction);
  return 0;
}
int cufftDestroy(int plan) { return plans().erase(plan) == 1 ? 0 : invalid_plan; }
int cufftGetProperty(int property, int* value) { return *value = property == 0 ? 12 : 1, 0; }
}
