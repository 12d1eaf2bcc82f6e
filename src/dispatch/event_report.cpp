#include "dispatch/event_report.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "codegen/kernel_abi.h"
#include "cpython/dict_version.h"
#include "cpython/py_ref.h"

namespace accel {
namespace {

// NumPy's order and words.
constexpr std::pair<int, const char*> event_texts[] = {{accel_divide, "divide by zero"},
                                                       {accel_overflow, "overflow"},
                                                       {accel_underflow, "underflow"},
                                                       {accel_invalid, "invalid value"}};

// Inline text whose flags are those of NumPy's loop, element by element.
constexpr Op exact_ops[] = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::square, Op::sqrt, Op::reciprocal};

template <class Set>
bool is_among(const Set& set, Op op) {
  return std::find(std::begin(set), std::end(set), op) != std::end(set);
}

bool is_plain_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

bool is_floating(const Graph& graph, ValueId v) {
  char kind = dtype_kind(graph.type(v).dtype);
  return kind == 'f' || kind == 'c';
}

// Whether a node next to the site leaves the flags alone.
bool is_silent(const Graph& graph, const Node& node) {
  constexpr Op moves[] = {Op::copy, Op::negative, Op::positive, Op::absolute, Op::fabs};
  switch (op_class(node.op)) {
    case OpClass::leaf:
    case OpClass::view:
      return node.op != Op::arange || !is_floating(graph, node.results[0]);
    case OpClass::update:
      return node.op == Op::store && node.operands.size() == 3;
    case OpClass::pointwise:
      break;
    default:
      return false;
  }
  if (is_among(moves, node.op)) return true;
  bool of_floats = std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId v) { return is_floating(graph, v); });
  bool masks = node.op == Op::where || node.op == Op::lanes;
  if (node.op == Op::astype) return !of_floats && graph.type(node.results[0]).dtype != DType::float16;
  return !of_floats && !masks &&
         std::none_of(node.results.begin(), node.results.end(), [&](ValueId v) { return is_floating(graph, v); });
}

bool is_exact(const Graph& graph, const Node& node) {
  const Type& result = graph.type(node.results[0]);
  bool plain = op_class(node.op) == OpClass::pointwise && node.results.size() == 1 && node.op != Op::astype &&
               result.kind == ValueKind::array && is_plain_float(result.dtype) && node.where.is_own;
  for (ValueId v : node.operands) plain = plain && graph.type(v).dtype == result.dtype;
  return plain && (is_among(exact_ops, node.op) || !is_inline(node.op, result.dtype));
}

bool is_in_loop(const Graph& graph, BlockId block) {
  std::set<BlockId> seen;
  std::vector<BlockId> open = {block};
  while (!open.empty()) {
    const Terminator& t = graph.blocks[static_cast<size_t>(open.back())].terminator;
    open.pop_back();
    int count = t.kind == TerminatorKind::jump ? 1 : t.kind == TerminatorKind::branch ? 2 : 0;
    for (int k = 0; k < count; ++k)
      if (seen.insert(t.targets[k]).second) open.push_back(t.targets[k]);
  }
  return seen.contains(block);
}

// --- warnings -------------------------------------------------------------------------------------------------------------

// Names that every call looks up.
struct Names {
  PyObject* warnings = PyUnicode_InternFromString("warnings");
  PyObject* filters = PyUnicode_InternFromString("filters");
  PyObject* defaultaction = PyUnicode_InternFromString("defaultaction");
  PyObject* showwarning = PyUnicode_InternFromString("showwarning");
  PyObject* showwarning_orig = PyUnicode_InternFromString("_showwarning_orig");
  PyObject* formatwarning = PyUnicode_InternFromString("formatwarning");
  PyObject* formatwarning_orig = PyUnicode_InternFromString("_formatwarning_orig");
  PyObject* impl = PyUnicode_InternFromString("_showwarnmsg_impl");
  PyObject* registry = PyUnicode_InternFromString("__warningregistry__");
};
const Names& names() {
  static const Names made;
  return made;
}

// The dict of the module warnings; null when there is something else under its name.
PyObject* warnings_dict() {
  static PyObject* known = PyImport_ImportModule("warnings");
  if (known == nullptr) PyErr_Clear();
  PyObject* modules = PyImport_GetModuleDict();
  bool same = known != nullptr && PyModule_CheckExact(known) && PyDict_GetItem(modules, names().warnings) == known;
  return same ? PyModule_GetDict(known) : nullptr;
}

bool is_harmless_action(PyObject* action) {
  if (action == nullptr || !PyUnicode_CheckExact(action)) return false;
  constexpr const char* harmless[] = {"default", "ignore", "always", "module", "once"};
  return std::any_of(std::begin(harmless), std::end(harmless),
                     [&](const char* text) { return PyUnicode_CompareWithASCIIString(action, text) == 0; });
}

enum class Verdict { passes, harmless, harmful };

