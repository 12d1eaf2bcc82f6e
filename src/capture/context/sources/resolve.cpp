#include "capture/context/sources/resolve.h"

#include <algorithm>

#include "capture/context/context.h"
#include "capture/context/descent.h"
#include "capture/context/sources/function_objects.h"
#include "capture/domain/dense_strides.h"
#include "capture/domain/number_type.h"
#include "capture/domain/random_generators.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "cpython/imported.h"
#include "cpython/namespace.h"
#include "device_array/device_array.h"
#include "guard/fetch.h"
#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {

namespace {

constexpr double widest_dim = 140737488355328.0;  // 2**47: addresses end there
constexpr double widest_int = 9.3e18;
// Containers that are longer or nested more deeply stay objects, as do all containers once there are this many sources.
constexpr Py_ssize_t most_contents = 4096;
constexpr int deepest_nesting = 100;
constexpr size_t most_sources = 1 << 14;
constexpr int most_found_one_by_one = 4;  // mutated objects of one class before all of the class are expected to be mutated

std::vector<uint8_t> canonical(std::vector<uint8_t> order) {
  return std::is_sorted(order.begin(), order.end()) ? std::vector<uint8_t>{} : order;
}

std::string layout_text(const ArrayGuard& guard) {
  std::string text = guard.layout == Layout::dense ? ", dense" : ", strided";
  if (!guard.order.empty()) {
    text += " order";
    for (uint8_t axis : guard.order) text += " " + std::to_string(axis);
  }
  return text;
}

// Whether the items of the container at a source can be resolved: it does not contain itself and is not nested too deeply.
bool has_an_end(const Sources& sources, const std::unordered_map<SourceId, Ref>& at, const Ref& value) {
  int level = 0;
  for (SourceId id = sources[value->source].parent; id >= 0; id = sources[id].parent) {
    bool nested = sources[id].kind == SourceKind::item || sources[id].kind == SourceKind::dict_item;
    level += nested;
    auto outer = at.find(id);
    if (outer != at.end() && outer->second->object.get() == value->object.get()) return false;
  }
  return level < deepest_nesting && sources.size() < most_sources;
}

// Notes that the object at a source is mutated, by its attribute `name` or (null) an item, and that the objects through which
// it is reached are as well. Whether the log did not have that.
bool note_change(SpeculationLog& speculation, const Sources& sources, SourceId owner, PyObject* name) {
  bool fresh = false;
  for (SourceId at = owner; at >= 0; at = sources[at].parent) {
    auto [planned, is_new] = speculation.objects.changed.try_emplace(sources.text(at));
    fresh |= is_new;
    if (name != nullptr) fresh |= planned->second.insert(utf8(name)).second;
    if (sources[at].kind != SourceKind::attribute) break;
    name = sources[at].name.get();
  }
  return fresh;
}

void look_deep_once(Capture& capture, const Ref& value, std::set<const AbstractValue*>& seen) {
  if (!seen.insert(value.get()).second) return;
  const Descent level;
  capture.resolver().look(value);
  for (const Ref& item : value->items) {
    if (item) look_deep_once(capture, item, seen);
  }
}

}  // namespace

PyTypeObject* array_type() {
  static PyObject* const type = imported_attribute("numpy", "ndarray").release();
  return reinterpret_cast<PyTypeObject*>(type);
}

PyTypeObject* python_type_of(DType dtype) {
  switch (dtype_kind(dtype)) {
    case 'b':
      return &PyBool_Type;
    case 'f':
      return &PyFloat_Type;
    case 'c':
      return &PyComplex_Type;
    default:
      return &PyLong_Type;
  }
}

Ref Resolver::at(SourceId source, PyObject* seen) {
  Ref& ref = at_[source];
  if (!ref) ref = capture_.memory().alias_of(source, seen);
  if (!ref) {
    ref = std::make_shared<AbstractValue>();
    ref->kind = AbstractKind::lazy;
    ref->object = PyRef::borrow(seen);
    ref->source = source;
  }
  return ref;
}

