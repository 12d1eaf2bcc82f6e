#include "dispatch/events/event_plan.h"

#include <algorithm>
#include <cmath>

#include "ir/analysis/stray_flags.h"

namespace accel {
namespace {

// NumPy's words for the events, by number of the bit.
constexpr const char* event_words[] = {"divide by zero", "overflow", "underflow", "invalid value"};
constexpr int all_event_bits = event_divide | event_overflow | event_underflow | event_invalid;

// Whether v is a real constant that is neither 0 nor infinite in any floating dtype.
bool is_ordinary_constant(const Graph& graph, ValueId v) {
  if (graph.is_input(v) || graph.producer(v).op != Op::constant || dtype_kind(graph.type(v).dtype) != 'f') return false;
  double value = std::fabs(graph.producer(v).attrs.literal.as_complex().real());
  return value >= 1e-4 && value <= 1e4;
}

// Events that a constant operand rules out, except for signalling NaNs: inf - inf, 0 * inf, x / 0 and 0 / 0.
int events_ruled_out(const Graph& graph, const Node& node) {
  if (node.operands.size() != 2 || dtype_kind(graph.type(node.operands[0]).dtype) != 'f') return 0;
  bool left = is_ordinary_constant(graph, node.operands[0]), right = is_ordinary_constant(graph, node.operands[1]);
  switch (node.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
      return left || right ? event_invalid : 0;
    case Op::divide:
      return right ? event_divide | event_invalid : left ? event_invalid : 0;
    default:
      return 0;
  }
}

// Events after which the result may differ from NumPy's: its vector loops and their remainders cast numbers outside the range
// of an integer dtype differently.
int unclear_events(const Graph& graph, const Node& node) {
  bool casts = node.op == Op::astype || (node.op == Op::reduce && node.attrs.buffered);
  if (!casts || !is_inexact(graph.type(node.operands[0]).dtype)) return 0;
  return is_inexact(graph.type(node.results[0]).dtype) ? 0 : event_invalid;
}

// Whether a node is a call of linear algebra that reports an error instead of events.
bool reports_errors(const Graph& graph, const Node& node) { return (node_events(graph, node) & event_error) != 0; }

// Whether a node is elementwise in a recording kernel, too, and raises no flags besides its events.
bool is_plain(const Graph& graph, const Node& node) {
  switch (op_class(node.op)) {
    case OpClass::leaf:
    case OpClass::view:
      return true;
    case OpClass::update:
      return node.op == Op::store;
    case OpClass::pointwise:
      return !has_stray_flags(graph, node) && (!signals_on_nan(node.op) || !is_inexact(graph.type(node.operands[0]).dtype));
    default:
      return false;
  }
}

// Whether every flag that a kernel of the graph raises is an event of one of its operations.
bool has_events_alone(const Graph& graph) {
  auto raises_none_else = [&](NodeId n) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    return is_plain(graph, node) || (node.op == Op::reduce && !signals_on_nan(node.attrs.ufunc));
  };
  return std::all_of(graph.blocks.begin(), graph.blocks.end(),
                     [&](const Block& block) { return std::all_of(block.nodes.begin(), block.nodes.end(), raises_none_else); });
}

// Events that only signalling NaNs can cause: every operation of the graph rules them out otherwise.
int events_of_signalling_nans(const Graph& graph) {
  if (!has_events_alone(graph)) return 0;
  int possible = 0, ruled_out = 0;
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      possible |= node_events(graph, node) & ~events_ruled_out(graph, node);
      ruled_out |= node_events(graph, node) & events_ruled_out(graph, node);
    }
  return ruled_out & ~possible & event_invalid;
}

}  // namespace

bool records_at_no_cost(const Graph& graph) {
  int count = 0;
  for (NodeId n : graph.entry().nodes) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    if (!is_plain(graph, node)) return false;
    count += node_events(graph, node) != 0;
  }
  return graph.blocks.size() == 1 && count == 1;
}

