#include "schedule/program/store_order.h"

#include <algorithm>
#include <optional>

namespace accel {

namespace {

// The bytes that a statement accesses: an offset over loop variables, and the stride of the vector loop or call.
struct Access {
  Dim start;
  Dim stride;
  bool operator==(const Access&) const = default;
};

class Order {
 public:
  Order(DimTable dims, const std::set<BufferId>& same) : dims_(std::move(dims)), same_(same) {}

  bool holds(const Nest& nest) {
    good_ = true;
    // Straight code that ends in its only store reads everything before it.
    if (nest.body.size() > 0 && nest.body.back().kind == StmtKind::store && is_straight(nest.body)) return true;
    visit(nest.body, {});
    return good_;
  }

 private:
  static bool is_straight(const Body& body) {
    return std::all_of(body.begin(), body.end(), [&](const Stmt& stmt) {
      bool last = &stmt == &body.back();
      return stmt.body.empty() && stmt.operands.empty() && stmt.kind != StmtKind::scatter &&
             (last || stmt.kind != StmtKind::store);
    });
  }

  void visit(const Body& body, Dim variable) {
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::load) read(stmt.address, access(stmt.address.offset, variable));
      if ((stmt.kind == StmtKind::gather || stmt.kind == StmtKind::scatter || stmt.kind == StmtKind::list ||
           stmt.kind == StmtKind::accumulate || stmt.kind == StmtKind::gufunc) &&
          touches(stmt))
        good_ = false;
      if (stmt.kind == StmtKind::call) call(stmt);
      if (stmt.kind == StmtKind::store) write(stmt.address, access(stmt.address.offset, variable));
      bool elements = stmt.kind == StmtKind::loop && stmt.loop_kind == LoopKind::simd;
      visit(stmt.body, elements ? stmt.var : variable);
    }
  }

  bool touches(const Stmt& stmt) const {
    if (stmt.kind != StmtKind::gufunc) return same_.contains(stmt.address.buffer);
    return std::any_of(stmt.operands.begin(), stmt.operands.end(),
                       [&](const CallOperand& o) { return same_.contains(o.address.buffer); });
  }

  // A call writes its last operand; a call with several results only writes scratch tiles (Lowering::store_tile).
  void call(const Stmt& stmt) {
    for (size_t k = 0; k + 1 < stmt.operands.size(); ++k)
      read(stmt.operands[k].address, {stmt.operands[k].address.offset, stmt.operands[k].stride});
    const CallOperand& last = stmt.operands.back();
    write(last.address, {last.address.offset, last.stride});
  }

  Access access(Dim offset, Dim variable) {
    if (variable.id < 0) return {offset, dims_.constant(0)};
    int symbol = *dims_.as_symbol(variable);
    std::optional<Dim> step = dims_.slope(offset, symbol);
    if (!step) return {offset, offset};  // not linear: equal to no other access
    return {dims_.substitute(offset, symbol, 0), *step};
  }

  void read(const Address& address, const Access& access) {
    if (!same_.contains(address.buffer)) return;
    if (written_) good_ = false;
    reads_.push_back(access);
  }

  void write(const Address& address, const Access& access) {
    if (!same_.contains(address.buffer)) return;
    if (written_ && *written_ != access) good_ = good_ && reads_.empty();
    written_ = access;
    for (const Access& read : reads_) good_ = good_ && read == access;
  }

  DimTable dims_;
  const std::set<BufferId>& same_;
  std::vector<Access> reads_;
  std::optional<Access> written_;
  bool good_ = true;
};

void collect_written(const Body& body, std::set<BufferId>& out) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::store) out.insert(stmt.address.buffer);
    if (stmt.kind == StmtKind::call || stmt.kind == StmtKind::gufunc) out.insert(stmt.operands.back().address.buffer);
    collect_written(stmt.body, out);
  }
}

}  // namespace

bool reads_before_stores(const DimTable& dims, const Nest& nest, const std::set<BufferId>& same) {
  return Order(dims, same).holds(nest);
}

bool stores_in_place(const DimTable& dims, const Nest& nest, const std::vector<Buffer>& buffers) {
  std::set<BufferId> written;
  collect_written(nest.body, written);
  return std::all_of(written.begin(), written.end(), [&](BufferId id) {
    return buffers[static_cast<size_t>(id)].kind == BufferKind::scratch || reads_before_stores(dims, nest, {id});
  });
}

}  // namespace accel
