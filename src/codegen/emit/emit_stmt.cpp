// Writers of the statements that are not reductions.

#include <algorithm>

#include "codegen/analysis/compared.h"
#include "codegen/emit/expressions.h"
#include "codegen/emit/kernel_function.h"

namespace accel {

namespace {

// A loop of at most this many iterations is written out, while a statement is copied at most so often.
constexpr int64_t most_unrolled = 8;
constexpr int64_t most_copies = 64;

}  // namespace

KernelFunction::Writer KernelFunction::writer(StmtKind kind) {
  static const std::map<StmtKind, Writer> writers = {
      {StmtKind::loop, &KernelFunction::loop},         {StmtKind::tile, &KernelFunction::tile},
      {StmtKind::constant, &KernelFunction::constant}, {StmtKind::index, &KernelFunction::index},
      {StmtKind::input, &KernelFunction::input},       {StmtKind::load, &KernelFunction::load},
      {StmtKind::store, &KernelFunction::store},       {StmtKind::compute, &KernelFunction::compute},
      {StmtKind::declare, &KernelFunction::declare},   {StmtKind::assign, &KernelFunction::assign},
      {StmtKind::call, &KernelFunction::call},         {StmtKind::gufunc, &KernelFunction::gufunc},
      {StmtKind::pairwise, &KernelFunction::pairwise}, {StmtKind::masked_pairwise, &KernelFunction::masked_pairwise},
      {StmtKind::fold, &KernelFunction::fold},         {StmtKind::argreduce, &KernelFunction::argreduce},
      {StmtKind::repeat, &KernelFunction::repeat},     {StmtKind::gather, &KernelFunction::gather},
      {StmtKind::scatter, &KernelFunction::scatter},   {StmtKind::list, &KernelFunction::list},
  };
  return writers.at(kind);
}

void KernelFunction::write(const Body& body) {
  if (copy_.program.records_events && !in_unit_ && has_repeat(body)) return recorded_tile(body);
  for (size_t k = 0; k < body.size(); ++k) write(body, k);
}

void KernelFunction::write(const Body& body, size_t place) {
  if (copy_.program.records_events && !in_unit_) return recorded(body, place);
  write_plain(body, place);
}

void KernelFunction::write_plain(const Body& body, size_t place) {
  stand_in(copy_.program, body[place]) ? call_for_one(body, place) : write(body[place]);
}

// --- loops ----------------------------------------------------------------------------------------------------------

std::optional<int64_t> KernelFunction::straight_extent(const Stmt& stmt, int64_t most) {
  auto extent = known(stmt.extent);
  if (!extent || *extent > most || *extent < 0) return std::nullopt;
  if (written_out_ * std::max<int64_t>(*extent, 1) > most_copies) return std::nullopt;
  return extent;
}

bool KernelFunction::is_straight(const Body& body) {
  return std::all_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    if (!stmt.operands.empty() || stmt.kind == StmtKind::tile) return false;
    if (stmt.kind == StmtKind::store) return buffer_info(stmt.address.buffer).kind != BufferKind::scratch;
    if (stmt.body.empty()) return true;
    auto extent = known(stmt.extent);
    bool few_parts = stmt.kind != StmtKind::pairwise || dtype_kind(dtype(stmt.args[0])) != 'c' || extent <= 3;
    return extent && *extent <= most_unrolled && few_parts && stmt.chunk == 0 && is_straight(stmt.body);
  });
}

// Whether each iteration of the loop has elements of its own in all scratch memory that it stores to.
bool KernelFunction::fills_tile(const Stmt& loop) {
  int variable = *copy_.dims.as_symbol(loop.var);
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::store ? copy_.dims.names(stmt.address.offset, variable) : is_straight({stmt});
  });
}

