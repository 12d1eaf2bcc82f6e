#include "guard/guard_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "cpython/dict_version.h"
#include "cpython/namespace.h"
#include "guard/fetch.h"
#include "guard/guard_test.h"
#include "guard/overlap.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// What a sealed set does with one source: read it, or test one thing about it.
struct Step {
  enum class Kind : uint8_t {
    read,
    identity,
    type,
    equals,
    length,
    keys,
    array,
    number,
    foreign_array,
    writeable,
    unbound,
    bound,
    same,
    same_names,
    distinct,
    disjoint
  } kind = Kind::read;
  SourceId source = -1;
  SourceId other = -1;         // same, same_names, disjoint, bound
  PyObject* object = nullptr;  // borrowed from the guard
  int64_t value = 0;           // length, writeable, distinct, disjoint; array: index of its ArrayTest; number: first symbol
  DType dtype = DType::float64;
};

struct Relation {
  DimProgram left, right;
  Comparison comparison;
};

// A local, read before anything else, and the type that one of its guards asks for (null: any).
struct Argument {
  SourceId source;
  int index;
  PyTypeObject* type;
};

struct DictWatch {
  const uint64_t* version;
  uint64_t seen;
  PyRef dict;  // that has the version
};

struct TypeWatch {
  PyTypeObject* type;
  uint32_t seen;  // 0: none
};

// A part of a known Python function (its code, its defaults, ...) that must still be the same object.
struct FunctionPartTest {
  PyObject* const* part;  // null or None: there is none
  PyObject* expected;
};

constexpr std::pair<GuardKind, Step::Kind> step_kinds[] = {
    {GuardKind::identity, Step::Kind::identity},
    {GuardKind::type, Step::Kind::type},
    {GuardKind::equals, Step::Kind::equals},
    {GuardKind::length, Step::Kind::length},
    {GuardKind::keys, Step::Kind::keys},
    {GuardKind::array, Step::Kind::array},
    {GuardKind::number, Step::Kind::number},
    {GuardKind::foreign_array, Step::Kind::foreign_array},
    {GuardKind::writeable, Step::Kind::writeable},
    {GuardKind::unbound, Step::Kind::unbound},
    {GuardKind::bound, Step::Kind::bound},
    {GuardKind::same, Step::Kind::same},
    {GuardKind::distinct, Step::Kind::distinct},
    {GuardKind::disjoint, Step::Kind::disjoint},
    {GuardKind::same_names, Step::Kind::same_names},
};

Step make_step(const Guard& guard, std::vector<ArrayTest>& arrays) {
  Step step;
  for (auto [guard_kind, step_kind] : step_kinds) {
    if (guard_kind == guard.kind) step.kind = step_kind;
  }
  step.source = guard.source;
  step.other = guard.other;
  step.object = guard.object.get();
  step.value = guard.kind == GuardKind::number ? guard.first_symbol : guard.value;
  step.dtype = guard.dtype;
  if (guard.kind == GuardKind::array) {
    step.value = static_cast<int64_t>(arrays.size());
    arrays.push_back(make_array_test(guard));
  }
  return step;
}

bool has_length(PyObject* object, int64_t length) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) return Py_SIZE(object) == length;
  return PyDict_CheckExact(object) && PyDict_GET_SIZE(object) == length;
}

// Keys are constants that same_constant can compare, or are themselves.
bool has_keys(PyObject* object, PyObject* keys) {
  if (!has_length(object, PyTuple_GET_SIZE(keys)) || !PyDict_CheckExact(object)) return false;
  PyObject *key = nullptr, *item = nullptr;
  Py_ssize_t number = 0;
  for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &item); ++number) {
    PyObject* expected = PyTuple_GET_ITEM(keys, number);
    if (key != expected && !same_constant(key, expected)) return false;
  }
  return true;
}

bool are_disjoint(PyObject* a, PyObject* b) {
  return is_exact_array(a) && is_exact_array(b) && !share_memory(array_layout(a), array_layout(b));
}

