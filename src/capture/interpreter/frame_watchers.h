#pragma once
// What looks at the frames that are there: at the variables of its caller, at how many references an object has, or at when it
// dies.

namespace accel {

struct FrameWatcher {
  const char* module;
  const char* type;  // of which it is a method; null: it is in the module
  const char* name;
  bool calls_alone;      // a call of it is made by the interpreter alone
  bool needs_variables;  // code that names it keeps all of its variables
};

inline constexpr FrameWatcher frame_watchers[] = {
    {"builtins", nullptr, "locals", true, true},
    {"builtins", nullptr, "vars", true, true},
    {"builtins", nullptr, "dir", true, true},
    {"builtins", nullptr, "eval", true, true},
    {"builtins", nullptr, "exec", true, true},
    {"builtins", nullptr, "super", true, false},
    {"builtins", nullptr, "breakpoint", true, false},
    {"builtins", nullptr, "__build_class__", true, false},
    {"sys", nullptr, "_getframe", true, true},
    {"sys", nullptr, "settrace", true, false},
    {"sys", nullptr, "setprofile", true, false},
    {"sys", nullptr, "exc_info", true, false},
    {"sys", nullptr, "exception", true, false},
    {"sys", nullptr, "getrefcount", true, true},
    {"inspect", nullptr, "currentframe", false, true},
    {"gc", nullptr, "get_referrers", false, true},
    {"gc", nullptr, "get_objects", false, true},
    {"numpy", "ndarray", "resize", true, true},
    {"weakref", nullptr, "weakref", false, true},
    {"weakref", nullptr, "ref", false, true},
    {"weakref", nullptr, "proxy", false, true},
    {"weakref", nullptr, "finalize", false, true},
    {"weakref", nullptr, "WeakSet", false, true},
    {"weakref", nullptr, "WeakValueDictionary", false, true},
    {"weakref", nullptr, "WeakKeyDictionary", false, true},
};

}  // namespace accel
