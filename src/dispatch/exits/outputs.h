#pragma once
// Outputs of a kernel, of all its exits one after the other: fresh arrays, and words on the stack for numbers.

#include <Python.h>

#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "guard/dim_program.h"

namespace accel {

// What one launch writes to. Memory of the caller's, sized by the OutputPlan.
struct Outputs {
  PyObject** arrays = nullptr;  // owned; null for numbers
  void** data = nullptr;        // null: an array that has no memory yet
  int64_t* numbers = nullptr;   // two words per output
};

class OutputPlan {
 public:
  OutputPlan() = default;
  OutputPlan(const Graph& graph, const std::vector<Recipe>& recipes);

  // Of values that are handed over in the midst of a run: one exit.
  OutputPlan(const std::vector<Type>& types, const DimTable& dims, const std::vector<Recipe>& recipes);

  int count() const { return static_cast<int>(outputs_.size()); }
  // The outputs [first, last) of an exit. Requires 0 <= exit < exit_count().
  int exit_count() const { return static_cast<int>(first_.size()) - 1; }
  int first(int exit) const { return first_[exit]; }
  int last(int exit) const { return first_[exit + 1]; }

  // Fills `outputs`: numbers get their words, arrays nothing yet.
  void prepare(Outputs& outputs) const;
  // Gives a prepared array memory; returns its data, null with a Python exception.
  void* allocate(int output, const int64_t* dims, Outputs& outputs) const;
  // The same for all arrays. False with a Python exception, and nothing to release, when memory could not be had.
  bool allocate_all(const int64_t* symbols, Outputs& outputs) const;
  // Gives up the arrays that are still there.
  void release(Outputs& outputs) const;
  DType dtype(int output) const { return outputs_[output].dtype; }
  bool is_array(int output) const { return outputs_[output].is_array; }
  // Whether `array` is what the plan says: an exact ndarray of the dtype, rank, memory order and, with `symbols`, the shape.
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
  std::vector<int> first_;  // by exit, and the end of the last
};

}  // namespace accel
