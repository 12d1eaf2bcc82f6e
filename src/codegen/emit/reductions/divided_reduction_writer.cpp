#include "codegen/emit/reductions/divided_reduction_writer.h"

#include "codegen/emit/reductions/argreduce_writer.h"
#include "codegen/emit/reductions/fold_writer.h"
#include "codegen/emit/reductions/pairwise_writer.h"

namespace accel {

void DividedReductionWriter::divided(const Stmt& stmt) {
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

void DividedReductionWriter::launch_tasks(const Stmt& stmt, const std::string& total,
                                          const std::function<std::string(Emission&)>& task, const std::string& settled) {
  code_.line(cat(total, " results[most_tasks];"));
  Body outside = {stmt};
  outside[0].dst = -1;
  KernelFunction inner = function_.region(outside);
  inner.add_parameter("const Tasks*", "tasks", "&tasks");
  inner.add_parameter(cat(total, "*"), "results", "results");
  Code& code = inner.emission().code;
  code.open("for (i64 task = begin; task < end; ++task)");
  code.line("const i64 first = tasks->begin[task], size = tasks->size[task];");
  std::string result = task(inner.emission());
  code.line(cat("results[task] = ", result, ";"));
  if (!settled.empty()) code.line(cat("if (", settled, ") while (++task < end) results[task] = results[task - 1];"));
  code.close();
  function_.launch(inner, outside, "tasks.count", "1");
}

void DividedReductionWriter::divided_pairwise(const Stmt& stmt) {
  std::string sum = sum_of(dtype(stmt.args[0])), total = cat(sum, "::Total");
  code_.line("const i64 largest = task_elements(count);");
  code_.line(cat("split_tree<", sum, ">(tasks, 0, count, largest);"));
  launch_tasks(stmt, total, [&](Emission& inner) {
    PairwiseWriter(inner).write_source(stmt);
    return PairwiseWriter(inner).tree(stmt, "first", "size");
  });
  code_.line(cat("const ", total, "* next = results;"));
  code_.line(cat(temp_name(stmt.dst), " = cast<", type(stmt.dst), ">(join_tree<", sum, ">(next, count, largest));"));
}

// Chunks have trees of their own: as many as there are tasks at a time.
void DividedReductionWriter::divided_chunks(const Stmt& stmt) {
  std::string sum = sum_of(dtype(stmt.args[0])), total = cat(sum, "::Total"), out = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat("for (i64 done = 0; done == 0 || done < count; done += most_tasks * ", stmt.chunk, "L) {"));
  code_.line(cat("split_evenly(tasks, done, count - done, ", stmt.chunk, ");"));
  launch_tasks(stmt, total, [&](Emission& inner) {
    PairwiseWriter(inner).write_source(stmt);
    return PairwiseWriter(inner).tree(stmt, "first", "size");
  });
  code_.line("int k = 0;");
  code_.line(cat("if (done == 0) ", out, " = cast<", t, ">(tasks.count > 0 ? results[k++] : ", total, "{});"));
  code_.line(
      cat("for (; k < tasks.count; ++k) ", out, " = cast<", t, ">(", sum, "::add(cast<", total, ">(", out, "), results[k]));"));
  code_.line("}");
}

void DividedReductionWriter::divided_fold(const Stmt& stmt) {
  std::string out = temp_name(stmt.dst), t = type(stmt.dst);
  code_.line(cat(t, " ", out, " = ", temp_name(stmt.args[1]), ";"));
  code_.open("");
  code_.line(cat("const i64 count = ", dim(stmt.extent), ";"));
  code_.line("Tasks tasks;");
  code_.line("split_evenly(tasks, 0, count, index_max(count / 256 + 1, 8192));");
  auto task = [&](Emission& inner) {
    FoldWriter(inner).write_folded(stmt);
    return FoldWriter(inner).folded(stmt, "source(first)", "first + 1", "first + size");
  };
  launch_tasks(stmt, t, task, ReductionWriter(emission_).stops_early(stmt) ? "is_settled(results[task], combine)" : "");
  code_.line(
      cat("for (int k = 0; k < tasks.count; ++k) ", out, " = ", FoldWriter(emission_).combined(stmt, out, "results[k]"), ";"));
  if (FoldWriter(emission_).is_extreme_of_floats(stmt))
    code_.line(cat("of_equal_zeros(frame, ", out, ", ", temp_name(stmt.args[1]),
                   ", 0, tasks.count, [&](i64 k) { return results[k]; });"));
  code_.close();
}

void DividedReductionWriter::divided_argreduce(const Stmt& given) {
  std::string out = temp_name(given.dst);
  code_.line(cat(type(given.dst), " ", out, " = 0;"));
  code_.open("");
  Extremes extremes = ArgreduceWriter(emission_).write_beats(given);
  const Stmt& stmt = extremes.stmt;
  code_.line(cat("const i64 count = ", dim(stmt.extent), ";"));
  code_.line("Tasks tasks;");
  code_.line("split_evenly(tasks, 0, count, index_max(count / 256 + 1, 8192));");
  auto task = [&](Emission& inner) {
    ArgreduceWriter writer(inner);
    writer.write_beats(given);
    writer.element(stmt, "source", type(stmt.args[0]), temp_name(stmt.args[0]));
    return writer.extreme(stmt, "first", "first + size");
  };
  launch_tasks(stmt, extremes.type(), task,
               ReductionWriter(emission_).stops_early(stmt) ? "results[task].best == beats(true, false)" : "");
  code_.line(cat(extremes.type(), " all = {};"));
  code_.line("for (int k = 0; k < tasks.count; ++k) all.see(results[k].best, results[k].where, k == 0, beats);");
  code_.line(cat(out, " = all.where;"));
  code_.close();
}

}  // namespace accel
