#include "dispatch/compiled_function.h"

#include <cstring>
#include <memory>

namespace accel {
namespace {

struct CompiledFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* dict;
  PyObject* weak_references;
  Dispatcher* dispatcher;
  CompiledFunction *next, *previous;  // neighbours in the ring of all compiled functions
};

CompiledFunction* as_compiled(PyObject* object) { return reinterpret_cast<CompiledFunction*>(object); }

// The anchor of the ring of all compiled functions, which is not a function itself.
CompiledFunction* anchor() {
  static CompiledFunction* ring = [] {
    auto* made = new CompiledFunction{};
    made->next = made->previous = made;
    return made;
  }();
  return ring;
}

void link(CompiledFunction* added) {
  added->next = anchor();
  added->previous = anchor()->previous;
  added->previous->next = added;
  anchor()->previous = added;
}

void unlink(CompiledFunction* removed) {
  if (removed->next == nullptr) return;
  removed->next->previous = removed->previous;
  removed->previous->next = removed->next;
  removed->next = removed->previous = nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  return as_compiled(self)->dispatcher->call(args, nargsf, names);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  CompiledFunction* compiled = as_compiled(self);
  Py_VISIT(compiled->function);
  Py_VISIT(compiled->dict);
  return compiled->dispatcher != nullptr ? compiled->dispatcher->traverse(visit, arg) : 0;
}

// tp_clear: reference cycles lead through the versions and the __dict__. The function is kept, as the object must remain
// callable.
int clear(PyObject* self) {
  CompiledFunction* compiled = as_compiled(self);
  if (compiled->dispatcher != nullptr) compiled->dispatcher->reset();
  Py_CLEAR(compiled->dict);
  return 0;
}

void dealloc(PyObject* self) {
  CompiledFunction* compiled = as_compiled(self);
  PyObject_GC_UnTrack(self);
  if (compiled->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  unlink(compiled);
  delete std::exchange(compiled->dispatcher, nullptr);
  Py_CLEAR(compiled->dict);
  Py_CLEAR(compiled->function);
  PyObject_GC_Del(self);
}

PyObject* repr(PyObject* self) {
  PyObject* name = reinterpret_cast<PyFunctionObject*>(as_compiled(self)->function)->func_qualname;
  return PyUnicode_FromFormat("<compiled function %U at %p>", name, self);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

// Looks an attribute up in the object, then in the function.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  found = PyObject_GetAttr(as_compiled(self)->function, name);
  if (found == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
  return found;
}

// Attributes that functions define are set on the function itself, which may refuse.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  PyObject* own = PyUnicode_Check(name) ? _PyType_Lookup(Py_TYPE(self), name) : nullptr;
  PyObject* of_function = PyUnicode_Check(name) ? _PyType_Lookup(&PyFunction_Type, name) : nullptr;
  bool is_part = own == nullptr && of_function != nullptr && Py_TYPE(of_function)->tp_descr_set != nullptr;
  return PyObject_GenericSetAttr(is_part ? as_compiled(self)->function : self, name, value);
}

// __wrapped__: what functools.wraps has set, else the function itself.
PyObject* get_wrapped(PyObject* self, void* name) {
  PyObject* dict = as_compiled(self)->dict;
  PyObject* set = dict != nullptr ? PyDict_GetItemString(dict, static_cast<const char*>(name)) : nullptr;
  return Py_NewRef(set != nullptr ? set : as_compiled(self)->function);
}

int set_wrapped(PyObject* self, PyObject* value, void* name) {
  PyRef dict = PyRef::steal(PyObject_GenericGetDict(self, nullptr));
  if (!dict) return -1;
  if (value != nullptr) return PyDict_SetItemString(dict.get(), static_cast<const char*>(name), value);
  if (PyDict_DelItemString(dict.get(), static_cast<const char*>(name)) == 0) return 0;
  PyErr_SetString(PyExc_AttributeError, static_cast<const char*>(name));
  return -1;
}

// __class__: the type of functions, so that isinstance and inspect.isfunction accept the object. cloudpickle gets the real
// type, so that it uses __reduce_ex__ instead of pickling the bare function.
PyObject* get_class(PyObject* self, void*) {
  PyObject* globals = PyEval_GetGlobals();
  PyObject* module = globals != nullptr ? PyDict_GetItemString(globals, "__name__") : nullptr;
  const char* name = module != nullptr && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : nullptr;
  if (name == nullptr) PyErr_Clear();
  bool pickles = name != nullptr && std::strncmp(name, "cloudpickle", 11) == 0;
  return Py_NewRef(reinterpret_cast<PyObject*>(pickles ? Py_TYPE(self) : &PyFunction_Type));
}

// Accessors of the function's attribute that is named by their closure.
PyObject* get_of_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_compiled(self)->function, static_cast<const char*>(name));
}

