// C functions of NumPy that compiled code asks the process to call: distinct elements, interpolation, indices, bits, products.
// Each function here computes the shape of the result.

#include <algorithm>
#include <cctype>

#include "capture/domain/repr.h"
#include "capture/numpy/calls/callbacks.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

using Shape = std::vector<Dim>;

// The operands in a tuple or list of numbers and arrays.
Result<std::vector<Operand>> operands_of(Capture& capture, const Ref& sequence) {
  std::vector<Operand> out;
  bool listed = sequence->kind == AbstractKind::tuple || sequence->kind == AbstractKind::list;
  if (!listed || sequence->items.empty()) return fail(Reason::unsupported_argument, "a tuple of arrays is needed");
  for (const Ref& item : sequence->items) {
    ACCEL_TRY(Operand operand, read_operand(capture, item));
    out.push_back(std::move(operand));
  }
  return out;
}

}  // namespace

// _unique_hash(array, equal_nan) of numpy.unique. The number of distinct elements is known at run time only.
Result<Ref> numpy_unique_hash(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.empty()) return fail(Reason::will_raise, "_unique_hash of nothing");
  ACCEL_TRY(Ref array, array_of_rank(arguments.positional[0], 0, "unique of a number"));
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  ACCEL_TRY(std::vector<BoxedResult> results, sampled_results(capture, made));
  if (results.size() != 1 || results[0].shape.size() != 1) return fail(Reason::unsupported_argument, "unique of this array");
  Dim size = element_count(capture, layout_of(array).shape);
  results[0].shape = {std::nullopt};
  results[0].hint = capture.ranges().hint(size);
  Ref unique = boxed_call(capture, std::move(made), results)[0];
  capture.facts().all().push_back(capture.dims().sub(size, layout_of(unique).shape[0]));
  return unique;
}

// _monotonicity(x) of numpy.digitize
Result<Ref> numpy_monotonicity(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return call_of_shape(capture, callable, arguments, {});
}

Result<Ref> numpy_interp(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"x", "xp", "fp", "left", "right"}, 3}));
  ACCEL_TRY(Operand x, read_operand(capture, given[0]));
  return call_of_shape(capture, callable, arguments, x.shape);
}

Result<Ref> numpy_lexsort(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"keys", "axis"}, 1}));
  Shape shape;
  if (given[0]->kind == AbstractKind::array) {
    ACCEL_TRY(Ref keys, array_of_rank(given[0], 2, "lexsort of numbers"));
    shape.assign(layout_of(keys).shape.begin() + 1, layout_of(keys).shape.end());
  } else {
    ACCEL_TRY(std::vector<Operand> keys, operands_of(capture, given[0]));
    shape = keys[0].shape;
    if (shape.empty()) return fail(Reason::unsupported_value, "lexsort of numbers");
  }
  return call_of_positions(capture, callable, arguments, shape);
}

// unravel_index(indices, shape, order='C') of one index. For several indices NumPy returns views of one array.
Result<Ref> numpy_unravel_index(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"indices", "shape", "order"}, 2}));
  ACCEL_TRY(Operand index, read_operand(capture, given[0]));
  ACCEL_TRY(Shape shape, read_shape(capture, given[1]));
  if (!index.shape.empty() || shape.empty())
    return fail(Reason::unsupported_argument,
                "unravel_index of an array; plain form: quotients and remainders: indices // columns, indices % columns");
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  made.call.gives_tuple = true;
  std::vector<BoxedResult> results(shape.size(), {ValueKind::numpy_scalar, DType::int64, {}, {}});
  std::vector<Ref> items = boxed_call(capture, std::move(made), results);
  DimTable& dims = capture.dims();
  for (size_t k = 0; k < items.size(); ++k) {
    Dim position = capture.facts().bind_dim(items[k]->scalar.value, "index", 0, 0, capture.ranges().high(shape[k]));
    capture.facts().all().push_back(dims.sub(dims.sub(shape[k], dims.constant(1)), position));
    items[k] = capture.values().dim_scalar(position, ValueKind::numpy_scalar);
  }
  return capture.values().tuple(std::move(items));
}

Result<Ref> numpy_ravel_multi_index(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"multi_index", "dims", "mode", "order"}, 2}));
  ACCEL_TRY(std::vector<Operand> indices, operands_of(capture, given[0]));
  std::vector<Shape> shapes;
  for (const Operand& index : indices) shapes.push_back(index.shape);
  ACCEL_TRY(Shape shape, broadcast_shapes(capture, shapes));
  if (!shape.empty()) return call_of_positions(capture, callable, arguments, shape);
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  return boxed_call(capture, std::move(made), {{ValueKind::numpy_scalar, DType::int64, {}, {}}})[0];
}

