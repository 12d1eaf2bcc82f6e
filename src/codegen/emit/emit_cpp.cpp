// emit_cpp: a Program as one C++ translation unit.

#include <algorithm>
#include <functional>

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/control_function.h"
#include "codegen/emit/expressions.h"
#include "codegen/emit/functions/kernel_function.h"
#include "codegen/emit/prelude_parts.h"
#include "codegen/kernel_source.h"
#include "codegen/prelude.h"

namespace accel {

namespace {

// Nests with as many regions may have equal ones.
constexpr int least_shared_regions = 3;

// Functions of the nests, one list of them per copy. Copies with the same text share a function, and so do nests that differ in
// nothing but what they are given.
class NestTexts {
 public:
  NestTexts(const Program& program, const Facts& facts) : program_(program), facts_(facts) {}

  // Adds the functions of the copy with `fixed` symbols to `out`.
  Result<std::vector<NestFunction>> add_copy(Code& out, const std::map<int, int64_t>& fixed) {
    std::vector<NestFunction> general;
    std::vector<std::vector<NestFunction>> functions;
    Copy copy{program_, facts_, program_.dims, fixed};
    if (!program_.blocks.empty()) copy.all_events = program_.records_events ? 0 : all_events();
    if (copies_ == 0) {
      ACCEL_TRY([[maybe_unused]] Unit found, find_shared(copy));
    }
    for (size_t k = 0; k < program_.nests.size(); ++k) {
      ACCEL_TRY(functions.emplace_back(), functions_of(out, k, copy));
      general.push_back(functions.back().back());
    }
    ++copies_;
    if (!program_.blocks.empty()) {
      ACCEL_TRY(std::string text, ControlFunction(copy, functions, cat("run_", copies_ - 1)).write_program());
      out.raw(text);
    }
    return general;
  }

 private:
  // The text of a nest's functions when all is given that they need.
  struct SharedText {
    std::string text, plain;  // plain: when they read it from the frame
    NestFunction function;    // with the name of the first nest that has it
  };

  // Nests whose functions differ in names only get those of the first one.
  Status find_shared(Copy& copy) {
    std::map<std::string, std::vector<size_t>> equal;
    std::map<size_t, SharedText> texts;
    for (size_t k = 0; k < program_.nests.size(); ++k) {
      if (is_inlined(program_.nests[k])) continue;
      GivenDims given;
      KernelFunction function(copy, program_.nests[k], "$", &given, &given);
      SharedText shared;
      ACCEL_TRY(shared.text, function.write_nest());
      if (!given.is_complete) continue;
      shared.function = {{}, function.body_buffers(), {}, true, {}};
      for (Dim d : given.dims) shared.function.dims.push_back(copy.dims.text(d));
      equal[with_numbered_names(shared.text)].push_back(k);
      texts.emplace(k, std::move(shared));
    }
    for (const auto& [text, nests] : equal) {
      for (size_t k : nests) {
        if (nests.size() < 2) continue;
        SharedText& shared = texts.at(k);
        shared.function.name = cat("nest", static_cast<long>(nests[0]));
        ACCEL_TRY(shared.plain, KernelFunction(copy, program_.nests[k], "$").write_nest());
        shared_.emplace(k, std::move(shared));
      }
    }
    return Unit{};
  }

  // The nest's functions in a copy: those of its variants, and the one that fits always.
  Result<std::vector<NestFunction>> functions_of(Code& out, size_t k, Copy& copy) {
    std::vector<NestFunction> functions;
    ACCEL_TRY(NestFunction general, function_of(out, k, copy, copies_));
    for (size_t v = 0; v < program_.variants.size(); ++v) {
      const Variant& variant = program_.variants[v];
      if (std::count(variant.nests.begin(), variant.nests.end(), static_cast<int>(k)) == 0) continue;
      Copy fixed = copy;
      fixed.fixed.insert(variant.fixed.begin(), variant.fixed.end());
      ACCEL_TRY(NestFunction function, function_of(out, k, fixed, static_cast<int>(v) + 1));
      function.fixed = variant.fixed;
      if (function.name != general.name) functions.push_back(std::move(function));
    }
    functions.push_back(std::move(general));
    return functions;
  }

  Result<NestFunction> function_of(Code& out, size_t k, Copy& copy, int number) {
    std::string base = cat("nest", static_cast<long>(k));
    KernelFunction function(copy, program_.nests[k], "$");
    ACCEL_TRY(std::string text, function.write_nest());
    if (auto shared = shared_.find(k); shared != shared_.end() && shared->second.plain == text) {
      const NestFunction& first = shared->second.function;
      if (first.name == base && names_.emplace(base, base).second) add(out, k, shared->second.text, base);
      return first;
    }
    if (function.region_count() >= least_shared_regions) {
      GivenDims given;
      ACCEL_TRY(std::string shorter, KernelFunction(copy, program_.nests[k], "$", nullptr, &given).write_nest());
      if (given.is_complete && shorter.size() < text.size()) text = std::move(shorter);
    }
    std::string name = number == 0 ? base : cat(base, "_v", number);
    auto [known, is_new] = names_.emplace(cat(base, ":", text), name);
    if (is_new) add(out, k, text, name);
    return NestFunction{known->second, function.body_buffers(), {}, false, {}};
  }

