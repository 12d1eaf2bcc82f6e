// Objects of NumPy's C types that NumPy's Python code uses: array converters, broadcast, nditer and flags. They are instances
// with their attributes as parts.

#include <algorithm>

#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/python/containers/dynamic_lists.h"
#include "cpython/imported.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

void set_part(const Ref& instance, const char* name, Ref value) {
  instance->keys.push_back(PyRef::steal(PyUnicode_InternFromString(name)));
  instance->items.push_back(std::move(value));
}

Ref part(const Ref& instance, const char* name) { return part_of(*instance, name); }

// Whether it is a Python int, float or complex, which NumPy's promotion treats as weak.
bool is_weak(const OperandType& type) {
  return type.kind == Kind::py_int || type.kind == Kind::py_float || type.kind == Kind::py_complex;
}

Result<Ref> converted_array(Capture& capture, const Ref& value) {
  PyRef asarray = imported_attribute("numpy", "asarray");
  if (!asarray) return fail(Reason::internal_error, "numpy.asarray");
  return capture.call(capture.values().constant(asarray.get()), {{value}, {}});
}

Result<Ref> converter_self(const CallArguments& arguments) {
  if (!arguments.positional.empty() && arguments.positional[0]->kind == AbstractKind::instance) return arguments.positional[0];
  return fail(Reason::unsupported_call, "a method of an array converter");
}

}  // namespace

// _array_converter(*array_likes)
Result<Ref> numpy_array_converter(Capture& capture, PyObject* type, const CallArguments& arguments) {
  if (!arguments.keywords.empty()) return fail(Reason::will_raise, "an array converter takes no keywords");
  std::vector<Ref> arrays, scalars;
  for (const Ref& argument : arguments.positional) {
    auto operand = as_operand(capture, argument);
    if (!operand && !is_sequence(argument)) return fail(Reason::unsupported_value, "an array of this object");
    bool is_scalar = operand && !operand->is_array();
    bool weak = is_scalar && is_weak(operand->type);
    Ref value = argument;
    if (!weak) {
      ACCEL_TRY(value, converted_array(capture, argument));
    }
    arrays.push_back(std::move(value));
    scalars.push_back(make_bool(capture, is_scalar));
  }
  Ref converter = capture.values().instance(reinterpret_cast<PyTypeObject*>(type));
  set_part(converter, call_that_makes, capture.values().tuple(arguments.positional));
  set_part(converter, "arrays", capture.values().tuple(std::move(arrays)));
  set_part(converter, "scalar_input", capture.values().tuple(std::move(scalars)));
  return converter;
}

// as_arrays(subok=True, pyscalars="convert_if_no_array")
Result<Ref> numpy_converter_as_arrays(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref self, converter_self(arguments));
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "subok", "pyscalars"}, 1, 1}));
  ACCEL_TRY(std::string mode, read_text(capture, given[2]));
  std::vector<Ref> arrays = part(self, "arrays")->items;
  bool convert = mode == "convert";
  if (mode.empty() || mode == "convert_if_no_array") {
    convert = true;
    for (const Ref& value : arrays) convert = convert && value->kind != AbstractKind::array;
  } else if (!convert && mode != "preserve") {
    return fail(Reason::will_raise, "pyscalars");
  }
  for (Ref& value : arrays) {
    if (value->kind == AbstractKind::array || !convert) continue;
    ACCEL_TRY(value, converted_array(capture, value));
  }
  return capture.values().tuple(std::move(arrays));
}

// result_type(extra_dtype=None, ensure_inexact=False)
Result<Ref> numpy_converter_result_type(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref self, converter_self(arguments));
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "extra_dtype", "ensure_inexact"}, 1, 1}));
  ACCEL_TRY(auto extra, read_dtype(capture, given[1]));
  ACCEL_TRY(bool inexact, read_flag(capture, given[2], false));
  std::vector<OperandType> types;
  for (const Ref& value : part(self, "arrays")->items) {
    ACCEL_TRY(Operand operand, read_operand(capture, value));
    types.push_back(operand.type);
  }
  if (extra) types.push_back({Kind::array, *extra});
  if (inexact) types.push_back({Kind::py_float, DType::float64});
  ACCEL_TRY(DType dtype, numpy_result_type(types));
  return capture.values().constant(descr_of(dtype));
}

