#pragma once
// Writes the parts of a block that are not nests: scalars, and what edges assign and swap.

#include <vector>

#include "schedule/graph/copy_insertion.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Appends a statement to the scalar step at the end of `steps`, or to a new one.
void append_scalar(Stmt stmt, std::vector<BlockStep>& steps);

class BlockCode {
 public:
  // The state outlives the object.
  explicit BlockCode(ProgramState& state) : graph_(state.graph), places_(state.places), program_(state.program) {}

  // The temp of a scalar; an input is loaded at the end of `steps`.
  TempId scalar(ValueId v, std::vector<BlockStep>& steps);
  // The temp of a scalar, or a new temp for a constant or an expression of symbols, computed at the end of `steps`.
  TempId scalar_or_leaf(ValueId v, std::vector<BlockStep>& steps);
  // A new symbol that is bound to `temp` from here on.
  Dim bound(TempId temp, std::vector<BlockStep>& steps);
  // Binds a symbol to `temp` from here on.
  void bind(Dim symbol, TempId temp, std::vector<BlockStep>& steps);
  // A new temp with the value of an expression.
  TempId number(Dim value, std::vector<BlockStep>& steps);
  void assign(TempId variable, TempId value, std::vector<BlockStep>& steps);
  // Edge k of a terminator: its target, the scalars it assigns and the buffers it swaps.
  Edge edge(const Terminator& t, int k, std::vector<BlockStep>& steps);

 private:
  bool in_memory(ValueId v) const { return lives_in_memory(graph_, places_.origins, v); }
  BufferId buffer_of(ValueId v) const { return places_.buffer(v); }
  TempId temp_of(ValueId v) const { return places_.temp(v); }

  Graph& graph_;
  const Places& places_;
  Program& program_;
};

}  // namespace accel
