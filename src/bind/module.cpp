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

// The module, once it is complete: a second import finds it.
PyObject* complete = nullptr;

int fill(PyObject* object) {
  if (object == complete) return 0;
  try {
    auto module = pybind11::reinterpret_borrow<pybind11::module_>(object);
    start(module);
    bind_tables(module);
    bind_functions(module);
    bind_system(module);
    bind_devices(module);
    bind_stages(module);
    bind_cuda(module);
    complete = Py_NewRef(object);
    return 0;
  }
  PYBIND11_CATCH_INIT_EXCEPTIONS
  return -1;
}

// pybind11 and NumPy wait for ever for the GIL of a subinterpreter: this comes before both. An interpreter may have been made
// so that CPython does not heed the slot below, and 3.11 has none.
PyObject* create(PyObject* spec, PyModuleDef*) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError, "accel does not support loading in subinterpreters: import it in the main interpreter");
    return nullptr;
  }
  if (complete != nullptr) return Py_NewRef(complete);
  PyRef name = PyRef::steal(PyObject_GetAttrString(spec, "name"));
  return name ? PyModule_NewObject(name.get()) : nullptr;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_create, reinterpret_cast<void*>(create)},
    {Py_mod_exec, reinterpret_cast<void*>(fill)},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_accel", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace accel

PYBIND11_PLUGIN_IMPL(_accel) { return PyModuleDef_Init(&accel::definition); }
