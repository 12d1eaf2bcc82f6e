#pragma once
// CPython's own frame, with accessors that do not depend on the version. For the .cpp files of src/cpython only.

#include <Python.h>

// The internal headers are C. They come in as system headers, so their warnings are not ours.
#define Py_BUILD_CORE 1
#undef HAVE_STD_ATOMIC  // <stdatomic.h> is no C++; the headers fall back on the compiler's builtins
#undef _PyGC_FINALIZED
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#endif
#if PY_VERSION_HEX >= 0x030C0000
#include <internal/pycore_interp.h>
#endif
#undef Py_BUILD_CORE

#if PY_VERSION_HEX >= 0x030D0000
// Of pycore_ceval.h, which is no C++.
extern "C" PyAPI_FUNC(void) _PyEval_FrameClearAndPop(PyThreadState*, _PyInterpreterFrame*);
#endif
#if PY_VERSION_HEX >= 0x030E0000
extern "C" PyAPI_FUNC(_PyInterpreterFrame*)
    _PyEvalFramePushAndInit(PyThreadState*, _PyStackRef function, PyObject* locals, const _PyStackRef* arguments,
                            size_t argument_count, PyObject* names, _PyInterpreterFrame* previous);
#endif

namespace accel {

using InterpreterFrame = _PyInterpreterFrame;

// A local variable or a value on the stack of a frame.
#if PY_VERSION_HEX >= 0x030E0000
using Slot = _PyStackRef;

// Borrowed; null for NULL.
inline PyObject* slot_object(Slot slot) { return PyStackRef_IsNull(slot) ? nullptr : PyStackRef_AsPyObjectBorrow(slot); }
// A slot that owns `object`, a new reference or null.
inline Slot slot_of(PyObject* object) { return object ? PyStackRef_FromPyObjectSteal(object) : PyStackRef_NULL; }
inline void release_slot(Slot slot) { PyStackRef_XCLOSE(slot); }
// A slot that owns no reference to `object`, which has another owner.
inline Slot borrowing_slot(PyObject* object) { return PyStackRef_FromPyObjectBorrow(object); }
// The code unit that a handler finds below its exception.
inline Slot slot_of_unit(int unit) { return PyStackRef_TagInt(unit); }
#else
using Slot = PyObject*;

inline PyObject* slot_object(Slot slot) { return slot; }
inline Slot slot_of(PyObject* object) { return object; }
inline void release_slot(Slot slot) { Py_XDECREF(slot); }
inline Slot slot_of_unit(int unit) { return PyLong_FromLong(unit); }
#endif

inline PyCodeObject* frame_code(InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return _PyFrame_GetCode(frame);
#elif PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
  return frame->f_code;
#endif
}

inline PyObject* frame_function(InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return slot_object(frame->f_funcobj);
#elif PY_VERSION_HEX >= 0x030C0000
  return frame->f_funcobj;
#else
  return reinterpret_cast<PyObject*>(frame->f_func);
#endif
}

// The thread's innermost frame.
inline InterpreterFrame*& current_frame(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame;
#else
  return thread->cframe->current_frame;
#endif
}

// The frame is executing code unit `unit`: what sys._getframe and tracebacks see, and where an error is raised.
inline void set_executing(InterpreterFrame* frame, int unit) {
#if PY_VERSION_HEX >= 0x030D0000
  frame->instr_ptr = _PyCode_CODE(frame_code(frame)) + unit;
#else
  frame->prev_instr = _PyCode_CODE(frame_code(frame)) + unit;
#endif
}

// The evaluator is to execute code unit `unit` next.
inline void set_next(InterpreterFrame* frame, int unit) {
#if PY_VERSION_HEX >= 0x030D0000
  set_executing(frame, unit);
#else
  set_executing(frame, unit - 1);
#endif
}

inline Slot* stack_base(InterpreterFrame* frame) { return frame->localsplus + frame_code(frame)->co_nlocalsplus; }

inline void set_depth(InterpreterFrame* frame, int depth) {
#if PY_VERSION_HEX >= 0x030E0000
  frame->stackpointer = stack_base(frame) + depth;
#else
  frame->stacktop = frame_code(frame)->co_nlocalsplus + depth;
#endif
}

// The slots that are in use: locals and stack.
inline int slots_in_use(InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return static_cast<int>(frame->stackpointer - frame->localsplus);
#else
  return frame->stacktop;
#endif
}

inline void link_frame(PyThreadState* thread, InterpreterFrame* frame) {
  frame->previous = current_frame(thread);
  current_frame(thread) = frame;
}

inline void unlink_frame(PyThreadState* thread, InterpreterFrame* frame) {
  current_frame(thread) = frame->previous;
#if PY_VERSION_HEX >= 0x030F0000
  _PyThreadState_UpdateLastProfiledFrame(thread, frame, frame->previous);
#endif
}

#if PY_VERSION_HEX >= 0x030E0000
// What LOAD_COMMON_CONSTANT loads; borrowed, lives as long as the interpreter.
inline PyObject* common_constant(int number) { return PyThreadState_Get()->interp->common_consts[number]; }
#endif

// Python calls that may still nest in this thread.
inline int& python_recursion_left(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030C0000
  return thread->py_recursion_remaining;
#else
  return thread->recursion_remaining;
#endif
}

}  // namespace accel
