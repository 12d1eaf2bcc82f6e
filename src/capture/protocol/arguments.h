#pragma once
// Binding and reading arguments of NumPy's C functions.

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// The parameters of a function in order. The first `required` must be given; those from `keyword_only` on by name only.
struct Signature {
  std::vector<const char*> names;
  size_t required = 0;
  size_t keyword_only = 99;
  size_t positional_only = 0;  // that many leading ones cannot be given by name
};

// The argument of each parameter, null where it is missing. Fails with will_raise for a call that Python rejects.
Result<std::vector<Ref>> bind_arguments(const CallArguments& arguments, const Signature& signature);

bool is_none(const Ref& ref);      // null (not given) or None
bool is_no_value(const Ref& ref);  // null or numpy._NoValue
bool is_object(const Ref& ref, PyObject* object);

// A flag that must be known at capture: a constant, or a number of the call with a guard.
Result<bool> read_flag(Capture& capture, const Ref& ref, bool when_missing);
// A constant string; empty when missing or None.
Result<std::string> read_text(Capture& capture, const Ref& ref);

// An axis argument for `rank` axes, sorted, without repeats, negative axes resolved; nullopt when missing or None.
Result<std::optional<std::vector<int>>> read_axes(Capture& capture, const Ref& ref, int rank);
// One axis; will_raise when it is out of range.
Result<int> read_axis(Capture& capture, const Ref& ref, int rank);

// A dtype argument (dtype object, scalar type, Python type, string) as a dtype object; null PyRef when missing or None.
Result<PyRef> read_descr(Capture& capture, const Ref& ref);
// A dtype argument as a DType; nullopt when missing or None.
Result<std::optional<DType>> read_dtype(Capture& capture, const Ref& ref);

// A shape argument: an int or a sequence of ints, each an extent >= 0.
Result<std::vector<Dim>> read_shape(Capture& capture, const Ref& ref);
// An integer as a Dim; fails with unsupported_argument if capture cannot express it.
Result<Dim> read_dim(Capture& capture, const Ref& ref);
// An extent argument as a Dim; a bool is rejected.
Result<Dim> read_extent(Capture& capture, const Ref& ref);

// Whether NumPy may cast `from` to `to` under `casting` ("same_kind", ...).
bool can_cast(DType from, DType to, const std::string& casting);

}  // namespace accel
