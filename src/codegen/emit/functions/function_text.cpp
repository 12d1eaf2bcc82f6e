// The text of a KernelFunction around its statements: arguments, scratch, the inner and the outer function.

#include <algorithm>

#include "codegen/emit/functions/kernel_function.h"

namespace accel {

namespace {

// A nest of at most so many statements, all on single numbers, is no function of its own.
constexpr size_t most_short_statements = 32;

}  // namespace

bool is_inlined(const Nest& nest) {
  return nest.body.size() <= most_short_statements && std::all_of(nest.body.begin(), nest.body.end(), [](const Stmt& stmt) {
           return stmt.body.empty() && stmt.core_dims.empty();
         });
}

std::string KernelFunction::assemble(int events, bool is_region) {
  place_scratch();
  Code out;
  out.raw(before_);
  if (is_region) write_arguments(out);
  write_inner(out, is_region);
  emission_.names.set_names_divisions(false);  // they are the inner function's
  if (is_region || !emission_.copy.all_events) write_outer(out, events, is_region);
  return out.text();
}

// Scratch of a small, known size lies on the stack, the rest on the heap.
void KernelFunction::place_scratch() {
  Names& names = emission_.names;
  int64_t taken = 0;
  for (BufferId id : names.buffers()) {
    const Buffer& info = names.buffer_info(id);
    if (info.kind != BufferKind::scratch) continue;
    auto elements = names.constant_value(info.elements);
    int64_t bytes = elements ? *elements * item_size(info.dtype) : 0;
    if (elements && bytes > 0 && taken + bytes <= most_stack_scratch) {
      taken += bytes;
      stack_.insert(id);
    } else {
      heap_.insert(id);
      if (given_ != nullptr) given_->is_complete = false;  // its number in the frame
      names.dim(info.elements);                            // notes its symbols and divisions
    }
  }
}

std::vector<BufferId> KernelFunction::body_buffers() const {
  std::vector<BufferId> out;
  for (BufferId id : emission_.names.buffers())
    if (!stack_.contains(id) && !(emission_.copy.all_events && heap_.contains(id))) out.push_back(id);
  return out;
}

// Buffers that outer functions get as parameters.
std::vector<BufferId> KernelFunction::passed_buffers() const {
  std::vector<BufferId> out;
  for (BufferId id : emission_.names.buffers())
    if (given_ != nullptr && !stack_.contains(id) && !heap_.contains(id)) out.push_back(id);
  return out;
}

void KernelFunction::write_arguments(Code& out) const {
  out.open(cat("struct ", name_, "_args"));
  out.line("Frame* frame;");
  for (BufferId id : passed_buffers()) out.line(cat("char* b", id, ";"));
  for (const Parameter& p : parameters_) out.line(cat(p.type, " ", p.name, ";"));
  out.close("};");
}

void KernelFunction::write_symbols(Code& out) const {
  for (int symbol : emission_.names.symbols())
    out.line(cat("[[maybe_unused]] const i64 s", symbol, " = frame->symbols[", symbol, "];"));
}

// --- the inner function -----------------------------------------------------------------------------------------------

std::string KernelFunction::parameter_text(bool is_region) const {
  std::vector<std::string> items = {"Frame* frame", "int* status"};
  for (BufferId id : emission_.names.buffers()) {
    bool own = stack_.contains(id) || (!is_region && emission_.copy.all_events && heap_.contains(id));
    if (!own) items.push_back(cat("char* __restrict b", id));
  }
  for (const Parameter& p : parameters_) items.push_back(cat(p.type, " ", p.name));
  if (is_region) items.insert(items.end(), {"i64 begin", "i64 end"});
  return listed(items);
}

void KernelFunction::write_inner(Code& out, bool is_region) {
  Names& names = emission_.names;
  std::string kind = !is_region && is_inlined(emission_.nest) ? "ACCEL_INLINE" : "ACCEL_NEST";
  out.open(cat(kind, " void ", name_, "_body(", parameter_text(is_region), ")"));
  write_symbols(out);
  for (size_t k = 0; k < names.divisions().size(); ++k)
    out.line(cat("const i64 q", static_cast<int>(k), " = ", names.divisions()[k], ";"));
  for (BufferId id : stack_) {
    const Buffer& info = names.buffer_info(id);
    int64_t bytes = *names.constant_value(info.elements) * item_size(info.dtype);
    out.line(cat("char b", id, "[", bytes, "] __attribute__((aligned(", bytes < 64 ? 16 : 64, ")));"));
  }
  if (!is_region && emission_.copy.all_events) {
    for (BufferId id : heap_) {
      out.line(cat("char* __restrict b", id, " = allocate_scratch(frame, ", id, ", ", names.bytes(id), ");"));
      out.line(cat("if (b", id, " == nullptr) return;"));
    }
  }
  if (emission_.has_lanes) out.line("const u64 hidden = opaque<u64>(0);");
  if (emission_.has_sink) out.line("Sink sink;");
  out.raw(emission_.code.text());
  if (emission_.has_sink) out.line("show(sink);");
  out.close();
}

// --- the outer function -----------------------------------------------------------------------------------------------

// What the outer function passes on.
std::vector<std::string> KernelFunction::inner_arguments(bool is_region) const {
  std::vector<std::string> items = {"frame", "&status"};
  for (BufferId id : emission_.names.buffers()) {
    if (heap_.contains(id) || (given_ != nullptr && !is_region && !stack_.contains(id)))
      items.push_back(cat("b", id));
    else if (given_ != nullptr && !stack_.contains(id))
      items.push_back(cat("args->b", id));
    else if (!stack_.contains(id))
      items.push_back(cat("frame->buffers[", emission_.names.memory_of(id), "]"));
  }
  for (const Parameter& p : parameters_) items.push_back(cat(is_region ? "args->" : "", p.name));
  if (is_region) items.insert(items.end(), {"begin", "end"});
  return items;
}

void KernelFunction::write_outer(Code& out, int events, bool is_region) {
  std::string head = "Frame* frame";
  for (BufferId id : passed_buffers()) head += cat(", char* b", id);
  for (const Parameter& p : parameters_) head += cat(", ", p.type, " ", p.name);
  if (is_region) head = "void* arguments, i64 begin, i64 end";
  out.open(cat("static void ", name_, "(", head, ")"));
  if (is_region) {
    out.line(cat("const ", name_, "_args* args = (const ", name_, "_args*)arguments;"));
    out.line("Frame* frame = args->frame;");
  }
  std::string ready;
  if (!heap_.empty()) write_symbols(out);
  for (BufferId id : heap_) {
    out.line(cat("char* b", id, " = take_memory(frame, ", emission_.names.bytes(id), ");"));
    ready += cat(ready.empty() ? "" : " && ", "b", id, " != nullptr");
  }
  out.line("int status = 0;");
  bool records = emission_.copy.program.records_events, has_events = events != 0 && !records;
  if (has_events) out.line("fp_clear();");
  out.line(cat(ready.empty() ? "" : cat("if (", ready, ") "), name_, "_body(", listed(inner_arguments(is_region)), ");"));
  const char* own = records ? "report(frame, status & ~15);" : "report(frame, status);";  // the rest is recorded
  out.line(has_events ? cat("report(frame, status | (fp_read() & ", events, "));") : own);
  for (BufferId id : heap_) out.line(cat("if (b", id, " != nullptr) frame->runtime->release(b", id, ");"));
  out.close();
}

}  // namespace accel
