#include "dispatch/backends/python_kernel.h"

#include "codegen/kernel_abi.h"
#include "dispatch/backends/graph_data.h"
#include "dispatch/calls/checked_run.h"
#include "dispatch/events/event_plan.h"
#include "dispatch/reports/python_errors.h"
#include "ir/analysis/flow.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// The calls of the kernel that runs in this thread.
thread_local BoxedCalls* current_calls = nullptr;

// make_call(number)(*operands) -> results
PyObject* call_boxed(PyObject* number, PyObject* const* operands, Py_ssize_t) {
  if (BoxedCalls* calls = current_calls) {
    PyObject* results = calls->call_with_objects(static_cast<int>(PyLong_AsLong(number)), operands);
    current_calls = calls;  // the call may have run other kernels in this thread
    if (results == nullptr && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a call has left the graph");
    return results;
  }
  PyErr_SetString(PyExc_RuntimeError, "a call of a graph that does not run");
  return nullptr;
}

PyObject* make_call(int number) {
  static PyMethodDef method = {"boxed_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_boxed)),
                               METH_FASTCALL, nullptr};
  PyRef self = PyRef::steal(PyLong_FromLong(number));
  return self ? PyCFunction_New(&method, self.get()) : nullptr;
}

bool add_number(PyObject* dict, const char* name, int number) {
  PyRef value = PyRef::steal(PyLong_FromLong(number));
  return value && PyDict_SetItemString(dict, name, value.get()) == 0;
}

Failure no_data() { return fail(Reason::backend_failed, take_exception_text()); }

}  // namespace

Result<std::unique_ptr<PythonKernel>> PythonKernel::make(PyObject* backend, const Captured& captured, const Binding& binding) {
  const Graph& graph = captured.graph;
  auto kernel = std::make_unique<PythonKernel>();
  kernel->symbol_count_ = static_cast<int>(symbol_count(captured));
  kernel->has_flow_ = has_flow(graph);
  int arrays = 0;
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    const Type& type = graph.type(graph.entry().params[i]);
    Input input{-1, graph.inputs[i].slot, type.kind, type.dtype};
    if (input.slot < 0) input.source = captured.guards.array_source(arrays++);
    kernel->inputs_.push_back(input);
  }
  PyRef data = PyRef::steal(graph_data(graph, make_call));
  if (data && !add_number(data.get(), "ignored_events", events_ignored_everywhere(captured))) return no_data();
  if (data && !add_number(data.get(), "reported_events", events_asked_for(captured))) return no_data();
  PyRef symbols = kernel->symbols(binding), inputs = kernel->inputs(binding);
  if (data && symbols && inputs) {
    kernel->callable_ = PyRef::steal(PyObject_CallFunctionObjArgs(backend, data.get(), symbols.get(), inputs.get(), nullptr));
  }
  if (!kernel->callable_) return fail(Reason::backend_failed, "the backend raised " + take_exception_text());
  return kernel;
}

PyRef PythonKernel::symbols(const Binding& binding) const {
  PyRef list = PyRef::steal(PyList_New(symbol_count_));
  for (int i = 0; list && i < symbol_count_; i++) {
    PyObject* value = PyLong_FromLongLong(binding.symbols[i]);
    if (value == nullptr) return {};
    PyList_SET_ITEM(list.get(), i, value);
  }
  return list;
}

PyRef PythonKernel::inputs(const Binding& binding) const {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Input& input : inputs_) {
    const void* bits = input.slot >= 0 ? binding.symbols + input.slot : nullptr;
    PyRef object;
    if (bits == nullptr) {
      object = PyRef::borrow(binding.sources[input.source]);
    } else if (input.kind == ValueKind::py_scalar) {
      object = PyRef::steal(new_python_scalar(input.dtype, bits));
    } else {
      object = PyRef::steal(new_numpy_scalar(input.dtype, bits));
    }
    if (!list || !object || PyList_Append(list.get(), object.get()) < 0) return {};
  }
  return list;
}

Result<int> PythonKernel::run(const Binding& binding, const OutputPlan& plan, Outputs& outputs, int& exit,
                              BoxedCalls* calls) const {
  PyRef symbol_list = symbols(binding), input_list = inputs(binding), answer;
  if (symbol_list && input_list) {
    BoxedCalls* outer = std::exchange(current_calls, calls);
    answer = PyRef::steal(PyObject_CallFunctionObjArgs(callable_.get(), symbol_list.get(), input_list.get(), nullptr));
    current_calls = outer;
  }
  int status = 0;
  PyObject* results = nullptr;
  if (!answer && calls != nullptr && calls->has_left()) {
    PyErr_Clear();
    return static_cast<int>(accel_left);
  }
  if (!answer && calls != nullptr && calls->has_failed()) return calls->failed();
  if (!answer || !PyArg_ParseTuple(answer.get(), "iiO", &status, &exit, &results)) {
    return fail(Reason::backend_failed, "the backend's callable raised " + take_exception_text());
  }
  if (results == Py_None && status != 0) return status;
  // Symbols that the run has bound are not available here.
  Status stored = store_all(results, exit, has_flow_ ? nullptr : binding.symbols, plan, outputs);
  if (stored.ok()) return status;
  plan.release(outputs);
  return stored.failure();
}

Status PythonKernel::store_all(PyObject* results, int exit, const int64_t* symbols, const OutputPlan& plan, Outputs& outputs) {
  PyRef sequence = PyRef::steal(PySequence_Fast(results, "a backend's callable returns a sequence"));
  if (!sequence) {
    PyErr_Clear();
    return fail(Reason::backend_failed,
                std::string("the backend's callable returned no results but ") + Py_TYPE(results)->tp_name);
  }
  bool fits =
      exit >= 0 && exit < plan.exit_count() && PySequence_Fast_GET_SIZE(sequence.get()) == plan.last(exit) - plan.first(exit);
  if (!fits) return fail(Reason::backend_failed, "the backend's callable returned another number of results");
  for (int i = plan.first(exit); i < plan.last(exit); i++) {
    PyObject* result = PySequence_Fast_GET_ITEM(sequence.get(), i - plan.first(exit));
    ACCEL_TRY([[maybe_unused]] Unit stored, store(result, i, symbols, plan, outputs));
  }
  return Unit{};
}

Status PythonKernel::store(PyObject* result, int index, const int64_t* symbols, const OutputPlan& plan, Outputs& outputs) {
  if (plan.is_array(index)) {
    if (!plan.matches(index, result, symbols)) {
      return fail(Reason::backend_failed, "result " + std::to_string(index) + " has another dtype, shape or memory order");
    }
    outputs.arrays[index] = Py_NewRef(result);
    outputs.data[index] = array_data(result);
    return Unit{};
  }
  uint64_t bits[2] = {0, 0};
  PyRef scalar = PyRef::borrow(result);
  if (is_exact_array(result)) scalar = PyRef::steal(PyObject_CallMethod(result, "__getitem__", "()"));
  if (!scalar || !read_scalar(scalar.get(), plan.dtype(index), bits)) {
    PyErr_Clear();
    return fail(Reason::backend_failed, "result " + std::to_string(index) + " is not a number of its dtype");
  }
  outputs.numbers[2 * index] = static_cast<int64_t>(bits[0]);
  outputs.numbers[2 * index + 1] = static_cast<int64_t>(bits[1]);
  outputs.data[index] = outputs.numbers + 2 * index;
  return Unit{};
}

int PythonKernel::traverse(visitproc visit, void* arg) const {
  Py_VISIT(callable_.get());
  return 0;
}

}  // namespace accel
