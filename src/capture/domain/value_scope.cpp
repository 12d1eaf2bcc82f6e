#include "capture/domain/value_scope.h"

#include <utility>

#include "capture/domain/value.h"

namespace accel {

namespace {

thread_local ValueScope* innermost_scope = nullptr;

}  // namespace

ScopedValue::ScopedValue() {
  if (innermost_scope == nullptr) return;
  ScopedValue& anchor = innermost_scope->values_;
  previous_ = anchor.previous_;
  next_ = &anchor;
  previous_->next_ = next_->previous_ = this;
}

void ScopedValue::unlink() {
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = this;
}

// values_ is constructed while the outer scope is the innermost one, so it has linked itself there.
ValueScope::ValueScope() : outer_(innermost_scope) {
  values_.unlink();
  innermost_scope = this;
}

ValueScope::~ValueScope() {
  free_values();
  innermost_scope = outer_;
}

void ValueScope::free_values() {
  // The moved contents die at the end of this function, after all values were visited: their destructors unlink values and may
  // run finalizers.
  std::vector<AbstractValue> parts;
  std::vector<ScopedValue*> open;
  for (ScopedValue* each = values_.next_; each != &values_; each = each->next_) open.push_back(each);
  parts.reserve(open.size());
  for (ScopedValue* each : open) {
    auto& value = static_cast<AbstractValue&>(*each);
    each->unlink();
    parts.push_back(std::move(value));
  }
}

}  // namespace accel
