// Locals, cells, globals, attributes and imports.

#include "capture/domain/repr.h"
#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"
#include "capture/python/super.h"

namespace accel {

namespace {

Ref& local(Step& step) { return step.frame.locals[static_cast<size_t>(step.instruction.arg)]; }

Status load_fast(Step& step) {
  if (!local(step)) return fail(Reason::will_raise, "a variable without a value");
  step.frame.push(local(step));
  return Unit{};
}

Status load_fast_and_clear(Step& step) {
  step.frame.push(local(step) ? local(step) : step.interpreter.null());
  local(step) = nullptr;
  return Unit{};
}

Status store_fast(Step& step) {
  Ref value = step.frame.pop();
  local(step) = value->kind == AbstractKind::null ? nullptr : value;
  return Unit{};
}

Status delete_fast(Step& step) {
  if (!local(step)) return fail(Reason::will_raise, "a variable without a value");
  local(step) = nullptr;
  return Unit{};
}

Status make_cell(Step& step) {
  Ref cell = std::make_shared<AbstractValue>();
  cell->kind = AbstractKind::cell;
  if (local(step)) cell->items = {local(step)};
  local(step) = cell;
  return Unit{};
}

Status copy_free_vars(Step& step) {
  const auto& closure = step.frame.closure;
  auto& locals = step.frame.locals;
  if (closure.size() != static_cast<size_t>(step.instruction.arg)) return fail(Reason::internal_error, "the closure's size");
  std::copy(closure.begin(), closure.end(), locals.end() - step.instruction.arg);
  return Unit{};
}

Status load_deref(Step& step) {
  const Ref& cell = local(step);
  if (!cell || cell->kind != AbstractKind::cell) return fail(Reason::internal_error, "not a cell");
  if (cell->items.empty()) return fail(Reason::will_raise, "a variable without a value");
  step.frame.push(cell->items[0]);
  return Unit{};
}

// The cell of a variable. Fails for a cell that existed before the call, because other code can see it.
Result<Ref> own_cell(Step& step) {
  const Ref& cell = local(step);
  if (!cell || cell->kind != AbstractKind::cell) return fail(Reason::internal_error, "not a cell");
  if (cell->object) return fail(Reason::store_to_argument, "a variable of an enclosing function");
  return cell;
}

Status store_deref(Step& step) {
  ACCEL_TRY(Ref cell, own_cell(step));
  cell->items = {step.frame.pop()};
  return Unit{};
}

Status delete_deref(Step& step) {
  ACCEL_TRY(Ref cell, own_cell(step));
  if (cell->items.empty()) return fail(Reason::will_raise, "a variable without a value");
  cell->items.clear();
  return Unit{};
}

// The item of a dict; borrowed, or null without a pending exception.
PyObject* entry(PyObject* dict, PyObject* name) {
  PyObject* found = dict != nullptr && PyDict_CheckExact(dict) ? PyDict_GetItemWithError(dict, name) : nullptr;
  if (found == nullptr) PyErr_Clear();
  return found;
}

Status load_global(Step& step) {
  PyObject* name = step.instruction.object;
  Sources& sources = step.capture.sources();
  PyObject *globals = step.frame.globals.get(), *builtins = step.frame.builtins.get();
  if (!PyDict_CheckExact(globals)) return fail(Reason::unsupported_value, "globals that are no plain dict");
  SourceId source = sources.global(globals, name, utf8(name));
  step.capture.changes().read_namespace(globals);
  PyObject* value = entry(globals, name);
  if (value == nullptr) {
    if (!PyDict_CheckExact(builtins)) return fail(Reason::unsupported_value, "builtins that are no plain dict");
    value = entry(builtins, name);
    if (value == nullptr) return fail(Reason::will_raise, "name " + utf8(name) + " is not defined");
    sources.guard_unbound(source);
    source = sources.global(builtins, name, "builtins." + utf8(name));
    step.capture.changes().read_namespace(builtins);
  }
  ACCEL_TRY(Ref bound, bound_in_module(step.capture, source, value));
  step.frame.push(std::move(bound));
  return Unit{};
}

Status load_attr(Step& step) {
  Ref owner = step.frame.pop();
  ACCEL_TRY(Ref value, get_attribute(step.capture, owner, step.instruction.object));
  step.frame.push(std::move(value));
  return Unit{};
}

// value, owner --
Status store_attr(Step& step) {
  Ref owner = step.frame.pop(), value = step.frame.pop();
  return set_attribute(step.capture, owner, step.instruction.object, value);
}

Status load_method_of(Step& step, const Ref& owner) {
  ACCEL_TRY(Ref value, get_attribute(step.capture, owner, step.instruction.object));
  push_method(step, value, owner);
  return Unit{};
}

Status load_method(Step& step) { return load_method_of(step, step.frame.pop()); }

// super, class, self --
Result<Ref> popped_super(Step& step) {
  Ref self = step.frame.pop(), cls = step.frame.pop(), callable = step.frame.pop();
  if (!is_super(step.capture, callable)) return fail(Reason::unsupported_call, "another super");
  return super_of(step.capture, cls, self);
}

Status load_super_attr(Step& step) {
  ACCEL_TRY(Ref owner, popped_super(step));
  ACCEL_TRY(Ref value, get_attribute(step.capture, owner, step.instruction.object));
  step.frame.push(std::move(value));
  return Unit{};
}

Status load_super_method(Step& step) {
  ACCEL_TRY(Ref owner, popped_super(step));
  return load_method_of(step, owner);
}

// A module that is already imported; importing it again has no effect.
Result<Ref> imported(Step& step, PyObject* name) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* module = entry(modules, name);
  if (module == nullptr || !PyModule_Check(module)) return fail(Reason::unsupported_opcode, "import of " + utf8(name));
  return step.capture.resolver().at(step.capture.sources().global(modules, name, "sys.modules['" + utf8(name) + "']"), module);
}

Status import_name(Step& step) {
  Ref names = step.frame.pop(), level = step.frame.pop();
  ACCEL_TRY(int64_t dots, step.capture.constants().require_int(level));
  if (dots != 0) return fail(Reason::unsupported_opcode, "a relative import");
  std::string path = utf8(step.instruction.object);
  bool leaf = step.capture.constants().is_constant(names) && !names->items.empty();
  if (!leaf) path = path.substr(0, path.find('.'));
  ACCEL_TRY(Ref module, imported(step, PyRef::steal(PyUnicode_InternFromString(path.c_str())).get()));
  step.frame.push(std::move(module));
  return Unit{};
}

Status import_from(Step& step) {
  Ref module = step.frame.peek(1);
  ACCEL_TRY(Ref value, get_attribute(step.capture, module, step.instruction.object));
  step.frame.push(std::move(value));
  return Unit{};
}

}  // namespace

