// The sealing of a set of guards: which source is read when, and which guard is tested where (seal_guards of sealed_guards.h).

#include <algorithm>
#include <map>
#include <set>

#include "cpython/dict_version.h"
#include "guard/fetch.h"
#include "guard/sealed_guards.h"

namespace accel {
namespace {

// Kinds that need no second test while the dict or type that they read is unchanged.
bool is_lasting(GuardKind kind) {
  return kind == GuardKind::identity || kind == GuardKind::equals || kind == GuardKind::unbound || kind == GuardKind::bound;
}

// Sorts sources and guards into the lists of a sealed set.
class Sealer {
 public:
  explicit Sealer(const GuardSet& set) : set_(set), lasting_(set.sources.size(), false), read_(set.sources.size(), false) {}

  void seal(SealedGuards& sealed) {
    for (SourceId id = 0; id < count(); id++) lasting_[id] = watch(id);
    add_arguments(sealed);
    for (const Guard& guard : set_.guards) add_guard(sealed, guard);
    for (SourceId id : set_.wanted) read(sealed, id);
    for (SourceId id = 0; set_.wanted.empty() && id < count(); id++) read(sealed, id);
    for (const Guard& guard : set_.guards) add_relation(sealed, guard);
    order_argument_steps(sealed.argument_steps);
    cache_lasting_sources(sealed);
    for (auto& [version, dict] : dicts_) sealed.dicts.push_back({version, 0, std::move(dict)});
    for (PyTypeObject* type : types_) sealed.types.push_back({type, 0});
  }

 private:
  SourceId count() const { return static_cast<SourceId>(set_.sources.size()); }
  bool is_local(SourceId id) const { return set_.sources[id].kind == SourceKind::local; }

  PyObject* identity_of(SourceId id) const {
    if (set_.sources[id].kind == SourceKind::pinned) return set_.sources[id].dict.get();
    for (const Guard& guard : set_.guards) {
      if (guard.kind == GuardKind::identity && guard.source == id) return guard.object.get();
    }
    return nullptr;
  }

  bool watch_dict_of(PyObject* dict) {
    const uint64_t* version = dict != nullptr && PyDict_CheckExact(dict) ? watch_dict(dict) : nullptr;
    if (version != nullptr) dicts_.try_emplace(version, PyRef::borrow(dict));
    return version != nullptr;
  }

  // Whether the source cannot change unless a dict or type does whose version is watched from now on.
  bool watch(SourceId id) {
    const Source& source = set_.sources[id];
    if (source.kind == SourceKind::pinned) return true;
    if (source.kind == SourceKind::global) return watch_dict_of(source.dict.get());
    if (source.parent < 0 || !lasting_[source.parent]) return false;
    PyObject* parent = identity_of(source.parent);
    if (parent == nullptr) return false;
    if (source.kind == SourceKind::item) return PyTuple_CheckExact(parent);
    if (source.kind == SourceKind::dict_item) return watch_dict_of(parent);
    if (source.kind != SourceKind::attribute) return false;
    if (PyModule_CheckExact(parent)) return watch_dict_of(PyModule_GetDict(parent));
    if (PyType_Check(parent)) types_.insert(reinterpret_cast<PyTypeObject*>(parent));
    return PyType_Check(parent);
  }

  void add_arguments(SealedGuards& sealed) {
    for (SourceId id = 0; id < count(); id++) {
      if (!is_local(id)) continue;
      sealed.arguments.push_back({id, set_.sources[id].index, type_wanted(id)});
      read_[id] = true;
    }
  }

  PyTypeObject* type_wanted(SourceId id) const {
    for (const Guard& guard : set_.guards) {
      if (guard.source != id) continue;
      if (guard.kind == GuardKind::array) return array_type(guard.array);
      if (guard.kind == GuardKind::type || guard.kind == GuardKind::number)
        return reinterpret_cast<PyTypeObject*>(guard.object.get());
      if (guard.kind == GuardKind::equals) return Py_TYPE(guard.object.get());
    }
    return nullptr;
  }

  void read(SealedGuards& sealed, SourceId id) {
    if (read_[id]) return;
    read_[id] = true;
    if (set_.sources[id].parent >= 0) read(sealed, set_.sources[id].parent);
    (lasting_[id] ? sealed.lasting_steps : sealed.changing_steps).push_back(reading_step(id));
  }