  int all_events() const {
    int bits = 0;
    for (const Nest& nest : program_.nests) bits |= facts_.events(nest.body);
    for (const ProgramBlock& block : program_.blocks)
      for (const BlockStep& step : block.steps) bits |= facts_.events(step.body);
    return bits;
  }

  void add(Code& out, size_t k, std::string text, const std::string& name) {
    for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at + name.size())) text.replace(at, 1, name);
    if (!program_.nests[k].name.empty()) out.line(cat("// ", program_.nests[k].name));
    out.raw(text);
  }

  const Program& program_;
  const Facts& facts_;
  std::map<std::string, std::string> names_;
  std::map<size_t, SharedText> shared_;  // by nest
  int copies_ = 0;
};

// Nests that use each temp: first and last.
std::vector<std::pair<int, int>> lifetimes(const Program& program) {
  std::vector<std::pair<int, int>> out(program.buffers.size(), {-1, -1});
  for (size_t k = 0; k < program.nests.size(); ++k) {
    for (BufferId id : buffers_of(program.nests[k].body)) {
      auto& [first, last] = out[static_cast<size_t>(id)];
      if (first < 0) first = static_cast<int>(k);
      last = static_cast<int>(k);
    }
  }
  return out;
}

// Writes long sums that nests are given as what differs from one before: where each of many arrays begins in their join.
class GivenSums {
 public:
  GivenSums(Code& out, const DimTable& dims, std::function<std::string(int)> symbol)
      : out_(out), dims_(dims), symbol_(std::move(symbol)) {}

  std::string text(const std::string& given) {
    const Dim d = *dims_.parse(given);
    if (dims_.length(d) <= longest_written) return cpp_dim(dims_, d, symbol_);
    Dim rest = d;
    size_t from = last_.size();
    for (size_t k = last_.size(); k-- > 0;) {
      const Dim difference = dims_.sub(d, last_[k].first);
      if (dims_.length(difference) < dims_.length(rest)) rest = difference, from = k;
    }
    if (from < last_.size() && dims_.is_constant(rest, 0)) return last_[from].second;
    const std::string name = cat("given", count_++), before = from < last_.size() ? cat(last_[from].second, " + ") : "";
    out_.line(cat("const i64 ", name, " = ", before, cpp_dim(dims_, rest, symbol_), ";"));
    last_.emplace_back(d, name);
    if (last_.size() > most_compared) last_.erase(last_.begin());
    return name;
  }

 private:
  static constexpr int64_t longest_written = 16;
  static constexpr size_t most_compared = 4;
  Code& out_;
  DimTable dims_;
  std::function<std::string(int)> symbol_;
  std::vector<std::pair<Dim, std::string>> last_;
  int count_ = 0;
};

// The function that runs a copy of the nests in order, with the memory of the temps.
void add_runner(Code& out, const Program& program, const std::string& name, const std::vector<NestFunction>& nests) {
  auto symbol = [](int number) { return cat("frame->symbols[", number, "]"); };
  auto lives = lifetimes(program);
  out.open(cat("static void ", name, "(Frame* frame)"));
  GivenSums sums(out, program.dims, symbol);
  for (size_t k = 0; k < nests.size(); ++k) {
    auto each_temp = [&](auto matches, auto act) {
      for (size_t id = 0; id < program.buffers.size(); ++id) {
        if (program.buffers[id].kind == BufferKind::temp && matches(lives[id])) act(static_cast<int>(id));
      }
    };
    int nest = static_cast<int>(k);
    each_temp([&](auto life) { return life.first == nest; },
              [&](int id) {
                const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
                std::string elements = cpp_dim(program.dims, buffer.elements, symbol);
                out.line(cat("if (!take_temp(frame, ", id, ", ", elements, "*", item_size(buffer.dtype), ")) return;"));
              });
    std::vector<std::string> arguments = {"frame"};
    if (nests[k].is_shared)
      for (BufferId id : nests[k].buffers) arguments.push_back(cat("frame->buffers[", program.memory_of(id), "]"));
    for (const std::string& text : nests[k].dims) arguments.push_back(sums.text(text));
    out.line(cat(nests[k].name, "(", listed(arguments), ");"));
    out.line("if (stopped(frame)) return;");
    each_temp([&](auto life) { return life.second == nest; }, [&](int id) { out.line(cat("drop_temp(frame, ", id, ");")); });
  }
  out.close();
}

