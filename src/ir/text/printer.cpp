#include <algorithm>

#include "ir/text/text.h"

namespace accel {

namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), names_(graph.values.size(), -1) {}

  std::string print() {
    number_values();
    out_ = "graph {\n";
    if (graph_.target.kind == TargetKind::cuda) out_ += "  target cuda\n";
    for (size_t k = 0; k < graph_.sources.size(); ++k) {
      out_ += "  source " + std::to_string(k) + " " + quoted(graph_.sources[k]) + "\n";
    }
    for (size_t k = 0; k < graph_.symbols.size(); ++k) {
      out_ +=
          "  symbol s" + std::to_string(k) + " " + quoted(graph_.symbols[k]) + " = " + std::to_string(graph_.hints[k]) + "\n";
    }
    if (!graph_.known.empty()) out_ += "  known(" + dims(graph_.known) + ")\n";
    for (size_t k = 0; k < graph_.inputs.size(); ++k) input(graph_.inputs[k], graph_.entry().params[k]);
    for (const auto& [exit, types] : graph_.closed_exits)
      out_ += "  closed " + std::to_string(exit) + "(" + list(types, [&](const Type& t) { return type(t); }) + ")\n";
    for (size_t k = 0; k < graph_.blocks.size(); ++k) block(k);
    return out_ + "}\n";
  }

 private:
  void number_values() {
    int next = 0;
    for (const Block& block : graph_.blocks) {
      for (ValueId v : block.params) names_[static_cast<size_t>(v)] = next++;
      for (NodeId n : block.nodes) {
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].results) names_[static_cast<size_t>(v)] = next++;
      }
    }
  }

  void input(const Input& input, ValueId v) {
    out_ += "  input " + name(v) + " " + quoted(input.name) + " : " + type(graph_.type(v));
    if (graph_.type(v).kind != ValueKind::array) {
      out_ += " slot " + std::to_string(input.slot);
    } else {
      out_ += input.layout == Layout::dense ? " dense" : " strided(" + dims(input.strides) + ")";
    }
    out_ += "\n";
  }

  void block(size_t index) {
    const Block& block = graph_.blocks[index];
    out_ += "  b" + std::to_string(index);
    if (index > 0 && !block.params.empty()) {
      out_ += "(" + list(block.params, [&](ValueId v) { return name(v) + " : " + type(graph_.type(v)); }) + ")";
    }
    out_ += ":\n";
    for (NodeId n : block.nodes) node(graph_.nodes[static_cast<size_t>(n)]);
    terminator(block.terminator);
  }

  void node(const Node& node) {
    out_ += "    " + names(node.results) + " = " + op_info(node.op).name + "(" + names(node.operands) + ")";
    attributes(node);
    out_ += " : " + list(node.results, [&](ValueId v) { return type(graph_.type(v)); });
    if (node.where.source != -1 || node.where.line != 0) {
      out_ += " @ " + std::to_string(node.where.source) + ":" + std::to_string(node.where.line);
    }
    out_ += "\n";
  }

  void attributes(const Node& node) {
    const Attributes& a = node.attrs;
    std::vector<std::string> parts;
    if (!a.axes.empty()) parts.push_back("axes = [" + list(a.axes, [](int axis) { return std::to_string(axis); }) + "]");
    if (!a.dims.empty()) parts.push_back("dims = [" + dims(a.dims) + "]");
    if (!a.steps.empty()) parts.push_back("steps = [" + dims(a.steps) + "]");
    if (op_has_ufunc(node.op)) parts.push_back(std::string("ufunc = ") + op_info(a.ufunc).name);
    if (a.buffered) parts.push_back("buffered");
    if (a.unread) parts.push_back("unread");
    if (op_has_call(node.op) || a.call >= 0) parts.push_back("call = " + std::to_string(a.call));
    if (op_has_literal(node.op)) parts.push_back("literal = " + a.literal.text());
    if (!parts.empty()) out_ += " {" + list(parts, [](const std::string& part) { return part; }) + "}";
  }

  void terminator(const Terminator& t) {
    auto target = [&](int k) { return " b" + std::to_string(t.targets[k]) + "(" + names(t.target_arguments[k]) + ")"; };
    const std::string poll = t.poll > 0 ? " poll " + std::to_string(t.poll) : "";
    switch (t.kind) {
      case TerminatorKind::ret:
        out_ += "    ret(" + names(t.operands) + ")\n";
        break;
      case TerminatorKind::leave:
        out_ += "    leave " + std::to_string(t.exit) + "(" + names(t.operands) + ")\n";
        break;
      case TerminatorKind::jump:
        out_ += "    jump" + target(0) + poll + "\n";
        break;
      case TerminatorKind::branch:
        out_ += "    branch(" + names(t.operands) + ")" + target(0) + target(1) + (t.is_guessed ? " guessed" : "") +
                (t.is_deferrable ? " deferrable" : "") + poll + "\n";
        break;
    }
  }

  std::string type(const Type& type) {
    static constexpr const char* kinds[] = {"array", "numpy_scalar", "py_scalar"};
    std::string out = std::string(kinds[static_cast<int>(type.kind)]) + " " + dtype_name(type.dtype);
    if (type.kind == ValueKind::array) out += "[" + dims(type.shape) + "]";
    if (!type.order.empty()) out += " order(" + list(type.order, [](uint8_t axis) { return std::to_string(axis); }) + ")";
    return out;
  }

  std::string name(ValueId v) const {
    // Only a malformed graph has values that no block defines; the verifier says so with this text at hand.
    bool defined = v >= 0 && static_cast<size_t>(v) < names_.size() && names_[static_cast<size_t>(v)] >= 0;
    return defined ? "%" + std::to_string(names_[static_cast<size_t>(v)]) : "%undefined";
  }
  std::string names(const std::vector<ValueId>& values) const {
    return list(values, [&](ValueId v) { return name(v); });
  }
  std::string dims(const std::vector<Dim>& dims) const {
    return list(dims, [&](Dim d) { return graph_.dims.text(d); });
  }

  template <class T, class F>
  static std::string list(const std::vector<T>& items, F text) {
    std::string out;
    for (const T& item : items) out += (out.empty() ? "" : ", ") + text(item);
    return out;
  }

  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return out + "\"";
  }

  const Graph& graph_;
  std::vector<int> names_;
  std::string out_;
};

}  // namespace

std::string print_graph(const Graph& graph) { return Printer(graph).print(); }

}  // namespace accel
