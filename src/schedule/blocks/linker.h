#pragma once
// Linker: moves the nests of a segment's program into the program of the whole graph, with ids of the whole program.

#include <map>
#include <set>
#include <vector>

#include "schedule/graph/segments.h"
#include "schedule/memory/buffer_assignment.h"
#include "schedule/program/program.h"

namespace accel {

class Linker {
 public:
  // All arguments are of the whole graph and outlive the linker.
  Linker(Graph& graph, const Places& places, Program& program) : graph_(graph), places_(places), program_(program) {}

  // Appends the program that `part` was scheduled to; all its dims are in `graph`. Nests on single elements become scalar
  // steps.
  void link(const SegmentGraph& part, Program program, std::vector<BlockStep>& steps);

 private:
  // Ids in the whole program for the ids of the segment's program.
  struct Names {
    std::vector<BufferId> buffers;  // -1: none
    std::vector<int> imports;
    TempId first_temp = 0;
    std::map<TempId, TempId> temps;
    std::map<int, ValueId> slots;
    std::map<BufferId, ValueId> scalars;  // outputs that are scalars
    std::set<ValueId> assigned;           // scalar outputs that the steps so far have assigned
    std::map<BufferId, TempId> locals;    // buffers replaced by temps: the temp that holds the current content
  };

  // Numbers in a nest that the host can compute: their statements, and their temps in the whole program where they have one.
  struct HostNumbers {
    std::map<TempId, Stmt> statements;
    std::map<TempId, TempId> temps;
  };

  std::vector<bool> find_scalar_steps(const SegmentGraph& part, const Program& program);
  void name_buffers(const SegmentGraph& part, const Program& program);
  BufferId alias_of(BufferId id);
  void add_scalars(Body body, std::vector<BlockStep>& steps);
  void take_host_numbers(Body& body, std::vector<BlockStep>& steps);
  bool is_host_number(const Stmt& stmt, const HostNumbers& numbers) const;
  TempId host_number(TempId temp, HostNumbers& numbers, std::vector<BlockStep>& steps);
  void add_nest(Nest nest, std::vector<BlockStep>& steps);
  Stmt access(StmtKind kind, ValueId v, BufferId cell) const;
  Body renamed(Body body);
  bool is_of_scalar(const Stmt& load) const;
  bool moves_local(const Stmt& stmt);
  void rename(Stmt& stmt);
  Stmt part_of(Stmt load, TempId whole) const;
  TempId renamed(TempId temp) const;
  BufferId renamed_buffer(BufferId id) const { return id < 0 ? id : names_.buffers[static_cast<size_t>(id)]; }

  Graph& graph_;
  const Places& places_;
  Program& program_;
  Names names_;
  std::map<BufferId, BufferId> aliases_;
};

}  // namespace accel
