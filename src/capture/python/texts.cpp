#include "capture/python/texts.h"

#include <algorithm>

#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/builtin_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

bool is_numpy_number(const Ref& value) {
  if (value->kind == AbstractKind::constant) return is_numpy_scalar(value->object.get());
  return value->kind == AbstractKind::scalar && value->scalar.kind == ValueKind::numpy_scalar;
}

// Whether a constant is a NumPy number or a tuple that contains one.
bool has_numpy_constant(PyObject* object) {
  if (object == nullptr || !PyTuple_Check(object)) return object != nullptr && is_numpy_scalar(object);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k)
    if (has_numpy_constant(PyTuple_GET_ITEM(object, k))) return true;
  return false;
}

bool is_format(PyObject* callable) { return PyCFunction_Check(callable) && name_of_builtin(callable) == "format"; }

bool is_of_locale(const Ref& spec) { return spec->kind == AbstractKind::constant && utf8(spec->object.get()).ends_with("n"); }

// A sample with the type of a run-time number, or an empty text. Null for other values.
PyRef sample_of(const Ref& value) {
  constexpr uint64_t bits[2] = {0, 0};
  if (value->kind == AbstractKind::text) return PyRef::steal(PyUnicode_FromString(""));
  if (value->kind == AbstractKind::constant && is_numpy_scalar(value->object.get())) return value->object;
  if (value->kind != AbstractKind::scalar) return {};
  bool python = value->scalar.kind == ValueKind::py_scalar;
  return PyRef::steal(python ? new_python_scalar(value->scalar.dtype, bits) : new_numpy_scalar(value->scalar.dtype, bits));
}

}  // namespace

Ref make_text(PyRef callable, std::vector<Ref> items) {
  Ref text = std::make_shared<AbstractValue>();
  text->kind = AbstractKind::text;
  text->object = std::move(callable);
  text->items = std::move(items);
  return text;
}

Result<Ref> text_of(Capture& capture, PyObject* callable, const Ref& value, const Ref& spec) {
  bool known_spec = !spec || spec->kind == AbstractKind::constant;
  bool constant = value->kind == AbstractKind::constant && is_plain_constant(value->object.get()) &&
                  !(spec && known_spec && is_of_locale(spec));
  PyRef sample =
      value->kind == AbstractKind::constant && is_plain_constant(value->object.get()) ? value->object : sample_of(value);
  if (!sample || !known_spec || callable == nullptr) return fail(Reason::unsupported_opcode, "the text of a value");
  PyRef text = PyRef::steal(PyObject_CallFunctionObjArgs(callable, sample.get(), spec ? spec->object.get() : nullptr, nullptr));
  if (constant) return folded(capture, text.release());
  // Format code c fails for numbers that are no character.
  bool depends = spec && utf8(spec->object.get()).ends_with("c");
  if (!text) PyErr_Clear();
  if (!text || depends) return fail(Reason::unsupported_opcode, "a text that cannot be made of every such value");
  return make_text(PyRef::borrow(callable), spec ? std::vector<Ref>{value, spec} : std::vector<Ref>{value});
}

bool depends_on_options(const Ref& text) {
  if (!text) return false;  // an absent item
  if (text->kind != AbstractKind::text && text->kind != AbstractKind::tuple) return false;
  if (text->kind == AbstractKind::text && !text->items.empty()) {
    const bool formats = is_format(text->object.get());
    if (formats ? text->items.size() > 1 && is_of_locale(text->items[1]) : is_numpy_number(text->items[0])) return true;
  }
  return std::any_of(text->items.begin(), text->items.end(), depends_on_options);  // joined parts
}

// Folds a format of constants. NumPy numbers in containers are excluded, because their text depends on print options.
Result<Ref> capture_format(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto has_numpy_number = [](const auto& self, const Ref& value) -> bool {
    bool container =
        value->kind == AbstractKind::tuple || value->kind == AbstractKind::list || value->kind == AbstractKind::dict;
    if (!container) return is_numpy_number(value) || has_numpy_constant(value->object.get());
    return std::any_of(value->items.begin(), value->items.end(), [&](const Ref& item) { return item && self(self, item); });
  };
  auto prints_number = [&](const Ref& argument) { return has_numpy_number(has_numpy_number, argument); };
  bool prints = std::any_of(arguments.positional.begin(), arguments.positional.end(), prints_number) ||
                std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                            [&](const auto& argument) { return prints_number(argument.second); });
  if (prints) return fail(Reason::unsupported_call, short_repr(callable) + " of a NumPy number");
  return fold_call(capture, callable, arguments);
}

// str, repr and ascii.
Result<Ref> capture_text(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  bool single = arguments.positional.size() == 1 && arguments.keywords.empty();
  if (single && is_numpy_number(arguments.positional[0])) return text_of(capture, callable, arguments.positional[0]);
  return capture_format(capture, callable, arguments);
}

}  // namespace accel
