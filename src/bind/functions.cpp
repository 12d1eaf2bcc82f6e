// Compiled functions: making them, their records, the stance.

#include "bind/bind.h"
#include "bind/records.h"
#include "dispatch/compiled_function.h"
#include "dispatch/versions/stance.h"

namespace accel {
namespace {

Dispatcher& checked(py::handle object) {
  if (!is_compiled_function(object.ptr())) throw py::type_error("expected a compiled function");
  return dispatcher_of(object.ptr());
}

py::object make(py::object function, bool fullgraph, py::object dynamic, bool disable, py::object backend,
                std::string backend_name, int device, bool reduce_overhead, int64_t most_versions) {
  if (!PyFunction_Check(function.ptr())) throw py::type_error("expected a Python function");
  DispatchOptions options;
  options.fullgraph = fullgraph;
  options.fixed_sizes = dynamic.is(py::bool_(false));
  options.disable = disable;
  if (!backend.is_none()) options.backend = PyRef::borrow(backend.ptr());
  options.backend_name = std::move(backend_name);
  options.device = device;
  options.reduce_overhead = reduce_overhead;
  options.most_versions = most_versions;
  PyObject* made = new_compiled_function(function.ptr(), std::move(options));
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::dict options_record(py::handle function) {
  const DispatchOptions& options = checked(function).options();
  py::dict record;
  record["fullgraph"] = options.fullgraph;
  record["dynamic"] = options.fixed_sizes ? py::object(py::bool_(false)) : py::object(py::none());
  record["disable"] = options.disable;
  record["backend"] =
      options.backend ? py::object(py::reinterpret_borrow<py::object>(options.backend.get())) : py::object(py::none());
  record["backend_name"] = options.backend_name;
  record["device"] = options.device;
  record["mode"] = options.reduce_overhead ? "reduce-overhead" : "default";
  return record;
}

bool set_stance(const std::string& name) {
  std::optional<Stance> found = stance_from_name(name);
  if (found) current_stance = *found;
  return found.has_value();
}

}  // namespace

void bind_functions(py::module_& module) {
  module.attr("CompiledFunction") = py::handle(reinterpret_cast<PyObject*>(compiled_function_type()));
  module.def("make_function", make, py::arg("function"), py::arg("fullgraph"), py::arg("dynamic"), py::arg("disable"),
             py::arg("backend"), py::arg("backend_name"), py::arg("device") = no_choice, py::arg("reduce_overhead") = false,
             py::arg("most_versions") = 0);
  module.attr("ON_CPU") = on_cpu;
  module.attr("NO_CHOICE") = no_choice;
  module.def("choose_device", choose_device);
  module.def("choose_default_device", choose_default_device);
  module.def("options", options_record);
  module.def("python_function", [](py::handle function) {
    checked(function);
    return py::reinterpret_borrow<py::object>(wrapped_function(function.ptr()));
  });
  module.def("counters", [](py::handle function) { return counters_record(checked(function)); });
  module.def("record", [](py::handle function) { return function_record(checked(function)); });
  module.def("reset", [](py::handle function) { function.is_none() ? reset_all() : checked(function).reset(); });
  module.def("set_stance", set_stance);
  module.def("get_stance", [] { return stance_name(stance()); });
}

}  // namespace accel
