#pragma once
// The parts of the module _accel. It is for control calls only; calls of compiled functions do not pass through pybind11.

#include <pybind11/pybind11.h>

namespace accel {

void bind_tables(pybind11::module_& module);
void bind_functions(pybind11::module_& module);
void bind_system(pybind11::module_& module);
void bind_stages(pybind11::module_& module);
void bind_cuda(pybind11::module_& module);

}  // namespace accel
