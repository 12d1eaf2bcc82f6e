// Writers of the reductions: pairwise sums, lists of what a mask holds for, folds, argmin and argmax.

#include <algorithm>

#include "codegen/emit/expressions.h"
#include "codegen/emit/kernel_function.h"

namespace accel {

namespace {

constexpr int64_t most_straight = 8;

// float16 is summed in float32.
std::string summed_type(DType element) { return element == DType::float16 ? "f32" : cpp_type(element); }
std::string sum_of(DType element) { return cat("SumOf<", summed_type(element), ">"); }
bool is_complex(DType dtype) { return dtype_kind(dtype) == 'c'; }
}  // namespace

// A local function `name` from the statement's variable to `value`, of type `type`.
void KernelFunction::element(const Stmt& stmt, const std::string& name, const std::string& type, const std::string& value) {
  if (auto period = period_of(stmt)) return element_by_period(stmt, *period, name, type, value);
  int symbol = *copy_.dims.as_symbol(stmt.var);
  ranges_.enter(symbol, resolve(stmt.extent));
  code_.open(cat("const auto ", name, " = [&](i64 ", variable(stmt.var), ") __attribute__((always_inline)) -> ", type));
  write(stmt.body);
  code_.line(cat("return ", value, ";"));
  code_.close("};");
  ranges_.leave(symbol);
}

void KernelFunction::element_by_period(const Stmt& stmt, const Period& period, const std::string& name, const std::string& type,
                                       const std::string& value) {
  int round = own_variable(), place = own_variable();
  std::string q = printed(copy_.dims.symbol(round)), r = printed(copy_.dims.symbol(place));
  code_.open(cat("const auto ", name, " = periodic(", dim(period.base), ", ", dim(period.length), ", [&](i64 ", q, ", i64 ", r,
                 ") __attribute__((always_inline)) -> ", type));
  enter_period(stmt, period, round, place);
  write(stmt.body);
  leave_period(stmt, round, place);
  code_.line(cat("return ", value, ";"));
  code_.close("});");
}

// --- pairwise -------------------------------------------------------------------------------------------------------

void KernelFunction::pairwise(const Stmt& stmt) {
  if (!is_inexact(dtype(stmt.args[0]))) return fail_with("a pairwise sum of integers");
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), ";"));
  code_.open("");
  if (stmt.chunk > 0 || !straight_pairwise(stmt)) {
    write_source(stmt);
    std::string count = dim(stmt.extent), result;
    if (stmt.chunk > 0) {
      code_.open("const auto chunk = [&](i64 begin, i64 count) __attribute__((always_inline))");
      code_.line(cat("return ", tree(stmt, "begin", "count"), ";"));
      code_.close("};");
      result =
          cat("pairwise_chunks<", sum_of(dtype(stmt.args[0])), ", ", type(stmt.dst), ">(", count, ", ", stmt.chunk, ", chunk)");
    } else {
      result = cat("cast<", type(stmt.dst), ">(", tree(stmt, "0", count), ")");
    }
    code_.line(cat(temp_name(stmt.dst), " = ", result, ";"));
  }
  code_.close();
}

// Writes what tree() names: a pointer to elements that lie side by side, or a function that computes an element.
void KernelFunction::write_source(const Stmt& stmt) {
  if (auto source = contiguous_source(stmt)) return code_.line(cat("const char* const source = ", *source, ";"));
  if (auto bools = over_bools(stmt)) return element(*bools, "source", type(bools->args[0]), temp_name(bools->args[0]));
  std::string summed = summed_type(dtype(stmt.args[0]));
  element(stmt, "source", summed, cat("cast<", summed, ">(", temp_name(stmt.args[0]), ")"));
}

std::string KernelFunction::tree(const Stmt& stmt, const std::string& begin, const std::string& count) {
  std::string sum = sum_of(dtype(stmt.args[0])), call = cat(">(", begin, ", ", count, ", source)");
  if (contiguous_source(stmt)) return cat("pairwise_contiguous<", sum, call);
  if (over_bools(stmt)) return cat("pairwise_counted<", sum, call);
  return cat("pairwise_computed<", sum, ", ", is_straight(stmt.body) ? "true" : "false", call);
}

