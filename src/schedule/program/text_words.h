#pragma once
// Words of a program's text: lines are split at spaces, lists at commas; each kind of word has one form.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Splits at `separator` outside of brackets and quotes.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string quote(std::string_view text);
std::optional<std::string> unquote(std::string_view word);

// The inside of a word in brackets.
std::optional<std::string_view> inside(std::string_view word, char open, char close);

bool read_dtype(std::string_view word, DType& out);

std::string dim_text(const DimTable& dims, Dim d);
bool read_dim(DimTable& dims, std::string_view word, Dim& out);
bool read_variable(DimTable& dims, std::string_view word, Dim& out);

std::string address_text(const DimTable& dims, const Address& address);
bool read_address(DimTable& dims, std::string_view word, Address& out);

template <class T>
bool read_number(std::string_view word, T& out) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size();
}

template <class T>
bool read_prefixed(std::string_view word, char prefix, T& out) {
  return word.starts_with(prefix) && read_number(word.substr(1), out);
}

template <class E, size_t n>
bool read_enum(std::string_view word, const char* const (&names)[n], E& out) {
  for (size_t k = 0; k < n; ++k) {
    if (word == names[k]) return out = static_cast<E>(k), true;
  }
  return false;
}

template <class T, class Text>
std::string list_text(const std::vector<T>& items, Text text) {
  std::string out = "(";
  for (const T& item : items) out += (out.size() > 1 ? ", " : "") + text(item);
  return out + ")";
}

template <class T, class Read>
bool read_list(std::string_view word, std::vector<T>& out, Read read) {
  auto text = inside(word, '(', ')');
  if (!text) return false;
  for (std::string_view item : split(*text, ',')) {
    if (!read(item, out.emplace_back())) return false;
  }
  return true;
}

}  // namespace accel
