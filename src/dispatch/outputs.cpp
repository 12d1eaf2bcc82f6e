#include "dispatch/outputs.h"

#include "guard/memory_order.h"
#include "ndarray/array.h"

namespace accel {
namespace {

constexpr int max_rank = 64;

}  // namespace

OutputPlan::OutputPlan(const Graph& graph, const std::vector<Recipe>& recipes) {
  for (ValueId value : graph.outputs()) {
    const Type& type = graph.type(value);
    Output output;
    output.dtype = type.dtype;
    output.is_array = type.kind == ValueKind::array;
    for (Dim d : type.shape) output.shape.emplace_back(graph.dims, d);
    if (!type.is_c_order()) output.order = type.order;
    outputs_.push_back(std::move(output));
  }
  // A rank-0 array that only numbers are made of needs no array.
  std::vector<bool> needs_array(outputs_.size(), false);
  for (const Recipe& recipe : recipes) {
    if (recipe.kind == RecipeKind::output_array) needs_array[recipe.index] = true;
  }
  for (size_t i = 0; i < outputs_.size(); i++) outputs_[i].is_array = needs_array[i] || !outputs_[i].shape.empty();
}

bool OutputPlan::allocate(const int64_t* symbols, Outputs& outputs) const {
  for (int i = 0; i < count(); i++) outputs.arrays[i] = nullptr;
  for (int i = 0; i < count(); i++) {
    const Output& plan = outputs_[i];
    if (!plan.is_array) {
      outputs.numbers[2 * i] = outputs.numbers[2 * i + 1] = 0;
      outputs.data[i] = outputs.numbers + 2 * i;
      continue;
    }
    int64_t dims[max_rank];
    for (size_t k = 0; k < plan.shape.size(); k++) dims[k] = plan.shape[k].evaluate(symbols);
    outputs.arrays[i] = new_array(plan.dtype, {dims, plan.shape.size()}, plan.order);
    if (outputs.arrays[i] == nullptr) {
      release(outputs);
      return false;
    }
    outputs.data[i] = array_data(outputs.arrays[i]);
  }
  return true;
}

void OutputPlan::release(Outputs& outputs) const {
  for (int i = 0; i < count(); i++) Py_CLEAR(outputs.arrays[i]);
}

int64_t OutputPlan::elements(const int64_t* symbols) const {
  int64_t sum = 0;
  for (const Output& plan : outputs_) {
    int64_t elements = 1;
    for (const DimProgram& d : plan.shape) elements *= d.evaluate(symbols);
    sum += elements;
  }
  return sum;
}

bool OutputPlan::matches(int output, PyObject* array, const int64_t* symbols) const {
  if (!is_exact_array(array)) return false;
  const Output& plan = outputs_[output];
  ArrayFacts facts = array_facts(array);
  if (facts.dtype != plan.dtype || facts.ndim != static_cast<int>(plan.shape.size())) return false;
  for (int k = 0; k < facts.ndim; k++) {
    if (facts.dims[k] != plan.shape[k].evaluate(symbols)) return false;
  }
  uint8_t order[max_rank];
  for (int k = 0; k < facts.ndim; k++) order[k] = plan.order.empty() ? static_cast<uint8_t>(k) : plan.order[k];
  return is_gapless(facts.ndim, facts.dims, facts.strides, order, item_size(plan.dtype));
}

}  // namespace accel