namespace {

// packbits or unpackbits of all elements, or along the only axis.
Result<Ref> bits_of(Capture& capture, PyObject* callable, const CallArguments& arguments, const std::vector<Ref>& given,
                    bool packs) {
  ACCEL_TRY(Ref array, array_of_rank(given[0], 1, "bits of a number"));
  const std::vector<Dim> shape = layout_of(array).shape;
  if (!is_none(given[1]) && shape.size() != 1) return fail(Reason::unsupported_argument, "bits along an axis");
  DimTable& dims = capture.dims();
  Dim size = element_count(capture, shape);
  Dim all = packs ? dims.floordiv(dims.add(size, dims.constant(7)), dims.constant(8)) : dims.mul(size, 8);
  return call_of_shape(capture, callable, arguments, {all});
}

}  // namespace

Result<Ref> numpy_packbits(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "axis", "bitorder"}, 1, 99, 1}));
  return bits_of(capture, callable, arguments, given, true);
}

Result<Ref> numpy_unpackbits(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "axis", "count", "bitorder"}, 1, 99, 1}));
  if (!is_none(given[2])) return fail(Reason::unsupported_argument, "bits up to a count");
  return bits_of(capture, callable, arguments, given, false);
}

// c_einsum(subscripts, *operands) of numpy.einsum. One array is excluded because the result may be a view; results with several
// axes are excluded because their memory order is that of NumPy's iterator.
Result<Ref> numpy_c_einsum(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() < 3) return fail(Reason::unsupported_argument, "einsum of one array");
  if (!arguments.keywords.empty()) return fail(Reason::unsupported_argument, "keywords of einsum");
  ACCEL_TRY(std::string text, read_text(capture, arguments.positional[0]));
  const size_t arrow = text.find("->");
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ',' || c == '-' || c == '>';
  });
  if (!plain || arrow == text.npos || text.size() > arrow + 3)
    return fail(Reason::unsupported_argument, "einsum with these subscripts");
  std::optional<Dim> extent;
  std::vector<std::string> terms(1);
  for (char c : text.substr(0, arrow)) c == ',' ? (void)terms.emplace_back() : terms.back().push_back(c);
  if (terms.size() + 1 != arguments.positional.size()) return fail(Reason::will_raise, "einsum of more or fewer operands");
  for (size_t k = 0; k < terms.size(); ++k) {
    ACCEL_TRY(Ref array, array_of_rank(arguments.positional[k + 1], 0, "einsum of a number"));
    if (layout_of(array).shape.size() != terms[k].size()) return fail(Reason::will_raise, "einsum of other ranks");
    // The order of additions depends on strides, which operands of a boxed call do not preserve.
    if (!is_c_contiguous(capture, array)) return fail(Reason::unsupported_layout, "einsum of an array with gaps");
    for (size_t axis = 0; axis < terms[k].size(); ++axis) {
      // An extent of 1 is broadcast.
      if (text.size() != arrow + 3 || terms[k][axis] != text.back()) continue;
      Dim own = layout_of(array).shape[axis];
      if (!extent || capture.facts().decide_equal(*extent, capture.dims().constant(1))) extent = own;
    }
  }
  if (text.size() == arrow + 2) return call_of_shape(capture, callable, arguments, {});
  if (!extent) return fail(Reason::will_raise, "einsum with unknown subscripts");
  return call_of_shape(capture, callable, arguments, {*extent});
}

// correlate(a, v, mode): 0 valid, 1 same, 2 full
Result<Ref> numpy_correlate(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "v", "mode"}, 2}));
  ACCEL_TRY(Ref a, array_of_rank(given[0], 1, "correlate of a number"));
  ACCEL_TRY(Ref v, array_of_rank(given[1], 1, "correlate of a number"));
  int64_t mode = 0;
  if (given[2]) {
    ACCEL_TRY(PyRef named, capture.constants().require_constant(given[2]));
    if (PyLong_Check(named.get())) {
      mode = PyLong_AsLong(named.get());
    } else {
      std::string text = PyUnicode_Check(named.get()) ? utf8(named.get()) : "";
      mode = text == "valid" ? 0 : text == "same" ? 1 : text == "full" ? 2 : -1;
    }
  }
  if (mode < 0 || mode > 2 || layout_of(a).shape.size() != 1 || layout_of(v).shape.size() != 1)
    return fail(Reason::unsupported_argument, "correlate of these arguments");
  DimTable& dims = capture.dims();
  Dim left = layout_of(a).shape[0], right = layout_of(v).shape[0], one = dims.constant(1);
  Dim all = dims.sub(dims.add(left, right), one), longer = dims.max(left, right);
  Dim valid = dims.sub(dims.add(longer, one), dims.min(left, right));
  return call_of_shape(capture, callable, arguments, {mode == 0 ? valid : mode == 1 ? longer : all});
}

}  // namespace accel
