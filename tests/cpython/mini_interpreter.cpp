#include "mini_interpreter.h"

#include <utility>
#include <vector>

#include "cpython/arguments.h"
#include "cpython/function.h"

namespace accel::testing {

namespace {

enum class Outcome { next, jump, returned, failed, unsupported };

class Mini {
 public:
  Mini(PyFunctionObject* function, Bytecode bytecode, std::vector<PyRef> locals, const MiniOptions& options, MiniReport& report)
      : function_(function), bytecode_(std::move(bytecode)), options_(options), report_(report) {
    state_.function = PyRef::borrow(reinterpret_cast<PyObject*>(function));
    state_.locals = std::move(locals);
  }

  PyObject* run(OpenFrame* frame);

 private:
  using Stack = std::vector<PyRef>;

  PyObject* hand_over();
  PyObject* raise(const Instruction& at);
  Outcome step(const Instruction& at);
  Outcome execute(const Instruction& at);
  Outcome execute_local(const Instruction& at);
  Outcome execute_operator(const Instruction& at);
  Outcome execute_container(const Instruction& at);
  Outcome execute_flow(const Instruction& at);
  Outcome execute_call(const Instruction& at);

  Stack& stack() { return state_.stack; }
  PyRef& local(int slot) { return state_.locals[static_cast<size_t>(slot)]; }
  PyRef& peek(int from_top) { return stack()[stack().size() - static_cast<size_t>(from_top)]; }
  void push(PyObject* made) { stack().push_back(PyRef::steal(made)); }
  PyRef pop() {
    PyRef value = std::move(stack().back());
    stack().pop_back();
    return value;
  }
  Outcome push_result(PyObject* made) {
    if (!made) return Outcome::failed;
    push(made);
    return Outcome::next;
  }
  Outcome push_bool(int truth) { return truth < 0 ? Outcome::failed : push_result(Py_NewRef(truth ? Py_True : Py_False)); }
  static Outcome check(int status) { return status < 0 ? Outcome::failed : Outcome::next; }

  Outcome load_global(PyObject* name);
  Outcome format();
  Outcome binary(const Instruction& at);
  Outcome build_items(PyObject* made, int count, bool is_list);
  Outcome build_map(int pairs);
  Outcome build_const_key_map(int count);
  Outcome build_string(int count);
  Outcome unpack(int count);
  Outcome for_iter();
  Outcome branch(bool taken) { return taken ? Outcome::jump : Outcome::next; }
  Outcome branch_if(bool wanted);
  Outcome before_with();
  Outcome load_special(int method);
  Outcome call(int argc, PyObject* names);
  void set_attribute(int attribute);

