#pragma once
// Functions that observe frames: the variables of their caller, reference counts, or when an object is freed.

namespace accel {

struct FrameWatcher {
  const char* module;
  const char* type;  // class of which it is a method; null: a function of the module
  const char* name;
  bool calls_alone;      // its calls are left to the interpreter
  bool needs_variables;  // code that names it keeps all of its variables alive
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
