#include "codegen/emit/functions/kernel_function.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/emit/loops/loop_writer.h"
#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/reductions/divided_reduction_writer.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

namespace {

// Iterations of a parallel loop without inner loops that are one unit of distribution.
constexpr const char* element_grain = "1024";

}  // namespace

std::string with_numbered_names(const std::string& text) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::map<std::string, std::string> names;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    std::string word = text.substr(at, end - at);
    size_t letters = word.starts_with("nx") ? 2 : 1;
    bool is_name = std::string_view("bdtxn").find(word[0]) != std::string_view::npos && word.size() > letters &&
                   std::all_of(word.begin() + static_cast<std::ptrdiff_t>(letters), word.end(), is_digit);
    if (is_name) word = names.try_emplace(word, cat(word.substr(0, letters), static_cast<long>(names.size()))).first->second;
    out += word;
    at = end;
  }
  return out;
}

Result<std::string> KernelFunction::write_nest() {
  emission_.names.set_names_divisions(true);
  check_scratch_is_local();
  take_temps(emission_.nest.body);
  write_statements();
  take_given();
  std::string text = assemble(emission_.copy.facts.events(emission_.nest.body), false);
  if (emission_.failure) return *emission_.failure;
  return text;
}

void KernelFunction::write_statements() {
  const Nest& nest = emission_.nest;
  for (size_t k = 0; k < nest.body.size(); ++k) {
    const Stmt& stmt = nest.body[k];
    bool is_loop = stmt.kind == StmtKind::loop || stmt.kind == StmtKind::tile;
    bool runs_once =
        stmt.kind == StmtKind::loop && emission_.names.constant_value(stmt.extent) == 1;  // nothing to share between threads
    if (nest.on_calling_thread || runs_once)
      StatementWriter(emission_).write_at(nest.body, k);
    else if (is_loop && stmt.loop_kind == LoopKind::parallel)
      parallel_loop(stmt);
    else if (stmt.divide_work && !emission_.copy.program.records_events)
      DividedReductionWriter(*this).divided(stmt);
    else
      StatementWriter(emission_).write_at(nest.body, k);
  }
}

// Scratch is memory of one thread: what a parallel loop uses may not be used outside of it.
void KernelFunction::check_scratch_is_local() {
  std::set<BufferId> inside, outside;
  for (const Stmt& stmt : emission_.nest.body) {
    Body one = {stmt};
    auto ids = buffers_of(one);
    (stmt.loop_kind == LoopKind::parallel ? inside : outside).insert(ids.begin(), ids.end());
  }
  for (BufferId id : inside) {
    if (outside.contains(id) && emission_.names.buffer_info(id).kind == BufferKind::scratch) {
      emission_.fail_with(cat("scratch buffer b", id, " is used inside and outside of a parallel loop"));
    }
  }
}

// Temps from outside of the body: constants of the launch are computed again, others are parameters.
void KernelFunction::take_temps(const Body& body) {
  for (TempId temp : temps_from_outside(body)) {
    if (emission_.copy.facts.is_launch_constant(temp))
      StatementWriter(emission_).write_one(*emission_.copy.facts.definition(temp));
    else
      add_parameter(emission_.names.type(temp), temp_name(temp), temp_name(temp));
  }
}

// The dims that the text names become parameters.
void KernelFunction::take_given() {
  for (int k : emission_.names.given_dims())
    parameters_.push_back({"i64", cat("d", k), cat("d", k), given_->dims[static_cast<size_t>(k)]});
}

void KernelFunction::add_parameter(std::string type, std::string name, std::string argument) {
  parameters_.push_back({std::move(type), std::move(name), std::move(argument)});
}

// --- regions --------------------------------------------------------------------------------------------------------

KernelFunction KernelFunction::region(const Body& body) {
  KernelFunction inner(emission_.copy, emission_.nest, cat(name_, "_r", regions_++), of_regions_);
  inner.emission_.names.set_names_divisions(emission_.names.names_divisions());
  inner.take_temps(body);
  return inner;
}