// Writes the body `count` times, each in a block of its own that ends with what `after_element` writes.
void KernelFunction::straight(const Stmt& stmt, int64_t count, const std::function<void(int64_t)>& after_element) {
  int symbol = *copy_.dims.as_symbol(stmt.var);
  int64_t copies = std::max<int64_t>(count, 1);
  written_out_ *= copies;
  for (int64_t k = 0; k < count; ++k) {
    unrolled_.insert_or_assign(symbol, copy_.dims.constant(k));
    code_.open("");
    write(stmt.body);
    after_element(k);
    code_.close();
  }
  unrolled_.erase(symbol);
  written_out_ /= copies;
}

void KernelFunction::loop(const Stmt& stmt) {
  if (group_lane_ == *copy_.dims.as_symbol(stmt.var)) return counted_loop(stmt, "group", "group_end");
  if (auto count = straight_extent(stmt, most_unrolled)) return straight(stmt, *count, [](int64_t) {});
  counted_loop(stmt, "0", dim(stmt.extent));
}

void KernelFunction::counted_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  if (copy_.program.records_events && !in_unit_ && has_repeat(stmt.body)) return loop_over_tiles(stmt, first, last);
  bool records = copy_.program.records_events && !in_unit_ && !sites_of(stmt.body).empty();
  records ? recorded_loop(stmt, first, last) : fast_loop(stmt, first, last);
}

void KernelFunction::fast_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  if (stmt.loop_kind != LoopKind::serial && has_lanes(stmt)) return lanes(stmt, first, last);
  if (auto halves = passes_over(stmt)) return loop_in_halves(stmt, *halves, first, last);
  plain_loop(stmt, first, last);
}

void KernelFunction::plain_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  int variable_symbol = *copy_.dims.as_symbol(stmt.var);
  ranges_.enter(variable_symbol, resolve(stmt.extent));
  bool outside = in_vectors_;
  in_vectors_ = stmt.loop_kind != LoopKind::serial && (is_straight(stmt.body) || fills_tile(stmt));
  if (auto period = period_of(stmt)) {
    loop_by_periods(stmt, *period, first, last);
  } else if (auto dtype = interleaved(stmt)) {
    interleaved_loop(stmt, *dtype, first, last);
  } else {
    std::string var = variable(stmt.var), end = cat("n", var);
    if (in_vectors_) code_.line("#pragma GCC ivdep");
    code_.open(cat("for (i64 ", var, " = ", first, ", ", end, " = ", last, "; ", var, " < ", end, "; ++", var, ")"));
    write(stmt.body);
    code_.close();
  }
  in_vectors_ = outside;
  ranges_.leave(variable_symbol);
}

// What the loop's variable, or a sum of it and others, is divided by in its addresses, where that is known at run time only.
std::optional<KernelFunction::Period> KernelFunction::period_of(const Stmt& loop) {
  if (!names_divisions_ || !is_straight(loop.body)) return std::nullopt;
  DimTable& dims = copy_.dims;
  std::optional<Period> found;
  std::function<void(Dim)> look = [&](Dim d) {
    if (dims.as_constant(d) || dims.as_symbol(d)) return;
    std::vector<Dim> operands = dims.operands(d);
    for (Dim part : operands) look(part);
    if (!is_division(dims, d) || dims.as_constant(operands[1])) return;
    Dim base = dims.sub(operands[0], loop.var);
    std::vector<int> symbols = dims.symbols(operands[1]);
    if (dims.names(base, *dims.as_symbol(loop.var)) || symbols.back() >= DimTable::first_variable) return;
    if (!found || dims.kind(d) == DimKind::mod) found = Period{base, operands[1]};
  };
  for (const Stmt& stmt : loop.body) {
    bool has_address = stmt.kind == StmtKind::load || stmt.kind == StmtKind::store || stmt.kind == StmtKind::gather;
    if (has_address) look(ranges_.simplify(resolve(stmt.address.offset)));
  }
  return found;
}