  PyFunctionObject* function_;
  Bytecode bytecode_;
  const MiniOptions& options_;
  MiniReport& report_;
  OpenFrame* frame_ = nullptr;
  FrameState state_;     // as it is now
  FrameState snapshot_;  // at the last resume point
  PyRef result_;
};

// --- running and giving up ----------------------------------------------------------------------------------------------

PyObject* Mini::hand_over() {
  report_.ending = 2;
  const Instruction& at = bytecode_.instructions[static_cast<size_t>(bytecode_.resume_index(report_.index))];
  snapshot_.offset = at.offset;
  state_ = FrameState();
  return frame_ ? frame_->resume(std::move(snapshot_)) : resume_frame(std::move(snapshot_));
}

PyObject* Mini::raise(const Instruction& at) {
  report_.ending = 3;
  state_.offset = at.offset;
  snapshot_ = FrameState();
  return frame_ ? frame_->raise(std::move(state_)) : raise_in_frame(std::move(state_));
}

Outcome Mini::step(const Instruction& at) {
  if (report_.index == options_.inject) {
    PyErr_SetString(PyExc_ValueError, "injected");
    return Outcome::failed;
  }
  if (!frame_) return execute(at);
  state_.offset = at.offset;
  frame_->show(state_);
  Outcome outcome = execute(at);
  frame_->hide();
  return outcome;
}

PyObject* Mini::run(OpenFrame* frame) {
  frame_ = frame;
  for (int index = 0;;) {
    const Instruction& at = bytecode_.instructions[static_cast<size_t>(index)];
    report_.index = index;
    if (at.is_resume_point()) {
      snapshot_ = state_;
      if (report_.steps == options_.limit) return hand_over();
      ++report_.steps;
    }
    switch (step(at)) {
      case Outcome::next:
        ++index;
        break;
      case Outcome::jump:
        index = at.target;
        break;
      case Outcome::failed:
        return raise(at);
      case Outcome::unsupported:
        return hand_over();
      case Outcome::returned:
        if (frame_) return hand_over();  // an open frame is ended by the interpreter, at its return instruction
        report_.ending = 1;
        return result_.release();
    }
  }
}

// --- locals, names and constants ----------------------------------------------------------------------------------------

Outcome Mini::load_global(PyObject* name) {
  PyObject* value = PyDict_GetItemWithError(function_->func_globals, name);
  if (!value && !PyErr_Occurred()) value = PyDict_GetItemWithError(function_->func_builtins, name);
  if (value) return push_result(Py_NewRef(value));
  return PyErr_Occurred() ? Outcome::failed : Outcome::unsupported;
}

Outcome Mini::execute_local(const Instruction& at) {
  switch (at.op) {
    case Opcode::nop:
    case Opcode::resume:
      return Outcome::next;
    case Opcode::load_const:
      return push_result(Py_NewRef(at.object));
    case Opcode::load_fast:
    case Opcode::load_fast_check:
      return local(at.arg) ? push_result(local(at.arg).new_reference()) : Outcome::unsupported;
    case Opcode::load_fast_and_clear:
      push(local(at.arg).release());
      return Outcome::next;
    case Opcode::store_fast:
      local(at.arg) = pop();
      return Outcome::next;
    case Opcode::delete_fast:
      if (!local(at.arg)) return Outcome::unsupported;
      local(at.arg) = PyRef();
      return Outcome::next;
    case Opcode::make_cell:
      local(at.arg) = PyRef::steal(PyCell_New(local(at.arg).get()));
      return Outcome::next;
    case Opcode::copy_free_vars:
      for (int i = 0; i < at.arg; ++i)
        local(static_cast<int>(state_.locals.size()) - at.arg + i) =
            PyRef::borrow(PyTuple_GET_ITEM(function_->func_closure, i));
      return Outcome::next;
    case Opcode::load_deref: {
      PyObject* value = PyCell_Get(local(at.arg).get());
      return value ? push_result(value) : Outcome::unsupported;
    }
    case Opcode::store_deref:
      return check(PyCell_Set(local(at.arg).get(), pop().get()));
    case Opcode::load_global:
      return load_global(at.object);
    case Opcode::pop_top:
      pop();
      return Outcome::next;
    case Opcode::push_null:
      push(nullptr);
      return Outcome::next;
    case Opcode::copy:
      push(peek(at.arg).new_reference());
      return Outcome::next;
    case Opcode::swap:
      std::swap(peek(1), peek(at.arg));
      return Outcome::next;
    default:
      return execute_operator(at);
  }
}

// --- operators ----------------------------------------------------------------------------------------------------------

using Binary = PyObject* (*)(PyObject*, PyObject*);
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
PyObject* inplace_power(PyObject* a, PyObject* b) { return PyNumber_InPlacePower(a, b, Py_None); }

constexpr Binary binary_functions[2][13] = {
    {PyNumber_Add, PyNumber_And, PyNumber_FloorDivide, PyNumber_Lshift, PyNumber_MatrixMultiply, PyNumber_Multiply,
     PyNumber_Remainder, PyNumber_Or, power, PyNumber_Rshift, PyNumber_Subtract, PyNumber_TrueDivide, PyNumber_Xor},
    {PyNumber_InPlaceAdd, PyNumber_InPlaceAnd, PyNumber_InPlaceFloorDivide, PyNumber_InPlaceLshift,
     PyNumber_InPlaceMatrixMultiply, PyNumber_InPlaceMultiply, PyNumber_InPlaceRemainder, PyNumber_InPlaceOr, inplace_power,
     PyNumber_InPlaceRshift, PyNumber_InPlaceSubtract, PyNumber_InPlaceTrueDivide, PyNumber_InPlaceXor}};

Outcome Mini::binary(const Instruction& at) {
  PyRef right = pop(), left = pop();
  return push_result(binary_functions[at.arg2][at.arg](left.get(), right.get()));
}

Outcome Mini::format() {
  PyRef value = pop();
  if (PyUnicode_CheckExact(value.get())) return push_result(value.release());
  return push_result(PyObject_Format(value.get(), nullptr));
}

Outcome Mini::execute_operator(const Instruction& at) {
  switch (at.op) {
    case Opcode::binary_op:
      return binary(at);
    case Opcode::unary_negative:
      return push_result(PyNumber_Negative(pop().get()));
    case Opcode::unary_positive:
      return push_result(PyNumber_Positive(pop().get()));
    case Opcode::unary_invert:
      return push_result(PyNumber_Invert(pop().get()));
    case Opcode::unary_not:
      return push_bool(PyObject_Not(pop().get()));
    case Opcode::to_bool:
      return push_bool(PyObject_IsTrue(pop().get()));
    case Opcode::compare_op: {
      PyRef right = pop(), left = pop();
      return push_result(PyObject_RichCompare(left.get(), right.get(), at.arg));
    }
    case Opcode::is_op: {
      PyRef right = pop(), left = pop();
      return push_bool((left.get() == right.get()) != (at.arg != 0));
    }
    case Opcode::contains_op: {
      PyRef container = pop(), item = pop();
      int found = PySequence_Contains(container.get(), item.get());
      return push_bool(found < 0 ? -1 : found != at.arg);
    }
    case Opcode::format_simple:
      return format();
    case Opcode::load_attr:
      return push_result(PyObject_GetAttr(pop().get(), at.object));
    case Opcode::load_method: {
      PyRef value = PyRef::steal(PyObject_GetAttr(pop().get(), at.object));
      if (!value) return Outcome::failed;
      push_callable(stack(), std::move(value), PyRef());
      return Outcome::next;
    }
    case Opcode::store_attr: {
      PyRef owner = pop(), value = pop();
      return check(PyObject_SetAttr(owner.get(), at.object, value.get()));
    }
    default:
      return execute_container(at);
  }
}

// --- containers ---------------------------------------------------------------------------------------------------------

Outcome Mini::build_items(PyObject* made, int count, bool is_list) {
  if (!made) return Outcome::failed;
  for (int i = count - 1; i >= 0; --i) {
    PyObject* item = pop().release();
    if (is_list) {
      PyList_SET_ITEM(made, i, item);
    } else {
      PyTuple_SET_ITEM(made, i, item);
    }
  }
  return push_result(made);
}

Outcome Mini::build_map(int pairs) {
  PyRef dict = PyRef::steal(PyDict_New());
  for (int i = pairs; i > 0; --i)
    if (PyDict_SetItem(dict.get(), peek(2 * i).get(), peek(2 * i - 1).get()) < 0) return Outcome::failed;
  stack().resize(stack().size() - 2 * static_cast<size_t>(pairs));
  return push_result(dict.release());
}

Outcome Mini::build_const_key_map(int count) {
  PyRef keys = pop(), dict = PyRef::steal(PyDict_New());
  for (int i = 0; i < count; ++i)
    if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(keys.get(), i), peek(count - i).get()) < 0) return Outcome::failed;
  stack().resize(stack().size() - static_cast<size_t>(count));
  return push_result(dict.release());
}

