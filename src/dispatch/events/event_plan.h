#pragma once
// EventPlan: decides which floating-point events of a captured function are reported, and issues NumPy's warnings.

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/product/captured.h"
#include "dispatch/events/errstate.h"
#include "dispatch/events/warning_state.h"

namespace accel {

// Events (bits of AccelStatus) of a site in a run; a list of these is in order of occurrence.
struct SiteEvents {
  int site = 0, events = 0;
};

// Events that matter to a launch, per site and for all sites.
struct EventMasks {
  std::vector<uint8_t> heard;      // events that would be reported
  std::vector<uint8_t> forbidden;  // those of `heard` that cannot be reported after the run
  std::vector<uint8_t> tables;     // AccelLaunch::events before a run, followed by `heard` and `forbidden`
  int any_heard = 0, any_forbidden = 0;
  WarningState state;  // the state of warnings for which the masks are valid
};

// Whether recording events is free: the graph is a straight line of elementwise operations, one of which has events.
bool records_at_no_cost(const Graph& graph);

// For kernels without sites, of a graph as a whole: events that the code itself ignores at every site that may have them, and
// events that it asks to be reported at some site.
int events_ignored_everywhere(const Captured& captured);
int events_asked_for(const Captured& captured);
// Those for which the code asks NumPy to raise, to print or to call a function.
int events_acted_on(const Captured& captured);

class EventPlan {
 public:
  EventPlan() = default;
  explicit EventPlan(const Captured& captured);

  // Whether any operation can have an event.
  bool has_events() const { return has_events_; }
  // The masks under the current errstate and warning filters.
  const EventMasks& masks();
  // Tables like EventMasks::tables with which a run logs all its events, reported or not.
  const std::vector<uint8_t>& open_tables() const { return open_tables_; }
  // Whether every site that may have had these events has issued its warning before, and would not show it again.
  bool are_shown(int events);
  // Events of masks().any_heard whose warnings have all been shown.
  int shown_events();
  // Removes events whose warnings have been shown from `heard`, a copy of masks().heard.
  void drop_shown(uint8_t* heard);
  // Whether any event in the log of a run is reported.
  bool hears(const std::vector<SiteEvents>& log);
  // Whether the log has events that cannot be reported after the run.
  bool forbids(const std::vector<SiteEvents>& log);
  // Text for users: events of a run with the operations that may have had them, or those of its log that cannot be reported
  // after the run.
  std::string describe(int events, const std::vector<SiteEvents>& log);
  // Issues the warnings of a run. False with an exception set.
  bool report(const std::vector<SiteEvents>& log) const;

  int traverse(visitproc visit, void* arg) const;

 private:
  // A site, with the texts of its warnings and their keys in registries, by number of the event's bit.
  struct Site {
    EventPlace place;
    std::string name;
    Errstate errstate;
    int possible = 0;
    int unclear = 0;  // those of `possible` after which the result may differ from NumPy's
    bool is_placed = false;
    PyRef texts[4], keys[4];
  };
  void name_events(Site& site, const std::string& name) const;
  // The events among `events` of a site whose warnings have been shown.
  static int shown_at(const Site& site, int events, ShownWarnings& shown);

  std::vector<Site> sites_;
  EventMasks masks_;
  std::vector<uint8_t> open_tables_;
  EventModes modes_;
  WarningState state_;
  bool is_known_ = false, has_events_ = false;
};

}  // namespace accel
