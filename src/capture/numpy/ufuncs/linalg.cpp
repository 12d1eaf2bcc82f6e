// gufuncs of numpy.linalg: ops, or boxed calls with shapes from their signatures.

#include <algorithm>
#include <map>
#include <set>

#include "capture/domain/repr.h"
#include "capture/numpy/calls/callbacks.h"
#include "capture/numpy/ufuncs/gufuncs.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {

namespace {

// The core axes' names of operands and results in a signature such as "(m,n),(n)->(m)".
struct CoreSignature {
  std::vector<std::vector<std::string>> operands, results;
};

CoreSignature parsed(const std::string& text) {
  CoreSignature out;
  auto* side = &out.operands;
  for (char c : text) {
    if (c == '>') side = &out.results;
    if (c == '(') side->emplace_back();
    if (c == '(' || c == ',') {
      if (!side->empty()) side->back().emplace_back();
    } else if (std::isalnum(static_cast<unsigned char>(c)) && !side->back().empty()) {
      side->back().back() += c;
    }
  }
  for (auto* each : {&out.operands, &out.results})
    for (auto& names : *each) std::erase(names, std::string());
  return out;
}

std::optional<DType> dtype_of_letter(char letter) {
  static const std::map<char, DType> letters = {
      {'f', DType::float32}, {'d', DType::float64}, {'F', DType::complex64}, {'D', DType::complex128}, {'i', DType::int32}};
  auto found = letters.find(letter);
  return found == letters.end() ? std::nullopt : std::optional(found->second);
}

using Extents = std::map<std::string, Dim>;

// Reads the extents of core axes, which must be equal for equal names, and the shapes of the outer axes.
Status read_core(Capture& capture, const CoreSignature& signature, const std::vector<Operand>& operands, Extents& extents,
                 std::vector<std::vector<Dim>>& outer) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<std::string>& names = signature.operands[k];
    const std::vector<Dim>& shape = operands[k].shape;
    if (shape.size() < names.size()) return fail(Reason::will_raise, "a gufunc operand without the core axes");
    size_t first = shape.size() - names.size();
    for (size_t axis = 0; axis < names.size(); ++axis) {
      auto [known, is_new] = extents.emplace(names[axis], shape[first + axis]);
      if (!is_new && !capture.facts().expect_equal(known->second, shape[first + axis]))
        return fail(Reason::will_raise, "the core extents do not match");
    }
    if (first > 1 && !capture.graph().type(capture.memory().read(operands[k].ref)).is_c_order())
      return fail(Reason::unsupported_layout, "outer axes that are not in C order");
    outer.emplace_back(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  }
  // Core axes that only results have: their extent is the smaller of m and n.
  if (extents.contains("m") && extents.contains("n")) extents.emplace("p", capture.dims().min(extents["m"], extents["n"]));
  return Unit{};
}

// The result of an op for these core and outer axes.
Result<Ref> apply_op(Capture& capture, Op op, const std::vector<Operand>& operands, const CoreSignature& signature,
                     const Extents& extents, const std::vector<Dim>& outer, const std::vector<DType>& dtypes) {
  auto shape = [&](const std::vector<std::string>& core) {
    std::vector<Dim> out = outer;
    for (const std::string& name : core) out.push_back(extents.at(name));
    return out;
  };
  std::vector<ValueId> values;
  for (size_t k = 0; k < operands.size(); ++k) {
    ACCEL_TRY(ValueId value, gufunc_operand(capture, operands[k], dtypes[k]));
    values.push_back(broadcast_value(capture, value, shape(signature.operands[k])));
  }
  Type result{ValueKind::array, dtypes.back(), shape(signature.results[0]), {}};
  return wrap_result(capture, capture.build().gufunc(op, std::move(values), std::move(result)), false);
}

}  // namespace

bool is_of_linalg(PyObject* ufunc) {
  static const std::set<PyObject*> known = gufuncs_of("numpy.linalg._umath_linalg");
  return known.contains(ufunc);
}

