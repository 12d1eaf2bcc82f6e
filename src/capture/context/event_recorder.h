#pragma once
// Assigns the nodes of the graph to event sites: where the events of an operation would be reported (product/event_sites.h).

#include <string>
#include <vector>

#include "capture/domain/value.h"
#include "capture/product/event_sites.h"

namespace accel {

class Capture;

class EventRecorder {
 public:
  explicit EventRecorder(Capture& capture) : capture_(capture) {}

  // Where warnings would point to while the next instruction runs.
  void set_place(EventPlace place);
  EventState state() const;
  void set_state(const EventState& state);
  std::vector<EventSite>& sites() { return sites_; }
  Errstate& errstate() { return errstate_; }
  // Tokens of the errstates that are set and have not been reset yet, outermost first.
  std::vector<Ref>& errstate_tokens() { return errstate_tokens_; }

 private:
  friend class EventCall;
  friend class OperandCast;
  void open_call(std::string name);
  void close_call();
  void add_site(std::string name);
  void leave_site();

  Capture& capture_;
  Errstate errstate_;
  std::vector<EventSite> sites_;
  EventPlace place_;
  int open_calls_ = 0;  // EventCalls that exist
  std::vector<Ref> errstate_tokens_;
};

}  // namespace accel
