#pragma once
// DeviceLoopWriter: loops and stores in functions for a device.

#include "codegen/emit/writer.h"

namespace accel {

class DeviceLoopWriter : public Writer {
 public:
  using Writer::Writer;

  void loop(const Stmt& stmt);
  void load(const Stmt& stmt);
  void store(const Stmt& stmt);
  void gather(const Stmt& stmt);
  void scatter(const Stmt& stmt);

 private:
  std::string has_elements(const Stmt& stmt);
  bool is_shared(const Stmt& loop) const;
  void write_loop(const Stmt& stmt, const std::string& first, const std::string& step);
  void write_once(const std::string& text);
};

}  // namespace accel
