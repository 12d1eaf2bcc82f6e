#include "dispatch/exits/outputs.h"

#include "guard/memory_order.h"
#include "ir/analysis/flow.h"
#include "ndarray/array.h"

namespace accel {

OutputPlan::OutputPlan(const Graph& graph, const std::vector<Recipe>& recipes) {
  for (const ExitOutputs& exit : exits_of(graph)) {
    first_.push_back(exit.first_output);
    for (const Type& type : exit.types) add(type, graph.dims);
  }
  first_.push_back(count());
  find_arrays(recipes);
}

OutputPlan::OutputPlan(const std::vector<Type>& types, const DimTable& dims, const std::vector<Recipe>& recipes) {
  for (const Type& type : types) add(type, dims);
  first_ = {0, count()};
  find_arrays(recipes);
}

void OutputPlan::add(const Type& type, const DimTable& dims) {
  Output output;
  output.dtype = type.dtype;
  output.is_array = type.kind == ValueKind::array;
  for (Dim d : type.shape) output.shape.emplace_back(dims, d);
  if (!type.is_c_order()) output.order = type.order;
  outputs_.push_back(std::move(output));
}

// Decides which outputs need arrays: a rank-0 output from which only numbers are made does not.
void OutputPlan::find_arrays(const std::vector<Recipe>& recipes) {
  std::vector<bool> needs_array(outputs_.size(), false);
  for (const Recipe& recipe : recipes) {
    if (recipe.kind == RecipeKind::output_array) needs_array[recipe.index] = true;
  }
  for (size_t i = 0; i < outputs_.size(); i++) outputs_[i].is_array = needs_array[i] || !outputs_[i].shape.empty();
}

void OutputPlan::prepare(Outputs& outputs) const {
  for (int i = 0; i < count(); i++) {
    outputs.arrays[i] = nullptr;
    outputs.numbers[2 * i] = outputs.numbers[2 * i + 1] = 0;
    outputs.data[i] = outputs_[i].is_array ? nullptr : outputs.numbers + 2 * i;
  }
}

void* OutputPlan::allocate(int output, const int64_t* dims, Outputs& outputs) const {
  const Output& plan = outputs_[output];
  outputs.arrays[output] = new_array(plan.dtype, {dims, plan.shape.size()}, plan.order);
  if (outputs.arrays[output] == nullptr) return nullptr;
  return outputs.data[output] = array_data(outputs.arrays[output]);
}

bool OutputPlan::allocate_all(const int64_t* symbols, Outputs& outputs) const {
  for (int i = 0; i < count(); i++) {
    const Output& plan = outputs_[i];
    if (!plan.is_array) continue;
    int64_t dims[max_rank];
    for (size_t k = 0; k < plan.shape.size(); k++) dims[k] = plan.shape[k].evaluate(symbols);
    if (allocate(i, dims, outputs) != nullptr) continue;
    release(outputs);
    return false;
  }
  return true;
}

std::vector<int64_t> OutputPlan::shape(int output, const int64_t* symbols) const {
  std::vector<int64_t> dims;
  for (const DimProgram& extent : outputs_[output].shape) dims.push_back(extent.evaluate(symbols));
  return dims;
}

void OutputPlan::release(Outputs& outputs) const {
  for (int i = 0; i < count(); i++) Py_CLEAR(outputs.arrays[i]);
}

bool OutputPlan::matches(int output, PyObject* array, const int64_t* symbols) const {
  if (!is_exact_array(array)) return false;
  const Output& plan = outputs_[output];
  ArrayFacts facts = array_facts(array);
  if (facts.dtype != plan.dtype || facts.ndim != static_cast<int>(plan.shape.size())) return false;
  for (int k = 0; symbols != nullptr && k < facts.ndim; k++) {
    if (facts.dims[k] != plan.shape[k].evaluate(symbols)) return false;
  }
  uint8_t order[max_rank];
  for (int k = 0; k < facts.ndim; k++) order[k] = plan.order.empty() ? static_cast<uint8_t>(k) : plan.order[k];
  return is_gapless(facts.ndim, facts.dims, facts.strides, order, item_size(plan.dtype));
}

}  // namespace accel
