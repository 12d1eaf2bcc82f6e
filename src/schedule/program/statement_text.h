#pragma once
// The text of statements: a table with a row per kind of statement, which lists the fields after its name.

#include <string>
#include <string_view>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

struct Field {
  std::string (*print)(const DimTable&, const Stmt&);
  bool (*parse)(DimTable&, std::string_view word, Stmt&);
  bool optional = false;  // printed when not empty
};

struct Row {
  StmtKind kind;
  const char* name;
  bool has_dst, has_body;
  std::vector<Field> fields;
};

const Row& row_of(StmtKind kind);
// Null when there is none.
const Row* row_named(std::string_view name);

}  // namespace accel