// What a filter (action, message, category, module, line) makes of a RuntimeWarning.
Verdict verdict_of(PyObject* filter) {
  if (!PyTuple_CheckExact(filter) || PyTuple_GET_SIZE(filter) != 5) return Verdict::harmful;
  PyObject* category = PyTuple_GET_ITEM(filter, 2);
  if (!PyType_Check(category)) return Verdict::harmful;
  bool matches =
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning), reinterpret_cast<PyTypeObject*>(category)) != 0;
  if (!matches) return Verdict::passes;
  if (!is_harmless_action(PyTuple_GET_ITEM(filter, 0))) return Verdict::harmful;
  PyObject* line = PyTuple_GET_ITEM(filter, 4);
  bool always = PyTuple_GET_ITEM(filter, 1) == Py_None && PyTuple_GET_ITEM(filter, 3) == Py_None && PyLong_CheckExact(line) &&
                PyObject_Not(line) == 1;
  return always ? Verdict::harmless : Verdict::passes;
}

bool filters_are_harmless(PyObject* filters) {
  if (filters == nullptr || !PyList_CheckExact(filters)) return false;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(filters); ++k) {
    Verdict verdict = verdict_of(PyList_GET_ITEM(filters, k));
    if (verdict != Verdict::passes) return verdict == Verdict::harmless;
  }
  return true;
}

// Warnings are printed, or recorded by a method of a list.
bool shows_plainly(PyObject* dict) {
  static PyObject* original = Py_XNewRef(PyDict_GetItem(dict, names().impl));
  PyObject* impl = PyDict_GetItem(dict, names().impl);
  if (impl == nullptr || !((impl == original && PyFunction_Check(impl)) || PyCFunction_CheckExact(impl))) return false;
  return PyDict_GetItem(dict, names().showwarning) == PyDict_GetItem(dict, names().showwarning_orig) &&
         PyDict_GetItem(dict, names().formatwarning) == PyDict_GetItem(dict, names().formatwarning_orig);
}

// What was found, and of what: as long as these are the same objects it holds.
struct KnownVerdict {
  const uint64_t* counter = nullptr;
  uint64_t version = 0;
  PyRef list;
  std::vector<PyRef> filters;
  bool harmless = false;

  bool holds() const {
    if (counter == nullptr || *counter != version || static_cast<size_t>(PyList_GET_SIZE(list.get())) != filters.size())
      return false;
    for (size_t k = 0; k < filters.size(); ++k)
      if (PyList_GET_ITEM(list.get(), static_cast<Py_ssize_t>(k)) != filters[k].get()) return false;
    return true;
  }
  void set(PyObject* dict, PyObject* found, bool verdict) {
    counter = found != nullptr && PyList_CheckExact(found) ? watch_dict(dict) : nullptr;
    if (counter == nullptr) return;
    version = *counter;
    std::vector<PyRef> items;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(found); ++k) items.push_back(PyRef::borrow(PyList_GET_ITEM(found, k)));
    list = PyRef::borrow(found);
    std::swap(filters, items);
    harmless = verdict;
  }
};

// __warningregistry__ of a module, made when there is none; new reference.
PyRef registry_of(PyObject* globals) {
  PyObject* name = names().registry;
  if (PyObject* found = PyDict_GetItemWithError(globals, name)) return PyRef::borrow(found);
  PyRef made = PyErr_Occurred() ? PyRef() : PyRef::steal(PyDict_New());
  if (made && PyDict_SetItem(globals, name, made.get()) < 0) return {};
  return made;
}

bool warn_at(const EventSite& site, PyObject* function, PyCodeObject* code, const char* text) {
  PyObject* globals = PyFunction_GetGlobals(function);
  PyObject* file = code->co_filename;
  PyRef message = PyRef::steal(PyUnicode_FromFormat("%s encountered in %s", text, op_info(site.op).name));
  PyRef registry = registry_of(globals);
  if (!message || !registry) return false;
  PyObject* module = PyDict_GetItemString(globals, "__name__");
  PyRef name = module != nullptr && (PyUnicode_Check(module) || module == Py_None)
                   ? PyRef::borrow(module)
                   : PyRef::steal(PyUnicode_FromString("<string>"));
  return PyErr_WarnExplicitObject(PyExc_RuntimeWarning, message.get(), file, site.line, name.get(), registry.get()) == 0;
}

}  // namespace

std::optional<EventSite> lone_event_site(const Graph& graph) {
  const Node* site = nullptr;
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    for (NodeId n : graph.blocks[static_cast<size_t>(b)].nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      bool silent = is_silent(graph, node) && node_events(graph, node) == 0;
      if (silent) continue;
      if (site != nullptr || !is_exact(graph, node) || is_in_loop(graph, b)) return std::nullopt;
      site = &node;
    }
  }
  if (site == nullptr) return std::nullopt;
  return EventSite{site->op, site->where.line};
}

bool warnings_are_harmless() {
  static auto* known = new KnownVerdict;
  PyObject* dict = warnings_dict();
  if (dict == nullptr) return false;
  if (known->holds()) return known->harmless;
  PyObject* filters = PyDict_GetItem(dict, names().filters);
  bool harmless =
      shows_plainly(dict) && is_harmless_action(PyDict_GetItem(dict, names().defaultaction)) && filters_are_harmless(filters);
  known->set(dict, filters, harmless);
  return harmless;
}

bool report_events(const EventSite& site, PyObject* function, PyCodeObject* code, int events) {
  for (const auto& [bit, text] : event_texts)
    if ((events & bit) != 0 && !warn_at(site, function, code, text)) return false;
  return true;
}

}  // namespace accel