// Writes the loop's variable as quotient * period + remainder from here on, so that its addresses need no division.
void KernelFunction::enter_period(const Stmt& stmt, const Period& period, int round, int place) {
  DimTable& dims = copy_.dims;
  Dim rounds = dims.quotient(resolve(stmt.extent), period.length);
  bool is_whole = dims.is_constant(period.base, 0) && dims.mul(rounds, period.length) == resolve(stmt.extent);
  if (is_whole) ranges_.enter(round, rounds);
  ranges_.enter(place, period.length);
  Dim element = dims.add(dims.mul(dims.symbol(round), period.length), dims.symbol(place));
  unrolled_.insert_or_assign(*dims.as_symbol(stmt.var), dims.sub(element, period.base));
}

void KernelFunction::leave_period(const Stmt& stmt, int round, int place) {
  unrolled_.erase(*copy_.dims.as_symbol(stmt.var));
  ranges_.leave(place);
  ranges_.leave(round);
}

// The same loop in two: over periods, and over the places within one.
void KernelFunction::loop_by_periods(const Stmt& stmt, const Period& period, const std::string& first,
                                     const std::string& last) {
  DimTable& dims = copy_.dims;
  int round = own_variable(), place = own_variable();
  std::string q = printed(dims.symbol(round)), r = printed(dims.symbol(place)), end = cat("n", r), size = cat("p", q);
  std::string from = cat("f", q), to = cat("t", q);
  code_.open(cat("if (", first, " < ", last, ")"));
  code_.line(cat("const i64 ", size, " = ", dim(period.length), ", ", from, " = ", dim(period.base), " + ", first, ", ", to,
                 " = ", dim(period.base), " + ", last, ";"));
  code_.open(cat("for (i64 ", q, " = index_floordiv(", from, ", ", size, "); ", q, " * ", size, " < ", to, "; ++", q, ")"));
  if (in_vectors_) code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", r, " = index_max(", from, " - ", q, " * ", size, ", 0), ", end, " = index_min(", to, " - ", q,
                 " * ", size, ", ", size, "); ", r, " < ", end, "; ++", r, ")"));
  enter_period(stmt, period, round, place);
  write(stmt.body);
  leave_period(stmt, round, place);
  code_.close();
  code_.close();
  code_.close();
}

void KernelFunction::repeat(const Stmt& stmt) {
  auto vectors = vector_loop(copy_.program, stmt);
  vectors ? repeat_in_groups(stmt, *vectors) : plain_repeat(stmt);
}

void KernelFunction::plain_repeat(const Stmt& stmt) {
  std::string var = variable(stmt.var), end = cat("n", var);
  code_.open(cat("for (i64 ", var, " = 0, ", end, " = ", dim(stmt.extent), "; ", var, " < ", end, "; ++", var, ")"));
  write(stmt.body);
  if (!stmt.args.empty()) code_.line(cat("if (", temp_name(stmt.args[0]), " == 0) break;"));
  if (!stmt.quiet) code_.line(break_if_interrupted(var));
  code_.close();
}

// At the end of an iteration of a loop that may be long.
std::string KernelFunction::break_if_interrupted(const std::string& iteration) {
  return cat("if (__builtin_expect((", iteration, " & 4095) == 4095, 0) && interrupted(frame)) break;");
}

void KernelFunction::tile(const Stmt& stmt) { tiled_loop(stmt, "0", dim(stmt.extent)); }

void KernelFunction::tiled_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::string var = variable(stmt.var), end = cat("n", var), step = std::to_string(stmt.step);
  code_.open(cat("for (i64 ", var, " = ", first, ", ", end, " = ", last, "; ", var, " < ", end, "; ", var, " += ", step, ")"));
  code_.line(cat("[[maybe_unused]] const i64 ", variable(stmt.count), " = index_min(", step, ", ", end, " - ", var, ");"));
  write(stmt.body);
  code_.close();
}

// --- values ---------------------------------------------------------------------------------------------------------

void KernelFunction::define(const Stmt& stmt, const std::string& value) {
  code_.line(cat("[[maybe_unused]] const ", type(stmt.dst), " ", temp_name(stmt.dst), " = ", value, ";"));
  keep(stmt);
}

void KernelFunction::keep(const Stmt& stmt) {
  if (!copy_.facts.must_keep(stmt.dst)) return;
  has_sink_ = true;
  code_.line(cat("keep(sink, ", temp_name(stmt.dst), ");"));
}

