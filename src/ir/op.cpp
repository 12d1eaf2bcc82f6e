#include "ir/op.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace accel {

namespace {

using enum OpProperty;

const OpInfo op_table[] = {
#define OP(name, op_class, ...) {#name, OpClass::op_class, #op_class, __VA_ARGS__},
#include "ir/ops.inc"
#undef OP
};

// Letter of a dtype in the "inline dtypes" column.
char inline_letter(DType dtype) { return dtype == DType::float16 ? 'e' : dtype_kind(dtype); }

int event_bit(char letter) {
  switch (letter) {
    case 'd':
    case 'D':
      return event_divide;
    case 'o':
    case 'O':
      return event_overflow;
    case 'u':
    case 'U':
      return event_underflow;
    case 'v':
    case 'V':
      return event_invalid;
    case 'e':
    case 'E':
      return event_error;
  }
  return 0;
}

int mantissa_bits(DType dtype) {
  switch (item_size(dtype) / (dtype_kind(dtype) == 'c' ? 2 : 1)) {
    case 2:
      return 11;
    case 4:
      return 24;
  }
  return 53;
}

}  // namespace

const OpInfo& op_info(Op op) { return op_table[static_cast<int>(op)]; }

int op_count() { return static_cast<int>(std::size(op_table)); }

std::optional<Op> op_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(op_table); ++i) {
    if (name == op_table[i].name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

bool is_inline(Op op, DType dtype) { return std::strchr(op_info(op).inline_dtypes, inline_letter(dtype)) != nullptr; }

int op_events(Op op, DType dtype) {
  char kind = dtype_kind(dtype);
  bool floating = kind == 'f' || kind == 'c';
  int bits = 0;
  for (const char* letter = op_info(op).events; *letter; ++letter) {
    if (*letter == '|' && kind == 'f') break;
    bool for_integers = *letter >= 'A' && *letter <= 'Z';
    if (for_integers != floating) bits |= event_bit(*letter);
  }
  return bits;
}

int events_on(Target target, int events) { return target.has_float_events() ? events : events & event_error; }

bool signals_on_nan(Op op) { return std::strchr(op_info(op).events, 'n') != nullptr; }

std::string vector_function(Op op, char kind) {
  const std::string_view forms = op_info(op).vector_forms, kinds = forms.substr(0, forms.find(' '));
  if (kinds.find(kind) == kinds.npos) return {};
  return kinds == forms ? "v_" + std::string(op_info(op).name) : std::string(forms.substr(kinds.size() + 1));
}

bool has_interleaved_form(Op op) {
  const std::string_view forms = op_info(op).vector_forms;
  return forms.substr(0, forms.find(' ')).find('w') != forms.npos;
}

std::vector<Op> ops_of_results(Op op) {
  std::vector<Op> out;
  if (op_info(op).results == 1) return out;
  for (std::string_view rest = op_info(op).cuda; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    out.push_back(op_from_name(rest.substr(0, end)).value());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::vector<std::vector<int>> core_signature(Op op) {
  std::vector<std::vector<int>> out;
  std::string_view text = op_info(op).cpp;
  std::string letters;  // in the order of their numbers
  for (char c : text) {
    if (c == '(') out.emplace_back();
    if (c < 'a' || c > 'z') continue;
    if (letters.find(c) == letters.npos) letters += c;
    out.back().push_back(static_cast<int>(letters.find(c)));
  }
  return out;
}

int cast_events(DType from, DType to) {
  char source = dtype_kind(from), target = dtype_kind(to);
  bool from_floating = source == 'f' || source == 'c', to_floating = target == 'f' || target == 'c';
  if (!from_floating) {  // only float16 is too small for an integer
    bool small = item_size(from) == 1 || source == 'b' || to != DType::float16;
    return small ? 0 : event_overflow;
  }
  if (target == 'b') return 0;
  if (!to_floating) return event_invalid;
  return mantissa_bits(to) < mantissa_bits(from) ? event_overflow | event_underflow | event_invalid : 0;
}

}  // namespace accel
