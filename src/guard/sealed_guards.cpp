#include "guard/sealed_guards.h"

#include <algorithm>

#include "cpython/dict_version.h"
#include "guard/fetch.h"

namespace accel {
namespace {

PyObject* before_replacement(const std::vector<Replaced>& replaced, const Source& source, PyObject* parent, PyObject* object) {
  auto is_same_source = [&](const Replaced& each) {
    if (each.object.get() != parent) return false;
    if (source.kind == SourceKind::item) return PyLong_AsLongLong(each.name.get()) == source.index;
    return each.name.get() == source.name.get();
  };
  auto found = std::find_if(replaced.begin(), replaced.end(), is_same_source);
  return parent != nullptr && found != replaced.end() ? found->before.get() : object;
}

bool all_hold(const std::vector<RelationTest>& relations, const int64_t* symbols) {
  for (const RelationTest& relation : relations) {
    if (!compare(relation.left.evaluate(symbols), relation.comparison, relation.right.evaluate(symbols))) return false;
  }
  return true;
}

bool run(const std::vector<GuardStep>& steps, const std::vector<ArrayTest>& arrays, const std::vector<Source>& sources,
         PyObject* function, PyObject* const* locals, Binding& binding) {
  for (const GuardStep& step : steps) {
    PyObject*& object = binding.sources[step.source];
    if (step.reads) {
      const Source& source = sources[step.source];
      PyObject* parent = source.parent >= 0 ? binding.sources[source.parent] : nullptr;
      object = fetch_from(source, parent, function, locals);
      if (binding.replaced != nullptr) [[unlikely]]
        object = before_replacement(*binding.replaced, source, parent, object);
    } else {
      PyObject* other = step.other >= 0 ? binding.sources[step.other] : nullptr;
      if (!holds(step, object, other, arrays.data(), binding)) return false;
    }
  }
  return true;
}

bool unchanged(const SealedGuards& sealed) {
  for (const DictWatch& watch : sealed.dicts) {
    if (*watch.version != watch.seen) return false;
  }
  for (const TypeWatch& watch : sealed.types) {
    if (watch.seen == 0 || type_version(watch.type) != watch.seen) return false;
  }
  return sealed.tested_once;
}

bool parts_hold(const SealedGuards& sealed) {
  for (const FunctionPartTest& test : sealed.function_parts) {
    if ((*test.part != nullptr ? *test.part : Py_None) != test.expected) return false;
  }
  return true;
}

bool check_lasting(SealedGuards& sealed, const std::vector<Source>& sources, PyObject* function, PyObject* const* locals,
                   Binding& binding) {
  if (unchanged(sealed)) {
    for (size_t i = 0; i < sealed.cached.size(); i++) binding.sources[sealed.cached[i]] = sealed.cached_objects[i];
    return true;
  }
  sealed.tested_once = false;
  if (!run(sealed.lasting_steps, sealed.arrays, sources, function, locals, binding)) return false;
  for (DictWatch& watch : sealed.dicts) watch.seen = *watch.version;
  for (TypeWatch& watch : sealed.types) watch.seen = assign_type_version(watch.type);
  for (size_t i = 0; i < sealed.cached.size(); i++) sealed.cached_objects[i] = binding.sources[sealed.cached[i]];
  sealed.tested_once = true;
  return true;
}

}  // namespace

bool SealedGuards::check(const std::vector<Source>& sources, PyObject* function, PyObject* const* locals,
                         Binding& binding) noexcept {
  for (const Argument& argument : arguments) {
    PyObject* object = locals[argument.index];
    if (argument.type != nullptr && (object == nullptr || Py_TYPE(object) != argument.type)) return false;
    binding.sources[argument.source] = object;
  }
  return run(argument_steps, arrays, sources, function, locals, binding) && all_hold(argument_relations, binding.symbols) &&
         check_lasting(*this, sources, function, locals, binding) && parts_hold(*this) &&
         run(changing_steps, arrays, sources, function, locals, binding) && all_hold(relations, binding.symbols);
}

}  // namespace accel
