#include "capture/context/memory/storage_versions.h"

#include <algorithm>

#include "capture/context/context.h"
#include "guard/overlap.h"

namespace accel {

namespace {

std::vector<Dim> wide_extents(const DimTable& dims, const std::vector<Dim>& shape) {
  std::vector<Dim> out;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [&](Dim d) { return !dims.is_constant(d, 1); });
  return out;
}

// The steps of a path that are not identities.
std::vector<ViewStep> without_plain_steps(const std::vector<ViewStep>& path) {
  std::vector<ViewStep> out;
  std::copy_if(path.begin(), path.end(), std::back_inserter(out), [](const ViewStep& step) {
    return step.op != Op::transpose || !std::is_sorted(step.attrs.axes.begin(), step.attrs.axes.end());
  });
  return out;
}

}  // namespace

Ref StorageVersions::view_of(const Ref& array, ViewStep step, StridedLayout layout, ValueId value) {
  capture_.resolver().look(array);
  Ref ref = std::make_shared<AbstractValue>();
  ref->kind = AbstractKind::array;
  ref->array = array->array;
  ref->array.path.push_back(std::move(step));
  ValueFactory::check_rank(layout.shape.size());
  ref->array.layout = std::move(layout);
  ref->array.value = value;
  ref->array.version = array->array.storage->version;
  return ref;
}

// The content of a storage as a graph value. The first read of an argument's memory makes it an input of the graph; if it
// overlaps an argument that has already been written to, the next attempt leaves that store to the interpreter.
ValueId StorageVersions::contents(const Storage& storage) {
  if (storage.current != no_value) return storage.current;
  ValueId input = input_of(storage.source);
  return is_stale_ ? capture_.build().reload(input) : input;
}

ValueId StorageVersions::known_contents(const Storage& storage) {
  return storage.current != no_value ? storage.current : input_of(storage.source);
}

void StorageVersions::reload() {
  is_stale_ = true;
  for (const auto& [source, value] : capture_.resolver().seen()) {
    if (!value || value->kind != AbstractKind::array || value->array.storage->source < 0) continue;
    Storage& storage = *value->array.storage;
    ++storage.version;
    if (storage.current != no_value) storage.current = capture_.build().reload(storage.current);
  }
}

void StorageVersions::reload(const std::set<std::string>& arrays) {
  std::set<Storage*> reloaded;
  for (const auto& [source, value] : capture_.resolver().seen()) {
    if (!value || value->kind != AbstractKind::array || value->array.storage->source < 0) continue;
    Storage& storage = *value->array.storage;
    if (!arrays.contains(capture_.sources().text(storage.source)) || !reloaded.insert(&storage).second) continue;
    ++storage.version;
    storage.current = capture_.build().reload(contents(storage));
  }
}

std::string StorageVersions::array_of_input(ValueId input) const {
  for (const auto& [source, value] : array_inputs_)
    if (value == input) return capture_.sources().text(source);
  return {};
}

ValueId StorageVersions::input_of(SourceId source) {
  if (auto known = array_inputs_.find(source); known != array_inputs_.end()) return known->second;
  for (SourceId written : written_) {
    if (written == source || relate(written, source)) continue;
    capture_.speculation().forget_numbering();
    capture_.speculation().objects.shared.insert({capture_.sources().text(written), capture_.sources().text(source)});
    throw Restart{};
  }
  ArrayGuard& guard = capture_.guards().guards[array_guards_.at(source)].array;
  const StridedLayout& layout = capture_.resolver().seen().at(source)->array.layout;
  Input input;
  input.name = capture_.sources().text(source);
  input.layout = guard.layout;
  if (guard.layout == Layout::strided) input.strides = layout.strides;
  guard.input = capture_.guards().input_count++;
  return array_inputs_[source] =
             capture_.graph().add_input(std::move(input), {ValueKind::array, layout.dtype, layout.shape, guard.order});
}

