#pragma once
// Writes the statements of a nest into scopes, which are the open loops, outermost first.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedule/analysis/index_maps.h"
#include "schedule/program/program.h"

namespace accel {

using ScopeKey = std::pair<ValueId, Index>;
struct ScopeKeyLess {
  bool operator()(const ScopeKey& a, const ScopeKey& b) const;
};

// An open loop, and what has been computed in it.
struct Scope {
  Body body;
  Stmt header;  // the loop; the outermost scope has none
  bool holds_tiles = false;
  std::map<ScopeKey, TempId, ScopeKeyLess> temps;
  std::map<ScopeKey, Address, ScopeKeyLess> tiles;  // elements in a tile: address over the inner loop's variable
  std::map<ScopeKey, BufferId, ScopeKeyLess> rows;  // by value and index, where -1 marks the axes of the row
};

class StatementLowering {
 public:
  explicit StatementLowering(Program& program) : program_(program), dims_(program.dims) {}

  DimTable& dims() { return dims_; }
  DType dtype_of(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  int import_of(const LoopImport& import) { return program_.add_import(import); }

  // Starts a nest with scope 0, which is not a loop. end_nest returns its body.
  void begin_nest();
  Body end_nest();
  // Opens a loop over [0, extent); close_loop appends it to the enclosing scope. `holds_tiles`: the loops inside are tiles.
  Dim open_loop(LoopKind kind, Dim extent, bool holds_tiles);
  void open_loop_over(Dim variable, LoopKind kind, Dim extent, bool holds_tiles);
  void close_loop();
  // Closes a serial loop that ends early, after an iteration in which `more` is 0.
  void close_loop_while(TempId more);
  // Opens the body of a statement that reduces over a new variable; close_reducing appends the statement and returns its
  // result.
  Dim open_reducing(StmtKind kind, Dim extent);
  TempId close_reducing(Stmt details, DType dtype);

  int depth() const { return static_cast<int>(scopes_.size()); }
  Scope& innermost() { return *scopes_.back(); }
  Scope& scope(int level) { return *scopes_[static_cast<size_t>(level)]; }
  // The innermost scope that binds a variable of the index.
  int scope_of(const Index& index) const;
  // Whether the innermost scope that binds a variable of the index is a loop over the elements of a tile.
  bool in_tile(const Index& index) const;

  // --- statements -----------------------------------------------------------------------------------------------------
  void append(Stmt stmt) { scopes_.back()->body.push_back(std::move(stmt)); }
  // Appends a statement that computes a new temp.
  TempId emit(Stmt stmt, DType dtype);
  TempId load(const Address& address, DType dtype);
  void store(const Address& address, TempId value, DType dtype);
  TempId literal(Literal value);
  TempId declare(TempId start, DType dtype);
  void assign(TempId variable, TempId value, DType dtype);
  BufferId scratch(DType dtype, Dim elements, std::string name);
  BufferId temp(DType dtype, Dim elements, std::string name);  // memory that all nests see

 private:
  friend class Cut;

  Program& program_;
  DimTable& dims_;
  std::vector<std::unique_ptr<Scope>> scopes_;
};

}  // namespace accel
