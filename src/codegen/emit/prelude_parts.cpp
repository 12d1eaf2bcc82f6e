#include "codegen/emit/prelude_parts.h"

#include <algorithm>

#include "codegen/analysis/compared.h"
#include "codegen/analysis/facts.h"
#include "codegen/analysis/loops/interleaved_loop.h"
#include "codegen/analysis/loops/vector_loop.h"
#include "codegen/prelude.h"

namespace accel {

bool has_nest_of(const Program& program, Mapping mapping) {
  return std::any_of(program.nests.begin(), program.nests.end(), [=](const Nest& nest) { return nest.mapping == mapping; });
}

namespace {

// Whether it is a cast of floats to a dtype that does not hold all of them.
bool narrows_floats(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::compute || stmt.op != Op::astype) return false;
  auto is_real = [](DType dtype) { return dtype_kind(dtype) == 'f' || dtype_kind(dtype) == 'c'; };
  DType from = program.temps[static_cast<size_t>(stmt.args[0])];
  return is_real(from) && (!is_real(stmt.dtype) || item_size(stmt.dtype) < item_size(from));
}

// The column `target` of a part.
enum class PartTarget { cpu, cuda, all };

// Input of a test of a property.
enum class Scope { program, dtype, stmt };

// The properties that a program has.
class Properties {
 public:
  explicit Properties(const Program& program) : target_(program.target.kind) {
    visit<Scope::program>(program, Stmt{}, DType::bool_);
    for (DType dtype : program.temps) visit<Scope::dtype>(program, Stmt{}, dtype);
    for (const Nest& nest : program.nests) visit(program, nest.body);
    for (const ProgramBlock& block : program.blocks)
      for (const BlockStep& step : block.steps) visit(program, step.body);
  }

  void add_to(Code& out) const {
#define PROPERTY(name, scope, test)
#define DEFINE(macro, when) \
  if (when) out.raw("#define " #macro " 1\n");
#define PART(part, target, when) \
  if (is_for(PartTarget::target) && (when)) out.raw(prelude_part(#part));
#include "codegen/parts.inc"
#undef PROPERTY
#undef DEFINE
#undef PART
  }

 private:
  bool is_for(PartTarget target) const {
    return target == PartTarget::all || (target == PartTarget::cuda) == (target_ == TargetKind::cuda);
  }

  void visit(const Program& program, const Body& body) {
    for (const Stmt& stmt : body) {
      visit<Scope::stmt>(program, stmt, stmt.dtype);
      visit(program, stmt.body);
    }
  }

  template <Scope looked_at>
  void visit([[maybe_unused]] const Program& program, [[maybe_unused]] const Stmt& stmt, [[maybe_unused]] DType dtype) {
#define PROPERTY(name, scope, test) \
  if constexpr (looked_at == Scope::scope) name = name || (test);
#define DEFINE(macro, when)
#define PART(part, target, when)
#include "codegen/parts.inc"
#undef PROPERTY
#undef DEFINE
#undef PART
  }

  TargetKind target_;
#define PROPERTY(name, scope, test) bool name = false;
#define DEFINE(macro, when)
#define PART(part, target, when)
#include "codegen/parts.inc"
#undef PROPERTY
#undef DEFINE
#undef PART
};

}  // namespace

void add_prelude(Code& out, const Program& program) { Properties(program).add_to(out); }

}  // namespace accel
