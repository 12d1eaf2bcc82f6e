#include "capture/interpreter/exits/recipe_writer.h"

#include <set>

#include "capture/context/descent.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/frame.h"
#include "capture/interpreter/generators.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "capture/python/containers/dynamic_lists.h"
#include "cpython/imported.h"

namespace accel {

PyObject* operator_call() {
  static PyObject* const call = imported_attribute("operator", "call").release();
  return call;
}

RecipeId RecipeWriter::add(Recipe recipe) {
  recipes_.push_back(std::move(recipe));
  return static_cast<RecipeId>(recipes_.size()) - 1;
}

RecipeId RecipeWriter::write_constant(PyRef object) {
  Recipe recipe;
  recipe.kind = RecipeKind::constant;
  recipe.object = std::move(object);
  return add(std::move(recipe));
}

RecipeId RecipeWriter::write_source(SourceId source) {
  auto [it, fresh] = sources_.try_emplace(source, -1);
  if (fresh) {
    Recipe recipe;
    recipe.kind = RecipeKind::source;
    recipe.index = source;
    it->second = add(std::move(recipe));
  }
  return it->second;
}

Result<RecipeId> RecipeWriter::write(const Ref& value) {
  auto [it, fresh] = written_.try_emplace(value.get(), -1);
  if (!fresh) {
    if (it->second < 0) return fail(Reason::unsupported_value, "an object that contains itself");
    return it->second;
  }
  keep_.push_back(value);
  const Descent level;
  ACCEL_TRY(RecipeId id, make(value));
  if (value && value->identity && value->source < 0) id = write_shown(RecipeKind::shown, value->identity, id);
  written_[value.get()] = id;
  return id;
}

RecipeId RecipeWriter::written(const Ref& value) const {
  auto found = written_.find(value.get());
  return found == written_.end() ? -1 : found->second;
}

std::vector<std::pair<Ref, RecipeId>> RecipeWriter::made_objects() const {
  std::vector<std::pair<Ref, RecipeId>> made;
  for (const Ref& value : keep_) {
    const RecipeId id = value ? written(value) : -1;
    if (id >= 0 && !fresh_.contains(id) && has_identity(*value)) made.emplace_back(value, id);
  }
  return made;
}

RecipeId RecipeWriter::write_shown(RecipeKind kind, const Ref& identity, RecipeId otherwise) {
  Recipe recipe;
  recipe.kind = kind;
  recipe.index = static_cast<int>(outputs_.size());
  if (otherwise >= 0) recipe.parts.push_back(otherwise);
  outputs_.push_back(capture_.values().scalar_value(identity).value());
  return add(std::move(recipe));
}

namespace {

template <typename Object>
PyRef object_of(Object& object) {
  return PyRef::borrow(reinterpret_cast<PyObject*>(&object));
}

}  // namespace

Result<RecipeId> RecipeWriter::make(const Ref& value) {
  if (value == nullptr) return add(Recipe{});
  if (value->source >= 0) return write_source(value->source);
  if (is_row(value)) return write_row(*value);
  switch (value->kind) {
#define KIND(name, type, recipe) \
  case AbstractKind::name:       \
    return recipe;
#include "capture/domain/kinds.inc"
#undef KIND
  }
  return fail(Reason::internal_error, "a value of no kind");
}

Result<RecipeId> RecipeWriter::write_known(const AbstractValue& constant) {
  const std::vector<Ref>& call = constant.items;  // makes one for each call of the code
  if (call.empty()) return write_constant(constant.object);
  return write_parts(RecipeKind::call, {call.begin() + 1, call.end()}, call[0]->object);
}

Result<RecipeId> RecipeWriter::write_exact_array(const AbstractValue& array) {
  if (!array.keys.empty()) return fail(Reason::unsupported_value, "an array that warns when it is written to");
  return write_array(array.array);
}

Result<RecipeId> RecipeWriter::write_parts_or_object(RecipeKind kind, const AbstractValue& value) {
  return value.object ? write_constant(value.object) : write_parts(kind, value.items);
}

Result<RecipeId> RecipeWriter::write_cell(const AbstractValue& cell) {
  if (cell.object) return write_constant(cell.object);
  return write_parts(RecipeKind::cell, {cell.items.empty() ? Ref() : cell.items[0]});
}

// Gathered for this exit only: the value stays a masked selection on the path that continues.
Result<RecipeId> RecipeWriter::write_masked_selection(const AbstractValue& value) {
  if (probes_) {
    ACCEL_TRY([[maybe_unused]] Unit possible, check_materialisable(value));
    return add(Recipe{});
  }
  Ref gathered = std::make_shared<AbstractValue>(value);
  gathered->array.storage = std::make_shared<Storage>(*value.array.storage);
  keep_.push_back(gathered);
  ACCEL_TRY([[maybe_unused]] Unit done, materialise(capture_, gathered));
  return write_array(gathered->array);
}

Result<RecipeId> RecipeWriter::write_parts(RecipeKind kind, const std::vector<Ref>& parts, PyRef object, int index) {
  Recipe recipe;
  recipe.kind = kind;
  recipe.index = index;
  recipe.object = std::move(object);
  for (const Ref& part : parts) {
    if (part == nullptr) {
      recipe.parts.push_back(add(Recipe{}));
      continue;
    }
    ACCEL_TRY(RecipeId id, write(part));
    recipe.parts.push_back(id);
  }
  return add(std::move(recipe));
}

// Rows of a list become arrays of their own at an exit, so none of them may be an array that has other references.
Status RecipeWriter::check_identity() const {
  if (!has_rows_ || !has_held_) return Unit{};
  return fail(Reason::unsupported_value, "a list of arrays that have other names");
}

Result<RecipeId> RecipeWriter::write_dynamic_list(const AbstractValue& list) {
  bool arrays = row_type(list).has_arrays();
  if (arrays && list.position > 0) return fail(Reason::unsupported_value, "a list that may have an array twice");
  if (list.columns) {
    std::vector<Ref> parts = list.columns->items;
    parts.insert(parts.end(), list.items.begin(), list.items.end());
    RecipeKind kind = row_type(list).is_list ? RecipeKind::list_of_lists : RecipeKind::list_of_tuples;
    return write_parts(kind, parts, {}, static_cast<int>(list.columns->items.size()));
  }
  has_rows_ |= arrays;
  ACCEL_TRY([[maybe_unused]] Unit apart, check_identity());
  Recipe recipe;
  recipe.kind = RecipeKind::list_of_rows;
  recipe.dtype = list.scalar.dtype;
  recipe.item = list.scalar.kind;
  recipe.shape = list.array.layout.shape;
  for (const Ref& item : list.items) {
    ACCEL_TRY(RecipeId id, write(item));
    recipe.parts.push_back(id);
  }
  recipe.index = static_cast<int>(outputs_.size());
  outputs_.push_back(list.array.storage->current);
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_row(const AbstractValue& row) {
  static PyObject* const get = imported_attribute("operator", "getitem").release();
  return write_parts(RecipeKind::call, {row.iterated, keep_.emplace_back(capture_.values().dim_scalar(*row.scalar.dim))},
                     PyRef::borrow(get));
}

Result<RecipeId> RecipeWriter::write_named(RecipeKind kind, const AbstractValue& value) {
  Recipe recipe;
  recipe.kind = kind;
  if (kind == RecipeKind::instance) recipe.object = value.object;
  for (size_t i = 0; i < value.keys.size(); ++i) {
    recipe.parts.push_back(write_constant(value.keys[i]));
    ACCEL_TRY(RecipeId id, write(value.items[i]));
    recipe.parts.push_back(id);
  }
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_instance(const AbstractValue& value) {
  auto* type = reinterpret_cast<PyTypeObject*>(value.object.get());
  if (type == &PyContextToken_Type) return write_errstate_token(value);
  if (has_plain_attributes(type)) return write_named(RecipeKind::instance, value);
  if (Ref arguments = part_of(value, call_that_makes)) return write_parts(RecipeKind::call, arguments->items, value.object);
  if (!is_named_tuple(type)) return fail(Reason::unsupported_value, "an instance of " + short_repr(value.object.get()));
  static PyObject* const make = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyTuple_Type), "__new__");
  ACCEL_TRY(RecipeId items, write_parts(RecipeKind::tuple, value.items));
  Recipe recipe;
  recipe.kind = RecipeKind::call;
  recipe.object = PyRef::borrow(make);
  recipe.parts = {write_constant(value.object), items};
  return add(std::move(recipe));
}

// Making the token sets the modes, which have to be in effect where the interpreter continues.
Result<RecipeId> RecipeWriter::write_errstate_token(const AbstractValue& token) {
  const std::vector<Ref>& open = capture_.events().errstate_tokens();
  if (std::none_of(open.begin(), open.end(), [&](const Ref& each) { return each.get() == &token; }))
    return fail(Reason::unsupported_value, "a token of a context variable that has been reset");
  static PyObject* const set = imported_attribute("accel._errstate", "set_modes").release();
  return write_parts(RecipeKind::call, token.items, PyRef::borrow(set));
}

Result<RecipeId> RecipeWriter::write_partial(const AbstractValue& partial) {
  if (!partial.keys.empty()) return fail(Reason::unsupported_value, "a functools.partial with keywords");
  static PyObject* const type = imported_attribute("functools", "partial").release();
  return write_parts(RecipeKind::call, partial.items, PyRef::borrow(type));
}

Result<RecipeId> RecipeWriter::write_dict_view(const AbstractValue& view) {
  static constexpr const char* methods[] = {"keys", "values", "items"};
  PyRef name = PyRef::steal(PyUnicode_InternFromString(methods[view.position]));
  ACCEL_TRY(RecipeId method, write_parts(RecipeKind::attribute, {view.items[0]}, std::move(name)));
  Recipe recipe;
  recipe.kind = RecipeKind::call;
  recipe.object = PyRef::borrow(operator_call());
  recipe.parts = {method};
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_iterator(const Ref& iterator) {
  ACCEL_TRY(IteratorParts parts, iterator_parts(capture_, iterator));
  if (parts.callable) {
    ACCEL_TRY(RecipeId made, write_parts(RecipeKind::call, parts.arguments, parts.callable));
    Recipe recipe;
    recipe.kind = RecipeKind::iterator;
    recipe.index = parts.taken;
    recipe.parts = {made};
    return add(std::move(recipe));
  }
  Recipe recipe;
  recipe.kind = RecipeKind::iterator;
  recipe.index = static_cast<int>(iterator->position);
  for (const Ref& argument : parts.arguments) {
    ACCEL_TRY(RecipeId id, write(argument));
    recipe.parts.push_back(id);
  }
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_method(const AbstractValue& method) {
  const Ref& callable = method.items[0];
  PyObject* known = callable->kind == AbstractKind::function ? nullptr : callable->object.get();
  if (known != nullptr && Py_IS_TYPE(known, &PyGetSetDescr_Type))  // array.flat
    return write_parts(RecipeKind::attribute, {method.items[1]}, PyRef::borrow(PyDescr_NAME(known)));
  return write_parts(RecipeKind::method, method.items);
}

// A generator that has not begun is made by its call.
Result<RecipeId> RecipeWriter::write_generator(const AbstractValue& generator) {
  if (has_begun(generator)) return fail(Reason::generator, "a generator that has begun");
  const PyCodeObject* code = generator.suspended->code();
  if (code->co_kwonlyargcount > 0 || (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) != 0)
    return fail(Reason::generator, "a generator with such arguments");
  std::vector<Ref> parts = {generator.items[0]};
  for (Ref& argument : arguments_of_generator(generator)) parts.push_back(std::move(argument));
  return write_parts(RecipeKind::call, parts, PyRef::borrow(operator_call()));
}

Result<RecipeId> RecipeWriter::write_scalar(const ScalarState& scalar) {
  Recipe recipe;
  recipe.dtype = scalar.dtype;
  bool python = scalar.kind == ValueKind::py_scalar;
  if (scalar.dim) {
    recipe.kind = python ? RecipeKind::dim_python : RecipeKind::dim_numpy;
    recipe.offset = *scalar.dim;
  } else {
    recipe.kind = python ? RecipeKind::output_python : RecipeKind::output_numpy;
    recipe.index = static_cast<int>(outputs_.size());
    outputs_.push_back(scalar.value);
  }
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_selected(const AbstractValue& number) {
  Recipe recipe;
  recipe.kind = RecipeKind::selected;
  ACCEL_TRY(RecipeId made, write_scalar(number.scalar));
  recipe.parts.push_back(made);
  for (const Ref& candidate : number.items) {
    ACCEL_TRY(RecipeId id, write(candidate));
    recipe.parts.push_back(id);
  }
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_storage(const std::shared_ptr<Storage>& storage) {
  has_held_ |= storage->held;
  ACCEL_TRY([[maybe_unused]] Unit apart, check_identity());
  if (storage->source >= 0) return write_source(storage->source);
  if (storage->maybe) return fail(Reason::unsupported_layout, "a view of what is a view or a copy");
  auto [it, fresh] = storages_.try_emplace(storage.get(), -1);
  if (fresh) {
    it->second = is_as_shown(*storage) ? -1 : write_output(*storage);
    if (storage->identity) it->second = write_shown(RecipeKind::shown_array, storage->identity, it->second);
    fresh_[it->second] = storage;
  }
  return it->second;
}

RecipeId RecipeWriter::write_output(const Storage& storage) {
  const Type& type = capture_.graph().type(storage.current);
  Recipe recipe;
  recipe.kind = RecipeKind::output_array;
  recipe.index = static_cast<int>(outputs_.size());
  recipe.dtype = type.dtype;
  recipe.shape = type.shape;
  recipe.writeable = !storage.read_only;
  outputs_.push_back(storage.current);
  return add(std::move(recipe));
}

// Whether a call has seen the array on every path, and its elements are those that this call has left.
bool RecipeWriter::is_as_shown(const Storage& storage) const {
  if (!storage.identity || storage.identity->kind != AbstractKind::scalar) return false;
  const Graph& graph = capture_.graph();
  auto call_of = [&](ValueId v) {
    const bool received = !graph.is_input(v) && graph.producer(v).op == Op::received;
    return received ? graph.producer(v).operands[0] : no_value;
  };
  const ValueId call = call_of(storage.identity->scalar.value);
  return call != no_value && call_of(storage.current) == call;
}

Status RecipeWriter::write_stores() {
  for (const Ref& object : capture_.changes().all()) {
    for (const auto& [name, value] : capture_.changes().stores_of(object)) {
      StoreRecipe store;
      store.kind = object->kind == AbstractKind::object ? StoreRecipe::Kind::attribute : StoreRecipe::Kind::item;
      ACCEL_TRY(store.object, write(object));
      store.name = write_constant(name);
      ACCEL_TRY(store.value, write(value));
      stores_.push_back(store);
    }
  }
  return Unit{};
}

std::vector<BoundSymbol> RecipeWriter::write_symbols() {
  std::set<int> found;
  auto look = [&](Dim d) {
    if (d.id < 0) return;
    for (int symbol : capture_.dims().symbols(d)) {
      if (capture_.facts().is_bound(symbol)) found.insert(symbol);
    }
  };
  for (const Recipe& recipe : recipes_) {
    look(recipe.offset);
    for (Dim d : recipe.shape) look(d);
    for (Dim d : recipe.strides) look(d);
    for (const ViewStep& step : recipe.path) {
      for (Dim d : step.type.shape) look(d);
      for (Dim d : step.attrs.steps) look(d);
    }
  }
  std::vector<BoundSymbol> symbols;
  for (int symbol : found) {
    symbols.push_back({symbol, static_cast<int>(outputs_.size())});
    outputs_.push_back(capture_.build().dim(capture_.dims().symbol(symbol)));
  }
  return symbols;
}

// Requires that the original array was not stored to since, because NumPy makes the view or copy from its current contents.
Result<RecipeId> RecipeWriter::write_view_or_copy(const Storage& storage) {
  if (storage.maybe->version != storage.maybe_version)
    return fail(Reason::unsupported_layout, "a view or a copy, after a store to what it may show");
  static PyObject* const reshape = PyObject_GetAttrString(reinterpret_cast<PyObject*>(array_type()), "reshape");
  static PyObject* const ravel = PyObject_GetAttrString(reinterpret_cast<PyObject*>(array_type()), "ravel");
  Recipe recipe;
  recipe.kind = RecipeKind::call;
  recipe.object = PyRef::borrow(storage.maybe_made->ravels ? ravel : reshape);
  ACCEL_TRY(RecipeId array, write_array(storage.maybe_made->array));
  recipe.parts = {array};
  if (!storage.maybe_made->ravels) {
    for (Dim extent : capture_.graph().type(storage.current).shape) {
      Recipe number;
      number.kind = RecipeKind::dim_python;
      number.offset = extent;
      recipe.parts.push_back(add(std::move(number)));
    }
  }
  return add(std::move(recipe));
}

Result<RecipeId> RecipeWriter::write_array(const ArrayState& array) {
  if (array.storage->maybe && array.path.empty()) return write_view_or_copy(*array.storage);
  ACCEL_TRY(RecipeId base, write_storage(array.storage));
  if (array.path.empty() && array.storage->source < 0 && array.writeable == array.storage->read_only)
    return fail(Reason::unsupported_value, "an array that has become writeable or read-only");
  if (array.path.empty()) return base;
  Recipe recipe;
  recipe.kind = RecipeKind::view;
  recipe.dtype = array.layout.dtype;
  recipe.shape = array.layout.shape;
  recipe.strides = array.layout.strides;
  recipe.path = array.path;
  recipe.offset = array.layout.offset;
  recipe.writeable = array.writeable;
  recipe.strided_when_empty = array.storage->strided_when_empty;
  recipe.parts = {base};
  return add(std::move(recipe));
}

}  // namespace accel
