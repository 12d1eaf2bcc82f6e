#include "schedule/program/edit.h"

namespace accel {

Stmt loop_over(Dim variable, Dim extent, LoopKind kind, Body body) {
  Stmt out;
  out.kind = StmtKind::loop;
  out.loop_kind = kind;
  out.var = variable;
  out.extent = extent;
  out.body = std::move(body);
  return out;
}

void substitute(DimTable& dims, Body& body, int symbol, Dim by) {
  for (Stmt& stmt : body) {
    for (Dim* d : {&stmt.address.offset, &stmt.dim, &stmt.extent})
      if (d->id >= 0) *d = dims.substitute(*d, symbol, by);
    substitute(dims, stmt.body, symbol, by);
  }
}

void rename_temps(Program& program, Body& body, std::map<TempId, TempId>& names) {
  for (Stmt& stmt : body) {
    for (TempId& arg : stmt.args)
      if (auto found = names.find(arg); found != names.end()) arg = found->second;
    if (stmt.dst >= 0) {
      TempId made = program.add_temp(program.temps[static_cast<size_t>(stmt.dst)]);
      names[stmt.dst] = made;
      stmt.dst = made;
    }
    rename_temps(program, stmt.body, names);
  }
}

void erase_nest(Program& program, int nest) {
  program.nests.erase(program.nests.begin() + nest);
  for (ProgramBlock& block : program.blocks)
    for (BlockStep& step : block.steps)
      if (step.kind == StepKind::nest && step.nest > nest) --step.nest;
}

}  // namespace accel