// Applies the first `count` steps of a path.
ValueId StorageVersions::viewed(ValueId memory, const std::vector<ViewStep>& path, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    memory = capture_.graph().add_node(capture_.build().block(), path[k].op, {memory}, path[k].attrs, {path[k].type},
                                       capture_.location());
  }
  return memory;
}

ValueId StorageVersions::read(const Ref& array) {
  capture_.resolver().look(array);
  ArrayState& state = array->array;
  Storage& storage = *state.storage;
  if (storage.maybe && storage.maybe->version != storage.maybe_version)
    throw InstructionBailout{fail(Reason::unsupported_layout, "a view or a copy, after a store to what it may show")};
  storage.current = contents(storage);
  if (state.value != no_value && state.version == storage.version) return state.value;
  state.value = viewed(storage.current, state.path, state.path.size());
  state.version = storage.version;
  return state.value;
}

// `value` as the new contents of a whole fresh array: in memory that no other value shares, in this order.
ValueId StorageVersions::own_contents(ValueId value, const std::vector<uint8_t>& order) {
  const Type& type = capture_.graph().type(value);
  bool computed = !capture_.graph().is_input(value) && type.kind == ValueKind::array && type.order == order;
  OpClass producer = computed ? op_class(capture_.graph().producer(value).op) : OpClass::view;
  if (producer != OpClass::view && producer != OpClass::update && producer != OpClass::leaf) return value;
  return capture_.build().pointwise(Op::copy, {value}, {capture_.graph().type(value).dtype}, ValueKind::array, order);
}

// --- stores -------------------------------------------------------------------------------------------------------------