void Resolver::look(const Ref& value) {
  if (value->kind != AbstractKind::lazy) return;
  PyObject* object = value->object.get();
  if (is_exact_array(object) || is_device_array(object)) return look_array(value);
  if (is_known_by_parts(capture_, value)) return look_object(value);
  if (look_constant(value)) return;
  if (auto dtype = number_dtype(object)) return look_number(value, Py_TYPE(object), *dtype);
  bool is_container = PyTuple_CheckExact(object) || PyList_CheckExact(object) || PyDict_CheckExact(object);
  if (!is_container || !has_an_end(capture_.sources(), at_, value)) return look_object(value);
  return PyDict_CheckExact(object) ? look_dict(value) : look_container(value);
}

void Resolver::look_object(const Ref& value) {
  PyObject* object = value->object.get();
  value->kind = AbstractKind::object;
  capture_.sources().guard_type(value->source, Py_TYPE(object));
  if (!is_plain_instance(object)) return;
  capture_.changes().meet(value);
  auto planned = capture_.speculation().objects.changed.find(capture_.sources().text(value->source));
  if (planned == capture_.speculation().objects.changed.end()) return;
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  SourceId owner = capture_.sources().pinned(type, short_repr(type));
  for (const std::string& text : planned->second) {
    PyRef name = PyRef::steal(PyUnicode_InternFromString(text.c_str()));
    PyObject *found = fetch_attribute(object, name.get()), *in_class = _PyType_Lookup(Py_TYPE(object), name.get());
    bool is_own = found != nullptr && found != in_class;
    SourceId own = capture_.sources().attribute(value->source, name.get());
    // New attributes are added in the order in which the code sets them; existing ones have fixed positions.
    if (is_own) capture_.sources().guard_memory(GuardKind::bound, own, capture_.sources().attribute(owner, name.get()), true);
    value->items.push_back(is_own ? at(own, found) : nullptr);
    value->keys.push_back(std::move(name));
  }
  capture_.changes().change(value);
}

void Resolver::plan_change(SourceId owner, PyObject* name) {
  for (SourceId at = owner; at >= 0; at = capture_.sources()[at].parent) {
    if (auto alone = capture_.speculation().objects.left_alone.find(capture_.sources().text(at));
        alone != capture_.speculation().objects.left_alone.end()) {
      SourceId other = capture_.sources().find(alone->second);
      auto left = at_.find(at), right = at_.find(other);
      bool shares = left != at_.end() && right != at_.end() && left->second->object && right->second->object &&
                    namespace_of(left->second->object.get()) == namespace_of(right->second->object.get());
      if (shares) capture_.sources().guard_memory(GuardKind::same_names, at, other, true);
      return;
    }
    if (capture_.sources()[at].kind != SourceKind::attribute) break;
  }
  if (!note_change(capture_.speculation(), capture_.sources(), owner, name)) return;
  auto changed = at_.find(owner);
  if (changed != at_.end() && changed->second->object) plan_similar_changes(*changed->second);
  capture_.speculation().forget_numbering();
  throw Restart{};
}

// Where several objects of a class have been found to be mutated, one per attempt, all other reachable objects of the class are
// expected to be mutated in the same attributes.
void Resolver::plan_similar_changes(const AbstractValue& changed) {
  PyTypeObject* type = Py_TYPE(changed.object.get());
  if (!is_plain_instance(changed.object.get())) return;
  int known = 0;
  std::set<std::string> names;
  std::vector<SourceId> others;
  for (const auto& [source, value] : at_) {
    if (!value->object || Py_TYPE(value->object.get()) != type) continue;
    auto planned = capture_.speculation().objects.changed.find(capture_.sources().text(source));
    if (planned != capture_.speculation().objects.changed.end()) {
      ++known;
      names.insert(planned->second.begin(), planned->second.end());
    }
    if (!capture_.speculation().objects.left_alone.contains(capture_.sources().text(source))) others.push_back(source);
  }
  if (known < most_found_one_by_one) return;
  for (SourceId other : others) {
    for (const std::string& name : names)
      note_change(capture_.speculation(), capture_.sources(), other,
                  PyRef::steal(PyUnicode_InternFromString(name.c_str())).get());
  }
}

