#include "codegen/emit/device/device_reduction_writer.h"

#include "codegen/emit/expressions.h"
#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/reductions/argreduce_writer.h"
#include "codegen/emit/reductions/fold_writer.h"
#include "codegen/emit/reductions/pairwise_writer.h"

namespace accel {

namespace {

constexpr int most_simple_operations = 4;

}  // namespace

// The distance of the partial results of one item.
const char* DeviceReductionWriter::partial_step() const {
  return emission_.device->mapping == Mapping::columns ? "items" : "1";
}

std::string DeviceReductionWriter::group() const { return emission_.device->is_alone ? "Alone{}" : "group"; }

// Whether an element is little work: few operations, each of few instructions.
bool DeviceReductionWriter::is_simple(const Stmt& stmt) const {
  int operations = 0;
  for (const Stmt& each : stmt.body) {
    if (!is_number(each.kind) && each.kind != StmtKind::store) return false;
    if (each.kind != StmtKind::compute) continue;
    const bool is_short = each.op == Op::astype || each.op == Op::where || is_comparison(each.op) || is_extreme(each.op) ||
                          (has_property(each.op, OpProperty::instruction) && !has_property(each.op, OpProperty::division));
    if (!is_short || ++operations > most_simple_operations) return false;
  }
  return true;
}

// How many elements of a run a thread computes at a time, so that their loads overlap.
int DeviceReductionWriter::side_by_side(const Stmt& stmt) const {
  if (!is_simple(stmt)) return 2;
  return 8;
}

// The function of an element: a single thread computes it.
void DeviceReductionWriter::write_element(const Stmt& stmt, const std::string& type, const std::string& value) {
  const bool outside = std::exchange(emission_.device->is_alone, true);
  if (!outside) emission_.device->run_variable = stmt.var;
  element(stmt, "source", type, value);
  if (!outside) emission_.device->run_variable = {};
  emission_.device->is_alone = outside;
}

std::string DeviceReductionWriter::partial_type(const Stmt& stmt) const {
  if (stmt.kind == StmtKind::pairwise) return cat(sum_of(dtype(stmt.args[0])), "::Total");
  if (stmt.kind == StmtKind::fold && stmt.op == Op::squared_deviations) return cat("Deviations<", type(stmt.dst), ">");
  if (stmt.kind == StmtKind::list) return "i64";
  return stmt.kind == StmtKind::argreduce ? cat("Extreme<", type(stmt.args[0]), ">") : type(stmt.dst);
}

// The number of a reduction among those that blocks share; -1: it is none of them.
int DeviceReductionWriter::shared_number(const Stmt& stmt) const {
  const auto& shared = emission_.device->shared;
  for (size_t k = 0; k < shared.size(); ++k)
    if (shared[k].stmt == &stmt && !emission_.device->is_alone) return static_cast<int>(k);
  return -1;
}

// Phases of an item: -1 computes all of it. Of shared reduction k, phase 2k stores partial results, and phase 2k + 1 combines
// them: its value is stored for later phases, unless nothing but this phase needs it. The last phase does the rest.
void DeviceReductionWriter::write_value(const Stmt& stmt, const Texts& texts) {
  const int number = shared_number(stmt);
  const std::string value = temp_name(stmt.dst);
  if (number < 0) return code_.line(cat(value, " = ", texts.whole, ";"));
  const auto& shared = emission_.device->shared;
  const bool is_last = number + 1 == static_cast<int>(shared.size());
  const std::string partials = cat("((", shared[static_cast<size_t>(number)].partial, "*)partials", number, ")"),
                    totals = cat("((", type(stmt.dst), "*)totals", number, ")");
  code_.open("if constexpr (phase < 0)");
  code_.line(cat(value, " = ", texts.whole, ";"));
  code_.close(cat("} else if constexpr (phase == ", 2 * number, ") {"));
  code_.line(cat("  const auto partial = ", texts.partial, ";"));
  const bool by_columns = emission_.device->mapping == Mapping::columns;
  code_.line(
      cat("  if (group.lane == 0) ", partials, by_columns ? "[part*items + item]" : "[item*parts + part]", " = partial;"));
  code_.line("  return;");
  code_.line(cat("} else if constexpr (phase == ", 2 * number + 1, ") {"));
  code_.line(cat("  const auto* const partials = ", partials, by_columns ? " + item;" : " + item*parts;"));
  code_.line(cat("  ", value, " = ", texts.joined, ";"));
  if (!is_last || emission_.device->has_last_phase) {
    code_.line(cat("  if (group.lane == 0) ", totals, "[item] = ", value, ";"));
    code_.line("  return;");
  }
  code_.line("} else {");
  code_.line(cat("  ", value, " = ", totals, "[item];"));
  code_.line("}");
}

void DeviceReductionWriter::pairwise(const Stmt& stmt) {
  if (!is_inexact(dtype(stmt.args[0]))) return fail_with("a pairwise sum of integers");
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), ";"));
  code_.open("");
  if (stmt.chunk > 0 || !PairwiseWriter(emission_).straight_pairwise(stmt)) {
    const std::string sum = sum_of(dtype(stmt.args[0])), n = dim(stmt.extent), own = type(stmt.dst);
    const std::string summed = cat(sum, "::Total");
    write_element(stmt, summed, cat("cast<", summed, ">(", temp_name(stmt.args[0]), ")"));
    const std::string simple = is_simple(stmt) ? ", true" : ", false";
    Texts texts;
    if (stmt.chunk > 0) {
      const std::string chunk = std::to_string(stmt.chunk);
      texts.whole = cat("pairwise_chunks<", sum, simple, ", ", own, ">(", group(), ", ", n, ", ", chunk, ", source)");
      texts.partial = cat("pairwise<", sum, simple, ">(group, part*", chunk, ", index_min(", n, " - part*", chunk, ", ", chunk,
                          "), source)");
      texts.joined = cat("sum_of_chunks<", sum, ", ", own, ">(partials, parts)");
    } else {
      texts.whole = cat("cast<", own, ">(pairwise<", sum, simple, ">(", group(), ", 0, ", n, ", source))");
      texts.partial = cat("pairwise_node<", sum, simple, ">(group, ", n, ", part, parts, source)");
      texts.joined = cat("cast<", own, ">(pairwise_of_nodes<", sum, ">(group, partials, parts))");
    }
    write_value(stmt, texts);
  }
  code_.close();
}

