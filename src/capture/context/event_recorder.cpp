#include "capture/context/event_recorder.h"

#include <algorithm>

#include "capture/context/context.h"
#include "capture/domain/repr.h"

namespace accel {

namespace {

// Whether the code is accel's Python form of a builtin, which no interpreter frame runs.
bool is_stand_in(const EventPlace& place) {
  PyObject* name = place.globals ? PyDict_GetItemString(place.globals.get(), "__name__") : nullptr;
  return name == nullptr || !PyUnicode_Check(name) || utf8(name).rfind("accel.", 0) == 0;
}

}  // namespace

EventCall::EventCall(Capture& capture, std::string name) : capture_(capture) { capture_.events().open_call(std::move(name)); }

EventCall::~EventCall() { capture_.events().close_call(); }

OperandCast::OperandCast(Capture& capture) : capture_(capture), outer_(capture.location().site) {
  if (outer_ >= 0 && capture.events().sites()[static_cast<size_t>(outer_)].is_placed()) capture.events().add_site("cast");
}

OperandCast::~OperandCast() {
  if (outer_ < 0 || !capture_.events().sites()[static_cast<size_t>(outer_)].is_placed()) return;
  capture_.events().add_site(capture_.events().sites()[static_cast<size_t>(outer_)].name);
}

// --- EventRecorder --------------------------------------------------------------------------------------------------------

void EventRecorder::set_place(EventPlace place) {
  place_ = std::move(place);
  open_calls_ = 0;
  leave_site();
}

EventState EventRecorder::state() const { return {place_, open_calls_, capture_.location().site}; }

void EventRecorder::set_state(const EventState& state) {
  place_ = state.place;
  open_calls_ = state.open_calls;
  capture_.set_event_site(state.site);
}

void EventRecorder::open_call(std::string name) {
  if (open_calls_++ > 0 || name.empty() || place_.line <= 0 || is_stand_in(place_)) return;
  add_site(std::move(name));
}

void EventRecorder::add_site(std::string name) {
  sites_.push_back({std::move(name), place_, errstate_});
  capture_.set_event_site(static_cast<int>(sites_.size()) - 1);
}

void EventRecorder::close_call() {
  if (--open_calls_ == 0) leave_site();
}

// Nodes outside of named calls belong to the unnamed site of the current errstate.
void EventRecorder::leave_site() {
  auto found = std::find_if(sites_.begin(), sites_.end(),
                            [&](const EventSite& site) { return !site.is_placed() && site.errstate == errstate_; });
  if (found == sites_.end()) found = sites_.insert(found, {std::string(), {}, errstate_});
  capture_.set_event_site(static_cast<int>(found - sites_.begin()));
}

}  // namespace accel
