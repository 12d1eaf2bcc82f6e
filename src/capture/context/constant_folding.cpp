// Values that the captured code computes from constants alone, evaluated by NumPy at capture if a rule needs to know them.

#include <algorithm>
#include <set>
#include <unordered_map>

#include "capture/context/context.h"
#include "capture/context/quiet_calls.h"
#include "cpython/imported.h"
#include "ndarray/array.h"
#include "ndarray/loops.h"

namespace accel {

namespace {

constexpr int64_t most_constants = 64;
constexpr int most_depth = 200;
constexpr size_t most_values = 400;

// Evaluates a graph value in NumPy. Null, perhaps with a pending exception, if it depends on anything but constants, is large,
// or if an operation has floating-point events.
class Evaluator {
 public:
  explicit Evaluator(Graph& graph) : graph_(graph) {}

  PyRef run(ValueId value) {
    if (!is_constant(value)) return {};
    const EventsAsErrors events;
    if (!events) return {};
    PyRef result = evaluate(value, 0);
    PyErr_Clear();
    return result;
  }

 private:
  // Whether the value is computed by few operations from few constants.
  bool is_constant(ValueId value) const {
    std::vector<ValueId> open = {value};
    std::set<ValueId> seen;
    while (!open.empty()) {
      ValueId next = open.back();
      open.pop_back();
      if (!seen.insert(next).second) continue;
      if (graph_.is_input(next) || seen.size() > most_values || !is_small(graph_.type(next))) return false;
      const Node& node = graph_.producer(next);
      if ((is_update(node.op) && node.op != Op::store) || op_class(node.op) == OpClass::gufunc ||
          op_class(node.op) == OpClass::boxed)
        return false;
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    }
    return true;
  }

  std::optional<std::vector<int64_t>> constants(const std::vector<Dim>& dims) const {
    std::vector<int64_t> out;
    for (Dim d : dims) {
      auto value = graph_.dims.as_constant(d);
      if (!value) return std::nullopt;
      out.push_back(*value);
    }
    return out;
  }

  bool is_small(const Type& type) const {
    auto shape = constants(type.shape);
    if (!shape || !type.order.empty()) return false;
    int64_t count = 1;
    for (int64_t extent : *shape) count *= extent;
    return count <= most_constants;
  }

  PyRef tuple_of(const std::vector<int64_t>& values) const {
    PyRef out = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; out && i < values.size(); ++i)
      PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
    return out;
  }

  PyRef axes_of(const Node& node) const { return tuple_of({node.attrs.axes.begin(), node.attrs.axes.end()}); }
  PyRef shape_of(ValueId v) const {
    auto shape = constants(graph_.type(v).shape);
    return shape ? tuple_of(*shape) : PyRef();
  }

  PyRef evaluate(ValueId value, int depth) {
    auto [known, fresh] = known_.try_emplace(value);
    if (!fresh) return known->second;
    PyRef found = compute(value, depth);
    known_[value] = found;
    return found;
  }

  PyRef compute(ValueId value, int depth) {
    if (depth > most_depth || graph_.is_input(value) || !is_small(graph_.type(value))) return {};
    const Node node = graph_.producer(value);
    if (node.results.size() != 1) return {};
    if (node.op == Op::constant) return PyRef::steal(new_numpy_scalar(node.attrs.literal.dtype, node.attrs.literal.bits));
    if (node.op == Op::store) return store(node, depth);
    std::vector<PyRef> operands;
    for (ValueId operand : node.operands) {
      operands.push_back(evaluate(operand, depth + 1));
      if (!operands.back()) return {};
    }
    PyRef result = apply(node, value, operands);
    if (!result) return {};
    PyRef dtype = PyRef::steal(PyObject_GetAttrString(result.get(), "dtype"));
    bool typed = dtype && dtype.get() == descr_of(graph_.type(value).dtype);
    return typed ? std::move(result) : PyRef();
  }

  // A copy of the base with the elements of the view replaced.
  PyRef store(const Node& node, int depth) {
    PyRef base = evaluate(node.operands[0], depth + 1), value = evaluate(node.operands[2], depth + 1);
    if (!base || !value || node.operands.size() != 3) return {};
    PyRef whole = PyRef::steal(PyObject_CallMethod(base.get(), "copy", nullptr));
    PyRef part = whole ? view_of(node.operands[1], node.operands[0], whole) : PyRef();
    if (!part) return {};
    return PyObject_SetItem(part.get(), Py_Ellipsis, value.get()) == 0 ? whole : PyRef();
  }

  // The view `v` of the graph value `base`, made of the array that represents `base`.
  PyRef view_of(ValueId v, ValueId base, const PyRef& array) {
    if (v == base) return array;
    if (graph_.is_input(v) || op_class(graph_.producer(v).op) != OpClass::view) return {};
    const Node node = graph_.producer(v);
    PyRef below = view_of(node.operands[0], base, array);
    bool may_copy = node.op == Op::reshape && below.get() != array.get();
    return below && !may_copy ? apply(node, v, {below}) : PyRef();
  }

