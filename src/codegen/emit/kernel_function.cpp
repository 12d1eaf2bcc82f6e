#include "codegen/emit/kernel_function.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/emit/expressions.h"

namespace accel {

namespace {

// A nest of at most so many statements, all on single numbers, is no function of its own.
constexpr size_t most_short_statements = 32;
// Iterations of a parallel loop without inner loops that are one unit of distribution.
constexpr const char* element_grain = "1024";

// Symbols from here on stand for dims that a nest's functions are given.
constexpr int first_given = 1 << 24;

bool is_short(const Body& body) {
  return body.size() <= most_short_statements &&
         std::all_of(body.begin(), body.end(), [](const Stmt& stmt) { return stmt.body.empty() && stmt.core_dims.empty(); });
}

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

bool is_inlined(const Nest& nest) { return is_short(nest.body); }

std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest) {
  std::vector<TempId> temps = temps_from_outside(nest.body);
  std::erase_if(temps, [&](TempId temp) { return facts.is_launch_constant(temp); });
  return temps;
}

Result<std::string> KernelFunction::write_nest() {
  names_divisions_ = true;
  check_scratch_is_local();
  for (TempId temp : temps_from_outside(nest_.body)) {
    if (copy_.facts.is_launch_constant(temp))
      recompute(temp);
    else
      parameters_.push_back({type(temp), temp_name(temp), temp_name(temp)});
  }
  for (size_t k = 0; k < nest_.body.size(); ++k) {
    const Stmt& stmt = nest_.body[k];
    bool is_loop = stmt.kind == StmtKind::loop || stmt.kind == StmtKind::tile;
    bool is_round = stmt.kind == StmtKind::loop && known(stmt.extent) == 1;  // nothing to share between threads
    if (nest_.on_calling_thread || is_round)
      write(nest_.body, k);
    else if (is_loop && stmt.loop_kind == LoopKind::parallel)
      parallel_loop(stmt);
    else if (stmt.divide_work && !copy_.program.records_events)
      divided(stmt);
    else
      write(nest_.body, k);
  }
  take_given();
  std::string text = assemble(copy_.facts.events(nest_.body), false);
  if (failure_) return *failure_;
  return text;
}

// --- regions --------------------------------------------------------------------------------------------------------

// A function for `body`, to be run in parallel: temps from outside are its parameters, except constants of the launch.
KernelFunction KernelFunction::region(const Body& body) {
  KernelFunction inner(copy_, nest_, cat(name_, "_r", regions_++), of_regions_);
  inner.names_divisions_ = names_divisions_;
  for (TempId temp : temps_from_outside(body)) {
    if (copy_.facts.is_launch_constant(temp))
      inner.recompute(temp);
    else
      inner.parameters_.push_back({type(temp), temp_name(temp), temp_name(temp)});
  }
  return inner;
}

void KernelFunction::recompute(TempId temp) { write(*copy_.facts.definition(temp)); }

// Runs `inner`, whose text is complete, over [0, count).
void KernelFunction::launch(KernelFunction& inner, const Body& body, const std::string& count, const std::string& grain) {
  inner.take_given();
  if (given_ != nullptr) given_used_.insert(inner.given_used_.begin(), inner.given_used_.end());
  for (Parameter& parameter : inner.parameters_)
    if (given_ == nullptr && parameter.dim.id >= 0) parameter.argument = dim(parameter.dim);
  add_region(inner, inner.assemble(copy_.facts.events(body), true));
  std::vector<std::string> members = {"frame"};
  for (BufferId id : inner.passed_buffers()) members.push_back(buffer(id));
  for (const Parameter& parameter : inner.parameters_) members.push_back(parameter.argument);
  int events = copy_.program.records_events ? 0 : copy_.all_events ? *copy_.all_events : copy_.facts.events(nest_.body);
  code_.open("");
  code_.line(cat("const i64 work = ", nest_.work.id < 0 ? count : dim(nest_.work), ";"));
  code_.open("if (work < frame->serial_work)");
  call_directly(inner, count);
  code_.close("} else {");
  code_.line(cat("  ", inner.name_, "_args args = {", listed(members), "};"));
  code_.line(cat("  run_parallel(frame, status, ", events, ", ", inner.name_, ", &args, ", count, ", ", grain, ", work);"));
  code_.line("}");
  code_.close();
}

// A region with the text of an earlier one but for its names takes that one's name.
void KernelFunction::add_region(KernelFunction& inner, const std::string& text) {
  if (inner.failure_) failure_ = inner.failure_;
  if (of_regions_ == nullptr) {
    before_ += text;
    return;
  }
  std::string unnamed = text;
  for (size_t at = unnamed.find(inner.name_); at != unnamed.npos; at = unnamed.find(inner.name_, at + 1))
    unnamed.replace(at, inner.name_.size(), "%");
  auto [known, is_new] = known_regions_.emplace(with_numbered_names(unnamed), inner.name_);
  if (is_new) before_ += text;
  inner.name_ = known->second;
}

// Runs `inner` over [0, count) here, its events left in the flags.
void KernelFunction::call_directly(KernelFunction& inner, const std::string& count) {
  std::vector<std::string> items = {"frame", "status"};
  std::string ready;
  for (BufferId id : inner.buffers_) {
    if (inner.stack_.contains(id)) continue;
    items.push_back(cat("b", id));
    if (!inner.heap_.contains(id)) {
      buffer(id);
      continue;
    }
    const Buffer& info = buffer_info(id);
    code_.line(cat("char* b", id, " = hold_scratch(frame, ", id, ", ", dim(info.elements), "*", item_size(info.dtype), ");"));
    ready += cat(ready.empty() ? "" : " && ", "b", id, " != nullptr");
  }
  for (const Parameter& parameter : inner.parameters_) items.push_back(parameter.argument);
  items.insert(items.end(), {"0", count});
  code_.line(cat(ready.empty() ? "" : cat("if (", ready, ") "), inner.name_, "_body(", listed(items), ");"));
}

void KernelFunction::parallel_loop(const Stmt& stmt) {
  KernelFunction inner = region(stmt.body);
  bool is_tile = stmt.kind == StmtKind::tile;
  if (is_tile)
    inner.tiled_loop(stmt, "begin", "end");
  else
    inner.counted_loop(stmt, "begin", "end");
  launch(inner, stmt.body, dim(stmt.extent),
         is_tile                  ? std::to_string(stmt.step)
         : is_straight(stmt.body) ? element_grain
                                  : "1");
}

// --- functions ------------------------------------------------------------------------------------------------------

std::string KernelFunction::assemble(int events, bool is_region) {
  place_scratch();
  Code out;
  out.raw(before_);
  if (is_region) {
    out.open(cat("struct ", name_, "_args"));
    out.line("Frame* frame;");
    for (BufferId id : passed_buffers()) out.line(cat("char* b", id, ";"));
    for (const Parameter& p : parameters_) out.line(cat(p.type, " ", p.name, ";"));
    out.close("};");
  }
  write_inner(out, is_region);
  names_divisions_ = false;  // they are the inner function's
  if (is_region || !copy_.all_events) write_outer(out, events, is_region);
  return out.text();
}

std::vector<BufferId> KernelFunction::body_buffers() const {
  std::vector<BufferId> out;
  for (BufferId id : buffers_)
    if (!stack_.contains(id) && !(copy_.all_events && heap_.contains(id))) out.push_back(id);
  return out;
}

// Buffers that outer functions get as parameters.
std::vector<BufferId> KernelFunction::passed_buffers() const {
  std::vector<BufferId> out;
  for (BufferId id : buffers_)
    if (given_ != nullptr && !stack_.contains(id) && !heap_.contains(id)) out.push_back(id);
  return out;
}

// The dims that the text names become parameters.
void KernelFunction::take_given() {
  for (int k : given_used_) parameters_.push_back({"i64", cat("d", k), cat("d", k), given_->dims[static_cast<size_t>(k)]});
}

std::string KernelFunction::parameter_text(bool is_region) const {
  std::vector<std::string> items = {"Frame* frame", "int* status"};
  for (BufferId id : buffers_) {
    bool own = stack_.contains(id) || (!is_region && copy_.all_events && heap_.contains(id));
    if (!own) items.push_back(cat("char* __restrict b", id));
  }
  for (const Parameter& p : parameters_) items.push_back(cat(p.type, " ", p.name));
  if (is_region) items.insert(items.end(), {"i64 begin", "i64 end"});
  return listed(items);
}

void KernelFunction::write_inner(Code& out, bool is_region) {
  std::string kind = !is_region && is_short(nest_.body) ? "ACCEL_INLINE" : "ACCEL_NEST";
  out.open(cat(kind, " void ", name_, "_body(", parameter_text(is_region), ")"));
  write_symbols(out);
  for (size_t k = 0; k < divided_.size(); ++k) out.line(cat("const i64 q", static_cast<int>(k), " = ", divided_[k], ";"));
  for (BufferId id : stack_) {
    const Buffer& info = buffer_info(id);
    int64_t bytes = *known(info.elements) * item_size(info.dtype);
    out.line(cat("char b", id, "[", bytes, "] __attribute__((aligned(", bytes < 64 ? 16 : 64, ")));"));
  }
  if (!is_region && copy_.all_events) {
    for (BufferId id : heap_) {
      std::string bytes = cat(dim(buffer_info(id).elements), "*", item_size(buffer_info(id).dtype));
      out.line(cat("char* __restrict b", id, " = hold_scratch(frame, ", id, ", ", bytes, ");"));
      out.line(cat("if (b", id, " == nullptr) return;"));
    }
  }
  if (has_lanes_) out.line("const u64 hidden = opaque<u64>(0);");
  if (has_sink_) out.line("Sink sink;");
  out.raw(code_.text());
  if (has_sink_) out.line("show(sink);");
  out.close();
}

void KernelFunction::write_outer(Code& out, int events, bool is_region) {
  std::string head = "Frame* frame";
  for (BufferId id : passed_buffers()) head += cat(", char* b", id);
  for (const Parameter& p : parameters_) head += cat(", ", p.type, " ", p.name);
  if (is_region) head = "void* arguments, i64 begin, i64 end";
  out.open(cat("static void ", name_, "(", head, ")"));
  std::vector<std::string> items = {"frame", "&status"};
  for (BufferId id : buffers_) {
    if (heap_.contains(id) || (given_ != nullptr && !is_region && !stack_.contains(id)))
      items.push_back(cat("b", id));
    else if (given_ != nullptr && !stack_.contains(id))
      items.push_back(cat("args->b", id));
    else if (!stack_.contains(id))
      items.push_back(cat("frame->buffers[", memory_of(id), "]"));
  }
  for (const Parameter& p : parameters_) items.push_back(cat(is_region ? "args->" : "", p.name));
  if (is_region) {
    items.insert(items.end(), {"begin", "end"});
    out.line(cat("const ", name_, "_args* args = (const ", name_, "_args*)arguments;"));
    out.line("Frame* frame = args->frame;");
  }
  std::string ready;
  if (!heap_.empty()) write_symbols(out);
  for (BufferId id : heap_) {
    const Buffer& info = buffer_info(id);
    out.line(cat("char* b", id, " = take_memory(frame, ", dim(info.elements), "*", item_size(info.dtype), ");"));
    ready += cat(ready.empty() ? "" : " && ", "b", id, " != nullptr");
  }
  out.line("int status = 0;");
  bool records = copy_.program.records_events, has_events = events != 0 && !records;
  if (has_events) out.line("fp_clear();");
  out.line(cat(ready.empty() ? "" : cat("if (", ready, ") "), name_, "_body(", listed(items), ");"));
  const char* own = records ? "report(frame, status & ~15);" : "report(frame, status);";  // the rest is recorded
  out.line(has_events ? cat("report(frame, status | (fp_read() & ", events, "));") : own);
  for (BufferId id : heap_) out.line(cat("if (b", id, " != nullptr) frame->runtime->release(b", id, ");"));
  out.close();
}

void KernelFunction::write_symbols(Code& out) const {
  for (int symbol : symbols_) out.line(cat("[[maybe_unused]] const i64 s", symbol, " = frame->symbols[", symbol, "];"));
}

// Scratch of a small, known size lies on the stack, the rest on the heap.
void KernelFunction::place_scratch() {
  int64_t taken = 0;
  for (BufferId id : buffers_) {
    const Buffer& info = buffer_info(id);
    if (info.kind != BufferKind::scratch) continue;
    auto elements = known(info.elements);
    int64_t bytes = elements ? *elements * item_size(info.dtype) : 0;
    if (elements && bytes > 0 && taken + bytes <= most_stack_scratch) {
      taken += bytes;
      stack_.insert(id);
    } else {
      heap_.insert(id);
      if (given_ != nullptr) given_->is_complete = false;  // its number in the frame
      dim(info.elements);                                  // notes its symbols and divisions
    }
  }
}

// Scratch is memory of one thread: what a parallel loop uses may not be used outside of it.
void KernelFunction::check_scratch_is_local() {
  std::set<BufferId> inside, outside;
  for (const Stmt& stmt : nest_.body) {
    Body one = {stmt};
    auto ids = buffers_of(one);
    (stmt.loop_kind == LoopKind::parallel ? inside : outside).insert(ids.begin(), ids.end());
  }
  for (BufferId id : inside) {
    if (outside.contains(id) && buffer_info(id).kind == BufferKind::scratch) {
      fail_with(cat("scratch buffer b", id, " is used inside and outside of a parallel loop"));
    }
  }
}

void KernelFunction::fail_with(std::string detail) {
  if (!failure_) failure_ = fail(Reason::internal_error, cat("nest ", nest_.name, ": ", detail));
}

// --- names ----------------------------------------------------------------------------------------------------------

Dim KernelFunction::resolve(Dim d) {
  return copy_.dims.substitute(d, [&](int symbol) -> std::optional<Dim> {
    if (auto found = unrolled_.find(symbol); found != unrolled_.end()) return found->second;
    if (auto found = copy_.fixed.find(symbol); found != copy_.fixed.end()) return copy_.dims.constant(found->second);
    return std::nullopt;
  });
}

// A symbol that stands for a dim which the caller computes.
Dim KernelFunction::given(Dim d) {
  auto known = std::find(given_->dims.begin(), given_->dims.end(), d);
  int number = static_cast<int>(known - given_->dims.begin());
  if (known == given_->dims.end()) given_->dims.push_back(d);
  given_used_.insert(number);
  return copy_.dims.symbol(first_given + number);
}

// The dim with such symbols for its largest parts without loop variables.
Dim KernelFunction::with_given(Dim d) {
  DimTable& dims = copy_.dims;
  auto varies = [&](Dim part) {
    std::vector<int> symbols = dims.symbols(part);
    return !symbols.empty() && symbols.back() >= DimTable::first_variable;
  };
  if (dims.as_constant(d)) return d;
  if (!varies(d)) return given(d);
  DimKind kind = dims.kind(d);
  std::vector<Dim> operands = dims.operands(d);
  if (kind == DimKind::add || kind == DimKind::mul) {
    auto combine = [&](Dim a, Dim b) { return kind == DimKind::add ? dims.add(a, b) : dims.mul(a, b); };
    Dim fixed = dims.constant(kind == DimKind::add ? 0 : 1);
    for (Dim operand : operands)
      if (!varies(operand)) fixed = combine(fixed, operand);
    Dim out = with_given(fixed);
    for (Dim operand : operands)
      if (varies(operand)) out = combine(out, with_given(operand));
    return out;
  }
  if (operands.size() != 2) return d;  // a loop variable
  Dim a = with_given(operands[0]), b = with_given(operands[1]);
  return kind == DimKind::floordiv ? dims.floordiv(a, b)
         : kind == DimKind::mod    ? dims.mod(a, b)
         : kind == DimKind::min    ? dims.min(a, b)
                                   : dims.max(a, b);
}

// Symbols of the text alone: quotients and remainders, and variables of loops that the program does not have.
namespace {
constexpr int first_division = DimTable::first_variable * 2, first_own_variable = DimTable::first_variable * 3;
}  // namespace

int KernelFunction::own_variable() { return first_own_variable + own_variables_++; }

std::string KernelFunction::dim(Dim d) {
  Dim simple = ranges_.simplify(resolve(d));
  return printed(named_divisions(given_ != nullptr ? with_given(simple) : simple));
}

// Loop variables are x0, x1, ...: i8 and i16 are types.
std::string KernelFunction::printed(Dim d) {
  return cpp_dim(copy_.dims, d, [&](int symbol) {
    if (symbol >= first_given) return cat("d", symbol - first_given);
    if (symbol >= first_own_variable) return cat("y", symbol - first_own_variable);
    if (symbol >= first_division) return cat("q", symbol - first_division);
    if (symbol >= DimTable::first_variable) return cat("x", symbol - DimTable::first_variable);
    symbols_.insert(symbol);
    return cat("s", symbol);
  });
}

// g++ does not move a division out of a loop.
Dim KernelFunction::named_divisions(Dim d) {
  DimTable& dims = copy_.dims;
  if (!names_divisions_ || dims.as_constant(d) || dims.as_symbol(d)) return d;
  if (!is_division(dims, d)) return dims.with_operands(d, [&](Dim part) { return named_divisions(part); });
  std::vector<int> symbols = dims.symbols(d);
  Dim divisor = dims.operands(d)[1];
  bool constant = symbols.empty() || symbols.back() < DimTable::first_variable;
  if (!constant || dims.as_constant(divisor)) return dims.with_operands(d, [&](Dim part) { return named_divisions(part); });
  auto [found, is_new] = divisions_.try_emplace(d.id, static_cast<int>(divided_.size()));
  if (is_new) divided_.push_back(cat(printed(divisor), " == 0 ? 0 : ", printed(d)));
  return dims.symbol(first_division + found->second);
}

std::string KernelFunction::variable(Dim var) const { return cat("x", *copy_.dims.as_symbol(var) - DimTable::first_variable); }

std::string KernelFunction::buffer(BufferId id) {
  buffers_.insert(id);
  return cat("b", id);
}

std::string KernelFunction::address(const Address& address) { return cat(buffer(address.buffer), " + ", dim(address.offset)); }

}  // namespace accel
