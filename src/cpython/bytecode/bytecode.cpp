#include "cpython/bytecode/bytecode.h"

#include <opcode.h>

#include <array>
#include <string>

#include "cpython/bytecode/code_tables.h"
#include "cpython/interpreter_frame.h"

namespace accel {

namespace {

constexpr int send_done_effect = PY_VERSION_HEX < 0x030C0000 ? -1 : 0;

static_assert(NB_ADD == static_cast<int>(BinaryOperator::add) && NB_XOR == static_cast<int>(BinaryOperator::xor_));
static_assert(NB_INPLACE_ADD == NB_XOR + 1 && NB_INPLACE_XOR == 2 * NB_XOR + 1);

struct OpcodeRow {
  const char* name;
  Flow flow;
};

constexpr OpcodeRow opcode_rows[] = {
#define OPCODE(name, effect, taken, flow, doc) {#name, Flow::flow},
#include "cpython/bytecode/bytecode.inc"
#undef OPCODE
};

// One native instruction with its prefixes and inline caches, in code units.
struct Word {
  int start = 0;  // first prefix
  int unit = 0;   // the opcode itself
  int opcode = 0;
  int arg = 0;
  int next = 0;
};

class Decoder {
 public:
  explicit Decoder(PyCodeObject* code) : code_(code) {}
  Result<Bytecode> run();

  const Word& word() const { return word_; }
  PyObject* name(int index) const { return PyTuple_GET_ITEM(code_->co_names, index); }
  PyObject* constant(int index) const { return PyTuple_GET_ITEM(code_->co_consts, index); }

  Instruction& emit(Opcode op, int arg = 0, PyObject* object = nullptr);
  void emit_jump(Opcode op, int target_unit) { emit(op).target = target_unit; }
  void emit_call(int argc, PyObject* names);

  // The current word belongs to the coming call, which resumes before it.
  [[maybe_unused]] void begin_call(PyObject* names);
  // Folds the load_const emitted last into the current word; null when it was something else.
  [[maybe_unused]] PyObject* fold_constant();
  // Folds the instruction emitted last, which must be of this op.
  [[maybe_unused]] bool fold(Opcode op);
  void set_problem(std::string problem) { problem_ = std::move(problem); }

 private:
  Word next_word(int start) const;
  void apply_rule();
  void finish_word();
  bool resolve_targets();
  void annotate();

