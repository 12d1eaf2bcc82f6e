#include "codegen/emit/control/control_writer.h"

namespace accel {

std::string without_marks(const std::string& text, const std::set<BufferId>& used) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at) + 1, mark = text.find_first_not_of(' ', at);
    if (mark < end && text[mark] == '@') {
      int id = std::stoi(text.substr(mark + 1));
      if (used.contains(id)) out += cat(std::string(mark - at, ' '), "b", id, " = frame->buffers[", id, "];\n");
    } else {
      out.append(text, at, end - at);
    }
    at = end;
  }
  return out;
}

void ControlWriter::stop_unless(const std::string& condition) { code_.line(cat("if (!(", condition, ")) goto done;")); }

void ControlWriter::refresh(BufferId id) { code_.line(cat("@", id, "@")); }

void ControlWriter::save(TempId temp) {
  auto home = control_.homes.find(temp);
  if (home != control_.homes.end()) code_.line(cat("put(home[", home->second, "], ", temp_name(temp), ");"));
}

std::string ControlWriter::dims_text(const std::vector<Dim>& dims) {
  std::vector<std::string> items;
  for (Dim d : dims) items.push_back(dim(d));
  return listed(items);
}

}  // namespace accel