void KernelFunction::constant(const Stmt& stmt) { define(stmt, cpp_literal(stmt.literal)); }

void KernelFunction::index(const Stmt& stmt) { define(stmt, cat("(", type(stmt.dst), ")", dim(stmt.dim))); }

void KernelFunction::input(const Stmt& stmt) {
  define(stmt, cat("load_", type(stmt.dst), "((const char*)(frame->symbols + ", stmt.slot, "))"));
}

void KernelFunction::load(const Stmt& stmt) { define(stmt, cat("load_", type(stmt.dst), "(", address(stmt.address), ")")); }

void KernelFunction::store(const Stmt& stmt) {
  std::string to = strip_address_.empty() ? address(stmt.address) : strip_address_;
  std::string value = temp_name(stmt.args[0]);
  code_.line(cat("store_", type(stmt.args[0]), "(", to, ", ",
                 is_chosen_alone(stmt.args[0]) ? cat("rounded(", value, ")") : value, ");"));
}

// Whether a number is an element as it lies in memory.
bool KernelFunction::is_loaded(TempId temp) const {
  const Stmt* source = copy_.facts.definition(temp);
  bool casts = source != nullptr && source->kind == StmtKind::compute && source->op == Op::astype;
  if (casts && dtype(source->args[0]) == dtype(temp)) return is_loaded(source->args[0]);
  return source != nullptr && source->kind == StmtKind::load;
}

// Whether a number is a choice that g++ would make with a jump between two stores, unless it has to have it first.
bool KernelFunction::is_chosen_alone(TempId temp) const {
  const Stmt* source = copy_.facts.definition(temp);
  return !in_vectors_ && source != nullptr && source->kind == StmtKind::compute && source->op == Op::where &&
         (dtype(temp) == DType::float64 || dtype(temp) == DType::float32);
}

// Whether the value is a constant, or computed from nothing else.
bool KernelFunction::is_of_constants(TempId temp) const {
  const Stmt* source = copy_.facts.definition(temp);
  if (source == nullptr || source->kind != StmtKind::compute) return source != nullptr && source->kind == StmtKind::constant;
  return std::all_of(source->args.begin(), source->args.end(), [&](TempId arg) { return is_of_constants(arg); });
}

// Whether bytes of memory, or comparisons of numbers of less than `size` bytes, decide whether the value is true.
bool KernelFunction::is_narrow_mask(TempId temp, int size) const {
  const Stmt* source = copy_.facts.definition(temp);
  if (source == nullptr || dtype(temp) != DType::bool_) return false;
  if (source->kind == StmtKind::load) return true;
  return source->kind == StmtKind::compute && std::any_of(source->args.begin(), source->args.end(), [&](TempId arg) {
           return dtype(arg) == DType::bool_ ? is_narrow_mask(arg, size) : item_size(dtype(arg)) < size;
         });
}

// Whether a number is one of two constants. Left to itself g++ makes a jump of what is done with it, though nobody can say
// which it will be.
bool KernelFunction::chooses_constants(const Stmt& stmt) const {
  return stmt.op == Op::where && !in_vectors_ && dtype_kind(dtype(stmt.dst)) != 'c' && item_size(dtype(stmt.dst)) == 8 &&
         is_of_constants(stmt.args[1]) && is_of_constants(stmt.args[2]);
}

// Whether g++ may find that a comparison of this number always comes out the same (0 * x is never less than 0), and leave out
// what computes it with the events of that.
bool KernelFunction::may_be_foreseen(const Stmt& comparison, size_t operand) const {
  constexpr Op comparisons[] = {Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::equal, Op::not_equal};
  bool compares = std::find(std::begin(comparisons), std::end(comparisons), comparison.op) != std::end(comparisons);
  if (!compares || in_vectors_ || comparison.args.size() != 2) return false;
  DType type = dtype(comparison.args[operand]);
  const Stmt* own = copy_.facts.definition(comparison.args[operand]);
  const Stmt* other = copy_.facts.definition(comparison.args[1 - operand]);
  bool raises = own != nullptr && own->kind == StmtKind::compute && copy_.program.own_events(*own) != 0;
  bool known = other != nullptr && (other->kind == StmtKind::constant || other->kind == StmtKind::compute);
  return raises && known && (type == DType::float64 || type == DType::float32);
}

