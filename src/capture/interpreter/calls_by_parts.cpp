// Calls of functions, methods and functools.partial objects that arrive as data, described by their parts.

#include "capture/context/sources/function_objects.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"
#include "cpython/function.h"
#include "guard/fetch.h"

namespace accel {

namespace {

// An attribute of the object at a source.
struct Part {
  SourceId source = -1;
  PyObject* object = nullptr;  // borrowed; null: absent
};

Part part_of(Sources& sources, SourceId whole, PyObject* object, const char* name) {
  PyRef text = PyRef::steal(PyUnicode_InternFromString(name));
  return {sources.attribute(whole, text.get()), fetch_attribute(object, text.get())};
}

void guard_tuple(Sources& sources, const Part& tuple) {
  sources.guard_type(tuple.source, &PyTuple_Type);
  sources.guard_length(tuple.source, PyTuple_GET_SIZE(tuple.object));
}

std::vector<Ref> items_of_tuple(Capture& capture, const Part& tuple) {
  guard_tuple(capture.sources(), tuple);
  std::vector<Ref> items;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.object); ++i) {
    SourceId source = capture.sources().item(tuple.source, static_cast<int>(i));
    items.push_back(capture.resolver().at(source, PyTuple_GET_ITEM(tuple.object, i)));
  }
  return items;
}

std::vector<std::pair<PyRef, Ref>> items_of_dict(Capture& capture, const Part& dict) {
  capture.changes().read_namespace(dict.object, dict.source);
  capture.sources().guard_type(dict.source, &PyDict_Type);
  return items_of_dict(capture, dict.source, dict.object);
}

// Whether the part is a tuple or dict. If it is None instead, guards that.
bool is_there(Sources& sources, const Part& part) {
  if (part.object != Py_None) return true;
  sources.guard_identity(part.source, Py_None);
  return false;
}

// Whether a function is described by its parts. NumPy's functions and primitives are guarded by identity instead.
bool has_parts(PyObject* function) {
  if (!PyFunction_Check(function) || find_primitive(function) != nullptr) return false;
  return !is_library_file(utf8(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function))->co_filename));
}

// Whether the function is an attribute of the class of `self`; then it is guarded by identity.
bool is_of_class(PyObject* self, PyObject* function) {
  if (Py_IS_TYPE(function, &PyMethodDescr_Type)) return true;
  return PyFunction_Check(function) &&
         _PyType_Lookup(Py_TYPE(self), reinterpret_cast<PyFunctionObject*>(function)->func_name) == function;
}

// Whether it is a bound method of a builtin class that is no primitive: x.sum, history.append.
bool is_builtin_method(PyObject* object) {
  if (!PyCFunction_Check(object) || find_primitive(object) != nullptr) return false;
  static PyObject* const name = PyUnicode_InternFromString("__func__");
  return fetch_attribute(object, name) != nullptr;
}

bool is_method(PyObject* object) { return PyMethod_Check(object) || is_builtin_method(object); }

}  // namespace

std::vector<std::pair<PyRef, Ref>> items_of_dict(Capture& capture, SourceId source, PyObject* dict) {
  std::vector<std::pair<PyRef, Ref>> items;
  std::vector<PyRef> keys;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &item);) {
    keys.push_back(PyRef::borrow(key));
    items.emplace_back(PyRef::borrow(key), capture.resolver().at(capture.sources().dict_item(source, key), item));
  }
  capture.sources().guard_keys(source, keys);
  return items;
}

bool is_known_by_parts(Capture& capture, const Ref& value) {
  bool is_data = value->kind == AbstractKind::lazy || value->kind == AbstractKind::object;
  if (!is_data || value->source < 0 || capture.sources().is_environment(value->source)) return false;
  PyObject* object = value->object.get();
  if (value->kind == AbstractKind::lazy && capture.sources().is_identified(value->source, object)) return false;
  return is_method(object) || Py_IS_TYPE(object, known_types().partial) || has_parts(object);
}

Ref Calls::cell_at(SourceId source, PyObject* cell, const std::string& name) {
  Ref& ref = cells_at_[source];
  if (ref) return ref;
  ref = std::make_shared<AbstractValue>();
  ref->kind = AbstractKind::cell;
  ref->object = PyRef::borrow(cell);
  ref->source = source;
  if (PyObject* content = PyCell_GET(cell))
    ref->items = {capture_.resolver().at(capture_.sources().cell_content(source, name), content)};
  return ref;
}

