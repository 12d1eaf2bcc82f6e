#include "codegen/emit/functions/kernel_entry.h"

#include <functional>
#include <set>

#include "codegen/analysis/block_memory.h"
#include "codegen/analysis/deferred_checks.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

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

// Long sums that nests get as arguments, such as the offsets of many arrays in their concatenation: each is written as the
// difference from an earlier one.
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

std::string condition(const Variant& variant) {
  std::string out;
  for (const auto& [symbol, value] : variant.fixed) {
    out += cat(out.empty() ? "" : " && ", "launch->symbols[", symbol, "] == ", static_cast<long>(value));
  }
  return out.empty() ? "true" : out;
}

void add_cells(Code& out, const Program& program) {
  long cells = 0;
  for (const Buffer& buffer : program.buffers) cells += buffer.kind == BufferKind::cell;
  if (program.target.is_device() && cells == 0) return;
  const std::set<BufferId> checks = deferred_checks(program).cells;  // these come first
  if (program.target.is_device()) {
    out.line(cat("char* const cells = take_cells(launch, ", cells, ", ", static_cast<long>(checks.size()), ");"));
    out.line("if (cells == nullptr) return accel_no_memory;");
  } else {
    out.line(cat("char cells[", cells + 1, "][16];"));
  }
  const char* open = program.target.is_device() ? "cells + 16*" : "cells[";
  const char* close = program.target.is_device() ? ";" : "];";
  long check = 0;
  for (size_t id = 0; id < program.buffers.size(); ++id)
    if (program.buffers[id].kind == BufferKind::cell)
      out.line(cat("buffers[", static_cast<long>(id), "] = ", open,
                   checks.contains(static_cast<BufferId>(id)) ? check++ : --cells, close));
}

// Extra state of a kernel with control flow: symbols it may write, capacities, cells and room for backups.
void add_flow_memory(Code& out, const Program& program) {
  out.line(cat("i64 symbols[", symbol_room(program) + 1, "];"));
  out.line(cat("for (int k = 0; k < ", program.symbol_count, "; ++k) symbols[k] = launch->symbols[k];"));
  out.line("frame.symbols = symbols;");
  out.line(cat("Backup backups[", static_cast<long>(protected_buffers(program).size() + 1), "];"));
  out.line("for (Backup& each : backups) each.memory = nullptr;");
  add_cells(out, program);
}

}  // namespace

std::vector<std::map<int, int64_t>> copies_of(const Program& program) {
  std::vector<std::map<int, int64_t>> copies = {{}};
  for (const Variant& variant : program.variants)
    if (variant.nests.empty()) copies.emplace_back(variant.fixed.begin(), variant.fixed.end());
  return copies;
}

void add_runner(Code& out, const Program& program, const std::string& name, const NestFunctions& nests) {
  auto symbol = [](int number) { return cat("frame->symbols[", number, "]"); };
  auto lives = lifetimes(program);
  out.open(cat("static void ", name, "(Frame* frame)"));
  GivenSums sums(out, program.dims, symbol);
  for (size_t k = 0; k < nests.size(); ++k) {
    const NestFunction& function = nests[k].back();
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
    if (function.is_shared)
      for (BufferId id : function.buffers) arguments.push_back(cat("frame->buffers[", program.memory_of(id), "]"));
    for (const std::string& text : function.dims) arguments.push_back(sums.text(text));
    out.line(cat(function.name, "(", listed(arguments), ");"));
    out.line("if (stopped(frame)) return;");
    each_temp([&](auto life) { return life.second == nest; }, [&](int id) { out.line(cat("drop_temp(frame, ", id, ");")); });
  }
  out.close();
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
  std::string chain, arguments = program.blocks.empty() ? "(&frame)" : "(&frame, backups)";
  int copies = 0;
  for (const Variant& variant : program.variants)
    if (variant.nests.empty()) chain += cat("if (", condition(variant), ") run_", ++copies, arguments, "; else ");
  out.line(cat(chain, "run_0", arguments, ";"));
  if (program.records_events) out.line("flush_events(&frame);");
  if (!program.blocks.empty()) {
    out.line(cat("settle(&frame, backups, ", static_cast<long>(protected_buffers(program).size()), ");"));
    out.line("if (launch->exit != nullptr) *launch->exit = frame.exit;");
  }
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    bool heap = program.buffers[id].kind == BufferKind::temp || program.buffers[id].kind == BufferKind::scratch;
    if (heap) out.line(cat("drop_temp(&frame, ", static_cast<long>(id), ");"));
  }
  out.line("return frame.status;");
  out.close();
}

}  // namespace accel
