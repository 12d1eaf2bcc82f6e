#include "codegen/analysis/loops/vector_events.h"

#include <algorithm>
#include <map>
#include <set>

namespace accel {

namespace {

class Witnesses {
 public:
  Witnesses(const Program& program, const VectorLoop& loop) : program_(program), loop_(loop) {}

  EventWitnesses run() {
    EventWitnesses out;
    if (loop_.masks.size() != 1 || !sort_scalars(out.scalars)) return out;
    for (const VectorLoop::Number& number : loop_.numbers)
      if (number.store != nullptr) witnesses_.push_back(number.load);
    find_lasting();
    bool all_shown = std::all_of(loop_.computed.begin(), loop_.computed.end(), [&](const Stmt* stmt) {
      return events_of(*stmt) == 0 || (under_mask_.contains(stmt->dst) && is_shown(stmt->dst));
    });
    if (all_shown) out.numbers = witnesses_;
    return out;
  }

 private:
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  bool is_complex(TempId temp) const { return dtype_kind(dtype(temp)) == 'c'; }
  TempId mask() const { return loop_.masks[0]; }

  int events_of(const Stmt& stmt) const {
    if (stmt.kind != StmtKind::compute) return 0;
    if (stmt.op == Op::astype) return cast_events(dtype(stmt.args[0]), dtype(stmt.dst));
    return op_events(stmt.op, stmt.args.empty() ? dtype(stmt.dst) : dtype(stmt.args[0])) & ~event_underflow;
  }
  // Finds the scalars that may have events. False when one of them changes with the iteration.
  bool sort_scalars(std::vector<TempId>& eventful) const {
    std::vector<const Stmt*> all = loop_.uniform;
    for (const Stmt& stmt : loop_.lanes->body)
      if (loop_.scalars.contains(stmt.dst)) all.push_back(&stmt);
    for (const Stmt* stmt : all) {
      if (events_of(*stmt) == 0) continue;
      if (loop_.counted.contains(stmt->dst)) return false;
      eventful.push_back(stmt->dst);
    }
    return true;
  }

  // A number that is stored is a witness as long as it is not finite again once it was not: drops those of which that is not
  // sure, until there are none.
  void find_lasting() {
    for (size_t before = witnesses_.size() + 1; before != witnesses_.size();) {
      before = witnesses_.size();
      find_shown();
      std::erase_if(witnesses_, [&](const Stmt* load) { return !is_shown(load->dst); });
    }
    find_shown();
  }

  // Finds the temps that, where the mask holds and they are not finite, make a witness that is not finite.
  void find_shown() {
    shown_.clear();
    under_mask_.clear();
    for (const VectorLoop::Number& number : loop_.numbers)
      if (std::find(witnesses_.begin(), witnesses_.end(), number.load) != witnesses_.end()) show(number.store->args[0], both);
    for (auto stmt = loop_.computed.rbegin(); stmt != loop_.computed.rend(); ++stmt) show_operands(**stmt);
    for (const Stmt* stmt : loop_.computed) {
      bool follows = std::any_of(stmt->args.begin(), stmt->args.end(), [&](TempId arg) { return under_mask_.contains(arg); });
      if (follows || (stmt->op == Op::lanes && stmt->args[1] == mask())) under_mask_.insert(stmt->dst);
    }
  }
  void show_operands(const Stmt& stmt) {
    bool shown = is_shown(stmt.dst);
    switch (stmt.op) {
      case Op::real:
        if (shown) show(stmt.args[0], re);
        return;
      case Op::imag:
        if (shown) show(stmt.args[0], im);
        return;
      case Op::where:
      case Op::merge:
        if (stmt.args[0] == mask()) show(stmt.args[1], parts_shown(stmt.dst));
        return;
      case Op::lanes:
        if (stmt.args[1] == mask()) show(stmt.args[0], parts_shown(stmt.dst));
        return;
      case Op::compose:
        if (shows(stmt.dst, re)) show(stmt.args[0], both);
        if (shows(stmt.dst, im)) show(stmt.args[1], both);
        return;
      case Op::copy:
      case Op::negative:
      case Op::conjugate:
      case Op::add:
      case Op::subtract:
        for (TempId arg : stmt.args) show(arg, parts_shown(stmt.dst));
        return;
      case Op::multiply:
      case Op::fused_multiply:
      case Op::square:
        // A part of an operand is in both parts of a product.
        if (parts_shown(stmt.dst) != 0)
          for (TempId arg : stmt.args) show(arg, both);
        return;
      case Op::absolute:
      case Op::sqrt:
      case Op::divide:
        if (shown) show(stmt.args[0], both);
        return;
      default:
        return;
    }
  }

  enum Part : int { re = 1, im = 2, both = re | im };
  void show(TempId temp, int parts) { shown_[temp] |= parts; }
  int parts_shown(TempId temp) const {
    auto found = shown_.find(temp);
    return found == shown_.end() ? 0 : found->second;
  }
  bool shows(TempId temp, Part part) const { return (parts_shown(temp) & part) != 0; }
  bool is_shown(TempId temp) const { return parts_shown(temp) == both || (!is_complex(temp) && parts_shown(temp) != 0); }

  const Program& program_;
  const VectorLoop& loop_;
  std::vector<const Stmt*> witnesses_;
  std::map<TempId, int> shown_;  // parts, of real numbers both
  std::set<TempId> under_mask_;  // computed where the mask holds, of numbers that exist only there
};

}  // namespace

EventWitnesses event_witnesses(const Program& program, const VectorLoop& loop) { return Witnesses(program, loop).run(); }

}  // namespace accel