PythonFunction Calls::function_by_parts(const Ref& value) {
  PyObject* object = value->object.get();
  Sources& sources = capture_.sources();
  sources.guard_type(value->source, &PyFunction_Type);
  auto part = [&](const char* name) { return part_of(sources, value->source, object, name); };
  Part code = part("__code__"), globals = part("__globals__"), closure = part("__closure__");
  sources.guard_identity(code.source, code.object);
  sources.guard_identity(globals.source, globals.object);
  PythonFunction out;
  out.function = value;
  out.code = PyRef::borrow(code.object);
  out.globals = PyRef::borrow(globals.object);
  out.builtins = PyRef::borrow(reinterpret_cast<PyFunctionObject*>(object)->func_builtins);
  if (Part defaults = part("__defaults__"); is_there(sources, defaults)) out.defaults = items_of_tuple(capture_, defaults);
  if (Part defaults = part("__kwdefaults__"); is_there(sources, defaults))
    out.keyword_defaults = items_of_dict(capture_, defaults);
  if (!is_there(sources, closure)) return out;
  guard_tuple(sources, closure);
  auto* names = reinterpret_cast<PyCodeObject*>(code.object);
  int first = local_count(names) - free_variable_count(names);
  for (int i = 0; i < static_cast<int>(PyTuple_GET_SIZE(closure.object)); ++i)
    out.closure.push_back(
        cell_at(sources.item(closure.source, i), PyTuple_GET_ITEM(closure.object, i), utf8(local_name(names, first + i))));
  return out;
}

Result<std::optional<Ref>> Calls::call_method_by_parts(const Ref& method, CallArguments arguments) {
  Sources& sources = capture_.sources();
  sources.guard_type(method->source, Py_TYPE(method->object.get()));
  Part self = part_of(sources, method->source, method->object.get(), "__self__");
  Part function = part_of(sources, method->source, method->object.get(), "__func__");
  if (is_of_class(self.object, function.object)) sources.guard_identity(function.source, function.object);
  Ref callable = capture_.resolver().at(function.source, function.object);
  arguments.positional.insert(arguments.positional.begin(), capture_.resolver().at(self.source, self.object));
  return begin(callable, std::move(arguments));
}

Result<std::optional<Ref>> Calls::call_partial_by_parts(const Ref& partial, CallArguments arguments) {
  Sources& sources = capture_.sources();
  sources.guard_type(partial->source, known_types().partial);
  auto part = [&](const char* name) { return part_of(sources, partial->source, partial->object.get(), name); };
  Part function = part("func");
  AbstractValue parts;
  parts.items = items_of_tuple(capture_, part("args"));
  parts.items.insert(parts.items.begin(), capture_.resolver().at(function.source, function.object));
  for (auto& [key, item] : items_of_dict(capture_, part("keywords"))) {
    parts.keys.push_back(key);
    parts.items.push_back(item);
  }
  return call_parts(parts, std::move(arguments));
}

Calls::CallByParts Calls::by_parts(const Ref& callable) const {
  if (!is_known_by_parts(capture_, callable)) return nullptr;
  PyObject* object = callable->object.get();
  if (is_method(object)) return &Calls::call_method_by_parts;
  if (Py_IS_TYPE(object, known_types().partial)) return &Calls::call_partial_by_parts;
  return &Calls::call_function_by_parts;
}

void Calls::guard_called(const Ref& callable) {
  PyObject* object = callable->object.get();
  bool by_parts = is_known_by_parts(capture_, callable);
  if (by_parts && PyFunction_Check(object)) return static_cast<void>(function_by_parts(callable));
  capture_.resolver().look(callable);
  if (!by_parts) return;
  Part function = part_of(capture_.sources(), callable->source, object, is_method(object) ? "__func__" : "func");
  guard_called(capture_.resolver().at(function.source, function.object));
}

Result<std::optional<Ref>> Calls::call_function_by_parts(const Ref& function, CallArguments arguments) {
  return enter(function_by_parts(function), arguments);
}

}  // namespace accel
