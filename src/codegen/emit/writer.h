#pragma once
// Writer: base of the classes that write one kind of statement into an Emission. Writers refer to it and have no state of their
// own, so that each makes those that it needs where it needs them.

#include <string>

#include "codegen/emit/emission.h"

namespace accel {

class Writer {
 public:
  explicit Writer(Emission& emission)
      : emission_(emission), copy_(emission.copy), names_(emission.names), code_(emission.code) {}

 protected:
  // Statements of any kind (statements/statement_writer.h).
  void write(const Body& body);
  void write(const Stmt& stmt);
  // Whether nothing of a body becomes a loop, a call or a store to scratch.
  bool is_straight(const Body& body);
  // A statement's result gets its value.
  void define(const Stmt& stmt, const std::string& value);
  // Shows a value to the sink if its computation has to stay.
  void preserve_events(const Stmt& stmt);
  void fail_with(std::string detail) { emission_.fail_with(std::move(detail)); }

  std::string dim(Dim d) { return names_.dim(d); }
  Dim resolve(Dim d) { return names_.resolve(d); }
  std::optional<int64_t> constant_value(Dim d) { return names_.constant_value(d); }
  std::string variable(Dim var) const { return names_.variable(var); }
  std::string buffer(BufferId id) { return names_.buffer(id); }
  std::string address(const Address& address) { return names_.address(address); }
  const Buffer& buffer_info(BufferId id) const { return names_.buffer_info(id); }
  DType dtype(TempId temp) const { return names_.dtype(temp); }
  std::string type(TempId temp) const { return names_.type(temp); }

  Emission& emission_;
  Copy& copy_;
  Names& names_;
  Code& code_;
};

}  // namespace accel