// `other`: the object of Step::other, or null.
bool holds(const Step& step, PyObject* object, PyObject* other, const ArrayTest* arrays, Binding& binding) {
  if (step.kind == Step::Kind::unbound || object == nullptr) return step.kind == Step::Kind::unbound && object == nullptr;
  switch (step.kind) {
    case Step::Kind::identity:
      return object == step.object;
    case Step::Kind::type:
      return reinterpret_cast<PyObject*>(Py_TYPE(object)) == step.object;
    case Step::Kind::equals:
      return same_constant(object, step.object);
    case Step::Kind::length:
      return has_length(object, step.value);
    case Step::Kind::keys:
      return has_keys(object, step.object);
    case Step::Kind::array:
      return Py_TYPE(object) == ndarray_type() && test_array(arrays[step.value], object, binding);
    case Step::Kind::number:
      return reinterpret_cast<PyObject*>(Py_TYPE(object)) == step.object &&
             bind_number(object, step.dtype, binding.symbols + step.value);
    case Step::Kind::foreign_array:
      return is_exact_array(object) && !is_supported(array_facts(object));
    case Step::Kind::writeable:
      return is_exact_array(object) && array_layout(object).writeable == (step.value != 0);
    case Step::Kind::bound:
      return object != other;
    case Step::Kind::same:
      return (object == other) == (step.value != 0);
    case Step::Kind::same_names:
      return other != nullptr && (namespace_of(object) == namespace_of(other)) == (step.value != 0);
    case Step::Kind::distinct:
      return is_exact_array(object) && has_distinct_elements(array_layout(object)) == (step.value != 0);
    case Step::Kind::disjoint:
      return other != nullptr && are_disjoint(object, other) == (step.value != 0);
    default:
      return true;
  }
}

PyObject* before_replacement(const std::vector<Replaced>& replaced, const Source& source, PyObject* parent, PyObject* object) {
  auto is_place = [&](const Replaced& each) {
    if (each.object.get() != parent) return false;
    if (source.kind == SourceKind::item) return PyLong_AsLongLong(each.name.get()) == source.index;
    return each.name.get() == source.name.get();
  };
  auto found = std::find_if(replaced.begin(), replaced.end(), is_place);
  return parent != nullptr && found != replaced.end() ? found->before.get() : object;
}

// Kinds that need no second look while the place they test is unchanged.
bool is_lasting(const Step& step) {
  return step.kind == Step::Kind::identity || step.kind == Step::Kind::equals || step.kind == Step::Kind::unbound ||
         step.kind == Step::Kind::bound;
}

}  // namespace

// Everything that is tested, in the order of the tests. Pointers to Python objects are borrowed from the GuardSet.
struct GuardSet::Sealed {
  std::vector<Argument> arguments;
  std::vector<Step> argument_steps;  // about locals alone
  std::vector<Relation> argument_relations;
  std::vector<DictWatch> dicts;  // what the lasting sources depend on
  std::vector<TypeWatch> types;
  std::vector<Step> lasting_steps;      // reads and tests that hold until one of these changes
  std::vector<SourceId> kept;           // lasting sources that others ask for ...
  std::vector<PyObject*> kept_objects;  // ... and their objects, as of the last test
  std::vector<FunctionPartTest> function_parts;
  std::vector<Step> changing_steps;
  std::vector<Relation> relations;
  std::vector<ArrayTest> arrays;
  bool tested_once = false;

  bool run(const std::vector<Step>& steps, const std::vector<Source>& sources, PyObject* function, PyObject* const* locals,
           Binding& binding) const;
  bool unchanged() const;
  bool parts_hold() const;
  bool check_lasting(const std::vector<Source>& sources, PyObject* function, PyObject* const* locals, Binding& binding);
};

