#pragma once
// A kernel that is a Python callable, made by a backend: `kernel(symbols, inputs) -> (status, exit, outputs)`.

#include <Python.h>

#include <memory>
#include <vector>

#include "base/result.h"
#include "capture/product/captured.h"
#include "dispatch/calls/boxed_calls.h"
#include "dispatch/exits/outputs.h"

namespace accel {

class PythonKernel {
 public:
  // Calls `backend(graph, symbols, inputs)` with the graph as plain data (graph_data.h) and this call's symbols and inputs.
  static Result<std::unique_ptr<PythonKernel>> make(PyObject* backend, const Captured& captured, const Binding& binding);

  // Runs the kernel; returns status bits of AccelStatus and sets the exit taken. Outputs are filled like those of a native
  // kernel, with fresh arrays. Fails, without an exception, when the kernel raises or its results do not match `plan`. `calls`:
  // the calls of this run, null when the graph makes none.
  Result<int> run(const Binding& binding, const OutputPlan& plan, Outputs& outputs, int& exit, BoxedCalls* calls) const;

  int traverse(visitproc visit, void* arg) const;

 private:
  struct Input {
    SourceId source = -1;  // of an array
    int slot = -1;         // of a number
    ValueKind kind = ValueKind::array;
    DType dtype = DType::float64;
  };
  PyRef symbols(const Binding& binding) const;
  PyRef inputs(const Binding& binding) const;
  static Status store_all(PyObject* results, int exit, const int64_t* symbols, const OutputPlan& plan, Outputs& outputs);
  static Status store(PyObject* result, int index, const int64_t* symbols, const OutputPlan& plan, Outputs& outputs);

  PyRef callable_;
  std::vector<Input> inputs_;
  int symbol_count_ = 0;
  bool has_flow_ = false;
};

}  // namespace accel
