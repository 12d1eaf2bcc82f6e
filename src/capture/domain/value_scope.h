#pragma once
// ValueScope: the abstract values of one capture. They may refer to each other in cycles, as the objects that they stand for
// do, and hold objects of the caller: what is left of them when an attempt ends is freed here.

namespace accel {

// Base of what is freed: a member of the list of the innermost scope of its thread, if there is one.
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

  // Parts all values made in this scope from each other. Nobody may use one afterwards.
  void free_values();

 private:
  friend class ScopedValue;
  ScopedValue values_;  // anchor of the list
  ValueScope* outer_;
};

}  // namespace accel