int events_ignored_everywhere(const Captured& captured) {
  int ignored = 0, heard = 0;
  for (const Block& block : captured.graph.blocks)
    for (NodeId n : block.nodes) {
      const Node& node = captured.graph.nodes[static_cast<size_t>(n)];
      int silent = node.where.site < 0 ? 0 : captured.event_sites[static_cast<size_t>(node.where.site)].errstate.ignored;
      ignored |= silent;
      heard |= node_events(captured.graph, node) & ~events_ruled_out(captured.graph, node) & ~silent;
    }
  return ignored & ~heard;
}

int events_asked_for(const Captured& captured) {
  int asked = 0;
  for (const EventSite& site : captured.event_sites) asked |= site.errstate.reported;
  return asked;
}

int events_acted_on(const Captured& captured) {
  int acted_on = 0;
  for (const Block& block : captured.graph.blocks)
    for (NodeId n : block.nodes) {
      const Node& node = captured.graph.nodes[static_cast<size_t>(n)];
      if (node.where.site < 0 || reports_errors(captured.graph, node)) continue;
      const Errstate& modes = captured.event_sites[static_cast<size_t>(node.where.site)].errstate;
      acted_on |= numpy_events(captured.graph, node) & modes.reported & ~modes.warned;
    }
  return acted_on;
}

EventPlan::EventPlan(const Captured& captured) {
  const Graph& graph = captured.graph;
  for (const EventSite& site : captured.event_sites) {
    Site& own = sites_.emplace_back();
    own.place = site.place;
    own.name = site.name;
    own.errstate = site.errstate;
    own.is_placed = site.is_placed();
  }
  const int of_signalling_nans = events_of_signalling_nans(graph);
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      const int ruled_out = events_ruled_out(graph, node) & ~of_signalling_nans;
      int events = node_events(graph, node) & ~ruled_out & all_event_bits;
      if (events == 0 || reports_errors(graph, node)) continue;
      Site& site = node.where.site < 0 ? sites_.emplace_back() : sites_[static_cast<size_t>(node.where.site)];
      site.possible |= events;
      site.unclear |= events & unclear_events(graph, node);
    }
  open_tables_.assign(3 * sites_.size() + 1, 0);
  std::fill_n(open_tables_.begin() + static_cast<std::ptrdiff_t>(sites_.size()) + 1, sites_.size(), all_event_bits);
  has_events_ = std::any_of(sites_.begin(), sites_.end(), [](const Site& site) { return site.possible != 0; });
  for (size_t k = 0; k < captured.event_sites.size(); ++k)
    if (sites_[k].possible != 0 && sites_[k].is_placed) name_events(sites_[k], captured.event_sites[k].name);
}

void EventPlan::name_events(Site& site, const std::string& name) const {
  PyRef line = PyRef::steal(PyLong_FromLong(site.place.line));
  for (int k = 0; k < 4; ++k) {
    site.texts[k] = PyRef::steal(PyUnicode_FromFormat("%s encountered in %s", event_words[k], name.c_str()));
    site.keys[k] =
        PyRef::steal(line && site.texts[k] ? PyTuple_Pack(3, site.texts[k].get(), PyExc_RuntimeWarning, line.get()) : nullptr);
    site.is_placed = site.is_placed && site.keys[k];
  }
  PyErr_Clear();
}

const EventMasks& EventPlan::masks() {
  EventModes modes = event_modes();
  WarningState state = warning_state();
  if (is_known_ && modes == modes_ && state == state_) return masks_;
  modes_ = modes, state_ = state, is_known_ = true;
  masks_ = {};
  masks_.heard.resize(sites_.size()), masks_.forbidden.resize(sites_.size());
  masks_.state = state;
  for (size_t k = 0; k < sites_.size(); ++k) {
    const Site& site = sites_[k];
    int silent = site.errstate.ignored | (modes.ignored & ~site.errstate.reported);
    int warned = (site.errstate.warned | (modes.warned & ~site.errstate.reported)) & ~site.errstate.ignored;
    if (state.hearing == Hearing::nobody) silent |= warned & ~site.unclear;
    int heard = site.possible & ~silent;
    int later = state.hearing == Hearing::later && site.is_placed ? warned & ~site.unclear : 0;
    masks_.heard[k] = static_cast<uint8_t>(heard);
    masks_.forbidden[k] = static_cast<uint8_t>(heard & ~later);
    masks_.any_heard |= heard;
    masks_.any_forbidden |= heard & ~later;
  }
  masks_.tables.assign(sites_.size() + 1, 0);
  for (const auto* table : {&masks_.heard, &masks_.forbidden})
    masks_.tables.insert(masks_.tables.end(), table->begin(), table->end());
  return masks_;
}

