#pragma once
// Pieces: a loop's body in parts, each of which is done for a whole tile before the next one, and how values come from one part
// to another.

#include <map>
#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Consecutive statements of a loop. With events: one statement.
struct Piece {
  std::vector<const Stmt*> statements;
  std::map<int, int> sites;
};

class Pieces {
 public:
  Pieces(const Program& program, const Body& body);

  // The next statement of the body, with its events by site.
  void add(const Stmt& stmt, std::map<int, int> sites);
  const std::vector<Piece>& all() const { return pieces_; }

  // What a piece needs from before it: statements that are done again, in order, and values that wait in memory.
  struct Needs {
    std::vector<const Stmt*> again;
    std::set<TempId> waiting;
  };
  Needs needs_of(size_t piece) const;

 private:
  bool comes_again(const Stmt& stmt, size_t piece) const;
  void need_all(const Stmt& stmt, size_t piece, std::set<TempId>& seen, Needs& out) const;
  void need(TempId temp, size_t piece, std::set<TempId>& seen, Needs& out) const;

  const Program& program_;
  std::vector<Piece> pieces_;
  std::map<TempId, const Stmt*> definitions_;
  std::map<TempId, size_t> home_;      // piece
  std::map<BufferId, size_t> stored_;  // first piece that does
};

// Whether it puts a complex number together or takes it apart.
bool is_part(const Stmt& stmt);

}  // namespace accel
