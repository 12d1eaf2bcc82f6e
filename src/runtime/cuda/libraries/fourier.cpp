#include "runtime/cuda/libraries/fourier.h"

#include <algorithm>
#include <list>
#include <string>
#include <tuple>

#include "runtime/cuda/context.h"

namespace accel {
namespace {

// The functions of fourier.inc, in its order.
struct CufftFunctions {
#define CUFFT_FUNCTION(result, name, symbol, parameters) result(*name) parameters;
#include "runtime/cuda/libraries/fourier.inc"
};

const CudaLibraryNames cufft_names{{"libcufft.so.12", "libcufft.so.11"}, {"libnvJitLink.so.*"}};

constexpr int cufft_no_memory = 2;                           // CUFFT_ALLOC_FAILED
constexpr int forward_exponent = -1, backward_exponent = 1;  // CUFFT_FORWARD, CUFFT_INVERSE
constexpr size_t most_plans = 64;

MathLibrary<CufftFunctions>& cufft() {
  static auto* library = new MathLibrary<CufftFunctions>(cufft_names, {
#define CUFFT_FUNCTION(result, name, symbol, parameters) #symbol,
#include "runtime/cuda/libraries/fourier.inc"
                                                                      });
  return *library;
}

Status check_cufft(int status, const char* what) {
  return check_library_call(std::string("cuFFT: ") + what, status, cufft_no_memory);
}

struct Plan {
  int device = 0;
  FourierTransform transform;
  int handle = 0;
  size_t workspace_bytes = 0;
};

// Plans, the last used one first. Requires the library's mutex; plans are made with the device's context current.
class Plans {
 public:
  Result<const Plan*> find(const CufftFunctions& call, int device, const FourierTransform& transform) {
    auto same = [&](const Plan& plan) {
      return plan.device == device && !(plan.transform < transform) && !(transform < plan.transform);
    };
    if (const auto found = std::find_if(plans_.begin(), plans_.end(), same); found != plans_.end()) {
      plans_.splice(plans_.begin(), plans_, found);
    } else {
      ACCEL_TRY(Plan made, make(call, device, transform));
      plans_.push_front(made);
      if (plans_.size() > most_plans) call.destroy(plans_.back().handle), plans_.pop_back();
    }
    return const_cast<const Plan*>(&plans_.front());
  }

 private:
  static Result<Plan> make(const CufftFunctions& call, int device, const FourierTransform& transform) {
    Plan plan{device, transform};
    ACCEL_TRY(Unit done, check_cufft(call.create(&plan.handle), "create"));
    Status made = set_up(call, plan);
    if (!made.ok()) call.destroy(plan.handle);
    ACCEL_TRY(done, made);
    return plan;
  }
  static Status set_up(const CufftFunctions& call, Plan& plan) {
    ACCEL_TRY([[maybe_unused]] Unit done, check_cufft(call.set_auto_allocation(plan.handle, 0), "workspace"));
    const FourierTransform& of = plan.transform;
    long long points = of.points;
    const int from = cuda_data_type(of.from), to = cuda_data_type(of.to);
    const int complex_dtype = dtype_kind(of.from) == 'c' ? from : to;
    return check_cufft(call.make_plan(plan.handle, 1, &points, nullptr, 1, 0, from, nullptr, 1, 0, to, of.count,
                                      &plan.workspace_bytes, complex_dtype),
                       "plan");
  }

  std::list<Plan> plans_;
};

}  // namespace

bool FourierTransform::operator<(const FourierTransform& other) const {
  auto tied = [](const FourierTransform& of) { return std::tie(of.from, of.to, of.points, of.count); };
  return tied(*this) < tied(other);
}

Result<MathLibraryInfo> find_cufft() { return cufft().info(); }

Status transform(CudaDevice& device, const FourierTransform& transform, char* from, char* to) {
  static auto* plans = new Plans;
  ACCEL_TRY(const CufftFunctions* call, cufft().functions());
  std::lock_guard lock(cufft().mutex());
  ActiveContext active(device.context());
  if (!active.ok()) return active.failure();
  const LaunchScope by_library(device, nullptr);
  ACCEL_TRY(const Plan* plan, plans->find(*call, device.number(), transform));
  // The workspace goes back to the pool in the order of the stream, after the transform.
  ACCEL_TRY(const std::shared_ptr<DeviceBlock> workspace,
            new_device_block(device, static_cast<int64_t>(plan->workspace_bytes)));
  ACCEL_TRY(Unit done, check_cufft(call->set_workspace(plan->handle, workspace->data), "workspace"));
  ACCEL_TRY(done, check_cufft(call->set_stream(plan->handle, device.stream()), "stream"));
  return check_cufft(call->execute(plan->handle, from, to, transform.is_forward ? forward_exponent : backward_exponent),
                     "transform");
}

}  // namespace accel
