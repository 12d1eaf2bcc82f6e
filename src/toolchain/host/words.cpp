#include "toolchain/host/words.h"

#include <cstring>

namespace accel {
namespace {

class WordReader {
 public:
  explicit WordReader(const std::string& text) : text_(text) {}

  // Whether there was another word.
  bool read(std::string& word) {
    while (at_ < text_.size() && is_blank(text_[at_])) at_++;
    word.clear();
    if (at_ == text_.size()) return false;
    while (problem_.empty() && at_ < text_.size() && !is_blank(text_[at_])) read_piece(word);
    return problem_.empty();
  }

  // What is wrong with the text, "" when nothing is.
  const std::string& problem() const { return problem_; }

 private:
  static bool is_blank(char c) { return std::strchr(" \t\r\n", c) != nullptr && c != '\0'; }

  void read_piece(std::string& word) {
    const char c = text_[at_++];
    if (c == '\'' || c == '"')
      read_quotation(c, word);
    else if (c != '\\')
      word += c;
    else if (at_ == text_.size())
      problem_ = "a backslash at the end has nothing to stand for";
    else
      word += text_[at_++];
  }

  // Between double quotes a backslash escapes a double quote and a backslash, and nothing else.
  void read_quotation(char quote, std::string& word) {
    for (; at_ < text_.size() && text_[at_] != quote; at_++) {
      const bool escapes =
          quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      word += text_[escapes ? ++at_ : at_];
    }
    if (at_ == text_.size())
      problem_ = std::string("a quotation (") + quote + ") is not closed";
    else
      at_++;
  }

  const std::string& text_;
  size_t at_ = 0;
  std::string problem_;
};

}  // namespace

Result<std::vector<std::string>> split_words(const std::string& text, const std::string& what) {
  WordReader reader(text);
  std::vector<std::string> words;
  for (std::string word; reader.read(word);) words.push_back(word);
  if (!reader.problem().empty()) return fail(Reason::bad_command, what + " is " + text + ": " + reader.problem());
  return words;
}

}  // namespace accel