void DeviceReductionWriter::masked_pairwise(const Stmt& stmt) {
  const DType summed = dtype(stmt.args[0]);
  const std::string total = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat(t, " ", total, ";"));
  code_.open("");
  write_element(stmt, cat(sum_of(summed), "::Total"), temp_name(stmt.args[0]));
  const bool outside = std::exchange(emission_.device->is_alone, true);
  element(stmt, "counts", type(stmt.args[2]), temp_name(stmt.args[2]));
  emission_.device->is_alone = outside;
  code_.line(cat(total, " = pairwise_masked<", sum_of(summed), ", ", t, ">(", temp_name(stmt.args[1]), ", ", dim(stmt.extent),
                 ", counts, source);"));
  code_.close();
}

void DeviceReductionWriter::write_combine(const Stmt& stmt) {
  const std::string t = type(stmt.dst);
  code_.line(cat("const auto combine = [](", t, " a, ", t, " b) -> ", t, " { return ",
                 FoldWriter(emission_).combined(stmt, "a", "b"), "; };"));
}

void DeviceReductionWriter::squared_deviations(const Stmt& stmt) {
  const std::string t = type(stmt.dst), n = dim(stmt.extent);
  code_.line(cat(t, " ", temp_name(stmt.dst), ";"));
  code_.open("");
  write_element(stmt, t, temp_name(stmt.args[0]));
  const std::string own = cat("deviations_of_run<", t, ">(");
  Texts texts;
  texts.whole = cat(own, group(), ", 0, ", n, ", source).sum()");
  texts.partial = cat(own, "group, part_begin(", n, ", part, parts), part_begin(", n, ", part + 1, parts), source)");
  texts.joined = cat("joined_deviations<", t, ">(group, partials, ", partial_step(), ", parts).sum()");
  write_value(stmt, texts);
  code_.close();
}