// wrap(arr, to_scalar=None) of plain arrays: a 0-d array becomes a scalar if all inputs were scalars. A scalar is returned
// unchanged.
Result<Ref> numpy_converter_wrap(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(Ref self, converter_self(arguments));
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "arr", "to_scalar"}, 2, 2}));
  ACCEL_TRY(Operand value, read_operand(capture, given[1]));
  bool scalar = true;
  for (const Ref& each : part(self, "scalar_input")->items) scalar = scalar && is_object(each, Py_True);
  if (!is_none(given[2])) {
    ACCEL_TRY(scalar, read_flag(capture, given[2], false));
  }
  if (!value.is_array() || !value.shape.empty() || !scalar) return given[1];
  return array_getitem(capture, given[1], capture.values().tuple({}));
}

// broadcast(*arrays), of which only the shape is used.
Result<Ref> numpy_broadcast(Capture& capture, PyObject* type, const CallArguments& arguments) {
  if (!arguments.keywords.empty()) return fail(Reason::will_raise, "broadcast takes no keywords");
  std::vector<std::vector<Dim>> shapes;
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY(Operand operand, read_operand(capture, argument));
    shapes.push_back(operand.shape);
  }
  ACCEL_TRY(std::vector<Dim> shape, broadcast_shapes(capture, shapes));
  Ref made = capture.values().instance(reinterpret_cast<PyTypeObject*>(type));
  set_part(made, call_that_makes, capture.values().tuple(arguments.positional));
  set_part(made, "operands", capture.values().tuple(arguments.positional));
  set_part(made, "shape", capture.values().shape_tuple(shape));
  set_part(made, "nd", capture.values().python_int(static_cast<int64_t>(shape.size())));
  set_part(made, "ndim", capture.values().python_int(static_cast<int64_t>(shape.size())));
  set_part(made, "numiter", capture.values().python_int(static_cast<int64_t>(shapes.size())));
  set_part(made, "size", capture.values().dim_scalar(element_count(capture, shape)));
  return made;
}

namespace {

// A read-only view of the array broadcast to this shape. Fails if a copy of the view could be too large to allocate.
Result<Ref> broadcast_view(Capture& capture, const Ref& array, const std::vector<Dim>& shape) {
  const StridedLayout own = layout_of(array);
  StridedLayout layout = own;
  layout.shape = shape;
  layout.strides.assign(shape.size(), capture.dims().constant(0));
  size_t extra = shape.size() - own.shape.size();
  for (size_t k = 0; k < own.shape.size(); ++k) {
    if (!is_one(capture, own.shape[k])) layout.strides[k + extra] = own.strides[k];
  }
  ViewMaker maker(capture, array);
  std::vector<Dim> aligned = own.shape;
  for (size_t k = 0; k < aligned.size(); ++k) {
    if (!is_one(capture, aligned[k]) || is_one(capture, shape[k + extra]))
      aligned[k] = shape[k + extra];
    else
      aligned[k] = capture.dims().constant(1);
  }
  if (aligned != own.shape) maker.reshape(aligned);
  if (aligned != shape) {
    ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, shape, own.dtype));
    maker.broadcast_to(shape);
  }
  Ref view = maker.finish(std::move(layout));
  view->array.writeable = false;
  return view;
}

}  // namespace

// nditer((array,), flags, op_flags=['readonly'], itershape=shape, order='C'), by which NumPy's Python code makes broadcast
// views.
Result<Ref> numpy_nditer(Capture& capture, PyObject* type, const CallArguments& arguments) {
  ACCEL_TRY(
      auto given,
      bind_arguments(arguments,
                     {{"op", "flags", "op_flags", "op_dtypes", "order", "casting", "op_axes", "itershape", "buffersize"}, 1}));
  bool plain = !given[3] && !given[5] && !given[6] && given[7] && !given[8] && given[0]->kind == AbstractKind::tuple &&
               given[0]->items.size() == 1 && given[0]->items[0]->kind == AbstractKind::array;
  ACCEL_TRY(std::string order, read_text(capture, given[4]));
  ACCEL_TRY(PyRef flags, capture.constants().require_constant(given[1] ? given[1] : capture.values().list({})));
  PyRef buffered = PyRef::steal(PyUnicode_FromString("buffered"));
  if (!plain || order != "C" || PySequence_Contains(flags.get(), buffered.get()) != 0)
    return fail(Reason::unsupported_call, "numpy.nditer");
  const Ref& array = given[0]->items[0];
  ACCEL_TRY(std::vector<Dim> shape, read_shape(capture, given[7]));
  ACCEL_TRY(std::vector<Dim> common, broadcast_shapes(capture, {shape, layout_of(array).shape}));
  if (common.size() != shape.size()) return capture.raised(PyExc_ValueError, "input operand has more dimensions than allowed");
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!capture.facts().decide_equal(common[k], shape[k]))
      return capture.raised(PyExc_ValueError, "operands could not be broadcast");
  }
  Ref made = capture.values().instance(reinterpret_cast<PyTypeObject*>(type));
  ACCEL_TRY(Ref view, broadcast_view(capture, array, shape));
  set_part(made, "itviews", capture.values().tuple({view}));
  return made;
}