// Address of element 0 when the elements are side by side in memory.
std::optional<std::string> KernelFunction::contiguous_source(const Stmt& stmt) {
  if (stmt.body.size() != 1 && stmt.kind != StmtKind::masked_pairwise) return std::nullopt;
  auto source = std::find_if(stmt.body.begin(), stmt.body.end(), [&](const Stmt& s) { return s.dst == stmt.args[0]; });
  if (source == stmt.body.end() || source->kind != StmtKind::load) return std::nullopt;
  if (dtype(stmt.args[0]) == DType::float16) return std::nullopt;
  const Address& address = source->address;
  DimTable& dims = copy_.dims;
  Dim stride = step_over(dims, address.offset, stmt.var);
  if (known(stride) != item_size(dtype(stmt.args[0]))) return std::nullopt;
  return cat(buffer(address.buffer), " + ", dim(dims.substitute(address.offset, *dims.as_symbol(stmt.var), 0)));
}

// Short runs of a known length need no tree: fewer than 8 reals are added one by one, 8 by NumPy's eight accumulators.
bool KernelFunction::straight_pairwise(const Stmt& stmt) {
  DType from = dtype(stmt.args[0]);
  auto count = straight_extent(stmt, is_complex(from) ? 3 : most_straight);
  if (!count) return false;
  std::string summed = summed_type(from), sum = sum_of(from), value = cat("cast<", summed, ">(", temp_name(stmt.args[0]), ")");
  if (*count == most_straight) {
    code_.line(cat(summed, " r[8];"));
    straight(stmt, *count, [&](int64_t k) { code_.line(cat("r[", k, "] = ", value, ";")); });
    code_.line(cat("const ", summed, " total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));"));
  } else {
    const char* zero = is_complex(from) ? "{-0.0, -0.0}" : "-0.0";
    code_.line(cat(summed, " total = ", zero, ";"));
    straight(stmt, *count, [&](int64_t) { code_.line(cat("total = ", sum, "::add(total, ", value, ");")); });
  }
  code_.line(cat(temp_name(stmt.dst), " = cast<", type(stmt.dst), ">(total);"));
  return true;
}

// Elements that do not count are not computed.
void KernelFunction::masked_pairwise(const Stmt& stmt) {
  DType summed = dtype(stmt.args[0]);
  std::string total = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat(t, " ", total, ";"));
  code_.open("");
  write_source(stmt);
  code_.open("const auto tree = [&](i64 begin, i64 count) __attribute__((always_inline))");
  code_.line(cat("return ", tree(stmt, "begin", "count"), ";"));
  code_.close("};");
  element(stmt, "counts", type(stmt.args[2]), temp_name(stmt.args[2]));
  code_.line(cat(total, " = pairwise_masked<", sum_of(summed), ", ", t, ">(", temp_name(stmt.args[1]), ", ", dim(stmt.extent),
                 ", counts, tree);"));
  code_.close();
}

// --- list -----------------------------------------------------------------------------------------------------------

void KernelFunction::list(const Stmt& stmt) {
  std::string next = temp_name(stmt.dst);
  code_.line(cat("i64 ", next, ";"));
  code_.open("");
  element(stmt, "counts", type(stmt.args[0]), temp_name(stmt.args[0]));
  code_.line(cat(next, " = list_counted(", address(stmt.address), ", ", temp_name(stmt.args[1]), ", ", temp_name(stmt.args[3]),
                 ", ", temp_name(stmt.args[2]), ", ", dim(stmt.extent), ", counts);"));
  code_.close();
}

// --- fold -----------------------------------------------------------------------------------------------------------

std::string KernelFunction::combined(const Stmt& stmt, const std::string& a, const std::string& b) {
  std::string text = cpp_op(stmt.op, {a, b}, dtype(stmt.dst));
  if (text.empty()) fail_with(cat("op ", op_info(stmt.op).name, " has no C++ text"));
  return text;
}

