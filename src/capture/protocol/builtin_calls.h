#pragma once
// Primitives of builtins: what the capture_* functions of builtins share. primitives.inc lists them.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "capture/protocol/operations.h"

namespace accel {

// FOLD rows: calls a pure callable on constants of foldable types.
Result<Ref> fold_call(Capture& capture, PyObject* callable, const CallArguments& arguments);

// Fails unless the call has between `least` and `most` positional arguments and no keywords.
Status require_plain(const CallArguments& arguments, size_t least, size_t most);

// Numbers that a function of numbers gets, by `convert` of each argument and its dtype; nullopt when all are constants: CPython
// can be asked now.
using ConvertNumber = std::function<Result<ValueId>(const Ref& argument, DType dtype)>;
Result<std::optional<std::vector<ValueId>>> number_arguments(Capture& capture, const CallArguments& arguments, size_t least,
                                                             size_t most, const ConvertNumber& convert);

// The name that a builtin function has in C; "" for other objects.
std::string name_of_builtin(PyObject* function);

// The keyword argument `name`, or null.
Ref keyword(const CallArguments& arguments, const char* name);

}  // namespace accel