  void add_guard(SealedGuards& sealed, const Guard& guard) {
    if (guard.kind == GuardKind::relation) return;
    if (guard.kind == GuardKind::identity && add_function_part(sealed, guard)) return;
    GuardStep step = testing_step(guard, sealed.arrays);
    bool settled = is_local(guard.source) && guard.kind == GuardKind::type;  // by Argument::type
    if (settled && type_wanted(guard.source) == reinterpret_cast<PyTypeObject*>(guard.object.get())) return;
    read(sealed, guard.source);
    if (guard.other >= 0) read(sealed, guard.other);
    if (is_local(guard.source) && (guard.other < 0 || is_local(guard.other))) return sealed.argument_steps.push_back(step);
    bool lasting = guard.other < 0 && lasting_[guard.source] && is_lasting(step.kind);
    (lasting ? sealed.lasting_steps : sealed.changing_steps).push_back(step);
  }

  // A part of a function whose identity is guarded is tested at its address.
  bool add_function_part(SealedGuards& sealed, const Guard& guard) {
    const Source& source = set_.sources[guard.source];
    PyObject* function = source.kind == SourceKind::attribute ? identity_of(source.parent) : nullptr;
    PyObject* const* part =
        function != nullptr && PyFunction_Check(function) ? function_part(function, source.name.get()) : nullptr;
    if (part == nullptr) return false;
    sealed.function_parts.push_back({part, guard.object.get()});
    return true;
  }

  void add_relation(SealedGuards& sealed, const Guard& guard) {
    if (guard.kind != GuardKind::relation) return;
    const auto& [left, comparison, right] = guard.relation;
    RelationTest relation{DimProgram(set_.dims, left), DimProgram(set_.dims, right), comparison};
    bool early = of_arguments(left) && of_arguments(right);
    (early ? sealed.argument_relations : sealed.relations).push_back(std::move(relation));
  }

  // Whether guards of locals alone bind every symbol of `d`.
  bool of_arguments(Dim d) const {
    for (int symbol : set_.dims.symbols(d)) {
      bool bound = std::any_of(set_.guards.begin(), set_.guards.end(), [&](const Guard& guard) {
        return guard.source >= 0 && is_local(guard.source) && binds(guard, symbol);
      });
      if (!bound) return false;
    }
    return true;
  }

  static bool binds(const Guard& guard, int symbol) {
    auto is_among = [&](int first, int count) { return first >= 0 && symbol >= first && symbol < first + count; };
    const ArrayGuard& array = guard.array;
    const NumberGuard& number = guard.number;
    if (guard.kind == GuardKind::array)
      return is_among(array.first_symbol, array.layout == Layout::strided ? 2 * array.ndim : array.ndim);
    return guard.kind == GuardKind::number && is_among(number.first_symbol, item_size(number.dtype) > 8 ? 2 : 1);
  }

  // Cheap tests first; tests of one kind stay in the order of the guards.
  static void order_argument_steps(std::vector<GuardStep>& steps) {
    std::stable_sort(steps.begin(), steps.end(), [](const GuardStep& a, const GuardStep& b) { return a.kind < b.kind; });
  }

  void cache_lasting_sources(SealedGuards& sealed) {
    std::vector<bool> asked(set_.sources.size(), set_.wanted.empty());
    for (SourceId id : set_.wanted) asked[id] = true;
    for (const GuardStep& step : sealed.changing_steps) {
      asked[step.source] = true;
      if (step.other >= 0) asked[step.other] = true;
      if (set_.sources[step.source].parent >= 0) asked[set_.sources[step.source].parent] = true;
    }
    for (SourceId id = 0; id < count(); id++) {
      if (asked[id] && lasting_[id] && read_[id]) sealed.cached.push_back(id);
    }
    sealed.cached_objects.resize(sealed.cached.size());
  }

  const GuardSet& set_;
  std::vector<bool> lasting_, read_;
  std::map<const uint64_t*, PyRef> dicts_;
  std::set<PyTypeObject*> types_;
};

}  // namespace

SealedGuards seal_guards(const GuardSet& set) {
  SealedGuards sealed;
  Sealer(set).seal(sealed);
  return sealed;
}

}  // namespace accel
