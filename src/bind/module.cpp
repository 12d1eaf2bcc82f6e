// The module _accel.

#include <pybind11/pybind11.h>

#include "bind/bind.h"
#include "bind/version.h"
#include "capture/domain/compiled_functions.h"
#include "dispatch/compiled_function.h"
#include "dispatch/reports/notices.h"
#include "dispatch/signals/interrupt.h"
#include "dispatch/versions/slow_compile.h"
#include "ndarray/array.h"
#include "runtime/parallel.h"
#include "runtime/result_pool.h"
#include "toolchain/toolchain.h"

namespace accel {
namespace {

// Connects the core to this interpreter. Python exception when NumPy cannot be used.
void start(pybind11::module_& module) {
  if (!import_numpy() || compiled_function_type() == nullptr) throw pybind11::error_already_set();
  install_result_allocator({pool_allocate, pool_allocate_zeroed, pool_reallocate, pool_release});
  set_interrupt_poll(poll_signals);
  set_process_poll([] { return poll_signals(0) != Interrupt::none; });
  set_warning_sink(keep_notice);
  set_wait_observer(SlowCompile::observe);
  set_compiled_functions(compiled_function_type(), function_to_inline);
  auto version = pybind11::module_::import("numpy").attr("__version__").cast<std::string>();
  set_environment_key("accel " ACCEL_VERSION " numpy " + version);
  module.attr("__version__") = ACCEL_VERSION;
}

}  // namespace
}  // namespace accel

PYBIND11_MODULE(_accel, module) {
  accel::start(module);
  accel::bind_tables(module);
  accel::bind_functions(module);
  accel::bind_system(module);
  accel::bind_stages(module);
  accel::bind_cuda(module);
}