void Resolver::look_deep(const Ref& value) {
  std::set<const AbstractValue*> seen;
  look_deep_once(capture_, value, seen);
}

bool Resolver::plan_early_look(SourceId source) {
  auto seen = at_.find(source);
  if (seen == at_.end() || !seen->second->object) return false;
  SeenPlace place{capture_.sources().path_to(source), seen->second->object};
  if (!capture_.speculation().objects.early.emplace(capture_.sources().text(source), std::move(place)).second) return false;
  capture_.speculation().forget_numbering();
  return true;
}

std::vector<Ref> Resolver::seen_early() {
  std::vector<Ref> seen;
  auto is_opaque = [&](const Source& source) { return capture_.speculation().objects.opaque.contains(source.text); };
  for (const auto& [text, place] : capture_.speculation().objects.early) {
    if (std::any_of(place.path.begin(), place.path.end(), is_opaque)) continue;
    seen.push_back(at(capture_.sources().place_at(place.path), place.object.get()));
  }
  return seen;
}

// Objects that are constants. False if `value` is none.
bool Resolver::look_constant(const Ref& value) {
  PyObject* object = value->object.get();
  if (is_generator(object)) return false;
  bool is_set =
      is_plain_instance(object) && capture_.speculation().objects.changed.contains(capture_.sources().text(value->source));
  bool environment = capture_.sources().is_environment(value->source) && !is_set;
  bool text = PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
  bool number = PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyComplex_CheckExact(object);
  // Each truth value gets its own version as long as there are few versions.
  bool number_of_data = PyBool_Check(object) ? capture_.sources().has_changed(value->source) : number_dtype(object).has_value();
  if (text || (number && environment)) {
    capture_.sources().guard_equals(value->source, object);
  } else if (is_array(object) || PyList_CheckExact(object) || PyDict_CheckExact(object)) {
    return false;
  } else if (!environment && (PyTuple_CheckExact(object) || number_of_data || is_plain_instance(object))) {
    return false;
  } else if ((PyTuple_CheckExact(object) || PySlice_Check(object)) && !is_deep_constant(object)) {
    return false;
  } else {
    capture_.sources().guard_identity(value->source, object);
  }
  Ref known = capture_.values().constant(object);
  value->kind = known->kind;
  value->items = std::move(known->items);
  return true;
}

void Resolver::look_container(const Ref& value) {
  PyObject* object = value->object.get();
  bool is_tuple = PyTuple_CheckExact(object);
  Py_ssize_t size = is_tuple ? PyTuple_GET_SIZE(object) : PyList_GET_SIZE(object);
  capture_.sources().guard_type(value->source, Py_TYPE(object));
  value->kind = AbstractKind::object;
  if (size > most_contents) return;
  value->kind = is_tuple ? AbstractKind::tuple : AbstractKind::list;
  capture_.sources().guard_length(value->source, size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* item = is_tuple ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i);
    value->items.push_back(at(capture_.sources().item(value->source, static_cast<int>(i)), item));
  }
  if (is_tuple) value->object = PyRef();  // items are read through their own sources
  if (!is_tuple) meet_container(value);
}

void Resolver::look_dict(const Ref& value) {
  PyObject* object = value->object.get();
  capture_.sources().guard_type(value->source, Py_TYPE(object));
  value->kind = AbstractKind::object;
  if (PyDict_GET_SIZE(object) > most_contents) return;
  value->kind = AbstractKind::dict;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at_position = 0; PyDict_Next(object, &at_position, &key, &item);) {
    value->keys.push_back(PyRef::borrow(key));
    value->items.push_back(at(capture_.sources().dict_item(value->source, key), item));
  }
  meet_container(value);
}

