#pragma once
// Relations between integers on the current path: facts about symbols bound at run time, proofs from these facts, and
// decisions, which guards or checks in compiled code make true.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/context/integers/comparisons.h"
#include "capture/context/integers/linear_forms.h"
#include "capture/domain/value.h"

namespace accel {

class Assumptions;
class Capture;

class PathFacts {
 public:
  explicit PathFacts(Capture& capture);

  // Decides `left comparison right` as it holds in the captured call and ensures it by a guard, or for run-time values by a
  // check in compiled code. A relation that is already known needs neither.
  bool decide(Dim left, Comparison comparison, Dim right);
  bool decide_equal(Dim left, Dim right) { return decide(left, Comparison::eq, right); }
  // Like decide(), for a relation whose failure makes NumPy raise: for run-time values it is assumed true and checked in
  // compiled code.
  bool expect(Dim left, Comparison comparison, Dim right);
  bool expect_equal(Dim left, Dim right) { return expect(left, Comparison::eq, right); }
  bool is_known_equal(Dim left, Dim right);
  // Assumes that two run-time sizes are equal, checked in compiled code; false if they are known to differ.
  bool assume_equal(Dim left, Dim right);
  // ValueRanges::fits(), after compiled code has bounded the run-time symbols of `d`.
  bool assume_fits(Dim d);
  // An index that may be negative (relative to the end), converted to one relative to the start. `may_assume`: its sign may be
  // assumed to be that of this call unless an earlier version found both signs.
  Dim from_start(Dim at, Dim length, bool may_assume);

  // A new symbol bound to `value` (int64 of rank 0) on this path, known to lie in [low, high].
  Dim bind_dim(ValueId value, std::string name, int64_t hint, double low, double high);
  // Whether a newly bound symbol may be used later on the path: false while an exit within the path is written, because the
  // exit's block does not dominate the rest of the path.
  bool keeps_symbols() const { return keeps_symbols_; }
  void keep_symbols(bool keep) { keeps_symbols_ = keep; }
  bool is_runtime(Dim d) const;
  bool is_bound(int symbol) const { return runtime_symbols_.count(symbol) != 0; }

  // Whether d >= 0 on this path; may add guards that hold for the captured call.
  bool prove(Dim d);
  // Whether facts and existing guards imply d >= 0.
  bool knows(Dim d);
  // Facts of the current path: Dims that are >= 0.
  std::vector<Dim>& all() { return facts_; }
  void assume(const Relation& relation);
  static Relation inverse(const Relation& relation);
  // Whether the absolute value of a bound symbol is at most ValueRanges::runtime_limit on this path.
  bool is_within_limit(int symbol);

  // The truth of a comparison of ints: a constant if it is known or a guard may decide it, else a bool of compiled code.
  Ref compare_dims(Dim left, Comparison comparison, Dim right, ValueKind kind);
  ValueId compare_at_run_time(const Relation& relation, ValueKind kind);

 private:
  friend class Assumptions;

  void assume_apart(Dim up, Dim down);
  void require_relation(const Relation& relation, Reason reason = Reason::assumption_failed);
  bool decide_runtime(Dim left, Comparison comparison, Dim right);
  // decide() for numbers whose difference may overflow int64.
  bool decide_far(Dim left, Comparison comparison, Dim right);
  // Proves d >= 0. `failed`: goals that could not be proved, with the depth at which each was tried.
  bool prove_by_facts(Dim d, int depth, std::map<int32_t, int>& failed);
  bool eliminate_newest(Dim d, int depth, std::map<int32_t, int>& failed);
  // The truth of the relation if it can be proved; may add guards.
  std::optional<bool> known_relation(Dim left, Comparison comparison, Dim right);
  // The truth of the relation if existing facts and guards imply it.
  std::optional<bool> implied_by_facts(Dim left, Comparison comparison, Dim right);

  Capture& capture_;
  std::set<int> runtime_symbols_;
  std::vector<Dim> facts_;
  LinearForms forms_;
  Assumptions* assumptions_ = nullptr;  // innermost living one
  bool may_guard_ = true, keeps_symbols_ = true;
};

// During its lifetime, decisions about run-time values exit with `reason` when they fail. If an earlier version failed for that
// reason, nothing is checked: decisions return the likely answer, and is_open() tells that at least one was a guess.
class Assumptions {
 public:
  Assumptions(Capture& capture, Reason reason);
  ~Assumptions();
  Assumptions(const Assumptions&) = delete;
  Assumptions& operator=(const Assumptions&) = delete;
  bool is_open() const { return open_; }

 private:
  friend class PathFacts;
  PathFacts& facts_;
  Assumptions* outer_;
  Reason reason_;
  bool both_, open_ = false;
};

}  // namespace accel
