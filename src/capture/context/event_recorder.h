#pragma once
// Assigns graph nodes to event sites, which say where events of an operation would be reported (product/event_sites.h).

#include <string>
#include <vector>

#include "capture/domain/value.h"
#include "capture/product/event_sites.h"

namespace accel {

class Capture;

class EventRecorder {
 public:
  explicit EventRecorder(Capture& capture) : capture_(capture) {}

  // Sets the source location of the next instruction, to which warnings would point.
  void set_place(EventPlace place);
  EventState state() const;
  void set_state(const EventState& state);
  std::vector<EventSite>& sites() { return sites_; }
  Errstate& errstate() { return errstate_; }
  // Tokens of errstates that are set and not reset yet, outermost first.
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
  int open_calls_ = 0;  // number of living EventCalls
  std::vector<Ref> errstate_tokens_;
};

}  // namespace accel
