#include "codegen/emit/code.h"

namespace accel {

void Code::line(std::string_view text) {
  // Preprocessor lines start at the margin.
  if (text.empty() || text[0] != '#') text_.append(static_cast<size_t>(depth_) * 2, ' ');
  text_ += text;
  text_ += '\n';
}

void Code::open(std::string_view head) {
  line(head.empty() ? std::string("{") : cat(head, " {"));
  ++depth_;
}

void Code::close(std::string_view tail) {
  --depth_;
  line(tail);
}

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

}  // namespace accel
