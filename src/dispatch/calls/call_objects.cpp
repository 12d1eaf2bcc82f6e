#include "dispatch/calls/call_objects.h"

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <span>

#include "dispatch/calls/replaced_values.h"
#include "dispatch/exits/resume.h"
#include "ndarray/array.h"

namespace accel {

bool CallObjects::make(const BoxedCall& call, const PythonCallPlan& plan, const std::vector<CallOperandValue>& operands,
                       Binding& binding, const ShownObjects& shown) {
  call_ = &call;
  plan_ = &plan;
  size_t count = static_cast<size_t>(plan.operands.count());
  std::byte room[512];
  std::pmr::monotonic_buffer_resource memory(room, sizeof room);
  std::pmr::vector<PyObject*> arrays(count, &memory);
  std::pmr::vector<void*> data(count, &memory);
  std::pmr::vector<int64_t> numbers(2 * count, &memory);
  Outputs outputs{arrays.data(), data.data(), numbers.data()};
  plan.operands.prepare(outputs);
  made_.assign(site().recipes.size(), nullptr);
  named_.clear();
  bool filled = fill_operands(operands, outputs);
  if (filled)
    for (const BoundSymbol& bound : site().symbols) binding.symbols[bound.symbol] = outputs.numbers[2 * bound.output];
  bool made = filled && plan.materialiser.make(binding, outputs, made_.data(), &shown);
  if (made) find_named(outputs);
  plan.operands.release(outputs);
  return made;
}

bool CallObjects::fill_operands(const std::vector<CallOperandValue>& operands, Outputs& outputs) const {
  for (int k = 0; k < plan_->operands.count(); k++) {
    const CallOperandValue& given = operands[static_cast<size_t>(k)];
    if (!(plan_->operands.is_array(k) ? fill_array(k, given, outputs) : fill_number(k, given, outputs))) return false;
  }
  return true;
}

bool CallObjects::fill_array(int number, const CallOperandValue& given, Outputs& outputs) const {
  const Type& type = call_->operands[static_cast<size_t>(number)];
  const size_t rank = static_cast<size_t>(type.rank());
  std::span<const int64_t> dims{given.dims, rank}, strides{given.strides, rank};
  PyRef from = given.object != nullptr ? PyRef::borrow(given.object)
                                       : PyRef::steal(new_array_over(type.dtype, dims, strides, given.memory));
  if (!from) return false;
  const ArrayFacts facts = array_facts(from.get());
  std::vector<int64_t> shape(facts.dims, facts.dims + facts.ndim);
  return plan_->operands.allocate(number, shape.data(), outputs) != nullptr &&
         copy_elements(outputs.arrays[number], from.get());
}

bool CallObjects::fill_number(int number, const CallOperandValue& given, Outputs& outputs) const {
  const Type& type = call_->operands[static_cast<size_t>(number)];
  int64_t* words = outputs.numbers + 2 * number;
  if (given.object == nullptr) {
    std::copy_n(static_cast<const char*>(given.memory), item_size(type.dtype), reinterpret_cast<char*>(words));
    return true;
  }
  uint64_t bits[2] = {0, 0};
  PyRef value = PyRef::borrow(given.object);
  if (is_exact_array(given.object)) value = PyRef::steal(PyObject_CallMethod(given.object, "__getitem__", "()"));
  if (!value || !read_scalar(value.get(), type.dtype, bits)) return false;
  words[0] = static_cast<int64_t>(bits[0]), words[1] = static_cast<int64_t>(bits[1]);
  return true;
}

void CallObjects::find_named(const Outputs& outputs) {
  for (RecipeId id : site().named) {
    const Recipe& recipe = site().recipes[static_cast<size_t>(id)];
    const int64_t number = *static_cast<const int64_t*>(outputs.data[recipe.index]);
    PyObject* object = made_[static_cast<size_t>(id)];
    if (number >= 0 && object != nullptr) named_.emplace_back(number, object);
  }
}

std::vector<FrameState> CallObjects::frames() const { return frames_of(site().frames, made_.data()); }

GivenObjects CallObjects::give() {
  GivenObjects given;
  auto take = [&](RecipeId id) { return PyRef::borrow(made_[static_cast<size_t>(id)]); };
  given.callable = take(site().callable);
  for (RecipeId id : site().arguments) given.arguments.push_back(take(id));
  for (const StoreRecipe& store : site().stores) {
    given.stored.push_back(take(store.object));
    given.stored.push_back(take(store.name));
    given.stored.push_back(take(store.value));
  }
  return given;
}

void CallObjects::keep(PyObject* object) {
  if (object != nullptr) kept_.push_back(PyRef::borrow(object));
}

// Keeps only objects that are checked after the call and would otherwise be freed, such as an array that NumPy has copied. An
// object with another owner gets no further reference, as the callee could count it.
void CallObjects::hand_over() {
  seen_ = made_;
  for (const std::vector<RecipeId>* ids : {&site().watched, &site().shown, &site().candidates})
    for (RecipeId id : *ids) keep(id >= 0 ? seen(id) : nullptr);
  for (const auto& [number, object] : named_) keep(object);
  release();
  for (PyRef& each : kept_) {
    const auto own = std::count_if(kept_.begin(), kept_.end(), [&](const PyRef& other) { return other.get() == each.get(); });
    if (Py_REFCNT(each.get()) > own) each = PyRef();
  }
  // Parts of a text or tuple are not variables, so the callee may drop their last reference.
  for (RecipeId id : site().derived) keep(seen(id));
}

void CallObjects::keep_results() {
  for (const std::vector<RecipeId>* ids : {&site().shown, &site().changed})
    for (RecipeId id : *ids) kept_.push_back(PyRef::borrow(seen(id)));
}

bool CallObjects::are_stores_there() const {
  return std::all_of(site().stores.begin(), site().stores.end(), [&](const StoreRecipe& store) {
    return stored_value(store.kind, seen(store.object), seen(store.name)) == seen(store.value);
  });
}

PyObject* CallObjects::candidate(int number) const {
  const RecipeId id = site().candidates[static_cast<size_t>(number)];
  return id >= 0 ? seen(id) : nullptr;
}

}  // namespace accel
