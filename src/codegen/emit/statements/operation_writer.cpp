#include "codegen/emit/statements/operation_writer.h"

#include <algorithm>

#include "codegen/emit/expressions.h"

namespace accel {

// Whether a number is an element as it lies in memory.
bool OperationWriter::is_loaded(TempId temp) const {
  const Stmt* source = copy_.facts.definition(temp);
  bool casts = source != nullptr && source->kind == StmtKind::compute && source->op == Op::astype;
  if (casts && dtype(source->args[0]) == dtype(temp)) return is_loaded(source->args[0]);
  return source != nullptr && source->kind == StmtKind::load;
}

// Whether bytes of memory, or comparisons of numbers of less than `size` bytes, decide whether the value is true.
bool OperationWriter::is_narrow_mask(TempId temp, int size) const {
  const Stmt* source = copy_.facts.definition(temp);
  if (source == nullptr || dtype(temp) != DType::bool_) return false;
  if (source->kind == StmtKind::load) return true;
  return source->kind == StmtKind::compute && std::any_of(source->args.begin(), source->args.end(), [&](TempId arg) {
           return dtype(arg) == DType::bool_ ? is_narrow_mask(arg, size) : item_size(dtype(arg)) < size;
         });
}

// Whether a number is one of two constants. By default g++ branches on it, which the processor cannot predict.
bool OperationWriter::chooses_constants(const Stmt& stmt) const {
  return stmt.op == Op::where && !emission_.in_vectors && dtype_kind(dtype(stmt.dst)) != 'c' &&
         item_size(dtype(stmt.dst)) == 8 && copy_.facts.is_of_constants(stmt.args[1]) &&
         copy_.facts.is_of_constants(stmt.args[2]);
}

// Whether g++ may find that a comparison of this number has a constant result (0 * x is never less than 0), and drop the
// computation of the number together with its events.
bool OperationWriter::may_be_foreseen(const Stmt& comparison, size_t operand) const {
  if (!is_comparison(comparison.op) || emission_.in_vectors || comparison.args.size() != 2) return false;
  DType type = dtype(comparison.args[operand]);
  const Stmt* own = copy_.facts.definition(comparison.args[operand]);
  const Stmt* other = copy_.facts.definition(comparison.args[1 - operand]);
  bool raises = own != nullptr && own->kind == StmtKind::compute && copy_.program.own_events(*own) != 0;
  bool known = other != nullptr && (other->kind == StmtKind::constant || other->kind == StmtKind::compute);
  return raises && known && (type == DType::float64 || type == DType::float32);
}

// Whether the operand is a constant that the operation may give.
bool OperationWriter::may_give_constant(const Stmt& stmt, size_t operand) const {
  bool selects = stmt.op == Op::where || stmt.op == Op::merge || signals_on_nan(stmt.op);  // those are extremes
  const Stmt* source = copy_.facts.definition(stmt.args[operand]);
  bool constant = source != nullptr && source->kind == StmtKind::constant;
  return selects && constant && (source->dtype == DType::float64 || source->dtype == DType::float32);
}

// Whether the operation may be executed on the path on which it is written alone, and before its events are read: those of
// control flow.
bool OperationWriter::is_held(const Stmt& stmt) const {
  return emission_.inputs && !emission_.device && !emission_.is_pinned && copy_.program.own_events(stmt) != 0;
}

std::vector<std::string> OperationWriter::operands_of(const Stmt& stmt) const {
  std::vector<std::string> operands;
  for (TempId arg : stmt.args) operands.push_back(temp_name(arg));
  if (emission_.device) return operands;
  // The compiler would work out an operation on constants, without its events.
  bool folds = std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) { return copy_.facts.is_of_constants(arg); });
  if (folds && !operands.empty() && copy_.program.own_events(stmt) != 0) {
    // What it does not foresee it may still compute in vectors, or once for all elements.
    bool real = dtype(stmt.args[0]) == DType::float64 || dtype(stmt.args[0]) == DType::float32;
    operands[0] = cat(real ? "unforeseen(" : "opaque(", operands[0], ")");
  }
  for (size_t k = 0; k < operands.size() && is_held(stmt); ++k) operands[k] = cat("held(", operands[k], ")");
  for (size_t k = 0; k < operands.size(); ++k)
    if (may_be_foreseen(stmt, k)) operands[k] = cat("computed(", operands[k], ")");
  for (size_t k = 0; k < operands.size() && !folds; ++k)
    if (may_give_constant(stmt, k)) operands[k] = cat("unforeseen(", operands[k], ")");
  for (size_t k = 0; k < operands.size() && emission_.is_pinned && !folds; ++k)
    operands[k] = cat("opaque(", temp_name(stmt.args[k]), ")");
  bool numbers = stmt.op == Op::astype && (dtype(stmt.dst) == DType::float32 || dtype(stmt.dst) == DType::float64);
  if (numbers && is_narrow_mask(stmt.args[0], item_size(dtype(stmt.dst)))) operands[0] = cat("byte_of(", operands[0], ")");
  return operands;
}

std::string OperationWriter::value_of(const Stmt& stmt, const std::vector<std::string>& operands) const {
  if (emission_.device) return device_op(stmt.op, operands, dtype(stmt.dst));
  const bool in_vectors = emission_.in_vectors;
  bool chooses = in_vectors && (stmt.op == Op::where || stmt.op == Op::merge) && dtype_kind(dtype(stmt.dst)) != 'c';
  bool blends = (chooses && item_size(dtype(stmt.dst)) == 8 && is_narrow_mask(stmt.args[0], 8)) || chooses_constants(stmt);
  if (blends) return cat("blend(", operands[0], ", ", operands[1], ", ", operands[2], ")");
  bool alone = !in_vectors && stmt.op == Op::negative && dtype_kind(dtype(stmt.dst)) == 'f' && item_size(dtype(stmt.dst)) > 2 &&
               !is_loaded(stmt.args[0]);
  return alone ? cat("negative_alone(", operands[0], ")") : cpp_op(stmt.op, operands, dtype(stmt.dst));
}

void OperationWriter::compute(const Stmt& stmt) {
  if (stmt.op == Op::lanes) emission_.has_lanes = true;
  std::string value = value_of(stmt, operands_of(stmt));
  if (value.empty()) fail_with(cat("op ", op_info(stmt.op).name, " has no C++ text"));
  if (emission_.is_pinned) value = cat("opaque(", value, ")");
  if (is_held(stmt)) value = cat("held(", value, ")");
  define(stmt, value);
}

}  // namespace accel
