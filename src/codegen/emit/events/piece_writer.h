#pragma once
// PieceWriter: a tile of a loop over elements, one operation after the other, with the events of each. Values between
// operations wait in memory for a tile.

#include "codegen/emit/events/pieces.h"
#include "codegen/emit/writer.h"

namespace accel {

// The most elements that a tile has: room for values that wait.
constexpr int most_elements_of_tile = 256;

class PieceWriter : public Writer {
 public:
  // Iterations [first, last) of the loop.
  PieceWriter(Emission& emission, const Stmt& loop, std::string first, std::string last);

  void write_pieces();

 private:
  std::set<TempId> waiting_values() const;
  void declare_waiting();
  void write_piece(size_t number);
  void take(TempId temp);
  void leave(TempId temp);
  void record(const Piece& piece);
  std::string subscript() const;
  // The parts of complex numbers wait apart, so that loops over them become vectors.
  bool has_parts(TempId temp) const { return dtype_kind(dtype(temp)) == 'c'; }

  const Stmt& loop_;
  std::string first_, last_, suffix_;
  Pieces pieces_;
  std::set<TempId> waiting_;
};

}  // namespace accel