  PyCodeObject* code_;
  const uint8_t* bytes_ = nullptr;
  int unit_count_ = 0;
  Word word_;
  size_t first_ = 0;     // index of the word's first micro-op
  int call_start_ = -1;  // resume offset of the coming call, -1: its own
  PyObject* call_names_ = nullptr;
  std::string problem_;
  Bytecode out_;
};

Instruction& Decoder::emit(Opcode op, int arg, PyObject* object) {
  Instruction instruction;
  instruction.op = op;
  instruction.arg = arg;
  instruction.object = object;
  out_.instructions.push_back(instruction);
  return out_.instructions.back();
}

void Decoder::begin_call(PyObject* names) {
  if (call_start_ < 0) call_start_ = word_.start;
  if (names) call_names_ = names;
}

void Decoder::emit_call(int argc, PyObject* names) {
  if (call_start_ >= 0) word_.start = call_start_;
  emit(Opcode::call, argc, names ? names : call_names_);
  call_start_ = -1;
  call_names_ = nullptr;
}

bool Decoder::fold(Opcode op) {
  if (out_.instructions.empty() || out_.instructions.back().op != op) return false;
  const Instruction last = out_.instructions.back();
  if (!last.is_resume_point()) return false;
  out_.instructions.pop_back();
  out_.index_at[static_cast<size_t>(last.offset)] = -1;
  first_ = out_.instructions.size();
  word_.start = last.offset;
  return true;
}

PyObject* Decoder::fold_constant() {
  PyObject* object = out_.instructions.empty() ? nullptr : out_.instructions.back().object;
  return fold(Opcode::load_const) ? object : nullptr;
}

// --- expansions: what the rows of native.inc name -----------------------------------------------------------------------

#if PY_VERSION_HEX < 0x030E0000
void expand_assertion_error(Decoder& d) { d.emit(Opcode::load_const, 0, PyExc_AssertionError); }
#else
// Immortal.
void expand_small_int(Decoder& d) { d.emit(Opcode::load_const, 0, PyLong_FromLong(d.word().arg)); }

void expand_borrow(Decoder& d) { d.emit(Opcode::load_fast, d.word().arg).arg2 = 1; }

void expand_borrow_borrow(Decoder& d) {
  d.emit(Opcode::load_fast, d.word().arg >> 4).arg2 = 1;
  d.emit(Opcode::load_fast, d.word().arg & 15).arg2 = 1;
}

void expand_common_constant(Decoder& d) { d.emit(Opcode::load_const, 0, common_constant(d.word().arg)); }
#endif

void expand_load_global(Decoder& d) {
  bool with_null = d.word().arg & 1;
  if (with_null && null_below_callable) d.emit(Opcode::push_null);
  d.emit(Opcode::load_global, 0, d.name(d.word().arg >> 1));
  if (with_null && !null_below_callable) d.emit(Opcode::push_null);
}

void expand_binary_op(Decoder& d) {
#if PY_VERSION_HEX >= 0x030E0000
  if (d.word().arg == NB_SUBSCR) {
    d.emit(Opcode::binary_subscr);
    return;
  }
#endif
  bool augmented = d.word().arg >= NB_INPLACE_ADD;
  d.emit(Opcode::binary_op, d.word().arg - (augmented ? NB_INPLACE_ADD : 0)).arg2 = augmented;
}

void expand_compare_op(Decoder& d) {
#if PY_VERSION_HEX >= 0x030D0000
  d.emit(Opcode::compare_op, d.word().arg >> 5);
  if (d.word().arg & 16) d.emit(Opcode::to_bool);
#elif PY_VERSION_HEX >= 0x030C0000
  d.emit(Opcode::compare_op, d.word().arg >> 4);
#else
  d.emit(Opcode::compare_op, d.word().arg);
#endif
}

void expand_unpack_ex(Decoder& d) { d.emit(Opcode::unpack_ex, d.word().arg & 0xff).arg2 = d.word().arg >> 8; }

void expand_for_iter(Decoder& d) {
  // 3.12 has END_FOR at the native target, 3.13 END_FOR and POP_TOP; the exhausted loop skips them.
  constexpr int skipped = PY_VERSION_HEX >= 0x030D0000 ? 2 : PY_VERSION_HEX >= 0x030C0000 ? 1 : 0;
  d.emit_jump(Opcode::for_iter, d.word().next + d.word().arg + skipped);
}

#if PY_VERSION_HEX >= 0x030E0000
void expand_pop_iter(Decoder& d) {
  for (int slot = 0; slot < iterator_slots; ++slot) d.emit(Opcode::pop_top);
}
#endif

#if PY_VERSION_HEX >= 0x030F0000
void expand_get_iter(Decoder& d) {
  d.emit(d.word().arg == 0 ? Opcode::get_iter : Opcode::get_yield_from_iter);  // else what may be awaited instead of iterated
  d.emit(Opcode::push_null);
}

// The lower bits say whether the import is lazy, which it is nowhere in a function.
void expand_import_name(Decoder& d) { d.emit(Opcode::import_name, 0, d.name(d.word().arg >> 2)); }
#endif

void expand_call(Decoder& d) { d.emit_call(d.word().arg, nullptr); }

void expand_call_function_ex(Decoder& d) {
#if PY_VERSION_HEX >= 0x030E0000
  const bool has_mapping = !d.fold(Opcode::push_null);  // a mapping, or NULL in its place
#else
  const bool has_mapping = d.word().arg & 1;
#endif
  d.emit(Opcode::call_function_ex, has_mapping);
}

void expand_make_function(Decoder& d) {
  d.emit(Opcode::make_function);
#if PY_VERSION_HEX < 0x030D0000
  for (int attribute : {fn_closure, fn_annotations, fn_kwdefaults, fn_defaults})
    if (d.word().arg & attribute) d.emit(Opcode::set_function_attribute, attribute);
#endif
}

#if PY_VERSION_HEX < 0x030C0000

void expand_import_star(Decoder& d) {
  d.emit(Opcode::import_star);
  d.emit(Opcode::pop_top);
}

void expand_print_expr(Decoder& d) {
  d.emit(Opcode::print_expr);
  d.emit(Opcode::pop_top);
}

void expand_precall(Decoder& d) { d.begin_call(nullptr); }

#else

void expand_load_attr(Decoder& d) {
  d.emit(d.word().arg & 1 ? Opcode::load_method : Opcode::load_attr, 0, d.name(d.word().arg >> 1));
}

void expand_load_super_attr(Decoder& d) {
  d.emit(d.word().arg & 1 ? Opcode::load_super_method : Opcode::load_super_attr, 0, d.name(d.word().arg >> 2));
}

#if PY_VERSION_HEX < 0x030E0000
void expand_return_const(Decoder& d) {
  d.emit(Opcode::load_const, 0, d.constant(d.word().arg));
  d.emit(Opcode::return_value);
}
#endif

// By CPython's numbers (pycore_intrinsics.h), from 1 on; those of typing have no op of their own.
constexpr Opcode intrinsic_ops[] = {Opcode::print_expr,     Opcode::import_star,    Opcode::stopiteration_error,
                                    Opcode::async_gen_wrap, Opcode::unary_positive, Opcode::list_to_tuple};

void expand_intrinsic_1(Decoder& d) {
  const int number = d.word().arg;
  if (number >= 1 && number <= static_cast<int>(std::size(intrinsic_ops))) {
    d.emit(intrinsic_ops[number - 1]);
  } else {
    d.emit(Opcode::call_intrinsic_1, number);
  }
}

void expand_intrinsic_2(Decoder& d) {
  if (d.word().arg == 1) {
    d.emit(Opcode::prep_reraise_star);
  } else {
    d.emit(Opcode::call_intrinsic_2, d.word().arg);
  }
}

#endif

#if PY_VERSION_HEX < 0x030D0000

void expand_kw_names(Decoder& d) { d.begin_call(d.constant(d.word().arg)); }

// The conversion applies to the value, which lies under the format specification.
void expand_format_value(Decoder& d) {
  int conversion = d.word().arg & 3;
  bool has_spec = d.word().arg & 4;
  if (conversion && has_spec) d.emit(Opcode::swap, 2);
  if (conversion) d.emit(Opcode::convert_value, conversion);
  if (conversion && has_spec) d.emit(Opcode::swap, 2);
  d.emit(has_spec ? Opcode::format_with_spec : Opcode::format_simple);
}

#else

void expand_load_load(Decoder& d) {
  d.emit(Opcode::load_fast, d.word().arg >> 4);
  d.emit(Opcode::load_fast, d.word().arg & 15);
}

void expand_store_load(Decoder& d) {
  d.emit(Opcode::store_fast, d.word().arg >> 4);
  d.emit(Opcode::load_fast, d.word().arg & 15);
}

void expand_store_store(Decoder& d) {
  d.emit(Opcode::store_fast, d.word().arg >> 4);
  d.emit(Opcode::store_fast, d.word().arg & 15);
}

void expand_call_kw(Decoder& d) {
  PyObject* names = d.fold_constant();
  if (!names) return d.set_problem("CALL_KW without constant names");
  d.emit_call(d.word().arg, names);
}

#endif

// --- the table ----------------------------------------------------------------------------------------------------------

enum class Operand : uint8_t { none, raw, name, constant, forward, backward };

struct Rule {
  bool known = false;
  Opcode op = Opcode::nop;
  Operand operand = Operand::none;
  void (*expand)(Decoder&) = nullptr;
};

using Rules = std::array<Rule, 256>;

constexpr Rules make_rules() {
  Rules rules{};
#define NATIVE(native, op, operand) rules[native] = {true, Opcode::op, Operand::operand, nullptr};
#define EXPAND(native, function) rules[native] = {true, Opcode::nop, Operand::none, function};
#include "cpython/bytecode/native.inc"
#undef NATIVE
#undef EXPAND
  return rules;
}

constexpr Rules rules = make_rules();

void emit_one(Decoder& d, const Rule& rule) {
  const Word& word = d.word();
  switch (rule.operand) {
    case Operand::none:
      d.emit(rule.op);
      break;
    case Operand::raw:
      d.emit(rule.op, word.arg);
      break;
    case Operand::name:
      d.emit(rule.op, 0, d.name(word.arg));
      break;
    case Operand::constant:
      d.emit(rule.op, 0, d.constant(word.arg));
      break;
    case Operand::forward:
      d.emit_jump(rule.op, word.next + word.arg);
      break;
    case Operand::backward:
      d.emit_jump(rule.op, word.next - word.arg);
      break;
  }
}

// --- the walk -----------------------------------------------------------------------------------------------------------

// The opcode after the prefixes at `unit`.
int skip_prefixes(const uint8_t* bytes, int count, int unit) {
  while (unit + 1 < count && bytes[2 * unit] == EXTENDED_ARG) ++unit;
  return unit;
}

// The instruction after the one whose opcode is at `unit`.
int after_caches(const uint8_t* bytes, int count, int unit) {
  for (++unit; unit < count && bytes[2 * unit] == CACHE;) ++unit;
  return unit;
}

// Whether the instruction whose opcode is at `unit` is folded into the call that follows.
bool belongs_to_call(const uint8_t* bytes, int count, int unit) {
  int opcode = bytes[2 * unit];
#if PY_VERSION_HEX >= 0x030D0000
  if (unit + 1 >= count) return false;
  const int next = bytes[2 * skip_prefixes(bytes, count, unit + 1)];
#if PY_VERSION_HEX >= 0x030E0000
  if (opcode == PUSH_NULL && next == CALL_FUNCTION_EX) return true;
#endif
  return opcode == LOAD_CONST && next == CALL_KW;
#elif PY_VERSION_HEX >= 0x030C0000
  return opcode == KW_NAMES && unit + 1 < count;
#else
  return (opcode == KW_NAMES || opcode == PRECALL) && unit + 1 < count;
#endif
}

Word Decoder::next_word(int start) const {
  Word word;
  word.start = start;
  word.unit = skip_prefixes(bytes_, unit_count_, start);
  word.opcode = bytes_[2 * word.unit];
  for (int unit = start; unit <= word.unit; ++unit) word.arg = (word.arg << 8) | bytes_[2 * unit + 1];
  word.next = after_caches(bytes_, unit_count_, word.unit);
  return word;
}

void Decoder::apply_rule() {
  const Rule& rule = rules[static_cast<size_t>(word_.opcode)];
  if (!rule.known) return set_problem("opcode " + std::to_string(word_.opcode));
  if (rule.expand) {
    rule.expand(*this);
  } else {
    emit_one(*this, rule);
  }
}

void Decoder::finish_word() {
  for (size_t i = first_; i < out_.instructions.size(); ++i) {
    Instruction& instruction = out_.instructions[i];
    instruction.part = static_cast<uint8_t>(i - first_);
    instruction.offset = word_.start;
    instruction.fault_offset = word_.unit;
  }
  if (first_ < out_.instructions.size()) out_.index_at[static_cast<size_t>(word_.start)] = static_cast<int>(first_);
}

bool Decoder::resolve_targets() {
  for (Instruction& instruction : out_.instructions) {
    if (instruction.target < 0) continue;
    instruction.target = out_.index_of(instruction.target);
    if (instruction.target < 0) return false;
  }
  return true;
}

void Decoder::annotate() {
  std::vector<int> lines = unit_lines(code_, unit_count_);
  std::vector<ExceptionRange> ranges = exception_ranges(code_);
  for (const ExceptionRange& range : ranges)
    out_.handlers.push_back({out_.index_of(range.target), range.depth, range.push_lasti});
  for (Instruction& instruction : out_.instructions) {
    instruction.line = lines[static_cast<size_t>(instruction.fault_offset)];
    const ExceptionRange* range = find_range(ranges, instruction.fault_offset);
    if (range) instruction.handler = static_cast<int>(range - ranges.data());
  }
}

Result<Bytecode> Decoder::run() {
  out_.code = PyRef::borrow(reinterpret_cast<PyObject*>(code_));
  PyRef bytes = PyRef::steal(PyCode_GetCode(code_));
  if (!bytes) {
    PyErr_Clear();
    return fail(Reason::out_of_memory, "no memory for a copy of the bytecode");
  }
  bytes_ = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  unit_count_ = static_cast<int>(PyBytes_GET_SIZE(bytes.get()) / 2);
  out_.index_at.assign(static_cast<size_t>(unit_count_), -1);
  for (int unit = 0; unit < unit_count_; unit = word_.next) {
    word_ = next_word(unit);
    first_ = out_.instructions.size();
    apply_rule();
    if (!problem_.empty()) return fail(Reason::unsupported_opcode, problem_);
    finish_word();
  }
  if (!resolve_targets()) return fail(Reason::unsupported_opcode, "a jump into the middle of an instruction");
  annotate();
  return std::move(out_);
}

}  // namespace

Result<Bytecode> decode(PyCodeObject* code) { return Decoder(code).run(); }

int fault_offset_at(PyCodeObject* code, int offset) {
  PyRef bytes = PyRef::steal(PyCode_GetCode(code));
  if (!bytes) {
    PyErr_Clear();
    return offset;
  }
  auto units = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  int count = static_cast<int>(PyBytes_GET_SIZE(bytes.get()) / 2);
  int unit = skip_prefixes(units, count, offset);
  while (belongs_to_call(units, count, unit)) unit = skip_prefixes(units, count, after_caches(units, count, unit));
  return unit;
}

const char* opcode_name(Opcode op) { return opcode_rows[static_cast<size_t>(op)].name; }
Flow opcode_flow(Opcode op) { return opcode_rows[static_cast<size_t>(op)].flow; }
int opcode_count() { return static_cast<int>(std::size(opcode_rows)); }

int stack_effect(const Instruction& instruction, bool is_taken) {
  [[maybe_unused]] const int arg = instruction.arg, arg2 = instruction.arg2;
  switch (instruction.op) {
#define OPCODE(name, effect, taken, flow, doc) \
  case Opcode::name:                           \
    return is_taken ? (taken) : (effect);
#include "cpython/bytecode/bytecode.inc"
#undef OPCODE
  }
  return 0;
}

}  // namespace accel
