#pragma once
// Control flow of a function's bytecode: loops, live variables, join points.

#include <span>
#include <vector>

#include "cpython/bytecode/bytecode.h"

namespace accel {

// A loop: the instructions from which control can return to the header.
struct Loop {
  int header = 0;
  int end = 0;  // its last instruction
  std::vector<bool> members;
};

enum class LocalUse : uint8_t { none, reads, writes };

class CodeFlow {
 public:
  explicit CodeFlow(const Bytecode& bytecode);

  // Whether `index` is the target of a backward jump.
  bool is_header(int index) const { return header_[static_cast<size_t>(index)]; }
  // Whether `index` has more than one predecessor.
  bool is_join(int index) const { return joins_[static_cast<size_t>(index)]; }
  // Headers of the loops that contain `index`, outermost first.
  std::vector<int> headers_around(int index) const;
  // The last instruction of the loop with this header.
  int end_of(int header) const;
  // Whether the loop with this header has an exit edge that does not start at the header.
  bool has_break(int header) const;
  // Whether `index` is in the loop with this header.
  bool is_inside(int index, int header) const;
  // Whether the local is read before it is written on some path from `index`.
  bool is_live(int index, size_t local) const { return live_[static_cast<size_t>(index)][local]; }
  // Whether this code reads the content of the cell before it sets it on some path from `index`. Functions that share the cell
  // are not considered.
  bool is_content_live(int index, size_t local) const { return content_live_[static_cast<size_t>(index)][local]; }
  // Whether some path from `index` tests the identity of objects that are no singletons.
  bool asks_identity(int index) const { return asks_identity_[static_cast<size_t>(index)]; }
  // Whether a jump to `untaken` instead of `taken` may leave the loop with this header, which `taken` does not. For a negative
  // header: whether it may leave the code by raising.
  bool leaves_instead(int untaken, int taken, int header) const;
  // Whether every path from `index` ends with an exception that leaves this code.
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
  std::vector<Loop> loops_;  // outer loops before inner ones
  std::vector<std::vector<bool>> live_, content_live_;
};

}  // namespace accel