Outcome Mini::build_string(int count) {
  if (build_items(PyTuple_New(count), count, false) != Outcome::next) return Outcome::failed;
  PyRef parts = pop(), empty = PyRef::steal(PyUnicode_FromString(""));
  return push_result(PyUnicode_Join(empty.get(), parts.get()));
}

Outcome Mini::unpack(int count) {
  if (!PyTuple_CheckExact(peek(1).get()) || PyTuple_GET_SIZE(peek(1).get()) != count) return Outcome::unsupported;
  PyRef tuple = pop();
  for (int i = count - 1; i >= 0; --i) push(Py_NewRef(PyTuple_GET_ITEM(tuple.get(), i)));
  return Outcome::next;
}

Outcome Mini::execute_container(const Instruction& at) {
  switch (at.op) {
    case Opcode::binary_subscr: {
      PyRef key = pop(), container = pop();
      return push_result(PyObject_GetItem(container.get(), key.get()));
    }
    case Opcode::store_subscr: {
      PyRef key = pop(), container = pop(), value = pop();
      return check(PyObject_SetItem(container.get(), key.get(), value.get()));
    }
    case Opcode::build_tuple:
      return build_items(PyTuple_New(at.arg), at.arg, false);
    case Opcode::build_list:
      return build_items(PyList_New(at.arg), at.arg, true);
    case Opcode::build_map:
      return build_map(at.arg);
    case Opcode::build_const_key_map:
      return build_const_key_map(at.arg);
    case Opcode::build_string:
      return build_string(at.arg);
    case Opcode::list_append: {
      PyRef value = pop();
      return check(PyList_Append(peek(at.arg).get(), value.get()));
    }
    case Opcode::unpack_sequence:
      return unpack(at.arg);
    default:
      return execute_flow(at);
  }
}

// --- control flow -------------------------------------------------------------------------------------------------------

Outcome Mini::for_iter() {
  PyObject* iterator = peek(iterator_slots).get();
  PyObject* item = Py_TYPE(iterator)->tp_iternext(iterator);
  if (item) return push_result(item);
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return Outcome::failed;
    PyErr_Clear();
  }
  for (int slot = 0; slot < iterator_slots; ++slot) pop();
  return Outcome::jump;
}

Outcome Mini::branch_if(bool wanted) {
  int truth = PyObject_IsTrue(pop().get());
  return truth < 0 ? Outcome::failed : branch((truth != 0) == wanted);
}

