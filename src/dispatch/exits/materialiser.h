#pragma once
// Materialiser: makes the Python objects that recipes describe. Each recipe gives one object, so identities are preserved.

#include <Python.h>

#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/product/call_site.h"
#include "capture/product/recipe.h"
#include "dispatch/exits/outputs.h"
#include "guard/dim_program.h"

namespace accel {

// Objects that calls of a run have seen, by handle. Owned.
using ShownObjects = std::unordered_map<int64_t, PyRef>;

class Materialiser {
 public:
  Materialiser() = default;
  // Prepares the recipes that an exit needs. `recipes` must outlive this; `dims` is the table of their Dims.
  Materialiser(const std::vector<Recipe>& recipes, const Exit& exit, const DimTable& dims, const OutputPlan& plan);
  // Prepares the recipes of a call site: its frames, callable and arguments.
  Materialiser(const PythonCall& call, const DimTable& dims, const OutputPlan& plan);

  // The sources whose objects the recipes use.
  std::vector<SourceId> sources() const;

  // Makes the objects: objects[id] is owned by the caller for each needed recipe, null for RecipeKind::null; others are
  // untouched. Output arrays are moved out of `outputs`. `shown`: null for none. False with a Python exception, and nothing
  // left in `objects`. Runs no user code.
  bool make(const Binding& binding, Outputs& outputs, PyObject** objects, const ShownObjects* shown = nullptr) const;

  // Releases what is left in `objects`.
  void release(PyObject** objects) const;

 private:
  struct PreparedStep {
    std::vector<DimProgram> shape, steps;
  };
  struct Prepared {
    RecipeId id = -1;
    DType dtype = DType::float64;  // output_*: dtype of the kernel's output
    DimProgram offset;
    std::vector<DimProgram> shape, strides;
    std::vector<PreparedStep> path;
  };
  void prepare(const std::vector<RecipeId>& roots, const DimTable& dims, const OutputPlan& plan);
  void mark(RecipeId id, std::vector<bool>& reachable) const;
  PyObject* make_one(const Prepared& prepared, const Binding& binding, Outputs& outputs, PyObject* const* objects,
                     const ShownObjects* shown) const;
  PyObject* make_of_parts(const Prepared& prepared, const Binding& binding, PyObject* const* objects) const;
  PyObject* make_view(const Prepared& prepared, const Binding& binding, PyObject* base) const;
  void follow_base(const Prepared& prepared, const Binding& binding, PyObject* base, std::span<const int64_t> shape,
                   std::span<int64_t> strides) const;

  const std::vector<Recipe>* recipes_ = nullptr;
  std::vector<Prepared> order_;
};

}  // namespace accel
