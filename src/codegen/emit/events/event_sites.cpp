#include "codegen/emit/events/event_sites.h"

#include <algorithm>
#include <functional>

#include "ir/analysis/stray_flags.h"

namespace accel {

std::map<int, int> EventSites::sites_of(const Body& body) {
  std::map<int, int> out;
  for (const Stmt& stmt : body) {
    int own = copy_.program.own_events(stmt) & ~event_error;
    if (own != 0) {
      if (stmt.where.site < 0) fail_with("an operation with events and no site");
      out[stmt.where.site] |= own;
    }
    for (const auto& [site, events] : sites_of(stmt.body)) out[site] |= events;
  }
  return out;
}

bool EventSites::has_stray_flags(const Body& body) const {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    const bool computes = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold;
    return (computes && accel::has_stray_flags(stmt.op, dtype(stmt.args[0]), stmt.quiet)) || has_stray_flags(stmt.body);
  });
}

std::string EventSites::flags_suffix(const Body& body) {
  std::function<bool(const Body&)> plain = [&](const Body& inner) {
    return std::all_of(inner.begin(), inner.end(), [&](const Stmt& stmt) {
      bool calls = !stmt.operands.empty() ||
                   (copy_.program.own_events(stmt) != 0 && !has_property(stmt.op, OpProperty::instruction)) ||
                   (stmt.dst >= 0 && dtype(stmt.dst) == DType::float16);
      return !calls && plain(stmt.body);
    });
  };
  return plain(body) && !has_stray_flags(body) ? "_arithmetic()" : "()";
}

bool EventSites::has_events(const Stmt& repeat) { return repeat.kind == StmtKind::repeat && !sites_of(repeat.body).empty(); }

bool EventSites::has_repeat(const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) { return has_events(stmt); });
}

const Stmt* EventSites::repeat_in(const Body& body) {
  for (const Stmt& stmt : body) {
    const Stmt* found = has_events(stmt) ? &stmt : repeat_in(stmt.body);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace accel