// Whether the operand is a constant that the operation may give.
bool KernelFunction::may_give_constant(const Stmt& stmt, size_t operand) const {
  bool selects = stmt.op == Op::where || stmt.op == Op::merge || signals_on_nan(stmt.op);  // those are extremes
  const Stmt* source = copy_.facts.definition(stmt.args[operand]);
  bool constant = source != nullptr && source->kind == StmtKind::constant;
  return selects && constant && (source->dtype == DType::float64 || source->dtype == DType::float32);
}

void KernelFunction::compute(const Stmt& stmt) {
  std::vector<std::string> operands;
  for (TempId arg : stmt.args) operands.push_back(temp_name(arg));
  // The compiler would work out an operation on constants, without its events.
  bool folds = std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) { return is_of_constants(arg); });
  if (folds && !operands.empty() && copy_.program.own_events(stmt) != 0) {
    // What it does not foresee it may still compute in vectors, or once for all elements.
    bool real = dtype(stmt.args[0]) == DType::float64 || dtype(stmt.args[0]) == DType::float32;
    operands[0] = cat(real ? "unforeseen(" : "opaque(", operands[0], ")");
  }
  for (size_t k = 0; k < operands.size(); ++k)
    if (may_be_foreseen(stmt, k)) operands[k] = cat("computed(", operands[k], ")");
  for (size_t k = 0; k < operands.size() && !folds; ++k)
    if (may_give_constant(stmt, k)) operands[k] = cat("unforeseen(", operands[k], ")");
  for (size_t k = 0; k < operands.size() && is_pinned_ && !folds; ++k)
    operands[k] = cat("opaque(", temp_name(stmt.args[k]), ")");
  bool numbers = stmt.op == Op::astype && (dtype(stmt.dst) == DType::float32 || dtype(stmt.dst) == DType::float64);
  if (numbers && is_narrow_mask(stmt.args[0], item_size(dtype(stmt.dst)))) operands[0] = cat("byte_of(", operands[0], ")");
  if (stmt.op == Op::lanes) has_lanes_ = true;
  bool chooses = in_vectors_ && (stmt.op == Op::where || stmt.op == Op::merge) && dtype_kind(dtype(stmt.dst)) != 'c';
  bool blends = (chooses && item_size(dtype(stmt.dst)) == 8 && is_narrow_mask(stmt.args[0], 8)) || chooses_constants(stmt);
  std::string value = blends ? cat("blend(", operands[0], ", ", operands[1], ", ", operands[2], ")")
                             : cpp_op(stmt.op, operands, dtype(stmt.dst));
  bool alone = !in_vectors_ && stmt.op == Op::negative && dtype_kind(dtype(stmt.dst)) == 'f' &&
               item_size(dtype(stmt.dst)) > 2 && !is_loaded(stmt.args[0]);
  if (alone) value = cat("negative_alone(", operands[0], ")");
  if (value.empty()) fail_with(cat("op ", op_info(stmt.op).name, " has no C++ text"));
  if (is_pinned_) value = cat("opaque(", value, ")");
  define(stmt, value);
}

// Address of the element at the run-time indices args[first] and on.
std::string KernelFunction::indexed_address(const Stmt& stmt, size_t first) {
  std::string text = address(stmt.address);
  for (size_t k = first; k < stmt.args.size(); ++k)
    text += cat(" + ", temp_name(stmt.args[k]), "*", dim(stmt.core_strides[k - first]));
  return text;
}

void KernelFunction::gather(const Stmt& stmt) {
  define(stmt, cat("load_", type(stmt.dst), "(", indexed_address(stmt, 0), ")"));
}

