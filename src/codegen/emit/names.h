#pragma once
// Names: what one function of the text calls dims, loop variables, buffers and temps, and which of them it uses.
//
// A dim is simplified by facts about symbols and loop variables before it is written. Writers of loops declare these facts:
// enter/leave for the range of a variable, fix/unfix for a variable that has one value.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/index_ranges.h"

namespace accel {

// What the functions of one copy of the nests share: the program, with some symbols fixed.
struct Copy {
  const Program& program;
  const Facts& facts;
  DimTable dims;                 // the program's, and what substitution adds
  std::map<int, int64_t> fixed;  // symbol, value
  // Of a program with blocks: the events of all it does. Its flags gather them from start to end.
  std::optional<int> all_events = std::nullopt;
};

// What the functions of a nest get from their caller instead of reading it from the frame, so that nests which differ in
// nothing but their buffers and sizes can share functions: sums and products of symbols without loop variables.
struct GivenDims {
  std::vector<Dim> dims;
  bool is_complete = true;  // false: the functions name other numbers of the program
};

class Names {
 public:
  // given: null when the function reads symbols and buffers from the frame.
  Names(Copy& copy, GivenDims* given) : copy_(copy), given_(given) {}

  Dim resolve(Dim d);  // with fixed symbols and variables replaced
  Dim simplified(Dim d) { return ranges_.simplify(resolve(d)); }
  std::optional<int64_t> constant_value(Dim d) { return copy_.dims.as_constant(resolve(d)); }
  // Bytes between the elements at neighbouring values of a variable, when that is known.
  std::optional<int64_t> stride_over(Dim offset, Dim variable);

  // The dim as an i64 expression.
  std::string dim(Dim d);
  std::string printed(Dim d);  // without simplifying it
  std::string variable(Dim var) const;
  int own_variable();  // the symbol of a loop that only the text has

  void enter(int variable, Dim extent) { ranges_.enter(variable, extent); }
  void leave(int variable) { ranges_.leave(variable); }
  void fix(int variable, Dim value) { fixed_.insert_or_assign(variable, value); }
  void unfix(int variable) { fixed_.erase(variable); }

  // Whether quotients and remainders by numbers of the run are computed before all loops, and have names.
  bool names_divisions() const { return names_divisions_; }
  void set_names_divisions(bool names) { names_divisions_ = names; }
  const std::vector<std::string>& divisions() const { return divisions_; }  // their texts, by number

  std::string buffer(BufferId id);
  std::string bytes(BufferId id);  // of all its elements
  std::string address(const Address& address);
  // The address of the element at the run-time indices args[first] and on.
  std::string indexed_address(const Stmt& stmt, size_t first);
  BufferId memory_of(BufferId id) const { return copy_.program.memory_of(id); }
  const Buffer& buffer_info(BufferId id) const { return copy_.program.buffers[static_cast<size_t>(id)]; }
  DType dtype(TempId temp) const { return copy_.program.temps[static_cast<size_t>(temp)]; }
  std::string type(TempId temp) const { return dtype_info(dtype(temp)).emitted; }

  // What the text names.
  const std::set<int>& symbols() const { return symbols_; }
  const std::set<BufferId>& buffers() const { return buffers_; }
  const std::set<int>& given_dims() const { return given_used_; }
  void use_symbol(int symbol) { symbols_.insert(symbol); }
  void use_given_dims(const std::set<int>& numbers) { given_used_.insert(numbers.begin(), numbers.end()); }

 private:
  Dim with_given(Dim d);
  Dim given(Dim d);
  Dim named_divisions(Dim d);

  Copy& copy_;
  GivenDims* given_;
  std::map<int, Dim> fixed_;            // variable, value
  IndexRanges ranges_{copy_.dims};      // of the variables of loops around
  std::map<int32_t, int> division_of_;  // by dim: its number
  std::vector<std::string> divisions_;
  bool names_divisions_ = false;
  int own_variables_ = 0;
  std::set<int> symbols_;
  std::set<BufferId> buffers_;
  std::set<int> given_used_;
};

inline std::string temp_name(TempId temp) { return "t" + std::to_string(temp); }

}  // namespace accel