namespace {

// Whether the gufunc's LAPACK routine factors the first operand in place.
bool changes_first_operand(PyObject* ufunc) {
  std::string name = text_attribute(ufunc, "__name__");
  return name == "qr_r_raw" || name == "qr_r_raw_m" || name == "qr_r_raw_n";
}

// Adds a boxed call. The first of its results are the new contents of an operand that it changes.
Result<std::vector<Ref>> box_gufunc(Capture& capture, PyObject* ufunc, const CallArguments& arguments,
                                    std::vector<BoxedResult> results) {
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, ufunc, arguments));
  made.call.raises_events = true;
  made.call.errstate = capture.events().errstate();
  const bool changes = changes_first_operand(ufunc);
  if (changes) {
    ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(arguments.positional[0]));
    const Type type = capture.graph().type(made.operands[0]);
    made.call.changed = 0;
    results.insert(results.begin(), {ValueKind::array, type.dtype, {type.shape.begin(), type.shape.end()}, type.order});
  }
  made.call.gives_tuple = results.size() > 1;
  std::vector<Ref> given = boxed_call(capture, std::move(made), results);
  if (changes) {
    capture.memory().store(arguments.positional[0], capture.memory().read(given[0]));
    given.erase(given.begin());
  }
  return given;
}

}  // namespace

Result<Ref> call_gufunc(Capture& capture, PyObject* ufunc, const CallArguments& arguments) {
  if (is_of_fft(ufunc)) return fill_by_fft(capture, ufunc, arguments);
  if (!is_of_linalg(ufunc)) return fail(Reason::unsupported_call, "a ufunc that accel does not know");
  CoreSignature signature = parsed(text_attribute(ufunc, "signature"));
  std::string types;
  for (const auto& [name, argument] : arguments.keywords) {
    if (name != "signature") return fail(Reason::unsupported_argument, name + " of this gufunc");
    ACCEL_TRY(types, read_text(capture, argument));
  }
  size_t inputs = signature.operands.size(), outputs = signature.results.size();
  bool typed = types.size() == inputs + outputs + 2 && types.substr(inputs, 2) == "->";
  if (!typed || arguments.positional.size() != inputs)
    return fail(Reason::unsupported_argument, "this call of " + short_repr(ufunc));
  std::vector<Operand> operands;
  for (const Ref& argument : arguments.positional) {
    if (argument->kind != AbstractKind::array) return fail(Reason::unsupported_argument, "a gufunc of a number");
    ACCEL_TRY(Operand operand, read_operand(capture, argument));
    operands.push_back(std::move(operand));
  }
  Extents extents;
  std::vector<std::vector<Dim>> shapes;
  ACCEL_TRY([[maybe_unused]] Unit core, read_core(capture, signature, operands, extents, shapes));
  ACCEL_TRY(std::vector<Dim> outer, broadcast_shapes(capture, shapes));
  std::vector<DType> dtypes;
  for (char letter : types.substr(0, inputs) + types.substr(inputs + 2)) {
    std::optional<DType> dtype = dtype_of_letter(letter);
    if (!dtype) return fail(Reason::unsupported_dtype, types);
    dtypes.push_back(*dtype);
  }
  if (std::optional<Op> op = op_of_ufunc(ufunc)) return apply_op(capture, *op, operands, signature, extents, outer, dtypes);
  std::vector<BoxedResult> results;
  for (size_t k = 0; k < outputs; ++k) {
    BoxedResult result{ValueKind::array, dtypes[inputs + k], {outer.begin(), outer.end()}, {}};
    for (const std::string& name : signature.results[k]) {
      if (!extents.contains(name)) return fail(Reason::unsupported_argument, "a core axis that no operand has");
      result.shape.push_back(extents[name]);
    }
    if (result.shape.empty()) result.kind = ValueKind::numpy_scalar;
    results.push_back(std::move(result));
  }
  ACCEL_TRY(std::vector<Ref> given, box_gufunc(capture, ufunc, arguments, std::move(results)));
  return outputs == 1 ? given[0] : capture.values().tuple(std::move(given));
}

// ndarray.__array_wrap__(array) with an ndarray argument, by which linalg returns its results.
Result<Ref> numpy_array_wrap(Capture&, PyObject*, const CallArguments& arguments) {
  bool plain = arguments.positional.size() == 2 && arguments.keywords.empty();
  if (plain && arguments.positional[0]->kind == AbstractKind::array && arguments.positional[1]->kind == AbstractKind::array)
    return arguments.positional[1];
  return fail(Reason::unsupported_argument, "this call of __array_wrap__");
}

}  // namespace accel
