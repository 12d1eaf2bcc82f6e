// Raising and handling of exceptions whose type capture can predict, and the with statement.

#include "capture/context/sources/class_guards.h"
#include "capture/domain/recognised_types.h"
#include "capture/interpreter/opcodes/table.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

bool is_exception(const Ref& value) {
  return value->kind == AbstractKind::object && value->source < 0 && value->object &&
         PyExceptionInstance_Check(value->object.get());
}

Ref opaque() {
  Ref value = std::make_shared<AbstractValue>();
  value->kind = AbstractKind::object;
  value->object = PyRef::borrow(Py_None);
  return value;
}

// exception -- previous exception, exception
Status push_exc_info(Step& step) {
  Ref exception = step.frame.pop();
  step.frame.push(opaque());
  step.frame.push(std::move(exception));
  return Unit{};
}

Status pop_except(Step& step) {
  step.frame.pop();
  return Unit{};
}

Status check_exc_match(Step& step) {
  Ref type = step.frame.pop();
  ACCEL_TRY(PyRef types, step.capture.constants().require_constant(type));
  const Ref& exception = step.frame.peek(1);
  if (!is_exception(exception)) return fail(Reason::internal_error, "no exception is handled");
  bool match = PyErr_GivenExceptionMatches(exception->object.get(), types.get()) != 0;
  step.frame.push(make_bool(step.capture, match));
  return Unit{};
}

Status reraise(Step& step) {
  Ref exception = step.frame.pop();
  if (!is_exception(exception)) return fail(Reason::internal_error, "no exception is handled");
  return step.capture.raised(exception->object);
}

// raise, raise exception, raise exception from cause. The cause is dropped: no exception leaves compiled code from here.
Status raise_varargs(Step& step) {
  int count = step.instruction.arg;
  if (count == 0) return fail(Reason::will_raise, "the code raises an exception here");
  if (count == 2) step.frame.pop();
  Ref exception = step.frame.pop();
  step.capture.resolver().look(exception);
  if (is_exception(exception)) return step.capture.raised(exception->object);
  bool is_class = exception->kind == AbstractKind::constant && is_builtin_exception(exception->object.get());
  if (!is_class) return fail(Reason::will_raise, "the code raises an exception here");
  return step.capture.raised(PyRef::steal(PyObject_CallNoArgs(exception->object.get())));
}

// A generator turns a StopIteration that leaves it into a RuntimeError.
Status stopiteration_error(Step& step) {
  const Ref& exception = step.frame.peek(1);
  if (is_exception(exception) && !PyErr_GivenExceptionMatches(exception->object.get(), PyExc_StopIteration)) return Unit{};
  return fail(Reason::will_raise, "a generator raises StopIteration");
}

// A method of the type of `owner`, bound to it.
Result<Ref> special_method(Step& step, const Ref& owner, const char* name) {
  PyRef text = PyRef::steal(PyUnicode_InternFromString(name));
  if (owner->kind == AbstractKind::opaque) {
    PyTypeObject* type = step.capture.values().type_of(owner);
    guard_class_entry(step.capture, type, text.get());
    PyObject* method = _PyType_Lookup(type, text.get());
    const bool is_method = method != nullptr && (PyFunction_Check(method) || Py_IS_TYPE(method, &PyMethodDescr_Type));
    if (!is_method) return fail(Reason::unsupported_attribute, name);
    return step.capture.values().method(step.capture.values().constant(method), owner);
  }
  return get_attribute(step.capture, owner, text.get());
}

// manager -- exit method, value of __enter__
Status before_with(Step& step) {
  Ref manager = step.frame.pop();
  ACCEL_TRY(Ref enter, special_method(step, manager, "__enter__"));
  ACCEL_TRY(Ref leave, special_method(step, manager, "__exit__"));
  const bool boxed = step.interpreter.call_sites().is_planned();
  if (boxed) step.frame.push(std::move(leave));  // below the result, as the interpreter has it after the call
  Result<Ref> value = boxed ? step.interpreter.call_sites().make(enter, {}) : step.interpreter.call_now(enter, {});
  if (!value.ok()) return value.failure();
  if (!boxed) step.frame.push(std::move(leave));
  step.frame.push(std::move(*value));
  return Unit{};
}

// owner -- method, owner
Status load_special(Step& step) {
  constexpr const char* names[] = {"__enter__", "__exit__", "__aenter__", "__aexit__"};  // by SpecialMethod
  Ref owner = step.frame.pop();
  ACCEL_TRY(Ref method, special_method(step, owner, names[step.instruction.arg]));
  push_method(step, method, owner);
  return Unit{};
}

// exit, lasti, previous, exception -- exit, lasti, previous, exception, result of exit
Status with_except_start(Step& step) {
  const Ref& exception = step.frame.peek(1);
  if (!is_exception(exception)) return fail(Reason::internal_error, "no exception is handled");
  CallArguments arguments;
  arguments.positional = {step.capture.values().constant(reinterpret_cast<PyObject*>(Py_TYPE(exception->object.get()))),
                          exception, opaque()};
  if (exit_is_pair && step.frame.peek(4)->kind != AbstractKind::null)
    arguments.positional.insert(arguments.positional.begin(), step.frame.peek(4));
  ACCEL_TRY(Ref value, step.interpreter.call_now(Ref(step.frame.peek(exit_is_pair ? 5 : 4)), arguments));
  step.frame.push(std::move(value));
  return Unit{};
}

}  // namespace

const OpcodeTable& exception_ops() {
  static const OpcodeTable table = {
      {Opcode::push_exc_info, push_exc_info},
      {Opcode::pop_except, pop_except},
      {Opcode::check_exc_match, check_exc_match},
      {Opcode::reraise, reraise},
      {Opcode::raise_varargs, raise_varargs},
      {Opcode::stopiteration_error, stopiteration_error},
      {Opcode::before_with, before_with},
      {Opcode::load_special, load_special},
      {Opcode::with_except_start, with_except_start},
  };
  return table;
}

}  // namespace accel