void push_method(Step& step, const Ref& value, const Ref& owner) {
  if (value->kind == AbstractKind::method && value->items[1] == owner) {
    step.frame.push(value->items[0]);
    step.frame.push(owner);
  } else {
    push_callable(step.frame.stack, value, step.interpreter.null());
  }
}

const OpcodeTable& name_ops() {
  static const OpcodeTable table = {
      {Opcode::load_fast, load_fast},
      {Opcode::load_fast_check, load_fast},
      {Opcode::load_fast_and_clear, load_fast_and_clear},
      {Opcode::store_fast, store_fast},
      {Opcode::delete_fast, delete_fast},
      {Opcode::make_cell, make_cell},
      {Opcode::copy_free_vars, copy_free_vars},
      {Opcode::load_deref, load_deref},
      {Opcode::store_deref, store_deref},
      {Opcode::delete_deref, delete_deref},
      {Opcode::load_global, load_global},
      {Opcode::load_attr, load_attr},
      {Opcode::store_attr, store_attr},
      {Opcode::load_method, load_method},
      {Opcode::load_super_attr, load_super_attr},
      {Opcode::load_super_method, load_super_method},
      {Opcode::import_name, import_name},
      {Opcode::import_from, import_from},
  };
  return table;
}

}  // namespace accel
