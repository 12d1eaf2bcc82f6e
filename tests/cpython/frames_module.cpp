// accel_frames_test: what the tests of src/cpython need from C++.

#include <Python.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cpython/arguments.h"
#include "cpython/bytecode/bytecode.h"
#include "cpython/dict_version.h"
#include "cpython/frames/frame.h"
#include "cpython/function.h"
#include "mini_interpreter.h"

namespace accel::testing {

namespace {

PyObject* missing = nullptr;  // stands for NULL

// --- decode(code) -> list of dicts --------------------------------------------------------------------------------------

PyObject* describe(const Bytecode& bytecode, const Instruction& i) {
  int after = stack_effect(i, false), taken = stack_effect(i, true);
  PyRef handler = PyRef::borrow(Py_None);
  if (i.handler >= 0) {
    const Handler& h = bytecode.handlers[static_cast<size_t>(i.handler)];
    handler = PyRef::steal(Py_BuildValue("(iii)", h.target, h.depth, h.push_lasti));
  }
  return Py_BuildValue("{s:s,s:i,s:i,s:i,s:O,s:i,s:i,s:i,s:i,s:O,s:i,s:i,s:i}", "op", opcode_name(i.op), "part", i.part, "arg",
                       i.arg, "arg2", i.arg2, "object", i.object ? i.object : missing, "target", i.target, "offset", i.offset,
                       "fault_offset", i.fault_offset, "line", i.line, "handler", handler.get(), "flow",
                       static_cast<int>(opcode_flow(i.op)), "effect", after, "taken", taken);
}

PyObject* py_decode(PyObject*, PyObject* code) {
  Result<Bytecode> bytecode = decode(reinterpret_cast<PyCodeObject*>(code));
  if (!bytecode) return PyErr_Format(PyExc_ValueError, "%s", bytecode.failure().detail.c_str());
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Instruction& instruction : bytecode->instructions) {
    PyRef item = PyRef::steal(describe(*bytecode, instruction));
    if (!item || PyList_Append(list.get(), item.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* py_fault_offset(PyObject*, PyObject* args) {
  PyObject* code;
  int offset;
  if (!PyArg_ParseTuple(args, "Oi", &code, &offset)) return nullptr;
  return PyLong_FromLong(fault_offset_at(reinterpret_cast<PyCodeObject*>(code), offset));
}

// --- native(function, limit, inject, visible) -> callable ---------------------------------------------------------------

MiniReport last_report;

// A callable with a raw vectorcall, like the compiled functions of accel.
struct Native {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* function;
  MiniOptions options;
};

PyObject* call_native(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* native = reinterpret_cast<Native*>(self);
  MiniReport report;
  auto function = reinterpret_cast<PyFunctionObject*>(native->function);
  PyObject* result = run_mini(function, args, nargsf, kwnames, native->options, report);
  last_report = report;
  return result;
}

void free_native(PyObject* self) {
  Py_DECREF(reinterpret_cast<Native*>(self)->function);
  PyObject_Free(self);
}

PyTypeObject native_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool ready_native_type() {
  native_type.tp_name = "accel_frames_test.Native";
  native_type.tp_basicsize = sizeof(Native);
  native_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  native_type.tp_vectorcall_offset = offsetof(Native, vectorcall);
  native_type.tp_call = PyVectorcall_Call;
  native_type.tp_dealloc = free_native;
  return PyType_Ready(&native_type) == 0;
}

PyObject* py_native(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"function", "limit", "inject", "visible", nullptr};
  PyObject* function;
  MiniOptions options;
  int visible = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|lip", const_cast<char**>(names), &PyFunction_Type, &function,
                                   &options.limit, &options.inject, &visible))
    return nullptr;
  options.visible = visible;
  Native* native = PyObject_New(Native, &native_type);
  if (!native) return nullptr;
  native->vectorcall = call_native;
  native->function = Py_NewRef(function);
  native->options = options;
  return reinterpret_cast<PyObject*>(native);
}

PyObject* py_report(PyObject*, PyObject*) {
  return Py_BuildValue("(lii)", last_report.steps, last_report.index, last_report.ending);
}

// --- resume([(function, offset, call_offset, locals, stack), ...], exception or None) -----------------------------------

std::vector<PyRef> read_values(PyObject* sequence) {
  std::vector<PyRef> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sequence); ++i) {
    PyObject* item = PyTuple_GET_ITEM(sequence, i);
    values.push_back(item == missing ? PyRef() : PyRef::borrow(item));
  }
  return values;
}

bool read_state(PyObject* item, FrameState& state) {
  PyObject *function, *locals, *stack;
  if (!PyArg_ParseTuple(item, "OiiO!O!", &function, &state.offset, &state.call_offset, &PyTuple_Type, &locals, &PyTuple_Type,
                        &stack))
    return false;
  state.function = PyRef::borrow(function);
  state.locals = read_values(locals);
  state.stack = read_values(stack);
  return true;
}

PyObject* py_resume(PyObject*, PyObject* args) {
  PyObject *list, *exception;
  if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &exception)) return nullptr;
  std::vector<FrameState> states;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    FrameState state;
    if (!read_state(PyList_GET_ITEM(list, i), state)) return nullptr;
    states.push_back(std::move(state));
  }
  bool raise = exception != Py_None;
  if (raise) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  if (states.size() != 1) return resume_frames(std::move(states), raise);
  return raise ? raise_in_frame(std::move(states[0])) : resume_frame(std::move(states[0]));
}

