#include "dispatch/exits/materialiser.h"

#include <algorithm>
#include <optional>

#include "device_array/device_array.h"
#include "dispatch/exits/python_objects.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// The recipes that frames refer to directly.
std::vector<RecipeId> roots(const std::vector<FrameRecipe>& frames) {
  std::vector<RecipeId> found;
  for (const FrameRecipe& frame : frames) {
    found.push_back(frame.function);
    found.insert(found.end(), frame.locals.begin(), frame.locals.end());
    found.insert(found.end(), frame.stack.begin(), frame.stack.end());
  }
  return found;
}

void add_roots(const std::vector<StoreRecipe>& stores, std::vector<RecipeId>& found) {
  for (const StoreRecipe& store : stores) found.insert(found.end(), {store.object, store.name, store.value});
}

int64_t number_of(const void* number) { return *static_cast<const int64_t*>(number); }

// The object with this handle, else `made`. An array with a handle gets the elements of `made`, if that is not null.
PyObject* shown_object(RecipeKind kind, int64_t number, const ShownObjects* shown, PyObject* made) {
  const auto found = shown != nullptr && number >= 0 ? shown->find(number) : ShownObjects::const_iterator();
  if (shown == nullptr || number < 0 || found == shown->end()) {
    if (made == nullptr) PyErr_SetString(PyExc_SystemError, "accel: an object that a call was shown is not there");
    return Py_XNewRef(made);
  }
  PyObject* object = found->second.get();
  if (kind == RecipeKind::shown_array && made != nullptr && !copy_elements(object, made)) return nullptr;
  return Py_NewRef(object);
}

// The object of a part; null when the recipe does not have it.
PyObject* part_of(const Recipe& recipe, size_t number, PyObject* const* objects) {
  return number < recipe.parts.size() && recipe.parts[number] >= 0 ? objects[recipe.parts[number]] : nullptr;
}

PyObject* read_only(PyObject* view) {
  if (view == nullptr) return nullptr;
  if (is_device_array(view)) return make_read_only(view), view;
  PyRef none = PyRef::steal(PyObject_CallMethod(view, "setflags", "O", Py_False));
  if (none) return view;
  Py_DECREF(view);
  return nullptr;
}

}  // namespace

Materialiser::Materialiser(const std::vector<Recipe>& recipes, const Exit& exit, const DimTable& dims, const OutputPlan& plan)
    : recipes_(&recipes) {
  std::vector<RecipeId> found = roots(exit.frames);
  if (exit.kind == ExitKind::ret) found.push_back(exit.result);
  add_roots(exit.stores, found);
  prepare(found, dims, plan);
}

Materialiser::Materialiser(const PythonCall& call, const DimTable& dims, const OutputPlan& plan) : recipes_(&call.recipes) {
  std::vector<RecipeId> found = roots(call.frames);
  found.push_back(call.callable);
  found.insert(found.end(), call.arguments.begin(), call.arguments.end());
  add_roots(call.stores, found);
  prepare(found, dims, plan);
}

void Materialiser::prepare(const std::vector<RecipeId>& roots, const DimTable& dims, const OutputPlan& plan) {
  const std::vector<Recipe>& recipes = *recipes_;
  std::vector<bool> reachable(recipes.size(), false);
  for (RecipeId root : roots) mark(root, reachable);
  for (size_t id = 0; id < recipes.size(); id++) {
    if (!reachable[id]) continue;
    const Recipe& recipe = recipes[id];
    Prepared prepared;
    prepared.id = static_cast<RecipeId>(id);
    prepared.dtype = names_output(recipe.kind) ? plan.dtype(recipe.index) : recipe.dtype;
    if (recipe.offset.id >= 0) prepared.offset = DimProgram(dims, recipe.offset);
    if (recipe.kind == RecipeKind::view) {
      for (Dim d : recipe.shape) prepared.shape.emplace_back(dims, d);
      for (Dim d : recipe.strides) prepared.strides.emplace_back(dims, d);
      for (const ViewStep& step : recipe.path) {
        PreparedStep& next = prepared.path.emplace_back();
        for (Dim d : step.type.shape) next.shape.emplace_back(dims, d);
        for (Dim d : step.attrs.steps) next.steps.emplace_back(dims, d);
      }
    }
    order_.push_back(std::move(prepared));
  }
}

void Materialiser::mark(RecipeId id, std::vector<bool>& reachable) const {
  if (id < 0 || reachable[id]) return;
  reachable[id] = true;
  for (RecipeId part : (*recipes_)[id].parts) mark(part, reachable);
}

std::vector<SourceId> Materialiser::sources() const {
  std::vector<SourceId> found;
  for (const Prepared& prepared : order_) {
    const Recipe& recipe = (*recipes_)[prepared.id];
    if (recipe.kind == RecipeKind::source) found.push_back(recipe.index);
  }
  return found;
}