void KernelFunction::launch(KernelFunction& inner, const Body& body, const std::string& count, const std::string& grain) {
  const Copy& copy = emission_.copy;
  Names& names = emission_.names;
  Code& code = emission_.code;
  inner.take_given();
  if (given_ != nullptr) names.use_given_dims(inner.emission_.names.given_dims());
  for (Parameter& parameter : inner.parameters_)
    if (given_ == nullptr && parameter.dim.id >= 0) parameter.argument = names.dim(parameter.dim);
  add_region(inner, inner.assemble(copy.facts.events(body), true));
  std::vector<std::string> members = {"frame"};
  for (BufferId id : inner.passed_buffers()) members.push_back(names.buffer(id));
  for (const Parameter& parameter : inner.parameters_) members.push_back(parameter.argument);
  const Nest& nest = emission_.nest;
  int events = copy.program.records_events ? 0 : copy.all_events ? *copy.all_events : copy.facts.events(nest.body);
  code.open("");
  code.line(cat("const i64 work = ", nest.work.id < 0 ? count : names.dim(nest.work), ";"));
  code.open("if (work < frame->serial_work)");
  call_directly(inner, count);
  code.close("} else {");
  code.line(cat("  ", inner.name_, "_args args = {", listed(members), "};"));
  code.line(cat("  run_parallel(frame, status, ", events, ", ", inner.name_, ", &args, ", count, ", ", grain, ", work);"));
  code.line("}");
  code.close();
}

// A region with the text of an earlier one but for its names takes that one's name.
void KernelFunction::add_region(KernelFunction& inner, const std::string& text) {
  if (inner.emission_.failure) emission_.failure = inner.emission_.failure;
  if (of_regions_ == nullptr) {
    before_ += text;
    return;
  }
  std::string unnamed = text;
  for (size_t at = unnamed.find(inner.name_); at != unnamed.npos; at = unnamed.find(inner.name_, at + 1))
    unnamed.replace(at, inner.name_.size(), "%");
  auto [name, is_new] = region_names_.emplace(with_numbered_names(unnamed), inner.name_);
  if (is_new) before_ += text;
  inner.name_ = name->second;
}

// Runs `inner` over [0, count) here, its events left in the flags.
void KernelFunction::call_directly(KernelFunction& inner, const std::string& count) {
  Names& names = emission_.names;
  std::vector<std::string> items = {"frame", "status"};
  std::string ready;
  for (BufferId id : inner.emission_.names.buffers()) {
    if (inner.stack_.contains(id)) continue;
    items.push_back(cat("b", id));
    if (!inner.heap_.contains(id)) {
      names.buffer(id);
      continue;
    }
    emission_.code.line(cat("char* b", id, " = allocate_scratch(frame, ", id, ", ", names.bytes(id), ");"));
    ready += cat(ready.empty() ? "" : " && ", "b", id, " != nullptr");
  }
  for (const Parameter& parameter : inner.parameters_) items.push_back(parameter.argument);
  items.insert(items.end(), {"0", count});
  emission_.code.line(cat(ready.empty() ? "" : cat("if (", ready, ") "), inner.name_, "_body(", listed(items), ");"));
}

void KernelFunction::parallel_loop(const Stmt& stmt) {
  KernelFunction inner = region(stmt.body);
  bool is_tile = stmt.kind == StmtKind::tile;
  if (is_tile)
    LoopWriter(inner.emission_).tiled_loop(stmt, "begin", "end");
  else
    LoopWriter(inner.emission_).counted_loop(stmt, "begin", "end");
  bool is_straight = StraightLineWriter(emission_).is_straight(stmt.body);
  std::string extent = emission_.names.dim(stmt.extent);
  launch(inner, stmt.body, extent, is_tile ? std::to_string(stmt.step) : is_straight ? element_grain : "1");
}

}  // namespace accel