// --- the rest -----------------------------------------------------------------------------------------------------------

PyObject* py_bind(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  auto function = reinterpret_cast<PyFunctionObject*>(args[0]);
  BoundArguments bound;
  if (!bound.bind(function, args + 1, static_cast<size_t>(count - 1), kwnames)) return Py_NewRef(Py_None);
  PyRef list = PyRef::steal(PyList_New(0));
  for (int i = 0; i < bound.count(); ++i) {
    PyObject* value = bound.locals()[i] ? bound.locals()[i] : missing;
    if (PyList_Append(list.get(), value) < 0) return nullptr;
  }
  return list.release();
}

PyObject* py_call_original(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  return call_original(reinterpret_cast<PyFunctionObject*>(args[0]), args + 1, static_cast<size_t>(count - 1), kwnames);
}

PyObject* py_is_watched(PyObject*, PyObject* code) {
  return PyBool_FromLong(is_watched(reinterpret_cast<PyCodeObject*>(code)));
}

PyObject* py_has_recursion_room(PyObject*, PyObject*) { return PyBool_FromLong(has_recursion_room()); }

// The value behind watch_dict's pointer and the pointer.
PyObject* py_dict_version(PyObject*, PyObject* dict) {
  const uint64_t* version = watch_dict(dict);
  return version ? Py_BuildValue("(Kn)", static_cast<unsigned long long>(*version), reinterpret_cast<Py_ssize_t>(version))
                 : Py_NewRef(Py_None);
}

PyObject* py_type_version(PyObject*, PyObject* type) {
  return PyLong_FromUnsignedLong(type_version(reinterpret_cast<PyTypeObject*>(type)));
}

PyObject* py_assign_type_version(PyObject*, PyObject* type) {
  return PyLong_FromUnsignedLong(assign_type_version(reinterpret_cast<PyTypeObject*>(type)));
}

PyObject* py_describe_locals(PyObject*, PyObject* object) {
  auto code = reinterpret_cast<PyCodeObject*>(object);
  PyRef list = PyRef::steal(PyList_New(0));
  for (int i = 0; i < local_count(code); ++i) {
    PyRef item = PyRef::steal(Py_BuildValue("(Oi)", local_name(code, i), static_cast<int>(local_kind(code, i))));
    if (!item || PyList_Append(list.get(), item.get()) < 0) return nullptr;
  }
  return Py_BuildValue("(Niiii)", list.release(), argument_count(code), free_variable_count(code), stack_size(code),
                       is_generator_code(code));
}

// An evaluation hook of another tool: counts the frames it is asked to evaluate.
long hook_calls = 0;

PyObject* counting_hook(PyThreadState* thread, _PyInterpreterFrame* frame, int throwflag) {
  ++hook_calls;
  return _PyEval_EvalFrameDefault(thread, frame, throwflag);
}

// with_hook(f): f() while the hook is installed -> (result, frames counted, whether it was still installed afterwards)
PyObject* py_with_hook(PyObject*, PyObject* function) {
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  hook_calls = 0;
  _PyInterpreterState_SetEvalFrameFunc(interpreter, counting_hook);
  PyObject* result = PyObject_CallNoArgs(function);
  int installed = _PyInterpreterState_GetEvalFrameFunc(interpreter) == counting_hook;
  _PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
  return result ? Py_BuildValue("(Nli)", result, hook_calls, installed) : nullptr;
}

PyObject* py_has_hook(PyObject*, PyObject*) {
  return PyBool_FromLong(_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) != _PyEval_EvalFrameDefault);
}

template <class Function>
PyCFunction as_method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef methods[] = {{"decode", py_decode, METH_O, nullptr},
                         {"fault_offset", py_fault_offset, METH_VARARGS, nullptr},
                         {"native", as_method(py_native), METH_VARARGS | METH_KEYWORDS, nullptr},
                         {"report", py_report, METH_NOARGS, nullptr},
                         {"resume", py_resume, METH_VARARGS, nullptr},
                         {"bind", as_method(py_bind), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"call_original", as_method(py_call_original), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"with_hook", py_with_hook, METH_O, nullptr},
                         {"has_hook", py_has_hook, METH_NOARGS, nullptr},
                         {"is_watched", py_is_watched, METH_O, nullptr},
                         {"has_recursion_room", py_has_recursion_room, METH_NOARGS, nullptr},
                         {"dict_version", py_dict_version, METH_O, nullptr},
                         {"type_version", py_type_version, METH_O, nullptr},
                         {"assign_type_version", py_assign_type_version, METH_O, nullptr},
                         {"describe_locals", py_describe_locals, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "accel_frames_test", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

}  // namespace accel::testing

PyMODINIT_FUNC PyInit_accel_frames_test() {
  using namespace accel::testing;
  PyObject* module = PyModule_Create(&definition);
  if (!module || !ready_native_type()) return nullptr;
  missing = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  if (PyModule_AddObjectRef(module, "NULL", missing) < 0) return nullptr;
  return module;
}
