#include "schedule/program/text_words.h"

namespace accel {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  size_t start = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t k = 0; k <= text.size(); ++k) {
    char c = k < text.size() ? text[k] : separator;
    if (quoted && c == '\\' && k < text.size()) {
      ++k;
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (k != text.size() && (c != separator || depth != 0)) continue;
    std::string_view word = text.substr(start, k - start);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) out.push_back(word);
    start = k + 1;
  }
  return out;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::optional<std::string> unquote(std::string_view word) {
  if (word.size() < 2 || word.front() != '"' || word.back() != '"') return std::nullopt;
  std::string out;
  for (size_t k = 1; k + 1 < word.size(); ++k) {
    if (word[k] == '\\') ++k;
    out += word[k];
  }
  return out;
}

std::optional<std::string_view> inside(std::string_view word, char open, char close) {
  if (word.size() < 2 || word.front() != open || word.back() != close) return std::nullopt;
  return word.substr(1, word.size() - 2);
}

bool read_dtype(std::string_view word, DType& out) {
  auto dtype = dtype_from_name(word);
  if (dtype) out = *dtype;
  return dtype.has_value();
}

std::string dim_text(const DimTable& dims, Dim d) { return d.id < 0 ? "[]" : "[" + dims.text(d) + "]"; }

bool read_dim(DimTable& dims, std::string_view word, Dim& out) {
  auto text = inside(word, '[', ']');
  if (!text) return false;
  if (text->empty()) return out = Dim{}, true;
  auto parsed = dims.parse(*text);
  if (parsed) out = *parsed;
  return parsed.has_value();
}

bool read_variable(DimTable& dims, std::string_view word, Dim& out) {
  int number = 0;
  if (!read_prefixed(word, 'i', number)) return false;
  out = dims.symbol(DimTable::first_variable + number);
  return true;
}

std::string address_text(const DimTable& dims, const Address& address) {
  return "b" + std::to_string(address.buffer) + dim_text(dims, address.offset);
}

bool read_address(DimTable& dims, std::string_view word, Address& out) {
  size_t bracket = word.find('[');
  return bracket != word.npos && read_prefixed(word.substr(0, bracket), 'b', out.buffer) &&
         read_dim(dims, word.substr(bracket), out.offset);
}

}  // namespace accel
