#pragma once
// EventPlan: which floating-point events of a captured function are heard, and giving NumPy's warnings of them.

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/product/captured.h"
#include "dispatch/events/errstate.h"
#include "dispatch/events/warning_state.h"

namespace accel {

// Events (bits of AccelStatus) that a site had in a run, before others of the same list.
struct SiteEvents {
  int site = 0, events = 0;
};

// What a launch has to know, by site and of all sites together.
struct EventMasks {
  std::vector<uint8_t> heard;      // somebody would hear of them
  std::vector<uint8_t> forbidden;  // among these: nothing can be said of them afterwards
  std::vector<uint8_t> tables;     // AccelLaunch::events before a run, then `heard`, then `forbidden`
  int any_heard = 0, any_forbidden = 0;
  WarningState state;  // for which all this is so
};

// Whether a kernel that records events is as fast as one that does not: one operation of a straight line has them, and nothing
// around it reduces or compares.
bool records_at_no_cost(const Graph& graph);

// Of a graph as a whole, for kernels that know no sites: events that the code itself ignores wherever they may come up, and
// those that it wants to be heard somewhere.
int events_ignored_everywhere(const Captured& captured);
int events_asked_for(const Captured& captured);

class EventPlan {
 public:
  EventPlan() = default;
  explicit EventPlan(const Captured& captured);

  // Whether any operation can have an event.
  bool has_events() const { return has_events_; }
  // Under the errstate and the filters of now.
  const EventMasks& masks();
  // EventMasks::tables with which a run logs all that it has, whoever hears of it.
  const std::vector<uint8_t>& open_tables() const { return open_tables_; }
  // Whether each site that may have had these events has warned of them before, and would not be heard again.
  bool are_shown(int events);
  // Those of masks().any_heard that are shown.
  int shown_events();
  // Takes from `heard`, a copy of masks().heard, what has been shown.
  void drop_shown(uint8_t* heard);
  // Whether somebody hears of anything in the log of a run.
  bool hears(const std::vector<SiteEvents>& log);
  // Whether the log has events of which nothing can be said afterwards.
  bool forbids(const std::vector<SiteEvents>& log);
  // For people: which of these events of a run, which say nothing of sites, may have been of which operation, or those in its
  // log of which nothing can be said afterwards.
  std::string describe(int events, const std::vector<SiteEvents>& log);
  // Gives the warnings of a run. False with an exception set.
  bool report(const std::vector<SiteEvents>& log) const;

  int traverse(visitproc visit, void* arg) const;

 private:
  // A site: the texts of its warnings and their keys in registries, by number of the bit.
  struct Site {
    EventPlace place;
    std::string name;
    Errstate errstate;
    int possible = 0;
    int unclear = 0;  // those of them that leave results other than NumPy's
    bool is_placed = false;
    PyRef texts[4], keys[4];
  };
  void name_events(Site& site, const std::string& name) const;
  // Those of the events of a site that are shown.
  static int shown_at(const Site& site, int events, ShownWarnings& shown);

  std::vector<Site> sites_;
  EventMasks masks_;
  std::vector<uint8_t> open_tables_;
  EventModes modes_;
  WarningState state_;
  bool is_known_ = false, has_events_ = false;
};

}  // namespace accel