  PyRef call(const char* function, std::initializer_list<PyObject*> arguments) {
    PyRef callable = imported_attribute("numpy", function);
    if (!callable || std::find(arguments.begin(), arguments.end(), nullptr) != arguments.end()) return {};
    return PyRef::steal(PyObject_Vectorcall(callable.get(), arguments.begin(), arguments.size(), nullptr));
  }

  PyRef apply(const Node& node, ValueId value, const std::vector<PyRef>& operands) {
    PyObject* first = operands.empty() ? nullptr : operands[0].get();
    switch (node.op) {
      case Op::arange:
        return arange(value, first, operands[1].get());
      case Op::full:
        return call("full", {shape_of(value).get(), first});
      case Op::transpose:
        return call("transpose", {first, axes_of(node).get()});
      case Op::expand_dims:
        return call("expand_dims", {first, axes_of(node).get()});
      case Op::squeeze:
        return call("squeeze", {first, axes_of(node).get()});
      case Op::broadcast_to:
        return call("broadcast_to", {first, shape_of(value).get()});
      case Op::reshape:
        return call("reshape", {first, shape_of(value).get()});
      case Op::copy:
        return call("copy", {first});
      case Op::slice:
        return slice(node, value, first);
      case Op::concatenate:
        return concatenate(node, operands);
      case Op::astype:
        return PyRef::steal(PyObject_CallMethod(first, "astype", "O", descr_of(graph_.type(value).dtype)));
      case Op::where:
        return call("where", {first, operands[1].get(), operands[2].get()});
      default:
        break;
    }
    PyObject* ufunc = op_class(node.op) == OpClass::pointwise ? ufunc_of(node.op) : nullptr;
    if (ufunc == nullptr) return {};
    std::vector<PyObject*> borrowed;
    for (const PyRef& operand : operands) borrowed.push_back(operand.get());
    return PyRef::steal(PyObject_Vectorcall(ufunc, borrowed.data(), borrowed.size(), nullptr));
  }

  PyRef slice(const Node& node, ValueId value, PyObject* operand) {
    auto starts = constants(node.attrs.dims), steps = constants(node.attrs.steps),
         extents = constants(graph_.type(value).shape);
    if (!starts || !steps || !extents) return {};
    PyRef index = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(starts->size())));
    for (size_t k = 0; k < starts->size(); ++k) {
      int64_t start = (*starts)[k], step = (*steps)[k], stop = start + step * (*extents)[k];
      PyRef from = PyRef::steal(PyLong_FromLongLong(start)), by = PyRef::steal(PyLong_FromLongLong(step));
      PyRef to = stop < 0 ? PyRef::borrow(Py_None) : PyRef::steal(PyLong_FromLongLong(stop));
      PyTuple_SET_ITEM(index.get(), static_cast<Py_ssize_t>(k), PySlice_New(from.get(), to.get(), by.get()));
    }
    return PyRef::steal(PyObject_GetItem(operand, index.get()));
  }

  // start + k * delta
  PyRef arange(ValueId value, PyObject* start, PyObject* delta) {
    auto shape = constants(graph_.type(value).shape);
    PyRef count = PyRef::steal(PyLong_FromLongLong((*shape)[0]));
    PyRef numbers = call("arange", {count.get()});
    PyObject* dtype = descr_of(graph_.type(value).dtype);
    PyRef cast = PyRef::steal(numbers ? PyObject_CallMethod(numbers.get(), "astype", "O", dtype) : nullptr);
    PyRef scaled = PyRef::steal(cast ? PyNumber_Multiply(cast.get(), delta) : nullptr);
    return PyRef::steal(scaled ? PyNumber_Add(scaled.get(), start) : nullptr);
  }

  PyRef concatenate(const Node& node, const std::vector<PyRef>& operands) {
    PyRef list = PyRef::steal(PyList_New(0));
    for (const PyRef& operand : operands) PyList_Append(list.get(), operand.get());
    PyRef axis = PyRef::steal(PyLong_FromLong(node.attrs.axes[0]));
    return call("concatenate", {list.get(), axis.get()});
  }

  Graph& graph_;
  std::unordered_map<ValueId, PyRef> known_;
};

}  // namespace

PyRef Constants::known_value(ValueId value) {
  PyRef found = Evaluator(capture_.graph()).run(value);
  const Type& type = capture_.graph().type(value);
  if (!found || type.kind == ValueKind::array) return found;
  uint64_t bits[2] = {0, 0};
  PyRef number = PyRef::steal(PyObject_CallMethod(found.get(), "item", nullptr));
  bool read = number && read_scalar(is_numpy_scalar(found.get()) ? found.get() : number.get(), type.dtype, bits);
  PyErr_Clear();
  if (!read) return {};
  return PyRef::steal(type.kind == ValueKind::py_scalar ? new_python_scalar(type.dtype, bits)
                                                        : new_numpy_scalar(type.dtype, bits));
}

PyRef Constants::known_value(const Ref& scalar) {
  if (scalar->kind != AbstractKind::scalar || scalar->scalar.dim || scalar->scalar.value == no_value) return {};
  return known_value(scalar->scalar.value);
}

}  // namespace accel
