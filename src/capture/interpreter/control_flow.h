#pragma once
// What the shape of a function's bytecode says: its loops, which locals are still needed, where paths meet.

#include <span>
#include <vector>

#include "cpython/bytecode/bytecode.h"

namespace accel {

// A loop: the instructions from which control can go back to the header. What leaves the loop for good is not in it.
struct Loop {
  int header = 0;
  int end = 0;  // the last of its instructions
  std::vector<bool> members;
};

enum class LocalUse : uint8_t { none, reads, writes };

class CodeFlow {
 public:
  explicit CodeFlow(const Bytecode& bytecode);

  // Whether a backward jump goes to `index`.
  bool is_header(int index) const { return header_[static_cast<size_t>(index)]; }
  // Whether control can come to `index` from more than one instruction.
  bool is_join(int index) const { return joins_[static_cast<size_t>(index)]; }
  // The headers of the loops around `index`, outermost first.
  std::vector<int> headers_around(int index) const;
  // The last instruction of the loop that begins at `header`.
  int end_of(int header) const;
  // Whether control leaves the loop that begins at `header` from elsewhere than from there.
  bool has_break(int header) const;
  // Whether `index` lies in the loop that begins at `header`.
  bool is_inside(int index, int header) const;
  // Whether the local is read, before it is written, on some path from `index` on.
  bool is_live(int index, size_t local) const { return live_[static_cast<size_t>(index)][local]; }
  // Whether this code reads what the cell holds, before it sets it, on some path from `index` on; functions that have the cell
  // are not looked at.
  bool is_content_live(int index, size_t local) const { return content_live_[static_cast<size_t>(index)][local]; }
  // Whether the identity of objects that are no singletons is asked for, on some path from `index` on.
  bool asks_identity(int index) const { return asks_identity_[static_cast<size_t>(index)]; }
  // Whether control that goes to `untaken` instead of `taken` may leave the loop that begins at `header` where it would not
  // otherwise. A negative header is no loop: it leaves by raising.
  bool leaves_instead(int untaken, int taken, int header) const;
  // Whether an exception leaves this code, whatever path control takes from `index` on.
  bool is_raising(int index) const { return raises_[static_cast<size_t>(index)]; }

 private:
  void find_edges(const Bytecode& bytecode);
  void find_raising(const Bytecode& bytecode);
  void find_identities(const Bytecode& bytecode);
  void find_loops();
  std::vector<bool> reached(int from, int header) const;
  std::span<const int> ordinary_successors(int index) const;
  std::vector<std::vector<bool>> live(const Bytecode& bytecode, size_t locals, LocalUse (*use_of)(Opcode)) const;

  std::vector<std::vector<int>> successors_;
  std::vector<bool> is_protected_;  // the last successor is a handler
  std::vector<bool> header_, joins_, raises_, asks_identity_;
  std::vector<Loop> loops_;  // outer ones before inner ones
  std::vector<std::vector<bool>> live_, content_live_;
};

}  // namespace accel