bool Materialiser::make(const Binding& binding, Outputs& outputs, PyObject** objects, const ShownObjects* shown) const {
  for (const Prepared& prepared : order_) objects[prepared.id] = nullptr;
  for (const Prepared& prepared : order_) {
    objects[prepared.id] = make_one(prepared, binding, outputs, objects, shown);
    if (objects[prepared.id] == nullptr && (*recipes_)[prepared.id].kind != RecipeKind::null) {
      release(objects);
      return false;
    }
  }
  return true;
}

void Materialiser::release(PyObject** objects) const {
  for (const Prepared& prepared : order_) Py_CLEAR(objects[prepared.id]);
}

PyObject* Materialiser::make_one(const Prepared& prepared, const Binding& binding, Outputs& outputs, PyObject* const* objects,
                                 const ShownObjects* shown) const {
  const Recipe& recipe = (*recipes_)[prepared.id];
  const void* number = names_output(recipe.kind) ? outputs.data[recipe.index] : nullptr;
  switch (recipe.kind) {
    case RecipeKind::null:
      return nullptr;
    case RecipeKind::constant:
      return recipe.object.new_reference();
    case RecipeKind::source:
      return Py_XNewRef(binding.sources[recipe.index]);
    case RecipeKind::output_array: {
      PyObject* array = std::exchange(outputs.arrays[recipe.index], nullptr);
      return recipe.writeable ? array : read_only(array);
    }
    case RecipeKind::output_numpy:
      return new_numpy_scalar(prepared.dtype, number);
    case RecipeKind::output_python:
      return new_python_scalar(prepared.dtype, number);
    case RecipeKind::dim_python:
      return PyLong_FromLongLong(prepared.offset.evaluate(binding.symbols));
    case RecipeKind::dim_numpy: {
      int64_t value = prepared.offset.evaluate(binding.symbols);
      return new_numpy_scalar(DType::int64, &value);
    }
    case RecipeKind::shown:
    case RecipeKind::shown_array:
      return shown_object(recipe.kind, number_of(number), shown, part_of(recipe, 0, objects));
    case RecipeKind::list_of_rows:
      return new_list_of_rows(outputs.arrays[recipe.index], recipe.item, recipe.parts, objects);
    default:
      return make_of_parts(prepared, binding, objects);
  }
}

// Makes an object from other objects only.
PyObject* Materialiser::make_of_parts(const Prepared& prepared, const Binding& binding, PyObject* const* objects) const {
  const Recipe& recipe = (*recipes_)[prepared.id];
  auto part = [&](size_t i) { return part_of(recipe, i, objects); };
  switch (recipe.kind) {
    case RecipeKind::selected:
      return selected_number(recipe.parts, objects);
    case RecipeKind::view:
      return make_view(prepared, binding, part(0));
    case RecipeKind::tuple:
      return new_tuple(recipe.parts, objects);
    case RecipeKind::list:
      return new_list(recipe.parts, objects);
    case RecipeKind::list_of_tuples:
    case RecipeKind::list_of_lists:
      return new_list_of_sequences(recipe.kind, static_cast<size_t>(recipe.index), recipe.parts, objects);
    case RecipeKind::dict:
      return new_dict(recipe.parts, objects);
    case RecipeKind::instance:
      return new_instance(recipe.object.get(), recipe.parts, objects);
    case RecipeKind::slice:
      return PySlice_New(part(0), part(1), part(2));
    case RecipeKind::iterator:
      if (PyObject* index = part(1)) return new_iterator_at(part(0), index);
      return new_iterator(part(0), recipe.index);
    case RecipeKind::call:
      return new_call(recipe.object.get(), recipe.parts, objects);
    case RecipeKind::method:
      return new_method(part(0), part(1));
    case RecipeKind::attribute:
      return PyObject_GetAttr(part(0), recipe.object.get());
    case RecipeKind::cell:
      return PyCell_New(part(0));
    case RecipeKind::function:
      return new_function(recipe.object.get(), {part(0), part(1), part(2), part(3), part(4)});
    case RecipeKind::null:
    case RecipeKind::constant:
    case RecipeKind::source:
    case RecipeKind::output_array:
    case RecipeKind::output_numpy:
    case RecipeKind::output_python:
    case RecipeKind::dim_python:
    case RecipeKind::dim_numpy:
    case RecipeKind::shown:
    case RecipeKind::shown_array:
    case RecipeKind::list_of_rows:
      break;  // handled by make_one
  }
  PyErr_SetString(PyExc_SystemError, "unknown recipe");
  return nullptr;
}

