#include "capture/interpreter/control_flow.h"

#include <algorithm>

#include "capture/interpreter/frame_watchers.h"
#include "cpython/function.h"

namespace accel {

namespace {

// Uses of locals. Accesses through a cell read the local, because the cell itself does not change.
LocalUse use_of(Opcode op) {
  switch (op) {
    case Opcode::load_fast:
    case Opcode::load_fast_check:
    case Opcode::load_fast_and_clear:
    case Opcode::delete_fast:
    case Opcode::make_cell:
    case Opcode::load_deref:
    case Opcode::store_deref:
    case Opcode::delete_deref:
    case Opcode::load_classderef:
    case Opcode::load_from_dict_or_deref:
      return LocalUse::reads;
    case Opcode::store_fast:
      return LocalUse::writes;
    default:
      return LocalUse::none;
  }
}

// Uses of a cell's content. Loading the cell counts as reading the content, because whoever gets the cell may read it.
LocalUse use_of_content(Opcode op) {
  if (op == Opcode::store_deref) return LocalUse::writes;
  return op == Opcode::store_fast || op == Opcode::make_cell ? LocalUse::none : use_of(op);
}

// Whether code may observe the variables of its frame, reference counts, or when objects are freed.
bool looks_at_frames(const Bytecode& bytecode) {
  return std::any_of(bytecode.instructions.begin(), bytecode.instructions.end(), [](const Instruction& instruction) {
    PyObject* name = instruction.object;
    if (name == nullptr || !PyUnicode_Check(name) || instruction.op == Opcode::load_const) return false;
    return std::any_of(std::begin(frame_watchers), std::end(frame_watchers), [&](const FrameWatcher& watcher) {
      return watcher.needs_variables && PyUnicode_CompareWithASCIIString(name, watcher.name) == 0;
    });
  });
}

// Whether code may call super(), which reads the first local of the calling frame.
bool may_call_super(PyCodeObject* code) {
  int locals = local_count(code);
  for (int k = locals - free_variable_count(code); k < locals; ++k)
    if (PyUnicode_CompareWithASCIIString(local_name(code, k), "__class__") == 0) return argument_count(code) > 0;
  return false;
}

// Whether the instruction loads an object that is no number that an exit makes: a singleton, a type or a builtin function.
bool loads_lasting_object(const Instruction& instruction) {
  PyObject* object = instruction.op == Opcode::load_const ? instruction.object : nullptr;
  if (object == nullptr) return false;
  return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) || PyType_Check(object) ||
         PyCFunction_Check(object);
}

}  // namespace

CodeFlow::CodeFlow(const Bytecode& bytecode) {
  find_edges(bytecode);
  find_raising(bytecode);
  find_identities(bytecode);
  find_loops();
  auto* code = reinterpret_cast<PyCodeObject*>(bytecode.code.get());
  live_ = live(bytecode, static_cast<size_t>(local_count(code)), use_of);
  content_live_ = live(bytecode, static_cast<size_t>(local_count(code)), use_of_content);
}

void CodeFlow::find_edges(const Bytecode& bytecode) {
  size_t count = bytecode.instructions.size();
  successors_.resize(count);
  header_.assign(count, false);
  joins_.assign(count, false);
  is_protected_.assign(count, false);
  std::vector<int> arrivals(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const Instruction& instruction = bytecode.instructions[i];
    Flow flow = opcode_flow(instruction.op);
    bool falls = flow == Flow::next || flow == Flow::branch;
    if (falls && i + 1 < count) successors_[i].push_back(static_cast<int>(i) + 1);
    if ((flow == Flow::jump || flow == Flow::branch) && instruction.target >= 0) successors_[i].push_back(instruction.target);
    for (int target : successors_[i]) {
      ++arrivals[static_cast<size_t>(target)];
      if (target <= static_cast<int>(i)) header_[static_cast<size_t>(target)] = true;
    }
    // An exception may leave any instruction of a protected range.
    if (instruction.handler >= 0) {
      successors_[i].push_back(bytecode.handlers[static_cast<size_t>(instruction.handler)].target);
      is_protected_[i] = true;
    }
  }
  for (size_t i = 0; i < count; ++i) joins_[i] = arrivals[i] > 1 || header_[i];
}

void CodeFlow::find_loops() {
  size_t count = successors_.size();
  std::vector<std::vector<int>> predecessors(count);
  for (size_t i = 0; i < count; ++i) {
    for (int target : successors_[i]) predecessors[static_cast<size_t>(target)].push_back(static_cast<int>(i));
  }
  for (size_t header = 0; header < count; ++header) {
    if (!header_[header]) continue;
    Loop loop{static_cast<int>(header), 0, std::vector<bool>(count, false)};
    loop.members[header] = true;
    std::vector<int> open;
    for (int source : predecessors[header]) {
      if (source >= loop.header) open.push_back(source);
    }
    while (!open.empty()) {
      int at = open.back();
      open.pop_back();
      loop.end = std::max(loop.end, at);
      if (loop.members[static_cast<size_t>(at)]) continue;
      loop.members[static_cast<size_t>(at)] = true;
      for (int source : predecessors[static_cast<size_t>(at)]) open.push_back(source);
    }
    loops_.push_back(std::move(loop));
  }
}