void Resolver::meet_container(const Ref& value) {
  capture_.changes().meet(value);
  if (capture_.speculation().objects.changed.contains(capture_.sources().text(value->source))) capture_.changes().change(value);
}

void Resolver::look_array(const Ref& value) {
  ArrayFacts facts = array_facts(value->object.get());
  if (!is_supported(facts)) {
    value->kind = AbstractKind::object;
    Guard foreign;
    foreign.kind = GuardKind::foreign_array;
    foreign.source = value->source;
    foreign.text = capture_.sources().text(value->source) + " is an ndarray that cannot be compiled";
    capture_.guards().guards.push_back(std::move(foreign));
    return;
  }
  Guard guard;
  guard.kind = GuardKind::array;
  guard.source = value->source;
  ArrayGuard& array = guard.array;
  array.dtype = *facts.dtype;
  array.ndim = facts.ndim;
  if (is_device_array(value->object.get())) array.device = block_of(value->object.get())->device->number();
  array.first_symbol = static_cast<int>(capture_.graph().symbols.size());
  std::vector<uint8_t> order(static_cast<size_t>(facts.ndim));
  if (!dense_order(facts.ndim, facts.dims, facts.strides, item_size(array.dtype), order.data()))
    memory_order(facts.ndim, facts.dims, facts.strides, order.data());
  bool dense = facts.c_contiguous || is_gapless(facts.ndim, facts.dims, facts.strides, order.data(), item_size(array.dtype));
  if (has_backward_single(facts.ndim, facts.dims, facts.strides)) dense = false;
  array.layout = dense ? Layout::dense : Layout::strided;
  if (!facts.c_contiguous) array.order = canonical(order);
  const std::string& name = capture_.sources().text(value->source);
  const std::string where = array.device < 0 ? " is ndarray " : " is DeviceArray ";
  guard.text = name + where + dtype_name(array.dtype) + ", ndim " + std::to_string(array.ndim) + layout_text(array);
  for (int k = 0; k < facts.ndim; ++k)
    capture_.ranges().add_symbol(name + ".shape[" + std::to_string(k) + "]", facts.dims[k], {0, widest_dim});
  for (int k = 0; !dense && k < facts.ndim; ++k) {
    capture_.ranges().add_symbol(name + ".strides[" + std::to_string(k) + "]", facts.strides[k], {-widest_dim, widest_dim});
  }
  int first = array.first_symbol;
  capture_.memory().note_guard(value->source, capture_.guards().guards.size());
  std::vector<uint8_t> guard_order = array.order;
  capture_.guards().guards.push_back(std::move(guard));
  StridedLayout layout;
  layout.dtype = *facts.dtype;
  layout.offset = capture_.dims().constant(0);
  for (int k = 0; k < facts.ndim; ++k) {
    Dim extent = capture_.speculation().given.fixed_sizes ? capture_.dims().constant(facts.dims[k])
                                                          : capture_.ranges().symbol_dim(first + k);
    if (capture_.speculation().given.fixed_sizes)
      capture_.ranges().guard_relation(capture_.dims().symbol(first + k), Comparison::eq, extent);
    layout.shape.push_back(extent);
  }
  for (int k = 0; !dense && k < facts.ndim; ++k) layout.strides.push_back(capture_.ranges().symbol_dim(first + facts.ndim + k));
  if (dense) layout.strides = dense_strides(capture_.dims(), layout.shape, guard_order, layout.dtype);
  value->kind = AbstractKind::array;
  value->array.storage = std::make_shared<Storage>();
  value->array.storage->source = value->source;
  value->array.layout = std::move(layout);
}