int EventPlan::shown_at(const Site& site, int events, ShownWarnings& shown) {
  int out = 0;
  for (int k = 0; k < 4; ++k)
    if ((events >> k & 1) != 0 && shown.contains(site.place.globals.get(), site.keys[k].get())) out |= 1 << k;
  return out;
}

bool EventPlan::are_shown(int events) {
  const EventMasks& now = masks();
  if ((now.any_forbidden & events) != 0 || !now.state.once) return false;
  ShownWarnings shown;
  for (size_t k = 0; k < sites_.size(); ++k) {
    int heard = now.heard[k] & events;
    if (shown_at(sites_[k], heard, shown) != heard) return false;
  }
  return true;
}

int EventPlan::shown_events() {
  const EventMasks& now = masks();
  if (!now.state.once) return 0;
  ShownWarnings shown;
  int open = now.any_forbidden;
  for (size_t k = 0; k < sites_.size(); ++k)
    if (int heard = now.heard[k] & ~open; heard != 0) open |= heard & ~shown_at(sites_[k], heard, shown);
  return now.any_heard & ~open;
}

void EventPlan::drop_shown(uint8_t* heard) {
  const EventMasks& now = masks();
  if (!now.state.once) return;
  ShownWarnings shown;
  for (size_t k = 0; k < sites_.size(); ++k)
    heard[k] = static_cast<uint8_t>(heard[k] & ~shown_at(sites_[k], now.heard[k] & ~now.forbidden[k], shown));
}

bool EventPlan::hears(const std::vector<SiteEvents>& log) {
  const EventMasks& now = masks();
  return std::any_of(log.begin(), log.end(),
                     [&](const SiteEvents& entry) { return (entry.events & now.heard[static_cast<size_t>(entry.site)]) != 0; });
}

bool EventPlan::forbids(const std::vector<SiteEvents>& log) {
  const EventMasks& now = masks();
  return std::any_of(log.begin(), log.end(), [&](const SiteEvents& entry) {
    return (entry.events & now.forbidden[static_cast<size_t>(entry.site)]) != 0;
  });
}

std::string EventPlan::describe(int events, const std::vector<SiteEvents>& log) {
  const EventMasks& now = masks();
  std::vector<int> had(sites_.size());
  for (const SiteEvents& entry : log)
    had[static_cast<size_t>(entry.site)] |= entry.events & now.forbidden[static_cast<size_t>(entry.site)];
  for (size_t k = 0; k < sites_.size() && log.empty(); ++k) had[k] = now.heard[k] & events;
  std::string out;
  for (int k = 0; k < 4; ++k) {
    std::string where;
    for (size_t site = 0; site < sites_.size(); ++site) {
      if ((had[site] >> k & 1) == 0) continue;
      const Site& each = sites_[site];
      std::string name = each.name.empty() ? "an operation" : each.name + " in line " + std::to_string(each.place.line);
      if (where.find(name) == where.npos) where += (where.empty() ? " in " : " or ") + name;
    }
    if (!where.empty()) out += (out.empty() ? "" : "; ") + std::string(event_words[k]) + where;
  }
  return out;
}

bool EventPlan::report(const std::vector<SiteEvents>& log) const {
  for (const SiteEvents& entry : log) {
    const Site& site = sites_[static_cast<size_t>(entry.site)];
    int events = entry.events & masks_.heard[static_cast<size_t>(entry.site)];
    PyObject* file = events != 0 ? reinterpret_cast<PyCodeObject*>(site.place.code.get())->co_filename : nullptr;
    for (int k = 0; k < 4; ++k)
      if ((events >> k & 1) != 0 && !warn_at(site.place.globals.get(), file, site.place.line, site.texts[k].get()))
        return false;
  }
  return true;
}

int EventPlan::traverse(visitproc visit, void* arg) const {
  for (const Site& site : sites_) Py_VISIT(site.place.globals.get());
  return 0;
}

}  // namespace accel