// Whether the sign of a zero that a fold ends with depends on the order.
bool KernelFunction::is_extreme_of_floats(const Stmt& stmt) const {
  bool extreme = stmt.op == Op::maximum || stmt.op == Op::minimum || stmt.op == Op::fmax || stmt.op == Op::fmin;
  return extreme && (dtype(stmt.dst) == DType::float64 || dtype(stmt.dst) == DType::float32);
}

// The statement over bools, when it adds up how many are true.
std::optional<Stmt> KernelFunction::over_bools(const Stmt& stmt) {
  if (stmt.op != Op::add || stmt.body.empty() || !is_straight(stmt.body)) return std::nullopt;
  const Stmt& cast = stmt.body.back();
  const DType wide = stmt.kind == StmtKind::fold ? DType::int64 : DType::float64;
  bool widens =
      dtype(stmt.args[0]) == wide && cast.kind == StmtKind::compute && cast.op == Op::astype && cast.dst == stmt.args[0];
  if (!widens || dtype(cast.args[0]) != DType::bool_) return std::nullopt;
  Stmt bools = stmt;
  bools.args[0] = cast.args[0];
  bools.body.pop_back();
  return bools;
}

// Writes what folded() names: a function that computes an element, and one that combines two.
void KernelFunction::write_folded(const Stmt& stmt) {
  if (auto bools = over_bools(stmt)) return element(*bools, "source", type(bools->args[0]), temp_name(bools->args[0]));
  std::string t = type(stmt.dst);
  element(stmt, "source", t, temp_name(stmt.args[0]));
  code_.line(cat("const auto combine = [](", t, " a, ", t, " b) __attribute__((always_inline)) -> ", t, " { return ",
                 combined(stmt, "a", "b"), "; };"));
}

// Whether elements that cannot change the result may be passed over: they are simple, and have no events.
bool KernelFunction::may_pass_over(const Stmt& stmt) { return is_straight(stmt.body) && copy_.facts.events(stmt.body) == 0; }

// Whether one bool may decide the result of the reduction.
bool KernelFunction::stops_early(const Stmt& stmt) { return dtype(stmt.args[0]) == DType::bool_ && may_pass_over(stmt); }

// The fold of elements [begin, end) from `first` on as an expression.
std::string KernelFunction::folded(const Stmt& stmt, const std::string& first, const std::string& begin,
                                   const std::string& end) {
  if (over_bools(stmt)) return cat("add(cast<i64>(", first, "), count_counted(", begin, ", ", end, ", source))");
  std::string how = cat(is_straight(stmt.body) ? "fold<" : "fold_serial<", type(stmt.dst), ">");
  if (stops_early(stmt)) how = "fold_until_settled";
  std::string whole = cat(how, "(", first, ", ", begin, ", ", end, ", source, combine)");
  if (!is_extreme_of_floats(stmt)) return whole;
  return cat("of_equal_zeros(frame, ", whole, ", ", first, ", ", begin, ", ", end, ", source)");
}

void KernelFunction::fold(const Stmt& stmt) {
  std::string value = temp_name(stmt.args[0]), total = temp_name(stmt.dst);
  code_.line(cat(type(stmt.dst), " ", total, " = ", temp_name(stmt.args[1]), ";"));
  if (auto count = straight_extent(stmt, most_straight)) {
    return straight(stmt, *count, [&](int64_t) { code_.line(cat(total, " = ", combined(stmt, total, value), ";")); });
  }
  code_.open("");
  write_folded(stmt);
  code_.line(cat(total, " = ", folded(stmt, temp_name(stmt.args[1]), "0", dim(stmt.extent)), ";"));
  code_.close();
}

// --- argmin, argmax -------------------------------------------------------------------------------------------------

// The statement over the squares, when its elements are square roots.
std::optional<Stmt> KernelFunction::over_squares(const Stmt& stmt) const {
  if (!is_of_roots(copy_.program, stmt)) return std::nullopt;
  Stmt squares = stmt;
  squares.args[0] = stmt.body.back().args[0];
  squares.body.pop_back();
  return squares;
}

std::string KernelFunction::Extremes::type() const { return cat(roots ? "Root" : "", "Extreme<", order, ">"); }

