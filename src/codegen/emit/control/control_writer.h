#pragma once
// ControlWriter: base of the classes that write parts of the blocks of a program into a Control. Like all writers they have no
// state of their own.

#include "codegen/emit/control/control.h"
#include "codegen/emit/writer.h"

namespace accel {

class ControlWriter : public Writer {
 public:
  explicit ControlWriter(Control& control) : Writer(control.emission), control_(control), program_(control.program) {}

 protected:
  void stop_unless(const std::string& condition);
  // To be called where the address of a buffer may have changed. Writes a mark, which becomes an assignment if the text uses
  // the buffer's name.
  void refresh(BufferId id);
  // To be called where a temp gets a value: exits may hand it over from memory.
  void save(TempId temp);
  std::string events_text() const { return control_.events_text(); }
  std::string dims_text(const std::vector<Dim>& dims);
  bool polls_explicitly(const ProgramBlock& block) const { return accel::polls_explicitly(copy_.facts, block); }

  Control& control_;
  const Program& program_;
};

// The text with the marks of refresh() replaced by assignments of the buffers that the text uses, and removed otherwise.
std::string without_marks(const std::string& text, const std::set<BufferId>& used);

}  // namespace accel
