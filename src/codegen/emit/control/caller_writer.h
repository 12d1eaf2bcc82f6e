#pragma once
// CallerWriter: services of the kernel's caller: calls and their results, random numbers, and whether the run is interrupted.

#include "codegen/emit/control/control_writer.h"

namespace accel {

class CallerWriter : public ControlWriter {
 public:
  using ControlWriter::ControlWriter;

  // A statement of which is_for_caller holds.
  void write_call(const Stmt& stmt);

 private:
  void draw(const Stmt& stmt, const std::string& numbers);
  void receive_array(const Stmt& stmt, const std::string& numbers);
  void boxed_call(const Stmt& stmt, const std::string& number);
};

// Whether it makes a result of the caller's a result of the kernel as it is, without a copy.
bool is_received_output(const Program& program, const Stmt& stmt);

}  // namespace accel