// `in_order`: the memory has its elements in C order without gaps.
ValueId StorageVersions::stored(ValueId memory, bool in_order, const std::vector<ViewStep>& path, ValueId value, ValueId mask) {
  // A reshape in the middle of a path need not be expressible by strides, so the array after it is assembled first.
  for (size_t at = path.size(); at-- > 0;) {
    if (path[at].op != Op::reshape) continue;
    ValueId below = viewed(memory, path, at);
    const Type from = capture_.graph().type(below);
    bool plain = wide_extents(capture_.dims(), from.shape) == wide_extents(capture_.dims(), path[at].type.shape);
    if (plain || (at == 0 && in_order)) continue;
    std::vector<ViewStep> outer(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<ViewStep> inner(path.begin() + static_cast<std::ptrdiff_t>(at) + 1, path.end());
    ValueId shaped = capture_.build().reshape(below, path[at].type.shape);
    if (!inner.empty() || mask != no_value) {
      value = stored(capture_.build().pointwise(Op::copy, {shaped}, {from.dtype}), true, inner, value, mask);
    }
    return stored(memory, in_order, outer, capture_.build().reshape(value, from.shape), no_value);
  }
  // A memory's whole value may be the stored value; schedule needs one that can be computed before the store.
  bool whole = capture_.graph().is_input(value) || op_class(capture_.graph().producer(value).op) == OpClass::update;
  if (whole) value = capture_.build().pointwise(Op::copy, {value}, {capture_.graph().type(value).dtype});
  return capture_.build().store(memory, viewed(memory, path, path.size()), value, mask);
}

void StorageVersions::store(const Ref& array, ValueId value, ValueId mask) {
  ArrayState& state = array->array;
  Storage& storage = *state.storage;
  storage.current = contents(storage);
  const Type memory = capture_.graph().type(storage.current);
  const std::vector<Dim>& shape = state.path.empty() ? memory.shape : state.path.back().type.shape;
  for (ValueId* part : {&value, &mask}) {
    if (*part == no_value || capture_.graph().type(*part).shape == shape) continue;
    bool number = capture_.graph().type(*part).rank() == 0;
    *part = number ? capture_.build().full(*part, shape) : capture_.build().reshape(*part, shape);
  }
  std::vector<ViewStep> path = without_plain_steps(state.path);
  if (!path.empty() || mask != no_value || storage.source >= 0) {
    bool dense = storage.source < 0 || capture_.guards().guards[array_guards_.at(storage.source)].array.layout == Layout::dense;
    storage.current = stored(storage.current, dense && memory.is_c_order(), path, value, mask);
  } else {
    storage.current = own_contents(value, memory.order);
  }
  ++storage.version;
  capture_.note_effect(storage.source >= 0);
}

// --- arguments ----------------------------------------------------------------------------------------------------------

// Whether a written argument and another array of the graph share no memory, ensured by a guard. Throws Restart if both are one
// object.
bool StorageVersions::relate(SourceId written, SourceId other) {
  PyObject *left = capture_.resolver().seen().at(written)->object.get(),
           *right = capture_.resolver().seen().at(other)->object.get();
  if (left == right) {
    capture_.speculation().forget_numbering();
    capture_.speculation().objects.same.insert(std::minmax(capture_.sources().text(written), capture_.sources().text(other)));
    throw Restart{};
  }
  bool disjoint = !share_memory(array_facts(left), array_facts(right));
  capture_.sources().guard_memory(GuardKind::disjoint, written, other, disjoint);
  return disjoint;
}

// An argument that is the same object as one resolved earlier.
Ref StorageVersions::alias_of(SourceId source, PyObject* seen) {
  if (capture_.speculation().objects.same.empty()) return nullptr;
  for (const auto& [other, ref] : capture_.resolver().seen()) {
    if (other == source || !ref || ref->object.get() != seen) continue;
    if (!capture_.speculation().objects.same.contains(
            std::minmax(capture_.sources().text(source), capture_.sources().text(other))))
      continue;
    capture_.sources().guard_memory(GuardKind::same, other, source, true);
    return ref;
  }
  return nullptr;
}

Failure StorageVersions::refuse_shared(SourceId written, const std::string& other) {
  return fail(Reason::store_to_argument, capture_.sources().text(written) + " shares memory with " + other);
}

Status StorageVersions::check_argument(SourceId written) {
  const ArrayFacts facts = array_facts(capture_.resolver().seen().at(written)->object.get());
  const std::string& name = capture_.sources().text(written);
  capture_.sources().guard_memory(GuardKind::writeable, written, -1, facts.writeable);
  if (!facts.writeable) return fail(Reason::will_raise, name + " is read-only");
  if (written_.contains(written)) return Unit{};
  bool distinct = has_distinct_elements(facts);
  capture_.sources().guard_memory(GuardKind::distinct, written, -1, distinct);
  if (!distinct) return fail(Reason::store_to_argument, name + ": elements share memory");
  for (const auto& [left, right] : capture_.speculation().objects.shared) {
    if (left == name) return refuse_shared(written, right);
  }
  for (const auto& [other, value] : array_inputs_) {
    if (other != written && !relate(written, other)) return refuse_shared(written, capture_.sources().text(other));
  }
  written_.insert(written);
  return Unit{};
}

bool StorageVersions::is_writeable(SourceId source) {
  const ArrayFacts facts = array_facts(capture_.resolver().seen().at(source)->object.get());
  capture_.sources().guard_memory(GuardKind::writeable, source, -1, facts.writeable);
  return facts.writeable;
}

Status StorageVersions::check_storable(const Ref& array) {
  capture_.resolver().look(array);
  const ArrayState& state = array->array;
  if (!state.storage) return fail(Reason::unsupported_argument, "a store to what is no array");
  if (!state.writeable) return fail(Reason::will_raise, "the array is read-only");
  bool spread = std::any_of(state.path.begin(), state.path.end(), [](const ViewStep& s) { return s.op == Op::broadcast_to; });
  if (spread) return fail(Reason::store_to_argument, "a store into a broadcast array");
  if (state.storage->maybe) return fail(Reason::unsupported_layout, "a store to what is a view or a copy");
  if (state.storage->held) return fail(Reason::unsupported_value, "a store to an array that a list has got");
  return state.storage->source >= 0 ? check_argument(state.storage->source) : Unit{};
}

}  // namespace accel