KernelFunction::Extremes KernelFunction::write_beats(const Stmt& given) {
  std::optional<Stmt> squares = over_squares(given);
  Extremes out = {squares ? *squares : given, squares.has_value(), type(given.args[0])};
  std::string t = out.order;
  if (out.roots) {
    out.order += given.op == Op::argmin ? ", true" : ", false";
    code_.line(cat("const RootOrder<", out.order, "> beats;"));
  } else {
    code_.line(cat("const ", op_info(given.op).name, "_order<", t, "> beats;"));
  }
  return out;
}

// The extreme of elements [begin, end) as an expression. Requires the element's function.
std::string KernelFunction::extreme(const Stmt& stmt, const std::string& begin, const std::string& end) {
  std::string how = cat(is_straight(stmt.body) ? "argreduce<" : "argreduce_serial<", type(stmt.args[0]), ">");
  if (is_straight(stmt.body) && dtype(stmt.args[0]) == DType::bool_)
    how = cat("argreduce_bools<", may_pass_over(stmt) ? "true>" : "false>");
  return cat(how, "(", begin, ", ", end, ", source, beats)");
}

void KernelFunction::argreduce(const Stmt& given) {
  std::string where = temp_name(given.dst);
  code_.line(cat(type(given.dst), " ", where, " = 0;"));
  code_.open("");
  Extremes extremes = write_beats(given);
  const Stmt& stmt = extremes.stmt;
  std::string value = temp_name(stmt.args[0]);
  if (auto count = straight_extent(stmt, most_straight)) {
    code_.line(cat(extremes.type(), " extreme = {};"));
    straight(stmt, *count, [&](int64_t k) {
      std::string step = cat(value, ", ", k, ", ", k == 0 ? "true" : "false");
      code_.line(in_lanes_ ? cat("see_lane(extreme.best, extreme.where, ", step, ", open, beats);")
                           : cat("extreme.see(", step, ", beats);"));
    });
    code_.line(cat(where, " = extreme.where;"));
  } else {
    element(stmt, "source", type(stmt.args[0]), value);
    code_.line(cat(where, " = ", extreme(stmt, "0", dim(stmt.extent)), ".where;"));
  }
  code_.close();
}

// --- divided over threads -------------------------------------------------------------------------------------------

void KernelFunction::divided(const Stmt& stmt) {
  if (stmt.kind == StmtKind::fold) return divided_fold(stmt);
  if (stmt.kind == StmtKind::argreduce) return divided_argreduce(stmt);
  if (stmt.kind != StmtKind::pairwise) return write(stmt);
  if (!is_inexact(dtype(stmt.args[0]))) return fail_with("a pairwise sum of integers");
  code_.line(cat(type(stmt.dst), " ", temp_name(stmt.dst), ";"));
  code_.open("");
  code_.line(cat("const i64 count = ", dim(stmt.extent), ";"));
  code_.line("Tasks tasks;");
  if (stmt.chunk > 0)
    divided_chunks(stmt);
  else
    divided_pairwise(stmt);
  code_.close();
}

// Runs tasks.count tasks in parallel; `task` writes the text of one and returns its result, which becomes results[task].
// `settled`: when later tasks cannot change the result, so that any result of theirs does.
void KernelFunction::launch_tasks(const Stmt& stmt, const std::string& total,
                                  const std::function<std::string(KernelFunction&)>& task, const std::string& settled) {
  code_.line(cat(total, " results[most_tasks];"));
  Body outside = {stmt};
  outside[0].dst = -1;
  KernelFunction inner = region(outside);
  inner.parameters_.push_back({"const Tasks*", "tasks", "&tasks"});
  inner.parameters_.push_back({cat(total, "*"), "results", "results"});
  inner.code_.open("for (i64 task = begin; task < end; ++task)");
  inner.code_.line("const i64 first = tasks->begin[task], size = tasks->size[task];");
  std::string result = task(inner);
  inner.code_.line(cat("results[task] = ", result, ";"));
  if (!settled.empty()) inner.code_.line(cat("if (", settled, ") while (++task < end) results[task] = results[task - 1];"));
  inner.code_.close();
  launch(inner, outside, "tasks.count", "1");
}