void DeviceReductionWriter::fold(const Stmt& stmt) {
  if (stmt.op == Op::squared_deviations) return squared_deviations(stmt);
  const std::string value = temp_name(stmt.args[0]), total = temp_name(stmt.dst), first = temp_name(stmt.args[1]);
  code_.line(cat(type(stmt.dst), " ", total, " = ", first, ";"));
  if (auto count = StraightLineWriter(emission_).extent(stmt)) {
    return StraightLineWriter(emission_).write_copies(
        stmt, *count, [&](int64_t) { code_.line(cat(total, " = ", FoldWriter(emission_).combined(stmt, total, value), ";")); });
  }
  code_.open("");
  const std::string t = type(stmt.dst), n = dim(stmt.extent);
  write_element(stmt, t, value);
  write_combine(stmt);
  Texts texts;
  const int width = side_by_side(stmt);
  texts.whole = cat("fold<", t, ", ", width, ">(", group(), ", ", first, ", ", n, ", source, combine)");
  texts.partial = cat("fold_run<", t, ", ", width, ">(group, part_begin(", n, ", part, parts), part_begin(", n,
                      ", part + 1, parts), source, combine)");
  texts.joined = cat("fold<", t, ", 8>(group, ", first, ", parts, strided(partials, ", partial_step(), "), combine)");
  write_value(stmt, texts);
  code_.close();
}

void DeviceReductionWriter::argreduce(const Stmt& stmt) {
  const std::string value = temp_name(stmt.args[0]), t = type(stmt.args[0]), where = temp_name(stmt.dst);
  code_.line(cat(type(stmt.dst), " ", where, " = 0;"));
  code_.open("");
  code_.line(cat("const ", op_info(stmt.op).name, "_order<", t, "> beats;"));
  if (auto count = StraightLineWriter(emission_).extent(stmt)) {
    code_.line(cat("Extreme<", t, "> extreme = {};"));
    StraightLineWriter(emission_).write_copies(stmt, *count, [&](int64_t k) {
      code_.line(cat("extreme.see(", value, ", ", k, ", ", k == 0 ? "true" : "false", ", beats);"));
    });
    code_.line(cat(where, " = extreme.where;"));
  } else {
    const std::string n = dim(stmt.extent);
    write_element(stmt, t, value);
    Texts texts;
    const int width = side_by_side(stmt);
    texts.whole = cat("extreme_of<", t, ", ", width, ">(", group(), ", 0, ", n, ", source, beats).where");
    texts.partial = cat("extreme_of<", t, ", ", width, ">(group, part_begin(", n, ", part, parts), part_begin(", n,
                        ", part + 1, parts), source, beats)");
    texts.joined = cat("joined_extremes<", t, ">(group, partials, ", partial_step(), ", parts, beats).where");
    write_value(stmt, texts);
  }
  code_.close();
}

// put(k, position): what is done with element k of a list.
void DeviceReductionWriter::write_listed(const Stmt& list, const Stmt* listed) {
  if (listed == nullptr) {
    code_.line(cat("const auto put = [=](i64 number, i64 position) { store_i64(", address(list.address),
                   " + number*8, position); };"));
    return;
  }
  const bool outside = std::exchange(emission_.device->is_alone, true);
  const int number = *copy_.dims.as_symbol(listed->var), position = *copy_.dims.as_symbol(listed->count);
  names_.enter(number, resolve(listed->extent));
  names_.enter(position, resolve(list.extent));
  code_.open(cat("const auto put = [&](i64 ", variable(listed->var), ", i64 ", variable(listed->count), ")"));
  write(listed->body);
  code_.close("};");
  names_.leave(position);
  names_.leave(number);
  emission_.device->is_alone = outside;
}