void Resolver::look_number(const Ref& value, PyTypeObject* type, DType dtype) {
  PyObject* object = value->object.get();
  const std::string name = capture_.sources().text(value->source);
  uint64_t bits[2] = {0, 0};
  bool is_python = type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type || type == &PyBool_Type;
  if (!read_scalar(object, dtype, bits)) {  // a Python int beyond int64
    capture_.sources().guard_equals(value->source, object);
    value->kind = AbstractKind::constant;
    return;
  }
  bool is_dim = dtype == DType::int64;
  const Interval range = is_dim ? Interval{-widest_int, widest_int} : Interval{0, 0};
  int slot = capture_.ranges().add_symbol(name, static_cast<int64_t>(bits[0]), range);
  if (dtype_kind(dtype) == 'c') capture_.ranges().add_symbol(name + ".imag", static_cast<int64_t>(bits[1]), range);
  if (is_python && capture_.speculation().numbers.promoted.count(name) != 0) {
    capture_.sources().guard_equals(value->source, object);
    value->kind = AbstractKind::constant;
    return;
  }
  Guard guard;
  guard.kind = GuardKind::number;
  guard.source = value->source;
  guard.object = PyRef::borrow(reinterpret_cast<PyObject*>(type));
  guard.number = {dtype, slot};
  guard.text = "type(" + name + ") is " + type->tp_name;
  capture_.guards().guards.push_back(std::move(guard));
  ValueKind kind = is_python ? ValueKind::py_scalar : ValueKind::numpy_scalar;
  value->kind = AbstractKind::scalar;
  value->scalar = {kind, dtype, std::nullopt, no_value};
  if (capture_.speculation().numbers.promoted.count(name) != 0 && item_size(dtype) <= 8) {
    capture_.ranges().guard_relation(capture_.dims().symbol(slot), Comparison::eq,
                                     capture_.dims().constant(static_cast<int64_t>(bits[0])));
    value->kind = AbstractKind::constant;
  } else if (is_dim) {
    Dim d = capture_.ranges().symbol_dim(slot);
    value->scalar.dim = d;
    if (capture_.dims().as_constant(d)) value->kind = AbstractKind::constant;
  } else {
    Input input;
    input.name = name;
    input.slot = slot;
    value->scalar.value = capture_.graph().add_input(std::move(input), {kind, dtype, {}, {}});
    capture_.constants().note_input(value->scalar.value, value->source);
  }
}

Failure Resolver::refusal(const Ref& value) {
  PyObject* object = value->object.get();
  std::string where = value->source >= 0 ? capture_.sources().text(value->source) + ": " : std::string();
  if (object == nullptr) return fail(Reason::unsupported_value, where + "an object made by the function");
  if (!is_array(object)) return fail(Reason::unsupported_value, where + type_name(object));
  if (!is_exact_array(object)) return fail(Reason::array_subclass, where + type_name(object));
  ArrayFacts facts = array_facts(object);
  bool known = dtype_of_descr(static_cast<PyObject*>(const_cast<void*>(facts.descr))).has_value();
  if (known && !facts.aligned) return fail(Reason::unsupported_layout, where + "the array is not aligned");
  return fail(Reason::unsupported_dtype, where + "the array's dtype");
}

std::vector<Ref> Resolver::mutable_sources() const {
  std::vector<Ref> found;
  for (const auto& [source, value] : at_) {
    if (value->kind == AbstractKind::array || value->kind == AbstractKind::scalar) found.push_back(value);
  }
  std::sort(found.begin(), found.end(), [](const Ref& left, const Ref& right) { return left->source < right->source; });
  found.insert(found.end(), capture_.changes().all().begin(), capture_.changes().all().end());
  return found;
}

void Resolver::forget_caches(const std::vector<Ref>& restored) {
  std::set<const AbstractValue*> saved;
  for (const Ref& value : restored) saved.insert(value.get());
  capture_.changes().forget(saved);
  for (const auto& [source, value] : at_) {
    if (saved.count(value.get()) != 0) continue;
    if (value->kind == AbstractKind::array) {
      value->array.value = no_value;
      value->array.version = 0;
      value->array.storage->current = no_value;
      value->array.storage->version = 0;
    } else if (value->kind == AbstractKind::scalar && value->scalar.dim) {
      value->scalar.value = no_value;
    }
  }
}

}  // namespace accel
