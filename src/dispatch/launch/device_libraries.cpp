#include "dispatch/launch/device_libraries.h"

namespace accel {

Result<AccelImport> library_function(CudaDevice& device, const LoopImport& import) {
  return fail(Reason::not_on_device, std::string(op_info(import.op).name) + " of these dtypes");
}

}  // namespace accel