Result<Ref> numpy_nditer_enter(Capture&, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.size() == 1 && arguments.positional[0]->kind == AbstractKind::instance)
    return arguments.positional[0];
  return fail(Reason::unsupported_call, "nditer.__enter__");
}

Result<Ref> numpy_nditer_exit(Capture& capture, PyObject*, const CallArguments&) { return capture.values().constant(Py_None); }

// Methods of arrays with constant elements, evaluated by NumPy at capture.
Result<Ref> numpy_fold_method(Capture& capture, PyObject* method, const CallArguments& arguments) {
  auto array = arguments.positional.empty() ? std::nullopt : as_operand(capture, arguments.positional[0]);
  PyRef known = array && array->is_array() ? capture.constants().known_value(capture.memory().read(array->ref)) : PyRef();
  if (!known || !arguments.keywords.empty()) return fail(Reason::unsupported_call, short_repr(method));
  std::vector<PyRef> values = {known};
  for (size_t i = 1; i < arguments.positional.size(); ++i) {
    ACCEL_TRY(PyRef value, capture.constants().require_constant(arguments.positional[i]));
    values.push_back(std::move(value));
  }
  std::vector<PyObject*> borrowed;
  for (const PyRef& value : values) borrowed.push_back(value.get());
  PyRef result = PyRef::steal(PyObject_Vectorcall(method, borrowed.data(), borrowed.size(), nullptr));
  PyRef dtype = PyRef::steal(result ? PyObject_GetAttrString(result.get(), "dtype") : nullptr);
  auto known_dtype = dtype ? dtype_of_descr(dtype.get()) : std::nullopt;
  PyRef list = PyRef::steal(known_dtype ? PyObject_CallMethod(result.get(), "tolist", nullptr) : nullptr);
  PyErr_Clear();
  if (!list || !is_exact_array(result.get())) return fail(Reason::unsupported_call, short_repr(method));
  ACCEL_TRY(Ref elements, folded(capture, list.release()));
  return array_of_sequence(capture, elements, known_dtype);
}

// array.tolist()
Result<Ref> numpy_array_tolist(Capture& capture, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.size() != 1 || arguments.positional[0]->kind != AbstractKind::array)
    return fail(Reason::unsupported_call, "tolist");
  PyRef known = capture.constants().known_value(capture.memory().read(arguments.positional[0]));
  if (!known) return list_of_elements(capture, arguments.positional[0]);
  return folded(capture, PyObject_CallMethod(known.get(), "tolist", nullptr));
}

namespace {

// An element of an operand of a broadcast, as NumPy's iterator returns it.
Result<Ref> broadcast_element(Capture& capture, const Ref& operand, size_t index) {
  std::vector<Ref> items = is_sequence(operand) ? operand->items : std::vector<Ref>{operand};
  bool sizes =
      !items.empty() && std::all_of(items.begin(), items.end(), [&](const Ref& item) { return as_dim(capture, item); });
  if (sizes)
    return capture.values().dim_scalar(*as_dim(capture, items[items.size() == 1 ? 0 : index]), ValueKind::numpy_scalar);
  ACCEL_TRY(Ref array, converted_array(capture, operand));
  size_t rank = layout_of(array).shape.size();
  if (rank > 1) return fail(Reason::unsupported_value, "iteration over a broadcast of several axes");
  if (rank == 0) return array_getitem(capture, array, capture.values().tuple({}));
  int64_t at = is_one(capture, layout_of(array).shape[0]) ? 0 : static_cast<int64_t>(index);
  return array_getitem(capture, array, capture.values().python_int(at));
}

// The items of an array converter: its inputs as arrays.
Result<std::optional<std::vector<Ref>>> converted_arrays(Capture& capture, std::vector<Ref> arrays) {
  for (Ref& value : arrays) {
    if (value->kind == AbstractKind::array) continue;
    ACCEL_TRY(value, converted_array(capture, value));
  }
  return std::optional(std::move(arrays));
}

}  // namespace

