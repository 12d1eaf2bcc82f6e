#pragma once
// VectorBody: the text of what the lanes of one vector compute in an iteration of a VectorLoop.

#include <map>
#include <string>
#include <vector>

#include "codegen/analysis/loops/vector_loop.h"
#include "codegen/emit/code.h"
#include "codegen/emit/names.h"

namespace accel {

class VectorBody {
 public:
  // `on`: the mask of the active lanes. `exact`: no comparison is decided by squares.
  VectorBody(const Copy& copy, const VectorLoop& loop, std::string on, bool exact);

  // Appends to `code` what `results` need.
  void write(Code& code, const std::vector<TempId>& results);
  std::string name(TempId temp) const;

 private:
  DType dtype(TempId temp) const { return copy_.program.temps[static_cast<size_t>(temp)]; }
  std::string type(TempId temp) const;
  bool is_scalar(TempId temp) const;
  bool from_squares(const Stmt& stmt) const { return !exact_ && loop_.from_squares.contains(stmt.dst); }
  void find_needed(const std::vector<TempId>& results);
  const Stmt* modulus(const Stmt& stmt) const;
  std::string lanes_of(const Stmt& stmt) const;
  void write(Code& code, const Stmt& stmt);
  bool can_wait(const Stmt& stmt) const;
  std::string choice(const Stmt& stmt) const;
  std::string text(const Stmt& stmt, const std::string& lanes) const;

  const Copy& copy_;
  const VectorLoop& loop_;
  std::string on_;
  bool exact_;
  std::map<TempId, std::string> names_;  // other than that of the temp
  std::map<TempId, std::string> under_;  // the mask outside of which a number does not exist
  std::map<TempId, const Stmt*> waiting_;
  std::map<TempId, int> uses_;
};

}  // namespace accel
