#pragma once
// ValueScope owns the abstract values of one capture. They may form reference cycles and hold objects of the caller; when an
// attempt ends, the scope breaks the cycles and frees them.

namespace accel {

// Base class of values that a scope frees: links itself into the list of the thread's innermost scope, if there is one.
class ScopedValue {
 public:
  ScopedValue();
  ScopedValue(const ScopedValue&) : ScopedValue() {}
  ScopedValue& operator=(const ScopedValue&) { return *this; }
  ~ScopedValue() { unlink(); }

 private:
  friend class ValueScope;
  void unlink();

  ScopedValue *previous_ = this, *next_ = this;
};

// Scopes of one thread nest: folding a call may run a finalizer that calls a compiled function.
class ValueScope {
 public:
  ValueScope();
  ~ValueScope();
  ValueScope(const ValueScope&) = delete;
  ValueScope& operator=(const ValueScope&) = delete;

  // Drops the references between all values of this scope. None of them may be used afterwards.
  void free_values();

 private:
  friend class ScopedValue;
  ScopedValue values_;  // anchor of the list
  ValueScope* outer_;
};

}  // namespace accel