namespace {

// per axis; nullopt for an axis that a step has added, whose stride the recipe has
using Strides = std::vector<std::optional<int64_t>>;

struct Walked {
  std::vector<int64_t> shape;
  Strides strides;
};

bool has_extent(std::span<const int64_t> shape, int64_t extent) {
  return std::find(shape.begin(), shape.end(), extent) != shape.end();
}

// Applies a view step to strides as NumPy does, including axes with fewer than two elements.
Walked walk(const Walked& from, const ViewStep& step, std::vector<int64_t> shape, const std::vector<int64_t>& steps) {
  const std::vector<int>& axes = step.attrs.axes;
  auto named = [&](size_t axis) { return std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end(); };
  Strides strides;
  switch (step.op) {
    case Op::transpose:
      for (int axis : axes) strides.push_back(from.strides[static_cast<size_t>(axis)]);
      break;
    case Op::squeeze:
      for (size_t k = 0; k < from.strides.size(); ++k)
        if (!named(k)) strides.push_back(from.strides[k]);
      break;
    case Op::expand_dims:
      for (size_t k = 0, next = 0; k < shape.size(); ++k) strides.push_back(named(k) ? std::nullopt : from.strides[next++]);
      break;
    case Op::slice:  // NumPy uses a step of 1 for an empty axis
      strides = from.strides;
      for (size_t k = 0; k < shape.size(); ++k)
        if (strides[k]) *strides[k] *= shape[k] == 0 ? 1 : steps[k];
      break;
    case Op::broadcast_to:
      strides.assign(shape.size() - from.shape.size(), 0);
      for (size_t k = 0; k < from.shape.size(); ++k)
        strides.push_back(from.shape[k] == 1 ? std::optional<int64_t>(0) : from.strides[k]);
      break;
    case Op::reshape:
      strides = from.strides;
      if (shape == from.shape) break;
      strides.assign(shape.size(), std::nullopt);
      if (!has_extent(shape, 0)) break;
      for (int64_t k = std::ssize(shape) - 1, stride = item_size(step.type.dtype); k >= 0; --k) {
        strides[static_cast<size_t>(k)] = stride;
        stride *= std::max<int64_t>(shape[static_cast<size_t>(k)], 1);
      }
      break;
    default:
      strides = from.strides;
      if (step.op == Op::parts) strides.emplace_back(item_size(step.type.dtype));
  }
  return {std::move(shape), std::move(strides)};
}

std::vector<int64_t> values_of(const std::vector<DimProgram>& programs, const Binding& binding) {
  std::vector<int64_t> values;
  for (const DimProgram& program : programs) values.push_back(program.evaluate(binding.symbols));
  return values;
}

}  // namespace

// Gives a view the strides that NumPy derives from its base: those of axes of one element, and of arrays without elements, are
// arbitrary. A stride of 0 comes from broadcasting or a new axis and is kept.
void Materialiser::follow_base(const Prepared& prepared, const Binding& binding, PyObject* base, std::span<const int64_t> shape,
                               std::span<int64_t> strides) const {
  const ArrayFacts facts = array_facts(base);
  Walked at{{facts.dims, facts.dims + facts.ndim}, {facts.strides, facts.strides + facts.ndim}};
  const std::vector<ViewStep>& path = (*recipes_)[prepared.id].path;
  for (size_t k = 0; k < path.size(); ++k)
    at = walk(at, path[k], values_of(prepared.path[k].shape, binding), values_of(prepared.path[k].steps, binding));
  const bool empty = has_extent(shape, 0);
  for (size_t k = 0; k < shape.size() && at.strides.size() == shape.size(); ++k)
    if (at.strides[k] && (empty || (shape[k] == 1 && strides[k] != 0))) strides[k] = *at.strides[k];
}

PyObject* Materialiser::make_view(const Prepared& prepared, const Binding& binding, PyObject* base) const {
  int64_t shape[max_rank], strides[max_rank];
  size_t rank = prepared.shape.size();
  for (size_t k = 0; k < rank; k++) {
    shape[k] = prepared.shape[k].evaluate(binding.symbols);
    strides[k] = prepared.strides[k].evaluate(binding.symbols);
  }
  const Recipe& recipe = (*recipes_)[prepared.id];
  const bool empty = has_extent({shape, rank}, 0), follows = empty ? !recipe.strided_when_empty : has_extent({shape, rank}, 1);
  if (follows) follow_base(prepared, binding, base, {shape, rank}, {strides, rank});
  const int64_t offset = prepared.offset.evaluate(binding.symbols);
  if (is_device_array(base)) {
    char* data = static_cast<char*>(array_data(base)) + offset;
    return new_device_view(base, recipe.dtype, {shape, rank}, {strides, rank}, data, recipe.writeable);
  }
  PyObject* view = new_view(base, recipe.dtype, {shape, rank}, {strides, rank}, offset);
  return recipe.writeable ? view : read_only(view);
}

}  // namespace accel