std::vector<int> CodeFlow::headers_around(int index) const {
  std::vector<int> around;
  for (const Loop& loop : loops_) {
    if (loop.members[static_cast<size_t>(index)]) around.push_back(loop.header);
  }
  return around;
}

int CodeFlow::end_of(int header) const {
  for (const Loop& loop : loops_) {
    if (loop.header == header) return loop.end;
  }
  return header;
}

bool CodeFlow::has_break(int header) const {
  auto stays = [&](int from) {
    return std::ranges::all_of(ordinary_successors(from), [&](int to) { return is_inside(to, header); });
  };
  for (int at = header + 1; at <= end_of(header); ++at)
    if (is_inside(at, header) && !stays(at)) return true;
  return false;
}

// The successors of an instruction without its exception handler, to which compiled code has no edge.
std::span<const int> CodeFlow::ordinary_successors(int index) const {
  const std::vector<int>& next = successors_[static_cast<size_t>(index)];
  return {next.data(), next.size() - (is_protected_[static_cast<size_t>(index)] ? 1 : 0)};
}

// The instructions reachable from `from` within one iteration of the loop.
std::vector<bool> CodeFlow::reached(int from, int header) const {
  std::vector<bool> seen(successors_.size(), false);
  std::vector<int> open = {from};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at == header || (header >= 0 && !is_inside(at, header)) || seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    const std::span<const int> next = ordinary_successors(at);
    open.insert(open.end(), next.begin(), next.end());
  }
  return seen;
}

bool CodeFlow::leaves_instead(int untaken, int taken, int header) const {
  auto is_outside = [&](int at) { return header < 0 ? is_raising(at) : !is_inside(at, header); };
  if (is_outside(untaken)) return !is_outside(taken);
  const std::vector<bool> here = reached(untaken, header), otherwise = reached(taken, header);
  for (size_t at = 0; at < here.size(); ++at)
    if (here[at] && !otherwise[at] && std::ranges::any_of(ordinary_successors(static_cast<int>(at)), is_outside)) return true;
  return false;
}

bool CodeFlow::is_inside(int index, int header) const {
  return std::any_of(loops_.begin(), loops_.end(),
                     [&](const Loop& loop) { return loop.header == header && loop.members[static_cast<size_t>(index)]; });
}

// Backward fixpoint. An exception on the path is one more reason to raise, unless a handler of this code may catch it.
void CodeFlow::find_raising(const Bytecode& bytecode) {
  size_t count = bytecode.instructions.size();
  raises_.assign(count, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = count; i-- > 0;) {
      const Instruction& instruction = bytecode.instructions[i];
      if (raises_[i] || instruction.handler >= 0) continue;
      bool ends = instruction.op == Opcode::raise_varargs;
      bool leads = !successors_[i].empty() && std::all_of(successors_[i].begin(), successors_[i].end(),
                                                          [&](int next) { return raises_[static_cast<size_t>(next)]; });
      raises_[i] = ends || leads;
      changed = changed || raises_[i];
    }
  }
}

void CodeFlow::find_identities(const Bytecode& bytecode) {
  const size_t count = bytecode.instructions.size();
  asks_identity_.assign(count, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = count; i-- > 0;) {
      if (asks_identity_[i]) continue;
      bool asks =
          bytecode.instructions[i].op == Opcode::is_op && (i == 0 || !loads_lasting_object(bytecode.instructions[i - 1]));
      bool leads = std::any_of(successors_[i].begin(), successors_[i].end(),
                               [&](int next) { return asks_identity_[static_cast<size_t>(next)]; });
      asks_identity_[i] = asks || leads;
      changed = changed || asks_identity_[i];
    }
  }
}

// Backward liveness analysis: at each instruction, the locals that are read before they are written.
std::vector<std::vector<bool>> CodeFlow::live(const Bytecode& bytecode, size_t locals, LocalUse (*use_of)(Opcode)) const {
  size_t count = bytecode.instructions.size();
  bool all = looks_at_frames(bytecode);
  std::vector<std::vector<bool>> live(count, std::vector<bool>(locals, all));
  if (all) return live;
  // Cells of the closure are set by an instruction that does not name them, and are read by every function that shares them.
  auto* code = reinterpret_cast<PyCodeObject*>(bytecode.code.get());
  bool calls_read_first = may_call_super(code);
  size_t first_free = locals - static_cast<size_t>(free_variable_count(code));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = count; i-- > 0;) {
      std::vector<bool> now(locals, false);
      for (int next : successors_[i]) {
        for (size_t k = 0; k < locals; ++k) now[k] = now[k] || live[static_cast<size_t>(next)][k];
      }
      const Instruction& instruction = bytecode.instructions[i];
      LocalUse use = use_of(instruction.op);
      if (use != LocalUse::none) now[static_cast<size_t>(instruction.arg)] = use == LocalUse::reads;
      if (calls_read_first && instruction.op == Opcode::call) now[0] = true;
      for (size_t k = first_free; k < locals; ++k) now[k] = true;
      if (now == live[i]) continue;
      live[i] = std::move(now);
      changed = true;
    }
  }
  return live;
}

}  // namespace accel