void KernelFunction::scatter(const Stmt& stmt) {
  code_.line(cat("store_", type(stmt.args[0]), "(", indexed_address(stmt, 1), ", ", temp_name(stmt.args[0]), ");"));
}

void KernelFunction::declare(const Stmt& stmt) {
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), " = ", temp_name(stmt.args[0]), ";"));
}

void KernelFunction::assign(const Stmt& stmt) { code_.line(cat(temp_name(stmt.dst), " = ", temp_name(stmt.args[0]), ";")); }

// --- NumPy's loops --------------------------------------------------------------------------------------------------

void KernelFunction::call(const Stmt& stmt) { library_call(stmt, "call_loop", {dim(stmt.extent)}, {}); }

// One number. Where the result is only compared the loop is asked when an estimate leaves that undecided.
void KernelFunction::call_for_one(const Body& body, size_t place) {
  const Stmt& stmt = body[place];
  const StandIn& other = *stand_in(copy_.program, stmt);
  auto numbers = compared_with(copy_.program, nest_, body, place);
  if (!numbers) return call(stmt);
  std::string items = cat(other.most, ", ", address(stmt.operands[0].address), ", ", address(stmt.operands[1].address));
  for (TempId number : *numbers) items += ", " + temp_name(number);
  code_.open(cat("if (__builtin_expect(!decides<", other.function, ">(", items, "), 0))"));
  call(stmt);
  code_.close();
}

void KernelFunction::gufunc(const Stmt& stmt) {
  std::vector<std::string> dims = {stmt.extent.id < 0 ? "1" : dim(stmt.extent)}, strides;
  for (Dim d : stmt.core_dims) dims.push_back(dim(d));
  for (Dim d : stmt.core_strides) strides.push_back(dim(d));
  std::optional<Dot> dot = dot_of(copy_.program, stmt);
  bool solves = (copy_.program.own_events(stmt) & event_error) != 0;
  if (is_matrix_by_vector(copy_.program, stmt)) {
    DType dtype = copy_.program.imports[static_cast<size_t>(stmt.import)].dtypes.back();
    return library_call(stmt, cat("multiply_rows<", cpp_type(dtype), ">"), dims, strides);
  }
  if (!dot) return library_call(stmt, solves ? "call_solver" : "call_loop", dims, strides);
  const Address &row = stmt.operands[dot->row].address, &column = stmt.operands[dot->column].address;
  std::string kind = stmt.op == Op::matmul ? "true" : "false", end;
  if (int panel = copy_.facts.panel_of(nest_); panel >= 0) {
    kind += cat(", ", panel);
    end = cat(", ", buffer(column.buffer), " + 8L*", dim(buffer_info(memory_of(column.buffer)).elements));
  }
  code_.open(cat("if (!dot<", stmt.import, ", ", kind, ">(frame, ", address(row), ", ", dim(dot->row_stride), ", ",
                 address(column), ", ", dim(dot->column_stride), ", ", dim(dot->extent), ", ",
                 address(stmt.operands[2].address), end, "))"));
  library_call(stmt, "call_loop", dims, strides);
  code_.close();
}

// `dims` as NumPy passes them; `strides` come after those of the operands.
void KernelFunction::library_call(const Stmt& stmt, const std::string& function, std::vector<std::string> dims,
                                  std::vector<std::string> strides) {
  std::vector<std::string> pointers, all_strides;
  for (const CallOperand& operand : stmt.operands) {
    pointers.push_back(address(operand.address));
    all_strides.push_back(operand.stride.id < 0 ? "0" : dim(operand.stride));
  }
  all_strides.insert(all_strides.end(), strides.begin(), strides.end());
  code_.open("");
  code_.line(cat("char* const pointers[] = {", listed(pointers), "};"));
  code_.line(cat("const iptr dims[] = {", listed(dims), "};"));
  code_.line(cat("const iptr strides[] = {", listed(all_strides), "};"));
  code_.line(cat(function, "(frame, status, ", stmt.import, ", pointers, dims, strides);"));
  code_.close();
}

}  // namespace accel