// Phase 2k counts what each part lists, phase 2k + 1 adds up the counts of earlier parts, and the last phase stores.
void DeviceReductionWriter::list(const Stmt& stmt) {
  const int number = shared_number(stmt);
  const std::string n = dim(stmt.extent), end = temp_name(stmt.dst), next = temp_name(stmt.args[1]);
  code_.line(cat("[[maybe_unused]] i64 ", end, " = 0;"));
  code_.open("");
  const bool has_body = !stmt.body.empty() && stmt.body.back().kind == StmtKind::listed;
  Stmt selecting = stmt;
  if (has_body) selecting.body.pop_back();
  write_element(selecting, type(stmt.args[0]), temp_name(stmt.args[0]));
  write_listed(stmt, has_body ? &stmt.body.back() : nullptr);
  const std::string all = temp_name(stmt.args[3]), base = temp_name(stmt.args[2]);
  auto write_list = [&](const std::string& from, const std::string& range) {
    code_.line(cat(end, " = list_run(", group(), ", ", all, ", ", from, ", ", base, ", ", range, ", source, put);"));
  };
  const std::string rest = cat("fill_rest(", group(), ", ", end, ", ", all, ", ", base, ", put);");
  if (number < 0) {
    write_list(next, cat("0, ", n));
    code_.line(rest);
  } else {
    const std::string part = cat("part_begin(", n, ", part, parts), part_begin(", n, ", part + 1, parts)");
    code_.line(cat("i64* const partials = (i64*)partials", number, " + item*parts;"));
    code_.open("if constexpr (phase < 0)");
    write_list(next, cat("0, ", n));
    code_.line(rest);
    code_.close(cat("} else if constexpr (phase == ", 2 * number, ") {"));
    code_.line(cat("  const i64 partial = count_run(group, ", part, ", source);"));
    code_.line("  if (group.lane == 0) partials[part] = partial;");
    code_.line("  return;");
    code_.line(cat("} else if constexpr (phase == ", 2 * number + 1, ") {"));
    code_.line("  add_up_earlier(group, partials, parts);");
    code_.line("  return;");
    code_.line("} else {");
    write_list(cat(next, " + partials[part]"), part);
    code_.line(cat("if (part + 1 == parts) ", rest));
    code_.line("}");
  }
  code_.close();
}

// Phase 2k combines each part, phase 2k + 1 accumulates what earlier parts come to, and the last phase stores.
void DeviceReductionWriter::accumulate(const Stmt& stmt) {
  const int number = shared_number(stmt), symbol = *copy_.dims.as_symbol(stmt.var);
  const std::string n = dim(stmt.extent), t = type(stmt.dst);
  code_.open("");
  write_element(stmt, t, temp_name(stmt.args[0]));
  write_combine(stmt);
  names_.enter(symbol, resolve(stmt.extent));
  code_.line(cat("const auto put = [&](i64 ", variable(stmt.var), ", ", t, " value) { store_", t, "(", address(stmt.address),
                 ", value); };"));
  names_.leave(symbol);
  const std::string whole = cat("accumulate_alone<", t, ">(", n, ", source, combine, put);");
  if (number < 0) {
    code_.line(whole);
  } else {
    const std::string part = cat("part_begin(", n, ", part, parts), part_begin(", n, ", part + 1, parts)");
    code_.line(cat(t, "* const partials = (", t, "*)partials", number, " + item*parts;"));
    code_.open("if constexpr (phase < 0)");
    code_.line(whole);
    code_.close(cat("} else if constexpr (phase == ", 2 * number, ") {"));
    code_.line(cat("  const auto partial = fold_run<", t, ", ", side_by_side(stmt), ">(group, ", part, ", source, combine);"));
    code_.line("  if (group.lane == 0) partials[part] = partial;");
    code_.line("  return;");
    code_.line(cat("} else if constexpr (phase == ", 2 * number + 1, ") {"));
    code_.line("  accumulate_partials(group, partials, parts, combine);");
    code_.line("  return;");
    code_.line("} else {");
    code_.line(cat("  accumulate_run<", t, ">(group, ", part, ", partials + part - 1, part > 0, source, combine, put);"));
    code_.line("}");
  }
  code_.close();
}

}  // namespace accel