bool GuardSet::Sealed::run(const std::vector<Step>& steps, const std::vector<Source>& sources, PyObject* function,
                           PyObject* const* locals, Binding& binding) const {
  for (const Step& step : steps) {
    PyObject*& object = binding.sources[step.source];
    if (step.kind == Step::Kind::read) {
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

bool GuardSet::Sealed::unchanged() const {
  for (const DictWatch& watch : dicts) {
    if (*watch.version != watch.seen) return false;
  }
  for (const TypeWatch& watch : types) {
    if (watch.seen == 0 || type_version(watch.type) != watch.seen) return false;
  }
  return tested_once;
}

bool GuardSet::Sealed::parts_hold() const {
  for (const FunctionPartTest& test : function_parts) {
    if ((*test.part != nullptr ? *test.part : Py_None) != test.expected) return false;
  }
  return true;
}

bool GuardSet::Sealed::check_lasting(const std::vector<Source>& sources, PyObject* function, PyObject* const* locals,
                                     Binding& binding) {
  if (unchanged()) {
    for (size_t i = 0; i < kept.size(); i++) binding.sources[kept[i]] = kept_objects[i];
    return true;
  }
  tested_once = false;
  if (!run(lasting_steps, sources, function, locals, binding)) return false;
  for (DictWatch& watch : dicts) watch.seen = *watch.version;
  for (TypeWatch& watch : types) watch.seen = assign_type_version(watch.type);
  for (size_t i = 0; i < kept.size(); i++) kept_objects[i] = binding.sources[kept[i]];
  tested_once = true;
  return true;
}

namespace {

// Sorts sources and guards into the lists of a sealed set.
class Sealer {
 public:
  explicit Sealer(const GuardSet& set) : set_(set), lasting_(set.sources.size(), false), read_(set.sources.size(), false) {}

  template <class Sealed>
  void seal(Sealed& sealed) {
    for (SourceId id = 0; id < count(); id++) lasting_[id] = watch(id);
    add_arguments(sealed);
    for (const Guard& guard : set_.guards) add_guard(sealed, guard);
    for (SourceId id : set_.wanted) read(sealed, id);
    for (SourceId id = 0; set_.wanted.empty() && id < count(); id++) read(sealed, id);
    for (const Guard& guard : set_.guards) add_relation(sealed, guard);
    order_argument_steps(sealed.argument_steps);
    keep(sealed);
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

  template <class Sealed>
  void add_arguments(Sealed& sealed) {
    for (SourceId id = 0; id < count(); id++) {
      if (!is_local(id)) continue;
      sealed.arguments.push_back({id, set_.sources[id].index, type_wanted(id)});
      read_[id] = true;
    }
  }

  PyTypeObject* type_wanted(SourceId id) const {
    for (const Guard& guard : set_.guards) {
      if (guard.source != id) continue;
      if (guard.kind == GuardKind::array) return ndarray_type();
      if (guard.kind == GuardKind::type || guard.kind == GuardKind::number)
        return reinterpret_cast<PyTypeObject*>(guard.object.get());
      if (guard.kind == GuardKind::equals) return Py_TYPE(guard.object.get());
    }
    return nullptr;
  }

  template <class Sealed>
  void read(Sealed& sealed, SourceId id) {
    if (read_[id]) return;
    read_[id] = true;
    if (set_.sources[id].parent >= 0) read(sealed, set_.sources[id].parent);
    Step step;
    step.source = id;
    (lasting_[id] ? sealed.lasting_steps : sealed.changing_steps).push_back(step);
  }

  template <class Sealed>
  void add_guard(Sealed& sealed, const Guard& guard) {
    if (guard.kind == GuardKind::relation) return;
    if (guard.kind == GuardKind::identity && add_function_part(sealed, guard)) return;
    Step step = make_step(guard, sealed.arrays);
    bool settled = is_local(guard.source) && guard.kind == GuardKind::type;  // by Argument::type
    if (settled && type_wanted(guard.source) == reinterpret_cast<PyTypeObject*>(guard.object.get())) return;
    read(sealed, guard.source);
    if (guard.other >= 0) read(sealed, guard.other);
    if (is_local(guard.source) && (guard.other < 0 || is_local(guard.other))) return sealed.argument_steps.push_back(step);
    bool lasting = guard.other < 0 && lasting_[guard.source] && is_lasting(step);
    (lasting ? sealed.lasting_steps : sealed.changing_steps).push_back(step);
  }

  // A part of a function that is known by its identity is tested in place.
  template <class Sealed>
  bool add_function_part(Sealed& sealed, const Guard& guard) {
    const Source& source = set_.sources[guard.source];
    PyObject* function = source.kind == SourceKind::attribute ? identity_of(source.parent) : nullptr;
    PyObject* const* part =
        function != nullptr && PyFunction_Check(function) ? function_part(function, source.name.get()) : nullptr;
    if (part == nullptr) return false;
    sealed.function_parts.push_back({part, guard.object.get()});
    return true;
  }

  template <class Sealed>
  void add_relation(Sealed& sealed, const Guard& guard) {
    if (guard.kind != GuardKind::relation) return;
    Relation relation{DimProgram(set_.dims, guard.left), DimProgram(set_.dims, guard.right), guard.comparison};
    bool early = of_arguments(guard.left) && of_arguments(guard.right);
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
    int symbols = 0;
    if (guard.kind == GuardKind::array) symbols = guard.layout == Layout::strided ? 2 * guard.ndim : guard.ndim;
    if (guard.kind == GuardKind::number) symbols = item_size(guard.dtype) > 8 ? 2 : 1;
    return guard.first_symbol >= 0 && symbol >= guard.first_symbol && symbol < guard.first_symbol + symbols;
  }

  // Cheap tests first; tests of one kind stay in the order of the guards.
  static void order_argument_steps(std::vector<Step>& steps) {
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.kind < b.kind; });
  }

  template <class Sealed>
  void keep(Sealed& sealed) {
    std::vector<bool> asked(set_.sources.size(), set_.wanted.empty());
    for (SourceId id : set_.wanted) asked[id] = true;
    for (const Step& step : sealed.changing_steps) {
      asked[step.source] = true;
      if (step.other >= 0) asked[step.other] = true;
      if (set_.sources[step.source].parent >= 0) asked[set_.sources[step.source].parent] = true;
    }
    for (SourceId id = 0; id < count(); id++) {
      if (asked[id] && lasting_[id] && read_[id]) sealed.kept.push_back(id);
    }
    sealed.kept_objects.resize(sealed.kept.size());
  }

  const GuardSet& set_;
  std::vector<bool> lasting_, read_;
  std::map<const uint64_t*, PyRef> dicts_;
  std::set<PyTypeObject*> types_;
};

bool all_hold(const std::vector<Relation>& relations, const int64_t* symbols) {
  for (const Relation& relation : relations) {
    if (!compare(relation.left.evaluate(symbols), relation.comparison, relation.right.evaluate(symbols))) return false;
  }
  return true;
}

// Guards that there is something, where another guard of the source says more.
void drop_implied(std::vector<Guard>& guards) {
  std::set<SourceId> known;
  auto is_weak = [](const Guard& guard) { return guard.kind == GuardKind::bound && guard.other < 0; };
  for (const Guard& guard : guards) {
    if (guard.source >= 0 && !is_weak(guard) && guard.kind != GuardKind::unbound) known.insert(guard.source);
  }
  std::erase_if(guards, [&](const Guard& guard) { return is_weak(guard) && known.contains(guard.source); });
}

}  // namespace

bool is_far(const DimTable& dims, Dim d) {
  constexpr int64_t far = int64_t{1} << 62;
  std::optional<int64_t> value = dims.as_constant(d);
  return value && (*value >= far || *value <= -far);
}

std::vector<Dim> sums_told_by(DimTable& dims, Dim left, Comparison comparison, Dim right) {
  if (is_far(dims, left) || is_far(dims, right)) return {};
  Dim up = dims.sub(right, left), down = dims.sub(left, right), one = dims.constant(1);
  switch (comparison) {
    case Comparison::eq:
      return {up, down};
    case Comparison::ne:
      return {};
    case Comparison::lt:
      return {dims.sub(up, one)};
    case Comparison::le:
      return {up};
    case Comparison::gt:
      return {dims.sub(down, one)};
    case Comparison::ge:
      return {down};
  }
  return {};
}

void GuardSet::seal() {
  drop_implied(guards);
  sealed_ = std::make_shared<Sealed>();
  Sealer(*this).seal(*sealed_);
}

bool GuardSet::check(PyObject* function, PyObject* const* locals, Binding& binding) const noexcept {
  Sealed& sealed = *sealed_;
  for (const Argument& argument : sealed.arguments) {
    PyObject* object = locals[argument.index];
    if (argument.type != nullptr && (object == nullptr || Py_TYPE(object) != argument.type)) return false;
    binding.sources[argument.source] = object;
  }
  return sealed.run(sealed.argument_steps, sources, function, locals, binding) &&
         all_hold(sealed.argument_relations, binding.symbols) && sealed.check_lasting(sources, function, locals, binding) &&
         sealed.parts_hold() && sealed.run(sealed.changing_steps, sources, function, locals, binding) &&
         all_hold(sealed.relations, binding.symbols);
}

std::string GuardSet::first_failure(PyObject* function, PyObject* const* locals) const {
  std::vector<int64_t> symbols(static_cast<size_t>(symbol_count) + 1);
  std::vector<void*> inputs(static_cast<size_t>(input_count) + 1);
  Binding binding{symbols.data(), inputs.data(), nullptr};
  for (const Guard& guard : guards) {
    if (guard.kind == GuardKind::relation) {
      int64_t left = dims.evaluate(guard.left, symbols), right = dims.evaluate(guard.right, symbols);
      if (!compare(left, guard.comparison, right)) return guard.text;
      continue;
    }
    std::vector<ArrayTest> arrays;
    Step step = make_step(guard, arrays);
    PyObject* object = fetch_source(sources, guard.source, function, locals);
    PyObject* other = guard.other >= 0 ? fetch_source(sources, guard.other, function, locals) : nullptr;
    if (!holds(step, object, other, arrays.data(), binding)) return guard.text;
  }
  return {};
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