Outcome Mini::execute_flow(const Instruction& at) {
  switch (at.op) {
    case Opcode::get_iter:
      return push_result(PyObject_GetIter(pop().get()));
    case Opcode::for_iter:
      return for_iter();
    case Opcode::jump:
      return Outcome::jump;
    case Opcode::pop_jump_if_true:
      return branch_if(true);
    case Opcode::pop_jump_if_false:
      return branch_if(false);
    case Opcode::pop_jump_if_none:
      return branch(pop().get() == Py_None);
    case Opcode::pop_jump_if_not_none:
      return branch(pop().get() != Py_None);
    case Opcode::jump_if_true_or_pop:
    case Opcode::jump_if_false_or_pop: {
      int truth = PyObject_IsTrue(peek(1).get());
      if (truth < 0) return Outcome::failed;
      if ((truth != 0) == (at.op == Opcode::jump_if_true_or_pop)) return Outcome::jump;
      pop();
      return Outcome::next;
    }
    case Opcode::return_value:
      result_ = pop();
      return Outcome::returned;
    default:
      return execute_call(at);
  }
}

// --- calls --------------------------------------------------------------------------------------------------------------

Outcome Mini::call(int argc, PyObject* names) {
  int size = static_cast<int>(stack().size());
  auto value = [&](int position) { return stack()[static_cast<size_t>(position)].get(); };
  CallSlots slots = call_slots(size, argc, [&](int position) { return value(position) == nullptr; });
  std::vector<PyObject*> args;
  int first = slots.receiver >= 0 ? slots.receiver : slots.first_argument;
  for (int i = first; i < size; ++i) args.push_back(value(i));
  size_t positional = args.size() - static_cast<size_t>(names ? PyTuple_GET_SIZE(names) : 0);
  PyObject* result = PyObject_Vectorcall(value(slots.callable), args.data(), positional, names);
  stack().resize(static_cast<size_t>(size - argc - 2));
  return push_result(result);
}

Outcome Mini::before_with() {
  PyRef enter = PyRef::steal(PyObject_GetAttrString(peek(1).get(), "__enter__"));
  PyRef exit = PyRef::steal(PyObject_GetAttrString(peek(1).get(), "__exit__"));
  if (!enter || !exit) {
    PyErr_Clear();
    return Outcome::unsupported;
  }
  peek(1) = std::move(exit);
  PyObject* value = PyObject_CallNoArgs(enter.get());
  if (!value) pop();
  return push_result(value);
}

Outcome Mini::load_special(int method) {
  constexpr const char* names[] = {"__enter__", "__exit__", "__aenter__", "__aexit__"};
  PyRef found = PyRef::steal(PyObject_GetAttrString(peek(1).get(), names[method]));
  if (!found) {
    PyErr_Clear();
    return Outcome::unsupported;
  }
  pop();
  push_callable(stack(), std::move(found), PyRef());
  return Outcome::next;
}

void Mini::set_attribute(int attribute) {
  PyRef made = pop(), value = pop();
  auto function = reinterpret_cast<PyFunctionObject*>(made.get());
  PyObject** slot = attribute == fn_defaults      ? &function->func_defaults
                    : attribute == fn_kwdefaults  ? &function->func_kwdefaults
                    : attribute == fn_annotations ? &function->func_annotations
#if PY_VERSION_HEX >= 0x030E0000
                    : attribute == fn_annotate ? &function->func_annotate
#endif
                                               : &function->func_closure;
  *slot = value.release();
  push(made.release());
}

Outcome Mini::execute_call(const Instruction& at) {
  switch (at.op) {
    case Opcode::call:
      return call(at.arg, at.object);
    case Opcode::make_function:
      return push_result(PyFunction_New(pop().get(), function_->func_globals));
    case Opcode::set_function_attribute:
      set_attribute(at.arg);
      return Outcome::next;
    case Opcode::before_with:
      return before_with();
    case Opcode::load_special:
      return load_special(at.arg);
    default:
      return Outcome::unsupported;
  }
}

Outcome Mini::execute(const Instruction& at) { return execute_local(at); }

}  // namespace

PyObject* run_mini(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames,
                   const MiniOptions& options, MiniReport& report) {
  report = MiniReport();
  PyCodeObject* code = function_code(function);
  Result<Bytecode> bytecode = decode(code);
  Result<std::vector<PyRef>> locals = bind_arguments(function, args, nargsf, kwnames);
  if (!bytecode || !locals || is_generator_code(code) || !has_recursion_room())
    return call_original(function, args, nargsf, kwnames);
  Mini mini(function, std::move(bytecode).value(), std::move(locals).value(), options, report);
  if (!options.visible) return mini.run(nullptr);
  auto body = [](OpenFrame& frame, void* context) { return static_cast<Mini*>(context)->run(&frame); };
  return with_open_frame(function, body, &mini);
}

}  // namespace accel::testing
