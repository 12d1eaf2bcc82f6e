#include "dispatch/launch/library/device_libraries.h"

#include <string>

#include "dispatch/launch/library/device_products.h"
#include "dispatch/launch/library/device_solvers.h"

namespace accel {

Result<DeviceFunctionCall> library_function(CudaDevice& device, const LoopImport& import) {
  if (is_product(import.op)) return product_function(device, import);
  if (is_solver(import.op)) return solver_function(device, import);
  return fail(Reason::not_on_device, std::string(op_info(import.op).name));
}

}  // namespace accel
