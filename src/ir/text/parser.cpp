#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "ir/text/text.h"

namespace accel {

namespace {

// Recursive descent over what the printer prints. After the first error every reader returns a default and `error_` stays.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Graph> parse() {
    expect("graph");
    expect("{");
    if (good() && eat("target")) target();
    while (good() && eat("source")) source();
    while (good() && eat("symbol")) symbol();
    if (good() && eat("known")) known();
    while (good() && eat("input")) input();
    while (good() && eat("closed")) closed_exit();
    graph_.blocks.clear();
    std::vector<ValueId> entry = std::move(entry_params_);
    while (good() && !eat("}")) block();
    if (good() && graph_.blocks.empty()) set_error("a graph has at least one block");
    if (good()) graph_.blocks[0].params = std::move(entry);
    resolve();
    skip();
    if (good() && at_ != text_.size()) set_error("text after the graph");
    if (!good()) return fail(Reason::internal_error, error_);
    return std::move(graph_);
  }

 private:
  void target() {
    expect("cuda");
    graph_.target.kind = TargetKind::cuda;
  }

  void source() {
    integer();
    graph_.sources.push_back(string());
  }

  void symbol() {
    expect("s");
    integer();
    std::string name = string();
    expect("=");
    graph_.add_symbol(std::move(name), integer());
  }

  void known() {
    expect("(");
    graph_.known = dims(")");
  }

  void closed_exit() {
    std::vector<Type>& types = graph_.closed_exits[static_cast<int>(integer())];
    expect("(");
    if (eat(")")) return;
    do {
      types.push_back(type());
    } while (good() && eat(","));
    expect(")");
  }

  void input() {
    int name = value_name();
    Input input;
    input.name = string();
    expect(":");
    Type t = type();
    if (t.kind != ValueKind::array) {
      expect("slot");
      input.slot = static_cast<int>(integer());
    } else if (eat("strided")) {
      input.layout = Layout::strided;
      expect("(");
      input.strides = dims(")");
    } else {
      expect("dense");
    }
    entry_params_.push_back(define(name, std::move(t), -1, 0));
    graph_.inputs.push_back(std::move(input));
  }

  void block() {
    expect("b");
    BlockId id = static_cast<BlockId>(graph_.blocks.size());
    if (integer() != id) set_error("blocks are numbered in order");
    graph_.blocks.emplace_back();
    if (eat("(")) {
      do {
        int name = value_name();
        expect(":");
        graph_.blocks.back().params.push_back(define(name, type(), -1, id));
      } while (good() && eat(","));
      expect(")");
    }
    expect(":");
    while (good() && peek() == '%') node(id);
    terminator(graph_.blocks.back().terminator);
  }

  void node(BlockId block) {
    std::vector<int> results;
    do {
      results.push_back(value_name());
    } while (good() && eat(","));
    expect("=");
    NodeId id = static_cast<NodeId>(graph_.nodes.size());
    Node node;
    auto op = op_from_name(word());
    if (!op) return set_error("unknown op");
    node.op = *op;
    node.operands = names();
    std::string literal;
    if (eat("{")) literal = attributes(node.attrs);
    expect(":");
    for (size_t k = 0; good() && k < results.size(); ++k) {
      if (k > 0) expect(",");
      node.results.push_back(define(results[k], type(), id, block));
    }
    if (!literal.empty() && good()) set_literal(node, literal);
    if (eat("@")) {
      node.where.source = static_cast<int>(integer());
      expect(":");
      node.where.line = static_cast<int>(integer());
    }
    graph_.nodes.push_back(std::move(node));
    graph_.blocks.back().nodes.push_back(id);
  }

  void set_literal(Node& node, const std::string& text) {
    auto literal = parse_literal(graph_.type(node.results[0]).dtype, text);
    if (!literal) return set_error("malformed literal " + text);
    node.attrs.literal = *literal;
  }

  // Reads up to the closing brace; returns the literal's text.
  std::string attributes(Attributes& attrs) {
    std::string literal;
    do {
      std::string key = word();
      if (key == "buffered") {
        attrs.buffered = true;
        continue;
      }
      if (key == "unread") {
        attrs.unread = true;
        continue;
      }
      expect("=");
      if (key == "axes") {
        expect("[");
        attrs.axes = integers<int>("]");
      } else if (key == "dims" || key == "steps") {
        expect("[");
        (key == "dims" ? attrs.dims : attrs.steps) = dims("]");
      } else if (key == "ufunc") {
        auto op = op_from_name(word());
        if (op) attrs.ufunc = *op;
        if (!op) set_error("unknown ufunc");
      } else if (key == "call") {
        attrs.call = static_cast<int>(integer());
      } else if (key == "literal") {
        literal = until_brace();
      } else {
        set_error("unknown attribute " + key);
      }
    } while (good() && eat(","));
    expect("}");
    return literal;
  }

