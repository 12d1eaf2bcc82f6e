#include "capture/interpreter/paths/unify.h"

#include "capture/context/context.h"
#include "capture/context/descent.h"
#include "capture/domain/dense_strides.h"
#include "capture/domain/recognised_types.h"
#include "capture/interpreter/paths/row_types.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"

namespace accel {

namespace {

bool same_bits(PyObject* left, PyObject* right, DType dtype) {
  uint64_t l[2] = {0, 0}, r[2] = {0, 0};
  return read_scalar(left, dtype, l) && read_scalar(right, dtype, r) && l[0] == r[0] && l[1] == r[1];
}

bool same_constant(PyObject* left, PyObject* right) {
  if (left == right) return true;
  if (Py_TYPE(left) != Py_TYPE(right) || !is_plain_constant(left) || !is_plain_constant(right)) return false;
  int equal = PyObject_RichCompareBool(left, right, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

class Matcher {
 public:
  Matcher(Capture& capture, const PathState& target, const PathState& arriving, const Resizable& resizable)
      : capture_(capture), target_(target), arriving_(arriving), resizable_(resizable) {}

  StateMatch run() {
    match_.fits = frames() && changed_objects() && arguments();
    return std::move(match_);
  }

 private:
  bool frames() {
    if (target_.frames.size() != arriving_.frames.size()) return false;
    for (size_t f = 0; f < target_.frames.size(); ++f) {
      const Frame &t = target_.frames[f], &a = arriving_.frames[f];
      if (t.stack.size() != a.stack.size() || t.loops.rounds != a.loops.rounds || t.before_call != a.before_call) return false;
      std::string name = "frame " + std::to_string(f);
      StateSlot slot;
      slot.frame = static_cast<int>(f);
      if (!values(t.locals, a.locals, slot, StateSlot::Place::local, name + " local ")) return false;
      if (!values(t.stack, a.stack, slot, StateSlot::Place::stack, name + " stack ")) return false;
      slot.place = StateSlot::Place::item;
      slot.name = name + " function";
      if (!value(t.function, a.function, slot)) return false;
    }
    return true;
  }

  // Arrays that are reachable otherwise: globals, attributes.
  bool arguments() {
    for (const Ref& source : capture_.resolver().mutable_sources()) {
      if (source->kind != AbstractKind::array || storages_.count(source->array.storage.get()) != 0) continue;
      if (!memory(source->array.storage, source->array.storage, StateSlot())) return false;
    }
    return true;
  }

  // Objects that exits store to.
  bool changed_objects() {
    StateSlot slot;
    slot.place = StateSlot::Place::item;
    for (const Ref& object : capture_.changes().all()) {
      slot.name = capture_.sources().text(object->source);
      if (!value(object, object, slot)) return false;
    }
    return true;
  }

  // The contents of a value in a state. An object that the path has not resolved has its contents from when the call began.
  const AbstractValue& contents(const PathState& state, const Ref& value) const {
    return state.objects.contains(value.get()) ? state.of(value) : capture_.changes().as_it_came(value);
  }

  bool values(const std::vector<Ref>& t, const std::vector<Ref>& a, StateSlot slot, StateSlot::Place place,
              const std::string& prefix) {
    if (t.size() != a.size()) return false;
    slot.place = place;
    for (size_t i = 0; i < t.size(); ++i) {
      slot.index = i;
      slot.name = prefix + std::to_string(i);
      if (!value(t[i], a[i], slot)) return false;
    }
    return true;
  }

  bool value(const Ref& t, const Ref& a, StateSlot& slot) {
    if (!t || !a) return !t && !a;
    const Descent level;
    const AbstractValue &tc = contents(target_, t), &ac = contents(arriving_, a);
    std::optional<Type> t_type = number_type(tc), a_type = number_type(ac);
    if (t_type || a_type) return t_type && a_type && *t_type == *a_type && number(t, a, tc, ac, slot);
    if (is_any_list(tc) && is_any_list(ac) && tc.kind != ac.kind) return grows(t, a, tc, ac, slot);
    if (tc.kind != ac.kind) return false;
    if (tc.kind == AbstractKind::null) return true;
    if (tc.kind == AbstractKind::constant && has_identity(tc)) add_identity(t, a, tc.identity, ac.identity, slot);
    if (tc.kind == AbstractKind::constant) return same_constant(tc.object.get(), ac.object.get());
    if (tc.source != ac.source) return false;
    bool is_plain = tc.kind == AbstractKind::object && tc.keys.empty() && ac.keys.empty();
    if (tc.kind == AbstractKind::lazy || is_plain) return t == a || tc.source >= 0;
    auto [pair, fresh] = pairs_.try_emplace(t.get(), a.get());
    auto [back, back_fresh] = back_.try_emplace(a.get(), t.get());
    if (!fresh || !back_fresh) return pair->second == a.get() && back->second == t.get();
    if (tc.kind == AbstractKind::opaque) {  // known by its type and its number alone
      add_identity(t, a, tc.identity, ac.identity, slot);
      return tc.object.get() == ac.object.get();
    }
    if (has_identity(tc)) add_identity(t, a, tc.identity, ac.identity, slot);
    if (tc.kind == AbstractKind::array) return array(tc.array, ac.array, slot);
    if (tc.kind == AbstractKind::masked_selection) return t == a && same_lanes(tc, ac);
    if (is_any_list(tc) && (tc.iterated || ac.iterated) && tc.scalar.dim != ac.scalar.dim) return false;
    if (tc.kind == AbstractKind::dynamic_list) return dynamic_list(t, tc, ac, slot);
    if (tc.kind == AbstractKind::list && tc.source < 0) {
      if (tc.items.size() != ac.items.size()) return grows(t, a, tc, ac, slot);
      add_list(t, a, slot, true, {});
    }
    return container(t, tc, ac, slot);
  }

  // A slot for the run's number of the object. `slot`: that of the value.
  void add_identity(const Ref& t, const Ref& a, const Ref& t_identity, const Ref& a_identity, StateSlot slot) {
    if (!capture_.calls_python()) return;
    slot.name = "identity of " + slot.name;
    slot.is_identity = true;
    slot.target = t;
    slot.arriving = a;
    const bool both = t_identity && a_identity, none = !t_identity && !a_identity;
    slot.equal = none || t_identity == a_identity || (both && same_number(*t_identity, *a_identity));
    match_.slots.push_back(std::move(slot));
  }

  // --- lists

  void add_list(const Ref& t, const Ref& a, StateSlot slot, bool equal, const RowType& row) {
    slot.name = "list of " + slot.name;
    slot.place = StateSlot::Place::list;
    slot.target = t;
    slot.arriving = a;
    slot.equal = equal;
    slot.row = row;
    match_.slots.push_back(std::move(slot));
  }

  // Whether it is one list object that got longer and may become a dynamic list.
  bool grows(const Ref& t, const Ref& a, const AbstractValue& tc, const AbstractValue& ac, const StateSlot& slot) {
    if (!resizable_.lists || t != a || tc.source >= 0) return false;
    std::optional<RowType> row;
    if (ac.kind == AbstractKind::dynamic_list) row = row_type(ac);
    bool alike = add_items(target_, tc, row) && add_items(arriving_, ac, row);
    // Shapes of rows may refer to values known inside the loop only, so the target needs an item as well.
    bool settled = row && (!row->has_extents() || !tc.items.empty());
    if (alike && settled) add_list(t, a, slot, false, *row);
    return alike && settled;
  }

  // Whether all items have row types equal to `row`, which is set by the first one.
  bool add_items(const PathState& state, const AbstractValue& list, std::optional<RowType>& row) {
    for (const Ref& item : list.items) {
      std::optional<RowType> own = row_type(capture_, state, item);
      if (!own || (row && *own != *row)) return false;
      row = own;
    }
    return true;
  }

  bool dynamic_list(const Ref& t, const AbstractValue& tc, const AbstractValue& ac, StateSlot& slot) {
    if (row_type(tc) != row_type(ac) || tc.position != ac.position) return false;
    StateSlot inner = slot;
    inner.container = t;
    if (!values(tc.items, ac.items, inner, StateSlot::Place::item, slot.name + " item ")) return false;
    inner.name = slot.name + " iterated";
    if (!value(tc.iterated, ac.iterated, inner)) return false;
    if (!tc.columns) return memory(tc.array.storage, ac.array.storage, slot, true);
    inner.name = slot.name + " columns";
    return value(tc.columns, ac.columns, inner);
  }

  bool same_lanes(const AbstractValue& tc, const AbstractValue& ac) const {
    return tc.predicate.mask == ac.predicate.mask &&
           target_.of(tc.array.storage).current == arriving_.of(ac.array.storage).current;
  }

  bool number(const Ref& t, const Ref& a, const AbstractValue& tc, const AbstractValue& ac, StateSlot& slot) {
    slot.target = t;
    slot.arriving = a;
    slot.equal = (t == a || (same_number(tc, ac) && tc.items == ac.items)) && has_name_of(tc, ac);
    match_.slots.push_back(slot);
    add_identity(t, a, tc.identity, ac.identity, slot);  // a constant may become a number that has an identity
    return true;
  }

  // False if the target's Dim is a run-time extent that the other path does not have: the number must become a parameter.
  bool has_name_of(const AbstractValue& t, const AbstractValue& a) const {
    bool named = t.kind == AbstractKind::scalar && t.scalar.dim && capture_.facts().is_runtime(*t.scalar.dim);
    return !named || (a.kind == AbstractKind::scalar && a.scalar.dim && *t.scalar.dim == *a.scalar.dim);
  }

  bool same_number(const AbstractValue& t, const AbstractValue& a) const {
    bool t_constant = t.kind == AbstractKind::constant, a_constant = a.kind == AbstractKind::constant;
    if (t_constant != a_constant) return false;
    if (t_constant) return same_bits(t.object.get(), a.object.get(), number_type(t)->dtype);
    if (t.scalar.dim && a.scalar.dim) return *t.scalar.dim == *a.scalar.dim;
    return t.scalar.value != no_value && t.scalar.value == a.scalar.value;
  }

  bool array(const ArrayState& t, const ArrayState& a, StateSlot& slot) {
    // An array that covers fresh memory has the extents of the contents, which memory() compares.
    bool whole = t.path.empty() && t.storage->source < 0;
    bool same_extents = whole || (t.layout.shape == a.layout.shape && t.layout.strides == a.layout.strides);
    bool same = t.layout.dtype == a.layout.dtype && same_extents && t.layout.offset == a.layout.offset &&
                t.writeable == a.writeable && t.path.size() == a.path.size();
    for (size_t i = 0; same && i < t.path.size(); ++i) {
      same = t.path[i].op == a.path[i].op && t.path[i].attrs == a.path[i].attrs && t.path[i].type == a.path[i].type;
    }
    return same && memory(t.storage, a.storage, slot);
  }

  // is_list: the number of rows may differ.
  bool memory(const std::shared_ptr<Storage>& t, const std::shared_ptr<Storage>& a, const StateSlot& slot,
              bool is_list = false) {
    auto [pair, fresh] = storages_.try_emplace(t.get(), a.get());
    auto [back, back_fresh] = storages_back_.try_emplace(a.get(), t.get());
    if (!fresh || !back_fresh) return pair->second == a.get() && back->second == t.get();
    const Storage tc = target_.of(t), ac = arriving_.of(a);
    if (tc.source != ac.source || tc.maybe != ac.maybe || tc.maybe_version != ac.maybe_version) return false;
    StateSlot found;
    found.name = "memory of " + (tc.source >= 0 ? capture_.sources().text(tc.source) : slot.name);
    found.place = StateSlot::Place::memory;
    found.target_memory = t;
    found.arriving_memory = a;
    found.equal = same_contents(tc, ac);
    const Graph& graph = capture_.graph();
    const Type t_type = graph.type(capture_.memory().known_contents(tc)),
               a_type = graph.type(capture_.memory().known_contents(ac));
    if (!same_type(t_type, a_type, found, is_list)) return false;
    match_.slots.push_back(found);
    if (tc.source < 0) add_identity(nullptr, nullptr, tc.identity, ac.identity, found);
    found.name = "held " + found.name;
    found.place = StateSlot::Place::held;
    found.equal = tc.held || !ac.held;
    match_.slots.push_back(std::move(found));
    return true;
  }

  // Contents that a path has not read are those of the start of the call, or after a call of the process unknown.
  bool same_contents(const Storage& t, const Storage& a) {
    bool t_unknown = t.current == no_value && target_.memory_is_stale;
    bool a_unknown = a.current == no_value && arriving_.memory_is_stale;
    if (t_unknown || a_unknown) return t_unknown && a_unknown;
    return capture_.memory().known_contents(t) == capture_.memory().known_contents(a);
  }

  // Compares types of contents. Extents of fresh memory become slots.
  bool same_type(const Type& t, Type a, const StateSlot& memory, bool is_list) {
    if (t.rank() != a.rank()) return false;
    for (size_t axis = 0; memory.target_memory->source < 0 && axis < t.shape.size(); ++axis) {
      StateSlot extent = memory;
      extent.place = StateSlot::Place::extent;
      extent.name = "extent " + std::to_string(axis) + " of " + memory.name;
      extent.index = axis;
      extent.target_extent = t.shape[axis];
      extent.arriving_extent = a.shape[axis];
      extent.equal = t.shape[axis] == a.shape[axis];
      bool may_differ =
          resizable_.all || (is_list && axis == 0) || (resizable_.names != nullptr && resizable_.names->contains(extent.name));
      if (may_differ) a.shape[axis] = t.shape[axis];
      match_.slots.push_back(std::move(extent));
    }
    return t == a;
  }

  bool container(const Ref& t, const AbstractValue& tc, const AbstractValue& ac, const StateSlot& slot) {
    bool same = tc.items.size() == ac.items.size() && tc.keys.size() == ac.keys.size() && tc.position == ac.position;
    bool text = tc.kind == AbstractKind::tuple || tc.kind == AbstractKind::slice;  // `object` only caches the items
    if (!same || (!text && tc.object.get() != ac.object.get())) return false;
    for (size_t i = 0; i < tc.keys.size(); ++i) {
      if (!same_constant(tc.keys[i].get(), ac.keys[i].get())) return false;
    }
    StateSlot inner = slot;
    inner.container = t;
    if (!values(tc.items, ac.items, inner, StateSlot::Place::item, slot.name + " item ")) return false;
    inner.name = slot.name + " iterated";
    return value(tc.iterated, ac.iterated, inner);
  }

  Capture& capture_;
  const PathState& target_;
  const PathState& arriving_;
  const Resizable& resizable_;
  StateMatch match_;
  std::unordered_map<const AbstractValue*, const AbstractValue*> pairs_, back_;
  std::unordered_map<const Storage*, const Storage*> storages_, storages_back_;
};

}  // namespace

StateMatch match_states(Capture& capture, const PathState& target, const PathState& arriving, const Resizable& resizable) {
  if (target.errstate != arriving.errstate) return {};
  return Matcher(capture, target, arriving, resizable).run();
}

void resize(Capture& capture, PathState& target, const std::shared_ptr<Storage>& memory, const std::vector<Dim>& shape) {
  const std::vector<uint8_t> order = capture.graph().type(capture.memory().known_contents(target.of(memory))).order;
  for (auto& [object, contents] : target.objects) {
    bool whole = contents.kind == AbstractKind::array || contents.kind == AbstractKind::dynamic_list;
    if (!whole || contents.array.storage != memory || !contents.array.path.empty()) continue;
    contents.array.layout.shape = shape;
    contents.array.layout.strides = dense_strides(capture.dims(), shape, order, contents.array.layout.dtype);
    contents.array.value = no_value;
  }
}

namespace {

Storage& contents_of(PathState& target, const std::shared_ptr<Storage>& memory) {
  auto [place, fresh] = target.storages.try_emplace(memory.get(), target.of(memory));
  if (fresh) target.keep_storages.push_back(memory);
  return place->second;
}

}  // namespace

void hold(PathState& target, const std::shared_ptr<Storage>& memory) { contents_of(target, memory).held = true; }

namespace {

Ref add_number(PathState& target, ValueId param, const Type& type) {
  Ref number = std::make_shared<AbstractValue>();
  number->kind = AbstractKind::scalar;
  number->scalar = {type.kind, type.dtype, std::nullopt, param};
  number->is_one_of_several = true;
  target.objects.emplace(number.get(), *number);
  target.keep_objects.push_back(number);
  return number;
}

// The reference to a number in the state.
Ref& number_at(PathState& target, const StateSlot& slot) {
  Frame& frame = target.frames[static_cast<size_t>(slot.frame)];
  if (slot.place == StateSlot::Place::local) return frame.locals[slot.index];
  if (slot.place == StateSlot::Place::stack) return frame.stack[slot.index];
  return target.objects.at(slot.container.get()).items[slot.index];
}

void widen_identity(PathState& target, const StateSlot& slot, ValueId param) {
  Ref identity = add_number(target, param, identity_type);
  if (slot.target_memory) {
    contents_of(target, slot.target_memory).identity = std::move(identity);
    return;
  }
  // widen() of the preceding slot has replaced the number in the state, so it is read from there.
  const Ref value = number_type(target.of(slot.target)) ? number_at(target, slot) : slot.target;
  if (auto contents = target.objects.find(value.get()); contents != target.objects.end())
    contents->second.identity = std::move(identity);
}

}  // namespace

void widen(PathState& target, const StateSlot& slot, ValueId param, const Type& type) {
  if (slot.is_identity) return widen_identity(target, slot, param);
  if (slot.place == StateSlot::Place::memory) {
    Storage& storage = contents_of(target, slot.target_memory);
    storage.current = param;
    ++storage.version;
    return;
  }
  Ref number = add_number(target, param, type);
  target.objects.at(number.get()).identity = target.of(slot.target).identity;
  number_at(target, slot) = number;
  if (slot.place == StateSlot::Place::local || slot.place == StateSlot::Place::stack) return;
  AbstractValue& container = target.objects.at(slot.container.get());
  if (container.kind == AbstractKind::tuple || container.kind == AbstractKind::slice) container.object = PyRef();
  container.is_one_of_several = container.kind == AbstractKind::tuple;
}

}  // namespace accel
