#include "codegen/emit/statements/statement_writer.h"

#include "codegen/analysis/compared.h"
#include "codegen/emit/device/device_loop_writer.h"
#include "codegen/emit/device/device_reduction_writer.h"
#include "codegen/emit/events/event_sites.h"
#include "codegen/emit/events/event_writer.h"
#include "codegen/emit/expressions.h"
#include "codegen/emit/loops/loop_writer.h"
#include "codegen/emit/reductions/argreduce_writer.h"
#include "codegen/emit/reductions/fold_writer.h"
#include "codegen/emit/reductions/pairwise_writer.h"
#include "codegen/emit/statements/call_writer.h"
#include "codegen/emit/statements/operation_writer.h"

namespace accel {

namespace {

using WriteKind = void (*)(Emission&, const Stmt&);

template <class Kind, void (Kind::*write)(const Stmt&)>
void by(Emission& emission, const Stmt& stmt) {
  (Kind(emission).*write)(stmt);
}

// Writers for a device, of the kinds that threads share.
WriteKind device_writer_of(StmtKind kind) {
  static const std::map<StmtKind, WriteKind> writers = {
      {StmtKind::loop, by<DeviceLoopWriter, &DeviceLoopWriter::loop>},
      {StmtKind::load, by<DeviceLoopWriter, &DeviceLoopWriter::load>},
      {StmtKind::store, by<DeviceLoopWriter, &DeviceLoopWriter::store>},
      {StmtKind::gather, by<DeviceLoopWriter, &DeviceLoopWriter::gather>},
      {StmtKind::scatter, by<DeviceLoopWriter, &DeviceLoopWriter::scatter>},
      {StmtKind::pairwise, by<DeviceReductionWriter, &DeviceReductionWriter::pairwise>},
      {StmtKind::masked_pairwise, by<DeviceReductionWriter, &DeviceReductionWriter::masked_pairwise>},
      {StmtKind::list, by<DeviceReductionWriter, &DeviceReductionWriter::list>},
      {StmtKind::accumulate, by<DeviceReductionWriter, &DeviceReductionWriter::accumulate>},
      {StmtKind::fold, by<DeviceReductionWriter, &DeviceReductionWriter::fold>},
      {StmtKind::argreduce, by<DeviceReductionWriter, &DeviceReductionWriter::argreduce>},
  };
  auto found = writers.find(kind);
  return found == writers.end() ? nullptr : found->second;
}

WriteKind writer_of(StmtKind kind) {
  static const std::map<StmtKind, WriteKind> writers = {
      {StmtKind::loop, by<LoopWriter, &LoopWriter::loop>},
      {StmtKind::tile, by<LoopWriter, &LoopWriter::tile>},
      {StmtKind::repeat, by<LoopWriter, &LoopWriter::repeat>},
      {StmtKind::constant, by<StatementWriter, &StatementWriter::constant>},
      {StmtKind::index, by<StatementWriter, &StatementWriter::index>},
      {StmtKind::input, by<StatementWriter, &StatementWriter::input>},
      {StmtKind::load, by<StatementWriter, &StatementWriter::load>},
      {StmtKind::store, by<StatementWriter, &StatementWriter::store>},
      {StmtKind::gather, by<StatementWriter, &StatementWriter::gather>},
      {StmtKind::scatter, by<StatementWriter, &StatementWriter::scatter>},
      {StmtKind::declare, by<StatementWriter, &StatementWriter::declare>},
      {StmtKind::assign, by<StatementWriter, &StatementWriter::assign>},
      {StmtKind::compute, by<OperationWriter, &OperationWriter::compute>},
      {StmtKind::call, by<CallWriter, &CallWriter::call>},
      {StmtKind::gufunc, by<CallWriter, &CallWriter::gufunc>},
      {StmtKind::pairwise, by<PairwiseWriter, &PairwiseWriter::pairwise>},
      {StmtKind::masked_pairwise, by<PairwiseWriter, &PairwiseWriter::masked_pairwise>},
      {StmtKind::fold, by<FoldWriter, &FoldWriter::fold>},
      {StmtKind::list, by<ReductionWriter, &ReductionWriter::list>},
      {StmtKind::argreduce, by<ArgreduceWriter, &ArgreduceWriter::argreduce>},
  };
  return writers.at(kind);
}

}  // namespace

void StatementWriter::write_all(const Body& body) {
  const bool records = copy_.program.records_events && !emission_.in_unit;
  if (records && EventSites(emission_).has_repeat(body)) return EventWriter(emission_).tile(body);
  for (size_t k = 0; k < body.size(); ++k) write_at(body, k);
}

void StatementWriter::write_at(const Body& body, size_t position) {
  const bool records = copy_.program.records_events && !emission_.in_unit;
  records ? EventWriter(emission_).statement(body, position) : write_plain(body, position);
}

void StatementWriter::write_plain(const Body& body, size_t position) {
  estimate_of(copy_.program, body[position]) ? CallWriter(emission_).call_for_one(body, position) : write_one(body[position]);
}

void StatementWriter::write_one(const Stmt& stmt) {
  const WriteKind of_device = emission_.device ? device_writer_of(stmt.kind) : nullptr;
  (of_device != nullptr ? of_device : writer_of(stmt.kind))(emission_, stmt);
}

void StatementWriter::constant(const Stmt& stmt) { define(stmt, cpp_literal(stmt.literal)); }

void StatementWriter::index(const Stmt& stmt) { define(stmt, cat("(", type(stmt.dst), ")", dim(stmt.dim))); }

// Scalar inputs of the control flow are read once: the compiler must assume that stores through pointers change them.
void StatementWriter::input(const Stmt& stmt) {
  std::string value = cat("load_", type(stmt.dst), "((const char*)(frame->symbols + ", stmt.slot, "))");
  if (!emission_.inputs) return define(stmt, value);
  std::string name = cat("in", stmt.slot, "_", type(stmt.dst));
  (*emission_.inputs)[name] = value;
  define(stmt, name);
}

void StatementWriter::load(const Stmt& stmt) { define(stmt, cat("load_", type(stmt.dst), "(", address(stmt.address), ")")); }

// Whether a number is a choice that g++ would make with a jump between two stores, unless it has to have it first.
bool StatementWriter::is_chosen_alone(TempId temp) const {
  const Stmt* source = copy_.facts.definition(temp);
  return !emission_.in_vectors && source != nullptr && source->kind == StmtKind::compute && source->op == Op::where &&
         (dtype(temp) == DType::float64 || dtype(temp) == DType::float32);
}

void StatementWriter::store(const Stmt& stmt) {
  std::string to = emission_.strip_address.empty() ? address(stmt.address) : emission_.strip_address;
  std::string value = temp_name(stmt.args[0]);
  code_.line(cat("store_", type(stmt.args[0]), "(", to, ", ",
                 is_chosen_alone(stmt.args[0]) ? cat("rounded(", value, ")") : value, ");"));
}

void StatementWriter::gather(const Stmt& stmt) {
  define(stmt, cat("load_", type(stmt.dst), "(", names_.indexed_address(stmt, 0), ")"));
}

void StatementWriter::scatter(const Stmt& stmt) {
  code_.line(cat("store_", type(stmt.args[0]), "(", names_.indexed_address(stmt, 1), ", ", temp_name(stmt.args[0]), ");"));
}

void StatementWriter::declare(const Stmt& stmt) {
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), " = ", temp_name(stmt.args[0]), ";"));
}

void StatementWriter::assign(const Stmt& stmt) { code_.line(cat(temp_name(stmt.dst), " = ", temp_name(stmt.args[0]), ";")); }

}  // namespace accel