int set_of_function(PyObject* self, PyObject* value, void* name) {
  PyObject* function = as_compiled(self)->function;
  return value != nullptr ? PyObject_SetAttrString(function, static_cast<const char*>(name), value)
                          : PyObject_DelAttrString(function, static_cast<const char*>(name));
}

#define OF_FUNCTION(name) {name, get_of_function, set_of_function, nullptr, const_cast<char*>(name)}
PyGetSetDef accessors[] = {
    OF_FUNCTION("__name__"),
    OF_FUNCTION("__qualname__"),
    OF_FUNCTION("__doc__"),
    OF_FUNCTION("__module__"),
    OF_FUNCTION("__annotations__"),
    OF_FUNCTION("__defaults__"),
    OF_FUNCTION("__kwdefaults__"),
    OF_FUNCTION("__code__"),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__wrapped__", get_wrapped, set_wrapped, "The function in Python.", const_cast<char*>("__wrapped__")},
    {"__class__", get_class, set_of_function, nullptr, const_cast<char*>("__class__")},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef OF_FUNCTION

PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyObject* reduce(PyObject* self, PyObject* protocol) {
  PyRef module = PyRef::steal(PyImport_ImportModule("accel._pickling"));
  return module ? PyObject_CallMethod(module.get(), "reduce_compiled", "OO", self, protocol) : nullptr;
}

// __set_name__: a class turns functions with certain names into static or class methods only if they are of the type of
// functions, so this method does it for the object.
PyObject* set_name(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyType_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "__set_name__() takes a class and a name");
    return nullptr;
  }
  PyObject *name = arguments[1], *method = nullptr;
  auto is = [&](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
  if (is("__new__")) {
    method = PyStaticMethod_New(self);
  } else if (is("__init_subclass__") || is("__class_getitem__")) {
    method = PyClassMethod_New(self);
  } else {
    Py_RETURN_NONE;
  }
  PyRef held = PyRef::steal(method);
  if (!held || PyType_Type.tp_setattro(arguments[0], name, method) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__set_name__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_name)), METH_FASTCALL,
     "Makes what type() makes of functions of special names."},
    {"__reduce_ex__", reduce, METH_O, "Pickles the source: by reference where the name leads to this object."},
    {"__copy__", itself, METH_NOARGS, "Functions are copied by reference."},
    {"__deepcopy__", itself, METH_O, "Functions are copied by reference."},
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "accel._accel.CompiledFunction";
  type.tp_basicsize = sizeof(CompiledFunction);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                  Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_vectorcall_offset = offsetof(CompiledFunction, vectorcall);
  type.tp_dictoffset = offsetof(CompiledFunction, dict);
  type.tp_weaklistoffset = offsetof(CompiledFunction, weak_references);
  type.tp_call = PyVectorcall_Call;
  type.tp_descr_get = bind;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_dealloc = dealloc;
  type.tp_free = PyObject_GC_Del;
  type.tp_repr = repr;
  type.tp_getattro = get_attribute;
  type.tp_setattro = set_attribute;
  type.tp_getset = accessors;
  type.tp_methods = methods;
  return type;
}

}  // namespace

PyTypeObject* compiled_function_type() {
  static PyTypeObject type = make_type();
  if ((type.tp_flags & Py_TPFLAGS_READY) == 0 && PyType_Ready(&type) < 0) return nullptr;
  return &type;
}

bool is_compiled_function(PyObject* object) { return Py_IS_TYPE(object, compiled_function_type()); }

PyObject* function_to_inline(PyObject* callable) {
  if (!is_compiled_function(callable) || dispatcher_of(callable).options().disable) return nullptr;
  return wrapped_function(callable);
}

PyObject* new_compiled_function(PyObject* function, DispatchOptions options) {
  PyTypeObject* type = compiled_function_type();
  CompiledFunction* made = type != nullptr ? PyObject_GC_New(CompiledFunction, type) : nullptr;
  if (made == nullptr) return nullptr;
  made->vectorcall = call;
  made->function = Py_NewRef(function);
  made->dict = nullptr;
  made->weak_references = nullptr;
  made->dispatcher = new Dispatcher(function, std::move(options));
  link(made);
  PyObject_GC_Track(made);
  return reinterpret_cast<PyObject*>(made);
}

Dispatcher& dispatcher_of(PyObject* compiled) { return *as_compiled(compiled)->dispatcher; }
PyObject* wrapped_function(PyObject* compiled) { return as_compiled(compiled)->function; }

void reset_all() {
  std::vector<PyRef> all;  // resetting may run Python code that makes or drops compiled functions
  for (CompiledFunction* each = anchor()->next; each != anchor(); each = each->next) {
    all.push_back(PyRef::borrow(reinterpret_cast<PyObject*>(each)));
  }
  for (const PyRef& each : all) dispatcher_of(each.get()).reset();
}

}  // namespace accel
