// NumPy's inner loops: the new-style resolution where NumPy offers it, else the ufunc's table of functions.

#include "ndarray/loops.h"

#include <cstring>

#include "ndarray/array.h"
#include "ndarray/costly_inputs.h"
#include "ndarray/numpy_api.h"
#include "ndarray/resolved_types.h"

namespace accel {
namespace {

// What NumPy documents of the capsule "numpy_1.24_ufunc_call_info" (ufunc._get_strided_loop), as far as it is read here.
struct CallInfo {
  AccelLoop strided_loop;
  void* context;
  void* auxdata;
  npy_bool requires_pyapi;
  npy_bool no_floatingpoint_errors;
};

constexpr const char* call_info_name = "numpy_1.24_ufunc_call_info";

std::string import_text(const LoopImport& import) {
  std::string text = op_info(import.op).name;
  for (DType dtype : import.dtypes) text += std::string(" ") + dtype_name(dtype);
  return text;
}

Failure no_loop(const LoopImport& import) {
  PyErr_Clear();
  return fail(Reason::unsupported_dtype, "NumPy has no inner loop for " + import_text(import));
}

PyRef operand_types(PyUFuncObject* ufunc, const LoopImport& import) {
  PyRef types = PyRef::steal(PyTuple_New(ufunc->nargs));
  for (int i = 0; types && i < ufunc->nargs; i++) {
    PyTuple_SET_ITEM(types.get(), i, Py_NewRef(i < ufunc->nin ? descr_of(import.dtypes[i]) : Py_None));
  }
  return types;
}

// Null without an exception when NumPy would use a loop of other dtypes.
Result<ResolvedLoop> resolve_new_style(PyUFuncObject* ufunc, const LoopImport& import) {
  PyObject* self = reinterpret_cast<PyObject*>(ufunc);
  PyRef types = operand_types(ufunc, import);
  if (!types) return no_loop(import);
  PyRef resolved = PyRef::steal(PyObject_CallMethod(self, "_resolve_dtypes_and_context", "(O)", types.get()));
  if (!resolved || !PyTuple_Check(resolved.get()) || PyTuple_GET_SIZE(resolved.get()) != 2) return no_loop(import);
  Result<std::vector<DType>> dtypes = read_resolved_types(PyTuple_GET_ITEM(resolved.get(), 0), ufunc->nin);
  if (!dtypes.ok() || *dtypes != import.dtypes) return no_loop(import);
  PyObject* capsule = PyTuple_GET_ITEM(resolved.get(), 1);
  PyRef none = PyRef::steal(PyObject_CallMethod(self, "_get_strided_loop", "(O)", capsule));
  if (!none) return no_loop(import);
  auto* info = static_cast<CallInfo*>(PyCapsule_GetPointer(capsule, call_info_name));
  if (!info || !info->strided_loop || info->requires_pyapi) return no_loop(import);
  ResolvedLoop loop;
  loop.import = {info->strided_loop, info->context, info->auxdata};
  loop.keep_alive = PyRef::borrow(capsule);
  return loop;
}

// A loop of the ufunc's table, adapted to the new-style signature; `auxdata` is the table entry.
struct TableLoop {
  PyUFuncGenericFunction function;
  void* data;
};

int call_table_loop(void*, char* const* args, const intptr_t* dims, const intptr_t* strides, void* auxdata) {
  const auto* entry = static_cast<const TableLoop*>(auxdata);
  entry->function(const_cast<char**>(args), dims, strides, entry->data);
  return 0;
}

void free_table_loop(PyObject* capsule) { delete static_cast<TableLoop*>(PyCapsule_GetPointer(capsule, nullptr)); }

Result<ResolvedLoop> resolve_from_table(PyUFuncObject* ufunc, const LoopImport& import) {
  for (int i = 0; ufunc->functions && i < ufunc->ntypes; i++) {
    bool same = true;
    for (int j = 0; j < ufunc->nargs; j++) {
      same = same && ufunc->types[i * ufunc->nargs + j] == type_numbers[static_cast<int>(import.dtypes[j])];
    }
    if (!same || !ufunc->functions[i]) continue;
    auto* entry = new TableLoop{ufunc->functions[i], ufunc->data ? const_cast<void*>(ufunc->data[i]) : nullptr};
    ResolvedLoop loop;
    loop.keep_alive = PyRef::steal(PyCapsule_New(entry, nullptr, free_table_loop));
    if (!loop.keep_alive) {
      delete entry;
      return no_loop(import);
    }
    loop.import = {call_table_loop, nullptr, entry};
    return loop;
  }
  return no_loop(import);
}

// Context of a loop that does not get costly inputs: the loop, these inputs, and the owner of the loop.
struct LoopCapsule {
  SparedLoop spared;
  PyRef keep_alive;
};

void free_loop_capsule(PyObject* capsule) { delete static_cast<LoopCapsule*>(PyCapsule_GetPointer(capsule, nullptr)); }

// The loop without the inputs with which it is slow.
ResolvedLoop spare(ResolvedLoop loop, const LoopImport& import) {
  if (import.dtypes.size() != 2) return loop;
  const CostlyInputs* inputs = costly_inputs(import.op, import.dtypes[0], import.dtypes[1], loop.import);
  if (inputs == nullptr) return loop;
  auto* content = new LoopCapsule{{loop.import, inputs}, std::move(loop.keep_alive)};
  ResolvedLoop out;
  out.keep_alive = PyRef::steal(PyCapsule_New(content, nullptr, free_loop_capsule));
  if (out.keep_alive) {
    out.import = {call_without_costly_inputs, nullptr, &content->spared};
    return out;
  }
  PyErr_Clear();
  loop.keep_alive = std::move(content->keep_alive);
  delete content;
  return loop;
}

}  // namespace

Result<ResolvedLoop> resolve_loop(const LoopImport& import) {
  auto* ufunc = reinterpret_cast<PyUFuncObject*>(ufunc_of(import.op));
  if (!ufunc || static_cast<int>(import.dtypes.size()) != ufunc->nargs) return no_loop(import);
  Result<ResolvedLoop> loop = resolve_new_style(ufunc, import);
  if (!loop.ok()) loop = resolve_from_table(ufunc, import);
  if (!loop.ok()) return loop;
  return spare(std::move(*loop), import);
}

bool loop_is_thread_safe(Op op, std::span<const DType> dtypes) {
  if (op_class(op) != OpClass::pointwise) return false;  // gufuncs call BLAS
  // Integer power raises for negative exponents and takes the GIL to do so.
  bool integer_power = op == Op::power && !dtypes.empty() && (dtype_kind(dtypes[0]) == 'i' || dtype_kind(dtypes[0]) == 'u');
  return ufunc_of(op) != nullptr && !integer_power;
}

}  // namespace accel
