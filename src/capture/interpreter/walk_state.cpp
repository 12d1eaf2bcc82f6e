#include "capture/interpreter/walk_state.h"

#include "capture/domain/repr.h"

namespace accel {

std::string place_of(const Frame& frame) {
  PyCodeObject* code = frame.code();
  return frame.file + ":" + std::to_string(code->co_firstlineno) + ":" + utf8(code->co_name) + "@" + std::to_string(frame.next);
}

std::string place_of(const std::vector<const Frame*>& frames) {
  std::string name;
  for (const Frame* frame : frames) name += place_of(*frame) + " ";
  return name;
}

std::vector<const Frame*> WalkState::live_frames() const {
  std::vector<const Frame*> live;
  for (const auto& frame : frames) live.push_back(frame.get());
  return live;
}

std::vector<const Frame*> WalkState::frames_before() const {
  std::vector<const Frame*> before;
  for (size_t i = 0; i + 1 < running.depth; ++i) before.push_back(frames[i].get());
  if (running.depth > 0) before.push_back(&running.frame);
  return before;
}

std::string WalkState::place() const { return place_of(live_frames()); }

PathState WalkState::save(Capture& capture) const {
  PathState state;
  state.block = capture.build().block();
  for (const auto& frame : frames) state.frames.push_back(*frame);
  state.facts = capture.facts().all();
  state.errstate = capture.events().errstate();
  state.errstate_tokens = capture.events().errstate_tokens();
  state.memory_is_stale = capture.memory().is_stale();
  state.passed = passed;
  state.forks = forks;
  state.lasting_effects = capture.lasting_effects();
  state.writable = writable.position;
  save_objects(state, capture.resolver().mutable_sources());
  return state;
}

PathState WalkState::save_before(Capture& capture) const {
  PathState state;
  for (const Frame* frame : frames_before()) state.frames.push_back(*frame);
  state.lasting_effects = capture.lasting_effects();
  save_objects(state, capture.resolver().mutable_sources());
  return state;
}

void WalkState::restore(Capture& capture, const PathState& state) {
  frames.clear();
  for (const Frame& frame : state.frames) frames.push_back(std::make_unique<Frame>(frame));
  capture.resolver().forget_caches(state.keep_objects);
  restore_objects(state);
  capture.facts().all() = state.facts;
  capture.events().errstate() = state.errstate;
  capture.events().errstate_tokens() = state.errstate_tokens;
  capture.memory().is_stale() = state.memory_is_stale;
  capture.build().move_to(state.block);
  passed = state.passed;
  has_read = false;
  forks = state.forks;
  capture.lasting_effects() = state.lasting_effects;
  writable.position = state.writable;
}

}  // namespace accel