std::string condition(const Variant& variant) {
  std::string out;
  for (const auto& [symbol, value] : variant.fixed) {
    out += cat(out.empty() ? "" : " && ", "launch->symbols[", symbol, "] == ", static_cast<long>(value));
  }
  return out.empty() ? "true" : out;
}

// What a kernel with control flow needs besides: symbols it may write, capacities, cells and room for what it has to put back.
void add_flow_memory(Code& out, const Program& program) {
  out.line(cat("i64 symbols[", symbol_room(program) + 1, "];"));
  out.line(cat("for (int k = 0; k < ", program.symbol_count, "; ++k) symbols[k] = launch->symbols[k];"));
  out.line("frame.symbols = symbols;");
  out.line(cat("Kept kept[", static_cast<long>(protected_buffers(program).size() + 1), "];"));
  out.line("for (Kept& each : kept) each.memory = nullptr;");
  long cells = 0;
  for (const Buffer& buffer : program.buffers) cells += buffer.kind == BufferKind::cell;
  out.line(cat("char cells[", cells + 1, "][16];"));
  for (size_t id = 0; id < program.buffers.size(); ++id)
    if (program.buffers[id].kind == BufferKind::cell)
      out.line(cat("buffers[", static_cast<long>(id), "] = cells[", --cells, "];"));
}

void add_entry(Code& out, const Program& program, int panels) {
  out.raw("\nextern \"C\" __attribute__((visibility(\"default\")))\n");
  out.open("int accel_kernel(const AccelLaunch* launch)");
  out.line(cat("char* buffers[", static_cast<long>(program.buffers.size() + 1), "] = {};"));
  out.line(cat("i64 capacities[", static_cast<long>(program.buffers.size() + 1), "] = {};"));
  out.line(
      "Frame frame = {launch->runtime, launch->imports, launch->symbols, buffers, 0, capacities, "
      "serial_work_of(launch->runtime), launch, 0, nullptr, {}, nullptr, 0};");
  if (!program.blocks.empty()) add_flow_memory(out, program);
  if (panels > 0) {
    out.line(cat("Panel panels[", panels, "] = {};"));
    out.line("frame.panels = panels;");
    out.line(cat("forget_panels(&frame, ", panels, ");"));
  }
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.kind != BufferKind::input && buffer.kind != BufferKind::output) continue;
    if (buffer.kind == BufferKind::output && !program.blocks.empty()) continue;  // of one of the exits
    const char* table = buffer.kind == BufferKind::input ? "inputs" : "outputs";
    out.line(cat("buffers[", static_cast<long>(id), "] = (char*)launch->", table, "[", buffer.binding, "];"));
  }
  std::string chain, arguments = program.blocks.empty() ? "(&frame)" : "(&frame, kept)";
  int copies = 0;
  for (const Variant& variant : program.variants)
    if (variant.nests.empty()) chain += cat("if (", condition(variant), ") run_", ++copies, arguments, "; else ");
  out.line(cat(chain, "run_0", arguments, ";"));
  if (program.records_events) out.line("flush_events(&frame);");
  if (!program.blocks.empty()) {
    out.line(cat("settle(&frame, kept, ", static_cast<long>(protected_buffers(program).size()), ");"));
    out.line("if (launch->exit != nullptr) *launch->exit = frame.exit;");
  }
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    bool heap = program.buffers[id].kind == BufferKind::temp || program.buffers[id].kind == BufferKind::scratch;
    if (heap) out.line(cat("drop_temp(&frame, ", static_cast<long>(id), ");"));
  }
  out.line("return frame.status;");
  out.close();
}

}  // namespace

Result<KernelSource> emit_cpp(const Program& program, bool quiet_comparisons) {
  Facts facts(program, quiet_comparisons);
  Code out;
  if (quiet_comparisons) out.raw("#define ACCEL_QUIET_COMPARISONS 1\n");
  out.raw(prelude_part("library"));
  out.raw("namespace accel_kernel_text {\n");
  add_prelude(out, program);
  NestTexts texts(program, facts);
  std::vector<std::map<int, int64_t>> copies = {{}};
  for (const Variant& variant : program.variants)
    if (variant.nests.empty()) copies.emplace_back(variant.fixed.begin(), variant.fixed.end());
  for (size_t k = 0; k < copies.size(); ++k) {
    ACCEL_TRY(std::vector<NestFunction> nests, texts.add_copy(out, copies[k]));
    if (program.blocks.empty()) add_runner(out, program, cat("run_", static_cast<long>(k)), nests);
  }
  add_entry(out, program, facts.panel_count());
  out.raw("}  // namespace accel_kernel_text\n");
  return KernelSource{out.text(), program.imports};
}

}  // namespace accel
