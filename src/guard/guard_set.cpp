#include "guard/guard_set.h"

#include <algorithm>
#include <set>

#include "guard/fetch.h"
#include "guard/sealed_guards.h"

namespace accel {
namespace {

// Guards that there is something, where another guard of the source says more.
void drop_implied(std::vector<Guard>& guards) {
  std::set<SourceId> guarded;
  auto is_weak = [](const Guard& guard) { return guard.kind == GuardKind::bound && guard.other < 0; };
  for (const Guard& guard : guards) {
    if (guard.source >= 0 && !is_weak(guard) && guard.kind != GuardKind::unbound) guarded.insert(guard.source);
  }
  std::erase_if(guards, [&](const Guard& guard) { return is_weak(guard) && guarded.contains(guard.source); });
}

}  // namespace

void GuardSet::seal() {
  drop_implied(guards);
  sealed_ = std::make_shared<SealedGuards>(seal_guards(*this));
}

bool GuardSet::check(PyObject* function, PyObject* const* locals, Binding& binding) const noexcept {
  return sealed_->check(sources, function, locals, binding);
}

SourceId GuardSet::array_source(int input) const {
  for (const Guard& guard : guards)
    if (guard.kind == GuardKind::array && guard.array.input == input) return guard.source;
  return -1;
}

std::string GuardSet::first_failure(PyObject* function, PyObject* const* locals) const {
  std::vector<int64_t> symbols(static_cast<size_t>(symbol_count) + 1);
  std::vector<void*> inputs(static_cast<size_t>(input_count) + 1);
  Binding binding{symbols.data(), inputs.data(), nullptr};
  for (const Guard& guard : guards) {
    if (guard.kind == GuardKind::relation) {
      const auto& [left, comparison, right] = guard.relation;
      if (!compare(dims.evaluate(left, symbols), comparison, dims.evaluate(right, symbols))) return guard.text;
      continue;
    }
    std::vector<ArrayTest> arrays;
    const GuardStep step = testing_step(guard, arrays);
    PyObject* object = fetch_source(sources, guard.source, function, locals);
    PyObject* other = guard.other >= 0 ? fetch_source(sources, guard.other, function, locals) : nullptr;
    if (!holds(step, object, other, arrays.data(), binding)) return guard.text;
  }
  return {};
}

bool GuardSet::has_device_arrays() const {
  return std::ranges::any_of(guards,
                             [](const Guard& guard) { return guard.kind == GuardKind::array && guard.array.device >= 0; });
}

int GuardSet::traverse(visitproc visit, void* arg) const {
  for (const Source& source : sources) {
    Py_VISIT(source.name.get());
    Py_VISIT(source.dict.get());
  }
  for (const Guard& guard : guards) Py_VISIT(guard.object.get());
  if (sealed_ == nullptr) return 0;
  for (const DictWatch& watch : sealed_->dicts) Py_VISIT(watch.dict.get());
  return 0;
}

}  // namespace accel
