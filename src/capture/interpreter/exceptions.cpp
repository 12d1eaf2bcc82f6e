// Exceptions whose type capture can predict: pure operations on constants raise them, handlers in the captured code catch them.
// If no handler catches one, the instruction that raises it is left to the interpreter.

#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

// A value on the stack that has no recipe, so that no frame can be rebuilt while an exception is handled.
Ref opaque(PyObject* object) {
  Ref value = std::make_shared<AbstractValue>();
  value->kind = AbstractKind::object;
  value->object = PyRef::borrow(object);
  return value;
}

}  // namespace

bool FrameStack::unwind(const Failure& why, size_t base) {
  PyRef exception = capture_.exception_of(why);
  if (!exception) return false;
  for (size_t k = walk_.frames.size(); k-- > base;) {
    const Bytecode& bytecode = walk_.frames[k]->bytecode();
    int handler = bytecode.instructions[static_cast<size_t>(walk_.frames[k]->previous)].handler;
    if (handler < 0) continue;
    const Handler& where = bytecode.handlers[static_cast<size_t>(handler)];
    walk_.frames.resize(k + 1);
    Frame& frame = *walk_.frames[k];
    frame.stack.resize(static_cast<size_t>(where.depth));
    if (where.push_lasti) frame.push(opaque(Py_None));
    frame.push(opaque(exception.get()));
    frame.next = where.target;
    return true;
  }
  return false;
}

}  // namespace accel
