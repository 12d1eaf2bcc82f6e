#include "capture/context/value_factory.h"

#include "capture/context/context.h"
#include "capture/domain/compiled_functions.h"
#include "capture/domain/dense_strides.h"
#include "capture/domain/flat_iterator.h"
#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "ndarray/array.h"

namespace accel {

namespace {

Ref make(AbstractKind kind) {
  Ref ref = std::make_shared<AbstractValue>();
  ref->kind = kind;
  return ref;
}

constexpr int deepest_constant = 100;  // levels of tuples in tuples

}  // namespace

Ref ValueFactory::constant(PyObject* object) {
  std::unordered_map<PyObject*, Ref> made;
  return constant_within(object, deepest_constant, made);
}

// Tuples nested more deeply than `levels` become opaque constants.
Ref ValueFactory::constant_within(PyObject* object, int levels, std::unordered_map<PyObject*, Ref>& made) {
  bool tuple = PyTuple_CheckExact(object);
  if (levels == 0 || (!tuple && !PySlice_Check(object))) {
    Ref ref = make(AbstractKind::constant);
    ref->object = PyRef::borrow(object);
    return ref;
  }
  if (auto known = made.find(object); known != made.end()) return known->second;
  Ref ref = make(tuple ? AbstractKind::tuple : AbstractKind::slice);
  ref->object = PyRef::borrow(object);
  if (tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      ref->items.push_back(constant_within(PyTuple_GET_ITEM(object, i), levels - 1, made));
  } else {
    auto* slice = reinterpret_cast<PySliceObject*>(object);
    for (PyObject* part : {slice->start, slice->stop, slice->step})
      ref->items.push_back(constant_within(part, levels - 1, made));
  }
  made.emplace(object, ref);
  return ref;
}

Ref ValueFactory::python_int(int64_t value) { return constant(PyRef::steal(PyLong_FromLongLong(value)).get()); }

Ref ValueFactory::dim_scalar(Dim d, ValueKind kind) {
  if (auto value = capture_.dims().as_constant(d)) {
    if (kind == ValueKind::py_scalar) return python_int(*value);
    return constant(PyRef::steal(new_numpy_scalar(DType::int64, &*value)).get());
  }
  Ref ref = make(AbstractKind::scalar);
  ref->scalar = {kind, DType::int64, d, no_value};
  return ref;
}

Ref ValueFactory::scalar(ValueId value) {
  const Type& type = capture_.graph().type(value);
  Ref ref = make(AbstractKind::scalar);
  ref->scalar = {type.kind, type.dtype, std::nullopt, value};
  return ref;
}

Ref ValueFactory::shape_tuple(const std::vector<Dim>& shape) {
  std::vector<Ref> items;
  for (Dim extent : shape) items.push_back(dim_scalar(extent));
  return tuple(std::move(items));
}

Ref ValueFactory::tuple(std::vector<Ref> items) {
  Ref ref = make(AbstractKind::tuple);
  ref->items = std::move(items);
  return ref;
}

Ref ValueFactory::list(std::vector<Ref> items) {
  Ref ref = make(AbstractKind::list);
  ref->items = std::move(items);
  return ref;
}

Ref ValueFactory::method(Ref callable, Ref self) {
  Ref ref = make(AbstractKind::method);
  ref->items = {std::move(callable), std::move(self)};
  return ref;
}

Ref ValueFactory::set(PyRef object) {
  Ref ref = make(AbstractKind::set);
  ref->object = std::move(object);
  return ref;
}

Ref ValueFactory::instance(PyTypeObject* type) {
  Ref ref = make(AbstractKind::instance);
  ref->object = PyRef::borrow(reinterpret_cast<PyObject*>(type));
  return ref;
}

Ref part_of(const AbstractValue& instance, const char* name) {
  for (size_t i = 0; i < instance.keys.size(); ++i) {
    if (utf8(instance.keys[i].get()) == name) return instance.items[i];
  }
  return nullptr;
}

ValueId ValueFactory::astype(ValueId value, DType dtype) {
  bool discards = dtype_kind(capture_.graph().type(value).dtype) == 'c' && dtype_kind(dtype) != 'c' && dtype_kind(dtype) != 'b';
  if (discards) throw InstructionBailout{fail(Reason::floating_point_event, "a cast that discards the imaginary part warns")};
  return capture_.build().astype(value, dtype);
}

void ValueFactory::check_rank(size_t rank) {
  if (rank > static_cast<size_t>(max_rank)) throw InstructionBailout{fail(Reason::will_raise, std::to_string(rank) + " axes")};
}

Ref ValueFactory::fresh_array(ValueId value) {
  Ref ref = make(AbstractKind::array);
  const Type& type = capture_.graph().type(value);
  check_rank(type.shape.size());
  ref->array.storage = std::make_shared<Storage>();
  ref->array.storage->current = value;
  ref->array.layout = {type.shape, dense_strides(capture_.dims(), type.shape, type.order, type.dtype),
                       capture_.dims().constant(0), type.dtype};
  ref->array.value = value;
  return ref;
}

Result<ValueId> ValueFactory::scalar_value(const Ref& scalar) {
  capture_.resolver().look(scalar);
  if (scalar->kind == AbstractKind::scalar) {
    ScalarState& state = scalar->scalar;
    if (state.value == no_value) state.value = capture_.build().dim(*state.dim, state.kind);
    return state.value;
  }
  if (scalar->kind != AbstractKind::constant) return fail(Reason::unsupported_value, "not a number");
  PyObject* object = scalar->object.get();
  std::optional<DType> dtype = number_dtype(object);
  Literal literal;
  if (!dtype || !read_scalar(object, *dtype, literal.bits)) {
    return fail(Reason::unsupported_value, "not a number that fits: " + short_repr(object));
  }
  literal.dtype = *dtype;
  return capture_.build().constant(literal, is_numpy_scalar(object) ? ValueKind::numpy_scalar : ValueKind::py_scalar);
}

namespace {

PyTypeObject* as_type(const PyRef& object) { return reinterpret_cast<PyTypeObject*>(object.get()); }

PyTypeObject* scalar_type(const ScalarState& scalar) {
  return scalar.kind == ValueKind::numpy_scalar ? scalar_type_of(scalar.dtype) : python_type_of(scalar.dtype);
}

PyTypeObject* method_type(const Ref& method) {
  if (is_flat(method)) return flat_type();
  const Ref& callable = method->items[0];
  bool python = callable->kind == AbstractKind::function || (callable->object && is_python_function(callable->object.get()));
  return python ? &PyMethod_Type : &PyCFunction_Type;
}

}  // namespace

PyTypeObject* ValueFactory::type_of(const Ref& value) {
  capture_.resolver().look(value);
  switch (value->kind) {
#define KIND(name, type, recipe) \
  case AbstractKind::name:       \
    return type;
#include "capture/domain/kinds.inc"
#undef KIND
  }
  return nullptr;
}

}  // namespace accel
