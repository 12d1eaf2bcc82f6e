#pragma once
// Code: lines of emitted text with indentation.

#include <string>
#include <string_view>
#include <vector>

namespace accel {

class Code {
 public:
  explicit Code(int depth = 0) : depth_(depth) {}

  void line(std::string_view text);
  void open(std::string_view head);                   // "head {" and one level deeper
  void close(std::string_view tail = "}");            // one level back and "tail"
  void raw(std::string_view text) { text_ += text; }  // as it is
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

// Concatenates strings, string views, characters' strings and integers.
inline void append_piece(std::string& out, std::string_view piece) { out += piece; }
inline void append_piece(std::string& out, long long number) { out += std::to_string(number); }
inline void append_piece(std::string& out, long number) { out += std::to_string(number); }
inline void append_piece(std::string& out, int number) { out += std::to_string(number); }
template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (append_piece(out, pieces), ...);
  return out;
}

// The items with commas between them.
std::string listed(const std::vector<std::string>& items);

}  // namespace accel
