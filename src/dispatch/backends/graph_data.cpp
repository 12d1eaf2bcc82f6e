#include "dispatch/backends/graph_data.h"

#include <cstring>
#include <string>

#include "cpython/py_ref.h"
#include "ir/analysis/flow.h"
#include "ir/text/text.h"
#include "ndarray/array.h"

namespace accel {
namespace {

constexpr const char* kind_names[] = {"array", "numpy_scalar", "py_scalar"};  // order of ValueKind
constexpr const char* end_names[] = {"ret", "jump", "branch", "leave"};       // order of TerminatorKind

PyRef text(const std::string& utf8) {
  return PyRef::steal(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

PyRef number(int64_t value) { return PyRef::steal(PyLong_FromLongLong(value)); }

template <class T, class Make>
PyRef list(const std::vector<T>& items, Make make) {
  PyRef made = PyRef::steal(PyList_New(0));
  for (const T& item : items) {
    PyRef object = made ? make(item) : PyRef();
    if (!object || PyList_Append(made.get(), object.get()) < 0) return {};
  }
  return made;
}

// A dict under construction; null after the first failure.
class Dict {
 public:
  Dict() : dict_(PyRef::steal(PyDict_New())) {}
  Dict& set(const char* key, const PyRef& value) {
    if (dict_ && (!value || PyDict_SetItemString(dict_.get(), key, value.get()) < 0)) dict_ = PyRef();
    return *this;
  }
  PyRef take() { return std::move(dict_); }

 private:
  PyRef dict_;
};

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, PyObject* (*make_call)(int)) : graph_(graph), make_call_(make_call) {}

  PyRef write() const {
    return Dict()
        .set("symbols", list(graph_.symbols, text))
        .set("inputs", inputs())
        .set("blocks", list(graph_.blocks, [&](const Block& each) { return block(each); }))
        .take();
  }

 private:
  PyRef dims(const std::vector<Dim>& sizes) const {
    return list(sizes, [&](Dim d) { return text(graph_.dims.text(d)); });
  }

  Dict type_dict(const Type& type) const {
    Dict dict;
    dict.set("kind", text(kind_names[static_cast<int>(type.kind)])).set("dtype", text(dtype_name(type.dtype)));
    dict.set("shape", dims(type.shape)).set("order", list(type.axis_order(), number));
    return dict;
  }

  PyRef inputs() const {
    PyRef made = PyRef::steal(PyList_New(0));
    for (size_t i = 0; made && i < graph_.inputs.size(); i++) {
      const Input& input = graph_.inputs[i];
      ValueId value = graph_.entry().params[i];
      PyRef dict = type_dict(graph_.type(value))
                       .set("value", number(value))
                       .set("name", text(input.name))
                       .set("layout", text(input.layout == Layout::dense ? "dense" : "strided"))
                       .set("slot", number(input.slot))
                       .take();
      if (!dict || PyList_Append(made.get(), dict.get()) < 0) return {};
    }
    return made;
  }

  PyRef parameter(ValueId value) const { return type_dict(graph_.type(value)).set("value", number(value)).take(); }

  PyRef block(const Block& block) const {
    bool is_entry = &block == &graph_.entry();
    const Terminator& end = block.terminator;
    std::vector<int> targets(end.targets, end.targets + target_count(end));
    std::vector<std::vector<ValueId>> arguments(end.target_arguments, end.target_arguments + target_count(end));
    PyRef end_dict = Dict()
                         .set("kind", text(end_names[static_cast<int>(end.kind)]))
                         .set("operands", list(end.operands, number))
                         .set("exit", number(exit_number(end)))
                         .set("targets", list(targets, number))
                         .set("arguments", list(arguments, [](const auto& values) { return list(values, number); }))
                         .take();
    return Dict()
        .set("params", list(is_entry ? std::vector<ValueId>() : block.params, [&](ValueId v) { return parameter(v); }))
        .set("nodes", list(block.nodes, [&](NodeId id) { return node(graph_.nodes[id]); }))
        .set("end", end_dict)
        .take();
  }

  PyRef literal(const Node& node) const {
    if (node.op != Op::constant) return PyRef::borrow(Py_None);
    const Literal& value = node.attrs.literal;
    bool python = graph_.type(node.results[0]).kind == ValueKind::py_scalar;
    return PyRef::steal(python ? new_python_scalar(value.dtype, value.bits) : new_numpy_scalar(value.dtype, value.bits));
  }

  PyRef node(const Node& node) const {
    const Attributes& attrs = node.attrs;
    bool placed = node.where.source >= 0;
    return Dict()
        .set("op", text(op_info(node.op).name))
        .set("class", text(op_info(node.op).class_name))
        .set("operands", list(node.operands, number))
        .set("results", list(node.results, number))
        .set("types", list(node.results, [&](ValueId id) { return type_dict(graph_.type(id)).take(); }))
        .set("axes", list(attrs.axes, number))
        .set("dims", dims(attrs.dims))
        .set("steps", dims(attrs.steps))
        .set("ufunc", text(op_info(attrs.ufunc).name))
        .set("buffered", PyRef::borrow(attrs.buffered ? Py_True : Py_False))
        .set("literal", literal(node))
        .set("function", op_has_call(node.op) ? PyRef::steal(make_call_(attrs.call)) : PyRef::borrow(Py_None))
        .set("file", text(placed ? graph_.sources[node.where.source] : std::string()))
        .set("line", number(node.where.line))
        .take();
  }

  const Graph& graph_;
  PyObject* (*make_call_)(int);
};

}  // namespace

PyObject* graph_data(const Graph& graph, PyObject* (*make_call)(int)) {
  return GraphWriter(graph, make_call).write().release();
}

}  // namespace accel
