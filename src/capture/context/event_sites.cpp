#include "capture/product/event_sites.h"

#include <algorithm>

#include "capture/context/context.h"
#include "capture/domain/repr.h"

namespace accel {

namespace {

// Whether no frame of the interpreter runs this code: it stands for a builtin.
bool is_stand_in(const EventPlace& place) {
  PyObject* name = place.globals ? PyDict_GetItemString(place.globals.get(), "__name__") : nullptr;
  return name == nullptr || !PyUnicode_Check(name) || utf8(name).rfind("accel.", 0) == 0;
}

}  // namespace

EventCall::EventCall(Capture& capture, std::string name) : capture_(capture) { capture_.open_event_site(std::move(name)); }

EventCall::~EventCall() { capture_.close_event_site(); }

OperandCast::OperandCast(Capture& capture) : capture_(capture), outer_(capture.location().site) {
  if (outer_ >= 0 && capture.sites_[static_cast<size_t>(outer_)].is_placed()) capture.add_event_site("cast");
}

OperandCast::~OperandCast() {
  if (outer_ < 0 || !capture_.sites_[static_cast<size_t>(outer_)].is_placed()) return;
  capture_.add_event_site(capture_.sites_[static_cast<size_t>(outer_)].name);
}

// --- Capture --------------------------------------------------------------------------------------------------------------

void Capture::set_event_place(EventPlace place) {
  place_ = std::move(place);
  open_calls_ = 0;
  leave_site();
}

EventState Capture::event_state() const { return {place_, open_calls_, where_.site}; }

void Capture::set_event_state(const EventState& state) {
  place_ = state.place;
  open_calls_ = state.open_calls;
  set_site(state.site);
}

void Capture::open_event_site(std::string name) {
  if (open_calls_++ > 0 || name.empty() || place_.line <= 0 || is_stand_in(place_)) return;
  add_event_site(std::move(name));
}

void Capture::add_event_site(std::string name) {
  sites_.push_back({std::move(name), place_, errstate_});
  set_site(static_cast<int>(sites_.size()) - 1);
}

void Capture::close_event_site() {
  if (--open_calls_ == 0) leave_site();
}

// What has events outside of calls with a name belongs to the nameless site of its errstate.
void Capture::leave_site() {
  auto found = std::find_if(sites_.begin(), sites_.end(),
                            [&](const EventSite& site) { return !site.is_placed() && site.errstate == errstate_; });
  if (found == sites_.end()) found = sites_.insert(found, {std::string(), {}, errstate_});
  set_site(static_cast<int>(found - sites_.begin()));
}

void Capture::set_site(int site) {
  where_.site = site;
  builder_.set_location(where_);
}

}  // namespace accel