  void terminator(Terminator& t) {
    if (eat("ret")) {
      t.operands = names();
    } else if (eat("leave")) {
      t.kind = TerminatorKind::leave;
      t.exit = static_cast<int>(integer());
      t.operands = names();
    } else if (eat("jump")) {
      t.kind = TerminatorKind::jump;
      target(t, 0);
      if (eat("poll")) t.poll = static_cast<int>(integer());
    } else if (eat("branch")) {
      t.kind = TerminatorKind::branch;
      t.operands = names();
      target(t, 0);
      target(t, 1);
      t.is_guessed = eat("guessed");
      t.is_deferrable = eat("deferrable");
      if (eat("poll")) t.poll = static_cast<int>(integer());
    } else {
      set_error("expected a terminator");
    }
  }

  void target(Terminator& t, int k) {
    expect("b");
    t.targets[k] = static_cast<BlockId>(integer());
    t.target_arguments[k] = names();
  }

  Type type() {
    Type t;
    std::string kind = word();
    if (kind == "numpy_scalar") {
      t.kind = ValueKind::numpy_scalar;
    } else if (kind == "py_scalar") {
      t.kind = ValueKind::py_scalar;
    } else if (kind != "array") {
      set_error("unknown kind of value " + kind);
    }
    auto dtype = dtype_from_name(word());
    if (!dtype) set_error("unknown dtype");
    t.dtype = dtype.value_or(DType::float64);
    if (t.kind == ValueKind::array) {
      expect("[");
      t.shape = dims("]");
    }
    if (eat("order")) {
      expect("(");
      t.order = integers<uint8_t>(")");
    }
    return t;
  }

  // Names become value ids in resolve(): a block may use what a later one in the text defines.
  std::vector<ValueId> names() {
    std::vector<ValueId> out;
    expect("(");
    if (eat(")")) return out;
    do {
      out.push_back(value_name());
    } while (good() && eat(","));
    expect(")");
    return out;
  }

  void resolve() {
    auto resolve = [&](std::vector<ValueId>& names) {
      for (ValueId& name : names) {
        auto it = values_.find(name);
        if (it == values_.end()) return set_error("%" + std::to_string(name) + " is not defined");
        name = it->second;
      }
    };
    for (Node& node : graph_.nodes) resolve(node.operands);
    for (Block& block : graph_.blocks) {
      resolve(block.terminator.operands);
      resolve(block.terminator.target_arguments[0]);
      resolve(block.terminator.target_arguments[1]);
    }
  }

  ValueId define(int name, Type type, NodeId producer, BlockId block) {
    ValueId id = static_cast<ValueId>(graph_.values.size());
    if (!values_.emplace(name, id).second) set_error("%" + std::to_string(name) + " is defined twice");
    graph_.values.push_back({std::move(type), producer, block});
    return id;
  }

  // The items up to `close`, which it eats. Commas inside brackets belong to an item.
  std::vector<std::string> items(std::string_view close) {
    std::vector<std::string> out;
    if (eat(close)) return out;
    int depth = 0;
    std::string item;
    for (skip(); at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (depth == 0 && (c == close[0] || c == ',')) {
        out.push_back(std::move(item));
        item.clear();
        if (c == close[0]) break;
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      item += c;
    }
    expect(close);
    return out;
  }

  std::vector<Dim> dims(std::string_view close) {
    std::vector<Dim> out;
    for (const std::string& item : items(close)) {
      auto d = graph_.dims.parse(item);
      if (!d) set_error("malformed dim " + item);
      out.push_back(d.value_or(graph_.dims.constant(0)));
    }
    return out;
  }

  template <class T>
  std::vector<T> integers(std::string_view close) {
    std::vector<T> out;
    if (eat(close)) return out;
    do {
      out.push_back(static_cast<T>(integer()));
    } while (good() && eat(","));
    expect(close);
    return out;
  }

  int64_t integer() {
    skip();
    int64_t out = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
    if (error != std::errc()) set_error("expected an integer");
    at_ = static_cast<size_t>(end - text_.data());
    return out;
  }

  int value_name() {
    expect("%");
    return static_cast<int>(integer());
  }

  std::string word() {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string string() {
    expect("\"");
    std::string out;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      bool escape = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escape) ++at_;
      out += escape && text_[at_] == 'n' ? '\n' : text_[at_];
    }
    expect("\"");
    return out;
  }

  std::string until_brace() {
    skip();
    size_t end = text_.find('}', at_);
    if (end == text_.npos) end = text_.size();
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }

  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool eat(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (good() && !eat(token)) set_error("expected " + std::string(token));
  }

  bool good() const { return error_.empty(); }
  void set_error(std::string what) {
    if (!good()) return;
    auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    error_ = "line " + std::to_string(line) + ": " + what;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
  Graph graph_;
  std::vector<ValueId> entry_params_;
  std::map<int, ValueId> values_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return Parser(text).parse(); }

}  // namespace accel