void KernelFunction::divided_pairwise(const Stmt& stmt) {
  std::string sum = sum_of(dtype(stmt.args[0])), total = cat(sum, "::Total");
  code_.line("const i64 largest = task_elements(count);");
  code_.line(cat("split_tree<", sum, ">(tasks, 0, count, largest);"));
  launch_tasks(stmt, total, [&](KernelFunction& inner) {
    inner.write_source(stmt);
    return inner.tree(stmt, "first", "size");
  });
  code_.line(cat("const ", total, "* next = results;"));
  code_.line(cat(temp_name(stmt.dst), " = cast<", type(stmt.dst), ">(join_tree<", sum, ">(next, count, largest));"));
}

// Chunks have trees of their own: as many as there are tasks at a time.
void KernelFunction::divided_chunks(const Stmt& stmt) {
  std::string sum = sum_of(dtype(stmt.args[0])), total = cat(sum, "::Total"), out = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat("for (i64 done = 0; done == 0 || done < count; done += most_tasks * ", stmt.chunk, "L) {"));
  code_.line(cat("split_evenly(tasks, done, count - done, ", stmt.chunk, ");"));
  launch_tasks(stmt, total, [&](KernelFunction& inner) {
    inner.write_source(stmt);
    return inner.tree(stmt, "first", "size");
  });
  code_.line("int k = 0;");
  code_.line(cat("if (done == 0) ", out, " = cast<", t, ">(tasks.count > 0 ? results[k++] : ", total, "{});"));
  code_.line(
      cat("for (; k < tasks.count; ++k) ", out, " = cast<", t, ">(", sum, "::add(cast<", total, ">(", out, "), results[k]));"));
  code_.line("}");
}

void KernelFunction::divided_fold(const Stmt& stmt) {
  std::string out = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat(t, " ", out, " = ", temp_name(stmt.args[1]), ";"));
  code_.open("");
  code_.line(cat("const i64 count = ", dim(stmt.extent), ";"));
  code_.line("Tasks tasks;");
  code_.line("split_evenly(tasks, 0, count, index_max(count / 256 + 1, 8192));");
  auto task = [&](KernelFunction& inner) {
    inner.write_folded(stmt);
    return inner.folded(stmt, "source(first)", "first + 1", "first + size");
  };
  launch_tasks(stmt, t, task, stops_early(stmt) ? "is_settled(results[task], combine)" : "");
  code_.line(cat("for (int k = 0; k < tasks.count; ++k) ", out, " = ", combined(stmt, out, "results[k]"), ";"));
  if (is_extreme_of_floats(stmt))
    code_.line(cat("of_equal_zeros(frame, ", out, ", ", temp_name(stmt.args[1]),
                   ", 0, tasks.count, [&](i64 k) { return results[k]; });"));
  code_.close();
}

void KernelFunction::divided_argreduce(const Stmt& given) {
  std::string out = temp_name(given.dst);
  code_.line(cat(type(given.dst), " ", out, " = 0;"));
  code_.open("");
  Extremes extremes = write_beats(given);
  const Stmt& stmt = extremes.stmt;
  code_.line(cat("const i64 count = ", dim(stmt.extent), ";"));
  code_.line("Tasks tasks;");
  code_.line("split_evenly(tasks, 0, count, index_max(count / 256 + 1, 8192));");
  auto task = [&](KernelFunction& inner) {
    inner.write_beats(given);
    inner.element(stmt, "source", type(stmt.args[0]), temp_name(stmt.args[0]));
    return inner.extreme(stmt, "first", "first + size");
  };
  launch_tasks(stmt, extremes.type(), task, stops_early(stmt) ? "results[task].best == beats(true, false)" : "");
  code_.line(cat(extremes.type(), " all = {};"));
  code_.line("for (int k = 0; k < tasks.count; ++k) all.see(results[k].best, results[k].where, k == 0, beats);");
  code_.line(cat(out, " = all.where;"));
  code_.close();
}

}  // namespace accel
