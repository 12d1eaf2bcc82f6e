#pragma once
// DeviceReductionWriter: reductions in functions for a device. The threads of an item share those that are not inside of what a
// single thread computes.

#include <functional>
#include <string>

#include "codegen/emit/reductions/reduction_writer.h"

namespace accel {

class DeviceReductionWriter : public ReductionWriter {
 public:
  using ReductionWriter::ReductionWriter;

  void pairwise(const Stmt& stmt);
  void masked_pairwise(const Stmt& stmt);
  void fold(const Stmt& stmt);
  void argreduce(const Stmt& stmt);
  void squared_deviations(const Stmt& stmt);
  void list(const Stmt& stmt);
  void accumulate(const Stmt& stmt);

  // The type of what a part of a reduction that blocks share comes to.
  std::string partial_type(const Stmt& stmt) const;

 private:
  // Texts of one reduction, after its element function `source`.
  struct Texts {
    std::string whole;    // its value, by a group
    std::string partial;  // what part `part` of `parts` comes to
    std::string joined;   // its value from all parts
  };

  std::string group() const;
  bool is_simple(const Stmt& stmt) const;
  int side_by_side(const Stmt& stmt) const;
  const char* partial_step() const;
  void write_listed(const Stmt& list, const Stmt* listed);
  void write_element(const Stmt& stmt, const std::string& type, const std::string& value);
  void write_value(const Stmt& stmt, const Texts& texts);
  int shared_number(const Stmt& stmt) const;
  void write_combine(const Stmt& stmt);
};

}  // namespace accel
