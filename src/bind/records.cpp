#include "bind/records.h"

#include "dispatch/signals/interrupt.h"
#include "ir/text/text.h"

namespace accel {
namespace {

py::list guard_texts(const Captured& captured) {
  py::list texts;
  for (const Guard& guard : captured.guards.guards) texts.append(guard.text);
  return texts;
}

py::list notes_record(const Captured& captured) {
  py::list notes;
  for (const Note& note : captured.notes) notes.append(to_python(Fallback{note.reason, note.detail, note.file, note.line}));
  return notes;
}

// Of passes, or of steps of the schedule.
py::list steps_record(const std::vector<StepRecord>& steps) {
  py::list records;
  for (const StepRecord& step : steps) {
    py::dict record;
    record["name"] = step.name;
    record["changed"] = step.changed;
    record["seconds"] = step.seconds;
    record["text"] = step.changed ? step.text : "";
    records.append(record);
  }
  return records;
}

// NumPy's inner loops that the kernel calls: "exp(float64) -> float64".
py::list loops_record(const CompiledKernel& kernel) {
  py::list loops;
  for (const LoopImport& import : kernel.imports()) {
    std::string text = op_info(import.op).name;
    size_t operands = import.dtypes.size() - static_cast<size_t>(op_info(import.op).results);
    for (size_t i = 0; i < import.dtypes.size(); i++) {
      text += i == 0 ? "(" : i == operands ? ") -> " : ", ";
      text += dtype_name(import.dtypes[i]);
    }
    loops.append(text);
  }
  return loops;
}

std::string callable_name(const BoxedCall& call) {
  if (call.python) return call.python->name;
  py::handle object(call.callable.get());
  return py::str(py::hasattr(object, "__qualname__") ? object.attr("__qualname__") : py::repr(object));
}

// The operations that were captured, with their lines: what a test asserts to have been compiled.
py::list operations_record(const Captured& captured) {
  const Graph& graph = captured.graph;
  py::list operations;
  for (const Block& block : graph.blocks) {
    for (NodeId id : block.nodes) {
      const Node& node = graph.nodes[id];
      py::dict record;
      record["op"] = op_info(node.op).name;
      record["dtype"] = node.results.empty() ? "" : dtype_name(graph.type(node.results[0]).dtype);
      record["file"] = node.where.source >= 0 ? graph.sources[node.where.source] : std::string();
      record["line"] = node.where.line;
      if (op_has_call(node.op) && node.op != Op::draw)
        record["callable"] = callable_name(captured.calls[static_cast<size_t>(node.attrs.call)]);
      operations.append(record);
    }
  }
  return operations;
}

// Where calls leave compiled code before the function returns.
py::list exits_record(const Entry& entry) {
  py::list exits;
  for (int exit = 0; exit < static_cast<int>(entry.captured().exits.size()); exit++) {
    if (entry.captured().exits[exit].kind != ExitKind::resume) continue;
    if (is_interrupt(entry.captured().exits[exit]) && entry.history().times_taken(exit) == 0)
      continue;  // any loop may be interrupted
    py::dict record = to_python(entry.fallback_at(exit));
    record["serial"] = py::make_tuple(entry.serial(), exit);
    record["exceptional"] = entry.is_exceptional(exit);
    record["count"] = entry.history().times_taken(exit);
    exits.append(record);
  }
  return exits;
}

// One per loop nest: its lines as (file, line), what it computes, whether threads share it.
py::list nests_record(const Compilation& compilation) {
  py::list nests;
  for (const LoopSummary& summary : compilation.loop_summaries) {
    py::list lines;
    for (auto [source, line] : summary.lines)
      lines.append(py::make_tuple(compilation.graph.sources[static_cast<size_t>(source)], line));
    py::dict record;
    record["lines"] = lines;
    record["operations"] = summary.operations;
    record["parallel"] = summary.is_parallel;
    nests.append(record);
  }
  return nests;
}

void add_compilation(py::dict& record, const Compilation& compilation) {
  record["graph"] = print_graph(compilation.graph);
  record["passes"] = steps_record(compilation.passes);
  record["steps"] = steps_record(compilation.steps);
  record["program"] = compilation.program_text;
  record["schedule_notes"] = compilation.schedule_notes;
  record["source"] = compilation.source;
  record["seconds"] = compilation.seconds;
  record["from_cache"] = compilation.kernel->from_cache();
  record["nests"] = nests_record(compilation);
  record["loops"] = loops_record(*compilation.kernel);
}

// Where the version runs, and what its last run had the device do.
py::dict device_record(const Entry& entry) {
  py::dict record;
  const int device = entry.captured().device;
  record["name"] = device < 0 ? std::string("cpu") : "cuda:" + std::to_string(device);
  const bool has_copies = device < 0 && entry.choice() == by_arguments;
  if (device < 0 && !has_copies) return record;
  const DeviceCounters& work = entry.history().device_work();
  record["bytes_up"] = work.bytes_up;
  record["bytes_down"] = work.bytes_down;
  if (has_copies) return record;
  record["launches"] = work.launches;
  record["graphs"] = work.graphs;
  record["graph_launches"] = work.graph_launches;
  record["waits"] = work.waits;
  if (entry.compilation() == nullptr) return record;
  const DeviceCode& code = entry.compilation()->device_code;
  std::vector<std::string> names;
  for (const KernelName& kernel : code.kernels) names.push_back(kernel.name);
  record["kernels"] = names;
  record["source"] = code.source;
  return record;
}

py::dict version_record(const Entry& entry) {
  const Captured& captured = entry.captured();
  py::dict record;
  record["compiled"] = entry.is_ready();
  record["full"] = entry.is_full();
  record["fallback"] = entry.is_full() ? py::object(py::none()) : py::object(to_python(entry.fallback()));
  record["exits"] = exits_record(entry);
  record["guards"] = guard_texts(captured);
  record["notes"] = notes_record(captured);
  record["instructions"] = captured.instructions;
  record["operations"] = operations_record(captured);
  record["captured_graph"] = print_graph(captured.graph);
  record["device"] = device_record(entry);
  record["runs"] = entry.history().runs();
  record["floating_point_events"] = entry.events().event_count();
  if (entry.compilation() != nullptr) add_compilation(record, *entry.compilation());
  return record;
}

py::dict last_call_record(const Dispatcher& dispatcher) {
  const LastCall& last = dispatcher.last_call();
  std::optional<Fallback> why = dispatcher.last_fallback();
  py::dict record;
  record["answered"] = answered_name(last.how);
  record["fallback"] = why ? py::object(to_python(*why)) : py::object(py::none());
  record["version"] = last.entry ? py::object(version_record(**last.entry)) : py::object(py::none());
  return record;
}

}  // namespace

py::dict counters_record(const Dispatcher& dispatcher) {
  const Counters& counters = dispatcher.counters();
  py::dict record;
  record["calls"] = counters.calls;
  record["compiled"] = counters.compiled;
  record["interpreted"] = counters.interpreted;
  record["side_exits"] = counters.side_exits;
  record["recompiles"] = counters.recompiles;
  record["cache_hits"] = counters.cache_hits;
  return record;
}

py::dict function_record(const Dispatcher& dispatcher) {
  py::list events, versions;
  for (const Event& event : dispatcher.events()) {
    py::dict record = to_python(event.what);
    record["count"] = event.count;
    events.append(record);
  }
  for (const EntryHold& entry : dispatcher.versions()) versions.append(version_record(*entry));
  py::dict record;
  record["counters"] = counters_record(dispatcher);
  record["events"] = events;
  record["versions"] = versions;
  record["last_version"] = dispatcher.last_version();
  record["last_call"] = last_call_record(dispatcher);
  record["pinned"] = dispatcher.pinned() ? py::object(to_python(*dispatcher.pinned())) : py::object(py::none());
  record["backend"] = dispatcher.options().backend_name;
  record["fullgraph"] = dispatcher.options().fullgraph;
  record["disable"] = dispatcher.options().disable;
  return record;
}

}  // namespace accel
