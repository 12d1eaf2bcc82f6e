#pragma once
// A value or a Failure. Errors are values inside accel: nothing throws through a CPython frame.

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/reasons.h"

namespace accel {

struct Failure {
  Reason reason = Reason::internal_error;
  std::string detail;  // one line for a person, without the reason's own text
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }

  // Requires !ok().
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

struct Unit {};
using Status = Result<Unit>;

inline Failure fail(Reason reason, std::string detail) { return Failure{reason, std::move(detail)}; }

// Evaluates a Result expression; returns its Failure from the enclosing function, or binds its value.
#define ACCEL_JOIN_(a, b) a##b
#define ACCEL_JOIN(a, b) ACCEL_JOIN_(a, b)
#define ACCEL_TRY(decl, expr) ACCEL_TRY_IMPL_(ACCEL_JOIN(accel_try_, __LINE__), decl, expr)
#define ACCEL_TRY_IMPL_(tmp, decl, expr) \
  auto tmp = (expr);                     \
  if (!tmp.ok()) return tmp.failure();   \
  decl = std::move(tmp).value()

}  // namespace accel
