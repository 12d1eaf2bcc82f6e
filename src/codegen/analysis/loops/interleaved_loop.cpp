#include "codegen/analysis/loops/interleaved_loop.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

bool is_product(Op op) {
  return op == Op::multiply || op == Op::scalar_multiply || op == Op::fused_multiply || op == Op::square;
}

class InterleavedForm {
 public:
  explicit InterleavedForm(const Program& program) : program_(program) {}

  std::optional<DType> run(const Stmt& loop) {
    if (loop.kind != StmtKind::loop || loop.loop_kind == LoopKind::serial) return std::nullopt;
    for (const Stmt& stmt : loop.body)
      if (!fits(stmt)) return std::nullopt;
    return multiplies_ ? found_ : std::nullopt;
  }

 private:
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }

  // Whether it is a complex number, of one dtype for all of the loop.
  bool is_number(TempId temp) {
    if (!found_ && dtype_kind(dtype(temp)) == 'c') found_ = dtype(temp);
    return dtype(temp) == found_;
  }

  bool fits(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::constant:
        return is_number(stmt.dst);
      case StmtKind::load:
        if (is_number(stmt.dst)) return true;
        real_.insert(stmt.dst);
        return dtype(stmt.dst) == DType::float32 || dtype(stmt.dst) == DType::float64;
      case StmtKind::store:
        return is_number(stmt.args[0]);
      case StmtKind::compute:
        return is_number(stmt.dst) && (stmt.op == Op::astype ? widens(stmt) : computes(stmt));
      default:
        return false;
    }
  }

  // Whether a loaded real number becomes a complex one of the same precision.
  bool widens(const Stmt& stmt) { return real_.contains(stmt.args[0]) && dtype(stmt.args[0]) == part_dtype(*found_); }

  bool computes(const Stmt& stmt) {
    multiplies_ |= is_product(stmt.op);
    return has_interleaved_form(stmt.op) &&
           std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) { return is_number(arg); });
  }

  const Program& program_;
  std::optional<DType> found_;
  std::set<TempId> real_;
  bool multiplies_ = false;
};

}  // namespace

std::optional<DType> interleaved_dtype(const Program& program, const Stmt& loop) { return InterleavedForm(program).run(loop); }

}  // namespace accel
