// Program <-> text. One line per buffer, import, variant and statement; the grammar of a statement is in statement_text.cpp.

#include "schedule/program/program.h"
#include "schedule/program/statement_text.h"
#include "schedule/program/text_words.h"

namespace accel {

namespace {

const char* const buffer_kinds[] = {"input", "output", "temp", "scratch", "cell", "alias"};
const char* const mappings[] = {"none", "elements", "rows", "columns", "ordered", "library"};

std::string mapping_text(Mapping mapping) {
  return mapping == Mapping::none ? "" : std::string(" mapping ") + mappings[static_cast<size_t>(mapping)];
}

bool read_mapping(std::string_view word, Mapping& out) {
  for (size_t k = 0; k < std::size(mappings); ++k) {
    if (word != mappings[k]) continue;
    out = static_cast<Mapping>(k);
    return true;
  }
  return false;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string print() {
    const Program& p = program_;
    line(0, "program symbols " + std::to_string(p.symbol_count) + " inputs " + std::to_string(p.input_count) + " outputs " +
                std::to_string(p.output_count));
    if (p.target.kind == TargetKind::cuda) line(0, "target cuda");
    for (size_t k = 0; k < p.buffers.size(); ++k) buffer(k);
    for (const LoopImport& import : p.imports) {
      line(0, std::string("import ") + op_info(import.op).name + " " + dtypes(import.dtypes));
    }
    line(0, "temps " + dtypes(p.temps));
    for (const Variant& variant : p.variants) {
      line(0,
           "variant " + list_text(variant.fixed, [](const auto& f) {
             return "s" + std::to_string(f.first) + " = " + std::to_string(f.second);
           }) + (variant.nests.empty() ? "" : " nests " + list_text(variant.nests, [](int n) { return std::to_string(n); })));
    }
    for (const Nest& nest : p.nests) {
      line(0, "nest " + quote(nest.name) + " work " + dim_text(p.dims, nest.work) +
                  (nest.on_calling_thread ? " calling_thread" : " any_thread") + mapping_text(nest.mapping) + " {");
      body(1, nest.body);
      line(0, "}");
    }
    if (!p.bound_symbols.empty()) line(0, "bound " + list_text(p.bound_symbols, [](int s) { return "s" + std::to_string(s); }));
    for (const ParallelLoop& loop : p.parallel_loops) line(0, parallel_loop(loop));
    if (!p.early.empty()) line(0, "early " + list_text(p.early, [](BufferId b) { return "b" + std::to_string(b); }));
    for (const ProgramBlock& b : p.blocks) block(b);
    return out_;
  }

 private:
  void line(int depth, std::string_view text) { out_.append(static_cast<size_t>(depth) * 2, ' ').append(text).push_back('\n'); }

  static std::string dtypes(const std::vector<DType>& items) {
    return list_text(items, [](DType d) { return std::string(dtype_name(d)); });
  }

  std::string dims(const std::vector<Dim>& items) const {
    return list_text(items, [&](Dim d) { return dim_text(program_.dims, d); });
  }

  void buffer(size_t k) {
    const Buffer& b = program_.buffers[k];
    line(0, "buffer b" + std::to_string(k) + " " + buffer_kinds[static_cast<int>(b.kind)] + " " + dtype_name(b.dtype) + " " +
                dim_text(program_.dims, b.elements) + " " + std::to_string(b.binding) + " " + quote(b.name) +
                (b.shape.empty() ? "" : " " + dims(b.shape)) + (b.strides.empty() ? "" : " " + dims(b.strides)));
  }

  void block(const ProgramBlock& b) {
    line(0, "block {");
    for (const BlockStep& s : b.steps) step(s);
    if (b.end == BlockEnd::exit)
      line(1, "exit " + std::to_string(b.exit) + " " + list_text(b.outputs, [&](const ExitOutput& o) { return output(o); }));
    if (b.end == BlockEnd::jump) line(1, "jump " + edge(b.edges[0]) + poll_text(b));
    if (b.end == BlockEnd::branch)
      line(1, "branch t" + std::to_string(b.condition) + " " + edge(b.edges[0]) + " " + edge(b.edges[1]) +
                  (b.is_guessed ? " guessed" : "") + (b.is_deferrable ? " deferrable" : "") + poll_text(b));
    line(0, "}");
  }

  static std::string poll_text(const ProgramBlock& b) { return b.poll > 0 ? " poll " + std::to_string(b.poll) : ""; }

  void step(const BlockStep& s) {
    if (s.kind == StepKind::nest) return line(1, "run " + std::to_string(s.nest));
    if (s.kind == StepKind::protect) return line(1, "protect b" + std::to_string(s.buffer));
    if (s.kind == StepKind::grow)
      return line(1, "grow b" + std::to_string(s.buffer) + " " + dim_text(program_.dims, s.elements));
    line(1, "scalars {");
    body(2, s.body);
    line(1, "}");
  }

  std::string parallel_loop(const ParallelLoop& loop) {
    auto buffers = [](const std::vector<BufferId>& list) {
      return list_text(list, [](BufferId b) { return "b" + std::to_string(b); });
    };
    return "parallel " + std::to_string(loop.header) + " " + list_text(loop.blocks, [](int b) { return std::to_string(b); }) +
           " t" + std::to_string(loop.counter) + " " + std::to_string(loop.step) + " " + dim_text(program_.dims, loop.end) +
           " work " + dim_text(program_.dims, loop.work) + " least " + std::to_string(loop.least) + " own " +
           buffers(loop.own) + " written " + buffers(loop.written) + (loop.leaves ? " leaves" : "");
  }

  static std::string edge(const Edge& e) {
    auto pair = [](const char* kind, const auto& p) {
      return kind + std::to_string(p.first) + ":" + kind + std::to_string(p.second);
    };
    return std::to_string(e.target) + " " + list_text(e.scalars, [&](const auto& p) { return pair("t", p); }) + " " +
           list_text(e.swaps, [&](const auto& p) { return pair("b", p); });
  }

  std::string output(const ExitOutput& o) {
    std::string place = o.buffer >= 0 ? "b" + std::to_string(o.buffer) : "t" + std::to_string(o.scalar);
    return std::to_string(o.output) + ":" + dtype_name(o.dtype) + ":" + place + ":" +
           list_text(o.shape, [&](Dim d) { return dim_text(program_.dims, d); });
  }

  void body(int depth, const Body& statements) {
    for (const Stmt& stmt : statements) {
      const Row& row = row_of(stmt.kind);
      std::string text = row.has_dst ? "t" + std::to_string(stmt.dst) + " = " : "";
      text += row.name;
      for (const Field& field : row.fields) {
        std::string word = field.print(program_.dims, stmt);
        if (!word.empty()) text += " " + word;
      }
      if (stmt.node >= 0) text += " @" + std::to_string(stmt.node);
      line(depth, row.has_body ? text + " {" : text);
      if (!row.has_body) continue;
      body(depth + 1, stmt.body);
      line(depth, "}");
    }
  }

  const Program& program_;
  std::string out_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Program> parse() {
    if (!next() || !header()) return error();
    while (next()) {
      if (!item()) return error();
    }
    return std::move(program_);
  }

 private:
  using Words = std::vector<std::string_view>;

  // Moves to the next line that is neither empty nor a comment.
  bool next() {
    while (!text_.empty()) {
      size_t end = text_.find('\n');
      words_ = split(text_.substr(0, end), ' ');
      text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
      ++line_;
      if (!words_.empty() && !words_[0].starts_with('#')) return true;
    }
    return false;
  }

  Failure error() const {
    return fail(Reason::internal_error, "program text: line " + std::to_string(line_) + " is malformed");
  }

  bool header() {
    Program& p = program_;
    return words_.size() == 7 && words_[0] == "program" && read_number(words_[2], p.symbol_count) &&
           read_number(words_[4], p.input_count) && read_number(words_[6], p.output_count);
  }

  bool target() {
    program_.target.kind = TargetKind::cuda;
    return words_.size() == 2 && words_[1] == "cuda";
  }

  bool item() {
    if (words_[0] == "target") return target();
    if (words_[0] == "buffer") return buffer();
    if (words_[0] == "import") return import();
    if (words_[0] == "temps") return words_.size() == 2 && dtypes(words_[1], program_.temps);
    if (words_[0] == "variant") return variant();
    if (words_[0] == "bound") {
      return words_.size() == 2 && read_list(words_[1], program_.bound_symbols,
                                             [](std::string_view word, int& s) { return read_prefixed(word, 's', s); });
    }
    if (words_[0] == "early") {
      return words_.size() == 2 && read_list(words_[1], program_.early,
                                             [](std::string_view word, BufferId& b) { return read_prefixed(word, 'b', b); });
    }
    if (words_[0] == "parallel") return parallel_loop(program_.parallel_loops.emplace_back());
    if (words_[0] == "block") return block(program_.blocks.emplace_back());
    return words_[0] == "nest" && nest();
  }

  bool parallel_loop(ParallelLoop& loop) {
    auto number = [](std::string_view word, int& out) { return read_number(word, out); };
    auto buffer = [](std::string_view word, BufferId& b) { return read_prefixed(word, 'b', b); };
    const Words& w = words_;
    loop.leaves = w.back() == "leaves";
    return w.size() == (loop.leaves ? 15u : 14u) && read_number(w[1], loop.header) && read_list(w[2], loop.blocks, number) &&
           read_prefixed(w[3], 't', loop.counter) && read_number(w[4], loop.step) && read_dim(program_.dims, w[5], loop.end) &&
           read_dim(program_.dims, w[7], loop.work) && read_number(w[9], loop.least) && read_list(w[11], loop.own, buffer) &&
           read_list(w[13], loop.written, buffer);
  }

  bool block(ProgramBlock& b) {
    while (next()) {
      const Words w = words_;
      if (w[0] == "}") return w.size() == 1;
      if (w[0] == "scalars") {
        BlockStep s;
        if (!body(s.body)) return false;
        b.steps.push_back(std::move(s));
      } else if (w[0] == "run" && w.size() == 2) {
        BlockStep& s = b.steps.emplace_back(BlockStep{StepKind::nest, {}, -1, -1});
        if (!read_number(w[1], s.nest)) return false;
      } else if (w[0] == "protect" && w.size() == 2) {
        BlockStep& s = b.steps.emplace_back(BlockStep{StepKind::protect, {}, -1, -1});
        if (!read_prefixed(w[1], 'b', s.buffer)) return false;
      } else if (w[0] == "grow" && w.size() == 3) {
        BlockStep& s = b.steps.emplace_back(BlockStep{StepKind::grow, {}, -1, -1});
        if (!read_prefixed(w[1], 'b', s.buffer) || !read_dim(program_.dims, w[2], s.elements)) return false;
      } else if (!block_end(b, w)) {
        return false;
      }
    }
    return false;
  }

  bool block_end(ProgramBlock& b, const Words& w) {
    if (w[0] == "exit") {
      b.end = BlockEnd::exit;
      return w.size() == 3 && read_number(w[1], b.exit) &&
             read_list(w[2], b.outputs, [&](std::string_view word, ExitOutput& o) { return output(word, o); });
    }
    size_t size = w.size();
    if (size > 5 && w[size - 2] == "poll") {
      if (!read_number(w[size - 1], b.poll)) return false;
      size -= 2;
    }
    if (w[0] == "jump") {
      b.end = BlockEnd::jump;
      return size == 4 && edge(w, 1, b.edges[0]);
    }
    b.end = BlockEnd::branch;
    if (size > 8 && w[size - 1] == "deferrable") b.is_deferrable = true, --size;
    b.is_guessed = size == 9 && w[8] == "guessed";
    return w[0] == "branch" && size == (b.is_guessed ? 9U : 8U) && read_prefixed(w[1], 't', b.condition) &&
           edge(w, 2, b.edges[0]) && edge(w, 5, b.edges[1]);
  }

  static bool edge(const Words& w, size_t at, Edge& e) {
    auto pair = [](char kind) {
      return [kind](std::string_view word, auto& out) {
        size_t colon = word.find(':');
        return colon != word.npos && read_prefixed(word.substr(0, colon), kind, out.first) &&
               read_prefixed(word.substr(colon + 1), kind, out.second);
      };
    };
    return read_number(w[at], e.target) && read_list(w[at + 1], e.scalars, pair('t')) &&
           read_list(w[at + 2], e.swaps, pair('b'));
  }

  bool output(std::string_view word, ExitOutput& o) {
    Words parts = split(word, ':');
    if (parts.size() != 4 || !read_number(parts[0], o.output) || !read_dtype(parts[1], o.dtype)) return false;
    bool placed = read_prefixed(parts[2], 'b', o.buffer) || read_prefixed(parts[2], 't', o.scalar);
    return placed &&
           read_list(parts[3], o.shape, [&](std::string_view item, Dim& d) { return read_dim(program_.dims, item, d); });
  }

  static bool dtypes(std::string_view word, std::vector<DType>& out) { return read_list(word, out, read_dtype); }

  bool buffer() {
    Buffer b;
    size_t number = 0;
    if (words_.size() < 7 || words_.size() > 9 || !read_prefixed(words_[1], 'b', number) || number != program_.buffers.size())
      return false;
    auto name = unquote(words_[6]);
    if (name) b.name = *name;
    if (!name || !read_enum(words_[2], buffer_kinds, b.kind) || !read_dtype(words_[3], b.dtype)) return false;
    if (!read_dim(program_.dims, words_[4], b.elements) || !read_number(words_[5], b.binding)) return false;
    auto extent = [&](std::string_view word, Dim& d) { return read_dim(program_.dims, word, d); };
    if (words_.size() > 7 && !read_list(words_[7], b.shape, extent)) return false;
    if (words_.size() > 8 && !read_list(words_[8], b.strides, extent)) return false;
    program_.buffers.push_back(b);
    return true;
  }

  bool import() {
    LoopImport import;
    auto op = words_.size() == 3 ? op_from_name(words_[1]) : std::nullopt;
    if (!op || !dtypes(words_[2], import.dtypes)) return false;
    import.op = *op;
    program_.imports.push_back(import);
    return true;
  }

  bool variant() {
    Variant variant;
    bool good = (words_.size() == 2 || (words_.size() == 4 && words_[2] == "nests")) &&
                read_list(words_[1], variant.fixed, [](std::string_view word, auto& fixed) {
                  Words parts = split(word, '=');
                  return parts.size() == 2 && read_prefixed(parts[0], 's', fixed.first) && read_number(parts[1], fixed.second);
                });
    if (words_.size() == 4)
      good = good && read_list(words_[3], variant.nests, [](std::string_view word, int& n) { return read_number(word, n); });
    program_.variants.push_back(variant);
    return good;
  }

  bool nest() {
    Nest nest;
    auto name = words_.size() == 6 || words_.size() == 8 ? unquote(words_[1]) : std::nullopt;
    if (!name || words_[2] != "work" || !read_dim(program_.dims, words_[3], nest.work)) return false;
    if (words_.size() == 8 && (words_[5] != "mapping" || !read_mapping(words_[6], nest.mapping))) return false;
    nest.name = *name;
    nest.on_calling_thread = words_[4] == "calling_thread";
    if (!body(nest.body)) return false;
    program_.nests.push_back(std::move(nest));
    return true;
  }

  bool body(Body& out) {
    while (next()) {
      if (words_[0] == "}") return words_.size() == 1;
      Stmt stmt;
      if (!statement(stmt)) return false;
      out.push_back(std::move(stmt));
    }
    return false;
  }

  bool statement(Stmt& stmt) {
    size_t at = 0;
    bool has_dst = words_.size() > 2 && words_[1] == "=";
    if (has_dst && !read_prefixed(words_[0], 't', stmt.dst)) return false;
    if (has_dst) at = 2;
    const Row* row = row_named(words_[at++]);
    if (!row || row->has_dst != has_dst) return false;
    stmt.kind = row->kind;
    for (const Field& field : row->fields) {
      bool good = at < words_.size() && field.parse(program_.dims, words_[at], stmt);
      if (!good && !field.optional) return false;
      at += good;
    }
    if (at < words_.size() && words_[at].starts_with('@') && !read_number(words_[at++].substr(1), stmt.node)) return false;
    if (row->has_body != (at < words_.size() && words_[at] == "{")) return false;
    return at + row->has_body == words_.size() && (!row->has_body || body(stmt.body));
  }

  std::string_view text_;
  Words words_;
  int line_ = 0;
  Program program_;
};

}  // namespace

std::string print_program(const Program& program) { return Printer(program).print(); }

Result<Program> parse_program(std::string_view text) { return Parser(text).parse(); }

}  // namespace accel
