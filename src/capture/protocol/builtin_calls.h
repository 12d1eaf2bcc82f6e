#pragma once
// What the primitives of builtins (capture_* functions, listed in primitives.inc) share.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "capture/protocol/operations.h"

namespace accel {

// Primitive of FOLD rows: calls a pure callable on constants of foldable types.
Result<Ref> fold_call(Capture& capture, PyObject* callable, const CallArguments& arguments);

// Fails unless the call has between `least` and `most` positional arguments and no keywords.
Status require_plain(const CallArguments& arguments, size_t least, size_t most);

// Arguments of a function of numbers, each converted by `convert` with its dtype; nullopt if all are constants, so that CPython
// can evaluate the call at capture.
using ConvertNumber = std::function<Result<ValueId>(const Ref& argument, DType dtype)>;
Result<std::optional<std::vector<ValueId>>> number_arguments(Capture& capture, const CallArguments& arguments, size_t least,
                                                             size_t most, const ConvertNumber& convert);

// The C-level name (ml_name) of a builtin function; "" for other objects.
std::string name_of_builtin(PyObject* function);

// The keyword argument `name`, or null.
Ref keyword(const CallArguments& arguments, const char* name);

}  // namespace accel
