#include "capture/python/super.h"

#include "capture/protocol/builtin_calls.h"
#include "cpython/function.h"

namespace accel {

namespace {

// The object in a local variable, also inside a cell; null: unbound.
Ref content_of(const Ref& local) {
  if (!local || local->kind != AbstractKind::cell) return local;
  return local->items.empty() ? nullptr : local->items[0];
}

}  // namespace

bool is_super(Capture& capture, const Ref& callable) {
  if (!callable->object || callable->object.get() != reinterpret_cast<PyObject*>(&PySuper_Type)) return false;
  capture.resolver().look(callable);
  return callable->kind == AbstractKind::constant;
}

Result<Ref> super_of(Capture& capture, const Ref& cls, const Ref& self) {
  capture.resolver().look(cls);
  if (cls->kind != AbstractKind::constant || !PyType_Check(cls->object.get()))
    return fail(Reason::unsupported_call, "super of what is no known class");
  Ref made = std::make_shared<AbstractValue>();
  made->kind = AbstractKind::super;
  made->items = {cls, self};
  return made;
}

Result<Ref> super_of_frame(Capture& capture, PyCodeObject* code, const std::vector<Ref>& frame_locals) {
  int locals = local_count(code);
  Ref cls;
  for (int k = locals - free_variable_count(code); k < locals; ++k)
    if (PyUnicode_CompareWithASCIIString(local_name(code, k), "__class__") == 0)
      cls = content_of(frame_locals[static_cast<size_t>(k)]);
  Ref self = argument_count(code) > 0 ? content_of(frame_locals[0]) : nullptr;
  if (!cls || !self) return fail(Reason::unsupported_call, "super() without a class or an argument");
  return super_of(capture, cls, self);
}

Result<Ref> capture_super(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  return super_of(capture, arguments.positional[0], arguments.positional[1]);
}

// object.__init__ without arguments does nothing.
Result<Ref> capture_object_init(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  return capture.values().constant(Py_None);
}

}  // namespace accel
