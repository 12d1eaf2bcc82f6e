#pragma once
// Relations of integers on the path that is walked: what is known of symbols that the graph binds at run time, proofs from it,
// and decisions, which guards or checks in compiled code make true.

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

  // Decides `left comparison right` by this call's values and guards on it. Constant relations need no guard.
  bool decide(Dim left, Comparison comparison, Dim right);
  bool decide_equal(Dim left, Dim right) { return decide(left, Comparison::eq, right); }
  // Decides what holds unless NumPy raises: compiled code checks what is known at run time only.
  bool expect(Dim left, Comparison comparison, Dim right);
  bool expect_equal(Dim left, Dim right) { return expect(left, Comparison::eq, right); }
  bool is_known_equal(Dim left, Dim right);
  // Sizes known at run time only: takes them to be equal, which compiled code checks, unless they are known to differ.
  bool assume_equal(Dim left, Dim right);
  // ValueRanges::fits(), after compiled code has checked the size of what is known at run time only.
  bool assume_fits(Dim d);
  // An index that counts from the end where it is negative, counted from the start. `may_assume`: its sign may be taken from
  // this call, as long as no call had another one.
  Dim from_start(Dim at, Dim length, bool may_assume);

  // A new symbol that has the value of `value` (int64 of rank 0) on this path, and lies in [low, high].
  Dim bind_dim(ValueId value, std::string name, int64_t hint, double low, double high);
  // Whether a symbol that is bound may be used in what follows: not while an exit is written within a path, because its block
  // does not dominate the rest of the path.
  bool keeps_symbols() const { return keeps_symbols_; }
  void keep_symbols(bool keep) { keeps_symbols_ = keep; }
  bool is_runtime(Dim d) const;
  bool is_bound(int symbol) const { return runtime_symbols_.count(symbol) != 0; }

  // Whether d >= 0 whenever control comes here: by what is known, or by guards that hold for this call.
  bool prove(Dim d);
  // Whether d >= 0 is known without further guards.
  bool knows(Dim d);
  // What holds on the path that is being walked. Each is >= 0.
  std::vector<Dim>& all() { return facts_; }
  void assume(const Relation& relation);
  static Relation inverse(const Relation& relation);
  // Whether a bound symbol is within ValueRanges::runtime_limit on this path.
  bool is_within_limit(int symbol);

  // The truth of a comparison of ints: a constant when it is known or when a guard may decide it, else a bool that compiled
  // code computes.
  Ref compare_dims(Dim left, Comparison comparison, Dim right, ValueKind kind);
  ValueId compare_at_run_time(const Relation& relation, ValueKind kind);

 private:
  friend class Assumptions;

  void assume_apart(Dim up, Dim down);
  void require_relation(const Relation& relation, Reason reason = Reason::assumption_failed);
  bool decide_runtime(Dim left, Comparison comparison, Dim right);
  // Of numbers whose difference may leave int64.
  bool decide_far(Dim left, Comparison comparison, Dim right);
  // `failed` holds the goals that could not be proved so far, with the depths they were tried at.
  bool prove_by_facts(Dim d, int depth, std::map<int32_t, int>& failed);
  bool eliminate_newest(Dim d, int depth, std::map<int32_t, int>& failed);
  // May add guards.
  std::optional<bool> known_relation(Dim left, Comparison comparison, Dim right);
  // Adds no guard.
  std::optional<bool> implied_by_facts(Dim left, Comparison comparison, Dim right);

  Capture& capture_;
  std::set<int> runtime_symbols_;
  std::vector<Dim> facts_;
  LinearForms forms_;
  Assumptions* assumptions_ = nullptr;  // the innermost
  bool may_guard_ = true, keeps_symbols_ = true;
};

// While one lives, `reason` is that of decisions about what is known at run time only. Where earlier calls have met both
// answers, nothing is decided: answers are guesses, and is_open() says that there were some.
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
