#pragma once
// StatementWriter: statements in their order, each by the writer of its kind, and the simple ones by itself: constants, loads,
// stores, assignments. Where a program records events, they go through the EventWriter first.

#include "codegen/emit/writer.h"

namespace accel {

class StatementWriter : public Writer {
 public:
  using Writer::Writer;

  void write_all(const Body& body);
  // Writes body[position]; the statements after it may decide its form.
  void write_at(const Body& body, size_t position);
  void write_plain(const Body& body, size_t position);  // without a record of events
  void write_one(const Stmt& stmt);

  void constant(const Stmt& stmt);
  void index(const Stmt& stmt);
  void input(const Stmt& stmt);
  void load(const Stmt& stmt);
  void store(const Stmt& stmt);
  void gather(const Stmt& stmt);
  void scatter(const Stmt& stmt);
  void declare(const Stmt& stmt);
  void assign(const Stmt& stmt);

 private:
  bool is_chosen_alone(TempId temp) const;
};

}  // namespace accel