Result<std::optional<std::vector<Ref>>> items_of_object(Capture& capture, const Ref& value) {
  static PyObject* const type = imported_attribute("numpy", "broadcast").release();
  if (value->kind != AbstractKind::instance) return std::optional<std::vector<Ref>>();
  if (is_named_tuple(capture.values().type_of(value))) return std::optional(value->items);
  if (Ref arrays = part(value, "arrays"); arrays && part(value, "scalar_input"))
    return converted_arrays(capture, arrays->items);
  if (value->object.get() != type) return std::optional<std::vector<Ref>>();
  auto size = as_dim(capture, part(value, "size"));
  auto count = size ? capture.dims().as_constant(*size) : std::nullopt;
  if (!count || *count > 64) return fail(Reason::unsupported_value, "iteration over a broadcast");
  std::vector<Ref> items;
  for (int64_t i = 0; i < *count; ++i) {
    std::vector<Ref> row;
    for (const Ref& operand : part(value, "operands")->items) {
      ACCEL_TRY(Ref element, broadcast_element(capture, operand, static_cast<size_t>(i)));
      row.push_back(std::move(element));
    }
    items.push_back(capture.values().tuple(std::move(row)));
  }
  return std::optional(std::move(items));
}

// array.flags, from what capture knows of the memory.
Result<Ref> array_flags(Capture& capture, const Ref& array) {
  static PyObject* const type = imported_attribute("numpy._core.multiarray", "flagsobj").release();
  if (type == nullptr) return fail(Reason::unsupported_attribute, "numpy.ndarray.flags");
  bool c = is_c_contiguous(capture, array), f = is_f_contiguous(capture, array);
  Ref flags = capture.values().instance(reinterpret_cast<PyTypeObject*>(type));
  for (const char* name : {"c_contiguous", "contiguous"}) set_part(flags, name, make_bool(capture, c));
  for (const char* name : {"f_contiguous", "fortran"}) set_part(flags, name, make_bool(capture, f));
  set_part(flags, "forc", make_bool(capture, c || f));
  set_part(flags, "fnc", make_bool(capture, f && !c));
  set_part(flags, "aligned", make_bool(capture, true));
  set_part(flags, "writebackifcopy", make_bool(capture, false));
  set_part(flags, "base", array);
  if (array->array.storage->source < 0) {
    set_part(flags, "writeable", make_bool(capture, array->array.writeable));
    set_part(flags, "owndata", make_bool(capture, array->array.path.empty()));
    if (array->keys.empty()) set_part(flags, "_writeable_no_warn", make_bool(capture, array->array.writeable));
  } else if (array->array.writeable && array->keys.empty() && capture.memory().is_writeable(array->array.storage->source)) {
    set_part(flags, "_writeable_no_warn", make_bool(capture, true));
  }
  return flags;
}

// array.flags.name = value, which NumPy's Python code applies to views that it has just made. An array that warns when it is
// written to has no recipe.
Status set_array_flag(Capture& capture, const Ref& flags, PyObject* name, const Ref& value) {
  Ref array = part(flags, "base");
  if (!array || array->source >= 0 || !is_object(value, Py_True))
    return fail(Reason::unsupported_attribute, "flags of an array");
  Storage& storage = *array->array.storage;
  if (array->identity || storage.identity) return fail(Reason::unsupported_attribute, "flags of an array that a call has seen");
  if (utf8(name) == "writeable") {
    array->array.writeable = true;
    if (array->array.path.empty()) storage.read_only = false;
    return Unit{};
  }
  if (utf8(name) != "_warn_on_write") return fail(Reason::unsupported_attribute, "flags of an array");
  array->keys.push_back(PyRef::borrow(name));
  return Unit{};
}

}  // namespace accel
