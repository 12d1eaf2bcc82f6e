#pragma once
// Outputs of a kernel, for all its exits in sequence: fresh arrays, and words on the stack for numbers.

#include <Python.h>

#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "guard/dim_program.h"

namespace accel {

// Where one launch writes its outputs. Memory of the caller, sized by the OutputPlan.
struct Outputs {
  PyObject** arrays = nullptr;  // owned; null for numbers
  void** data = nullptr;        // null for an array without memory yet
  int64_t* numbers = nullptr;   // two words per output
};

class OutputPlan {
 public:
  OutputPlan() = default;
  OutputPlan(const Graph& graph, const std::vector<Recipe>& recipes);

  // For values that a call in the middle of a run receives: a single exit.
  OutputPlan(const std::vector<Type>& types, const DimTable& dims, const std::vector<Recipe>& recipes);

  int count() const { return static_cast<int>(outputs_.size()); }
  // The outputs [first, last) of an exit. Requires 0 <= exit < exit_count().
  int exit_count() const { return static_cast<int>(first_.size()) - 1; }
  int first(int exit) const { return first_[exit]; }
  int last(int exit) const { return first_[exit + 1]; }

  // Prepares `outputs`: assigns words to numbers; arrays get no memory yet.
  void prepare(Outputs& outputs) const;
  // Allocates a prepared array; returns its data, or null with a Python exception.
  void* allocate(int output, const int64_t* dims, Outputs& outputs) const;
  // Allocates all arrays. False with a Python exception, and nothing to release, when memory is exhausted.
  bool allocate_all(const int64_t* symbols, Outputs& outputs) const;
  // Releases the arrays that have not been moved out.
  void release(Outputs& outputs) const;
  DType dtype(int output) const { return outputs_[output].dtype; }
  bool is_array(int output) const { return outputs_[output].is_array; }
  size_t rank(int output) const { return outputs_[output].shape.size(); }
  std::vector<int64_t> shape(int output, const int64_t* symbols) const;
  const std::vector<uint8_t>& order(int output) const { return outputs_[output].order; }  // slowest axis first; empty: C
  // Whether `array` matches the plan: an exact ndarray of the dtype, rank, memory order and, with `symbols`, the shape.
  bool matches(int output, PyObject* array, const int64_t* symbols) const;

 private:
  void add(const Type& type, const DimTable& dims);
  void find_arrays(const std::vector<Recipe>& recipes);
  struct Output {
    DType dtype = DType::float64;
    bool is_array = false;
    std::vector<DimProgram> shape;
    std::vector<uint8_t> order;
  };
  std::vector<Output> outputs_;
  std::vector<int> first_;  // by exit: its first output; then the number of outputs
};

}  // namespace accel
