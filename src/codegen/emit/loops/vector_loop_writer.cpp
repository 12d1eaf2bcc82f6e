#include "codegen/emit/loops/vector_loop_writer.h"

#include <algorithm>

#include "codegen/analysis/loops/vector_events.h"
#include "codegen/emit/expressions.h"
#include "codegen/emit/loops/loop_writer.h"
#include "codegen/emit/loops/vector_body.h"

namespace accel {

namespace {

std::vector<TempId> scalars_of_masks(const VectorLoop& loop) {
  std::vector<TempId> out;
  for (const Stmt* stmt : loop.computed) out.insert(out.end(), stmt->args.begin(), stmt->args.end());
  return out;
}

std::string any_of(const VectorBody& body, const std::vector<TempId>& masks) {
  std::string out;
  for (TempId mask : masks) out += cat(out.empty() ? "" : " | ", body.name(mask));
  return out;
}

}  // namespace

void VectorLoopWriter::write_loop() {
  std::string lanes = cat("group_lanes<", cpp_type(loop_.real), ">");
  code_.open(cat("for (i64 group = 0, last_group = ", dim(loop_.lanes->extent), "; group < last_group; group += ", lanes, ")"));
  code_.line(cat("const i64 group_end = index_min(group + ", lanes, ", last_group), iterations = ", dim(repeat_.extent), ";"));
  code_.line("bool done = false;");
  std::string quiet = loop_.bounded.empty() ? "" : " && (frame->launch->ignored & accel_underflow) != 0";
  code_.open(cat("if (iterations > 0 && iterations <= 0x7fffffff", quiet, ")"));
  repeat_in_vectors();
  code_.close();
  code_.open("if (!done)");
  emission_.group_lane = *copy_.dims.as_symbol(loop_.lanes->var);
  LoopWriter(emission_).plain_repeat(repeat_);
  emission_.group_lane.reset();
  code_.close();
  code_.close();
}

void VectorLoopWriter::repeat_in_vectors() {
  code_.line(cat("typedef Vectors<", cpp_type(loop_.real), "> Kind;"));
  code_.line("typedef Kind::Numbers V;");
  code_.line("typedef Kind::Steps S;");
  code_.line("typedef Kind::Mask M;");
  code_.line("constexpr int vectors = group_vectors;");
  load_vectors();
  write_limits();
  begin_events();
  iterate_vectors();
  check_ended_lanes();
  settle_events();
  code_.open("if (done)");
  store_vectors();
  for (const VectorLoop::Assigned& assigned : loop_.assigned) store_assigned(assigned);
  code_.close();
}

void VectorLoopWriter::open_vectors() {
  code_.line("#pragma GCC unroll 4");
  code_.open("for (int v = 0; v < vectors; ++v)");
  code_.line(cat("[[maybe_unused]] const i64 ", variable(loop_.lanes->var), " = group + v*Kind::lanes;"));
}

void VectorLoopWriter::load_vectors() {
  code_.line("M valid[vectors], on[vectors];");
  for (const VectorLoop::Number& number : loop_.numbers) code_.line(cat("V ", temp_name(number.load->dst), "v[vectors];"));
  for (const VectorLoop::Assigned& assigned : loop_.assigned)
    code_.line(cat("S ", temp_name(assigned.load->dst), "v[vectors];"));
  open_vectors();
  code_.line(cat("valid[v] = on[v] = first_lanes<M>(group_end - ", variable(loop_.lanes->var), ");"));
  for (const VectorLoop::Number& number : loop_.numbers)
    code_.line(cat(temp_name(number.load->dst), "v[v] = v_load(valid[v], ", address(number.load->address), ", V{});"));
  for (const VectorLoop::Assigned& assigned : loop_.assigned)
    code_.line(cat(temp_name(assigned.load->dst), "v[v] = v_all<S>(-1);"));
  code_.close();
}

// Writes the statements that the uniform `temps` (equal in all lanes) are computed from.
void VectorLoopWriter::write_sources(const std::vector<TempId>& temps) {
  std::vector<const Stmt*> all = loop_.uniform;
  for (const Stmt& stmt : loop_.lanes->body)
    if (loop_.scalars.contains(stmt.dst)) all.push_back(&stmt);
  std::set<TempId> needed(temps.begin(), temps.end());
  for (auto stmt = all.rbegin(); stmt != all.rend(); ++stmt)
    if (needed.contains((*stmt)->dst)) needed.insert((*stmt)->args.begin(), (*stmt)->args.end());
  for (const Stmt* stmt : all)
    if (needed.contains(stmt->dst)) write(*stmt);
}

void VectorLoopWriter::write_limits() {
  for (TempId temp : loop_.from_squares) {
    const Stmt& comparison =
        **std::find_if(loop_.computed.begin(), loop_.computed.end(), [&](auto* s) { return s->dst == temp; });
    std::set<TempId> moduli;
    for (const Stmt* each : loop_.computed)
      if (each->op == Op::absolute) moduli.insert(each->dst);
    TempId number = compared_modulus(comparison, moduli)->number;
    code_.line(cat("V limit", temp, ";"));
    code_.open("");
    code_.line(cat("[[maybe_unused]] const i64 ", variable(repeat_.var), " = 0;"));
    write_sources({number});
    code_.line(cat("limit", temp, " = v_all<V>(surely_below(", temp_name(number), "));"));
    code_.close();
  }
}

void VectorLoopWriter::iterate_vectors() {
  std::string counter = variable(repeat_.var);
  code_.open(cat("for (i64 ", counter, " = 0; ", counter, " < iterations; ++", counter, ")"));
  for (const Stmt* uniform : loop_.uniform) write(*uniform);
  for (const Stmt& each : loop_.lanes->body)
    if (loop_.scalars.contains(each.dst)) write(each);
  code_.line(cat("[[maybe_unused]] const S here = v_all<S>((Kind::Step)", counter, ");"));
  code_.line("Kind::Any any = {};");
  write_iteration();
  code_.line("if (!v_any(any)) break;");
  if (!repeat_.quiet) code_.line(break_if_interrupted(counter));
  code_.close();
}

// What each vector computes in an iteration.
void VectorLoopWriter::write_iteration() {
  open_vectors();
  VectorBody body(copy_, loop_, "on[v]", false);
  std::vector<TempId> results = loop_.masks;
  for (const VectorLoop::Number& number : loop_.numbers)
    if (number.store != nullptr) results.push_back(number.store->args[0]);
  body.write(code_, results);
  for (const VectorLoop::Number& number : loop_.numbers)
    if (number.store != nullptr)
      code_.line(cat("const V next", number.load->dst, " = ", body.name(number.store->args[0]), ";"));
  for (const VectorLoop::Number& number : loop_.numbers)
    if (number.store != nullptr) code_.line(cat(temp_name(number.load->dst), "v[v] = next", number.load->dst, ";"));
  for (const VectorLoop::Assigned& assigned : loop_.assigned) {
    std::string name = cat(temp_name(assigned.load->dst), "v[v]");
    code_.line(cat(name, " = v_where(", body.name(assigned.mask), ", here, ", name, ");"));
  }
  code_.line(cat("on[v] = ", any_of(body, loop_.masks), ";"));
  code_.line("any |= on[v];");
  code_.close();
}

void VectorLoopWriter::check_ended_lanes() {
  if (loop_.from_squares.empty()) return code_.line("done = true;");
  code_.line("Kind::Any open = {}, ended_lanes = {};");
  code_.line("for (int v = 0; v < vectors; ++v) ended_lanes |= valid[v] & ~on[v];");
  code_.open("if (v_any(ended_lanes))");
  code_.line(cat("[[maybe_unused]] const i64 ", variable(repeat_.var), " = 0;"));
  write_sources(scalars_of_masks(loop_));
  open_vectors();
  code_.line("const M ended = valid[v] & ~on[v];");
  VectorBody body(copy_, loop_, "ended", true);
  body.write(code_, loop_.masks);
  code_.line(cat("open |= ", any_of(body, loop_.masks), ";"));
  code_.close();
  code_.close();
  code_.line("done = !v_any(open);");
}

void VectorLoopWriter::begin_events() {
  if (auto scalars = event_witnesses(copy_.program, loop_).scalars; !scalars.empty()) {
    code_.open("");
    code_.line(cat("[[maybe_unused]] const i64 ", variable(repeat_.var), " = 0;"));
    write_sources(scalars);
    for (TempId temp : scalars) code_.line(cat("opaque(", temp_name(temp), ");"));
    code_.close();
  }
  code_.line("const VectorEvents raised = VectorEvents::begin();");
  include_in_events();
}

// Everything that is computed of the numbers and makes the numbers lies between two calls of this.
void VectorLoopWriter::include_in_events() {
  open_vectors();
  for (const VectorLoop::Number& number : loop_.numbers)
    code_.line(cat("raised.include(", temp_name(number.load->dst), "v[v]);"));
  code_.close();
}

// Ends the group in vectors unless it may have had an event that counts.
void VectorLoopWriter::settle_events() {
  include_in_events();
  code_.line("const int found = raised.found();");
  code_.line("int counting = found & ~frame->launch->ignored;");
  if (auto witnesses = event_witnesses(copy_.program, loop_).numbers; !witnesses.empty()) {
    code_.open("if (counting != 0 && (counting & accel_underflow) == 0)");
    code_.line("Kind::Any strange = {};");
    open_vectors();
    for (const Stmt* load : witnesses) code_.line(cat("strange |= raised.strange(valid[v], ", temp_name(load->dst), "v[v]);"));
    code_.close();
    code_.line("if (!v_any(strange)) counting = 0;");
    code_.close();
  }
  code_.line("raised.forget(found);");
  code_.line("done = done && counting == 0;");
}

void VectorLoopWriter::store_vectors() {
  open_vectors();
  for (const VectorLoop::Number& number : loop_.numbers)
    if (number.store != nullptr)
      code_.line(cat("v_store(valid[v], ", address(number.store->address), ", ", temp_name(number.load->dst), "v[v]);"));
  code_.close();
}

void VectorLoopWriter::store_assigned(const VectorLoop::Assigned& assigned) {
  std::string lane = variable(loop_.lanes->var), counter = variable(repeat_.var), old = temp_name(assigned.load->dst);
  code_.open("");
  code_.line(cat("Kind::Step lasts[group_lanes<", cpp_type(loop_.real), ">] __attribute__((aligned(64)));"));
  code_.line("#pragma GCC unroll 4");
  code_.line(cat("for (int v = 0; v < vectors; ++v) *(S*)(lasts + v*Kind::lanes) = ", old, "v[v];"));
  code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", lane, " = group; ", lane, " < group_end; ++", lane, ")"));
  code_.line(cat("const i64 last = lasts[", lane, " - group];"));
  code_.line(cat("[[maybe_unused]] const i64 ", counter, " = index_max(last, 0);"));
  write_sources({assigned.value});
  write(*assigned.load);
  code_.line(cat("store_", type(assigned.load->dst), "(", address(assigned.store->address), ", last < 0 ? ", old, " : ",
                 temp_name(assigned.value), ");"));
  code_.close();
  code_.close();
}

}  // namespace accel
