#include "codegen/emit/device/device_loop_writer.h"

#include <algorithm>

#include "codegen/emit/device/cached_rows.h"
#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

namespace {

bool stores(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) { return is_store(stmt.kind) || stores(stmt.body); });
}

}  // namespace

// The threads of an item share the innermost of its parallel loops.
bool DeviceLoopWriter::is_shared(const Stmt& loop) const {
  return !emission_.device->is_alone && is_parallel_loop(loop) &&
         std::none_of(loop.body.begin(), loop.body.end(), is_parallel_loop);
}

void DeviceLoopWriter::loop(const Stmt& stmt) {
  if (is_shared(stmt)) {
    emission_.device->is_alone = true;
    emission_.device->run_variable = stmt.var;
    write_loop(stmt, "part*group.size + group.lane", "parts*group.size");
    emission_.device->run_variable = {};
    emission_.device->is_alone = false;
    if (stores(stmt.body)) code_.line("group.sync();");
    return;
  }
  if (auto count = StraightLineWriter(emission_).extent(stmt))
    return StraightLineWriter(emission_).write_copies(stmt, *count, [](int64_t) {});
  write_loop(stmt, "0", "1");
}

void DeviceLoopWriter::write_loop(const Stmt& stmt, const std::string& first, const std::string& step) {
  const int symbol = *copy_.dims.as_symbol(stmt.var);
  names_.enter(symbol, resolve(stmt.extent));
  std::string var = variable(stmt.var), end = cat("n", var);
  code_.open(cat("for (i64 ", var, " = ", first, ", ", end, " = ", dim(stmt.extent), "; ", var, " < ", end, "; ", var,
                 " += ", step, ")"));
  write(stmt.body);
  code_.close();
  names_.leave(symbol);
}

// What one thread of the item has stored is not read from memory by others. Where the kernel caches the row in shared memory,
// it is read there.
void DeviceLoopWriter::load(const Stmt& stmt) {
  for (const auto& [to, value] : emission_.device->stored)
    if (names_.memory_of(to.buffer) == names_.memory_of(stmt.address.buffer) && to.offset == stmt.address.offset)
      return define(stmt, temp_name(value));
  const std::string own = cat("load_", type(stmt.dst), "(", address(stmt.address), ")");
  const CachedRow* row = cached_row_of(copy_, *emission_.device, stmt);
  if (row == nullptr) return define(stmt, own);
  define(stmt, cat("caches ? row", row->number, "[", variable(emission_.device->run_variable), "] : ", own));
}

void DeviceLoopWriter::store(const Stmt& stmt) {
  if (!emission_.device->is_alone) emission_.device->stored.emplace_back(stmt.address, stmt.args[0]);
  const bool is_check = copy_.facts.is_deferred_check(names_.memory_of(stmt.address.buffer));
  const std::string value = temp_name(stmt.args[0]), condition = is_check ? cat("if (!", value, ") ") : "";
  write_once(cat(condition, "store_", type(stmt.args[0]), "(", address(stmt.address), ", ", value, ");"));
}

// The conditions under which all axes that are indexed have elements.
std::string DeviceLoopWriter::has_elements(const Stmt& stmt) {
  std::string text;
  for (Dim extent : stmt.core_dims) text += cat(text.empty() ? "" : " && ", dim(extent), " > 0");
  return text;
}

void DeviceLoopWriter::gather(const Stmt& stmt) {
  const std::string own = cat("load_", type(stmt.dst), "(", names_.indexed_address(stmt, 0), ")"),
                    condition = has_elements(stmt);
  define(stmt, condition.empty() ? own : cat(condition, " ? ", own, " : ", type(stmt.dst), "{}"));
}

// In phase 0 of a nest whose items store in order, an item says where it will store.
void DeviceLoopWriter::scatter(const Stmt& stmt) {
  const std::string to = names_.indexed_address(stmt, 1);
  const bool is_ordered = emission_.device->mapping == Mapping::ordered;
  if (is_ordered) code_.line(cat("if constexpr (phase == 0) return claim_slot(ordered, item, ", to, ");"));
  const std::string condition = is_ordered ? "" : has_elements(stmt);  // the host starts no ordered stores to empty arrays
  write_once(cat(condition.empty() ? "" : cat("if (", condition, ") "), "store_", type(stmt.args[0]), "(", to, ", ",
                 temp_name(stmt.args[0]), ");"));
}

// Outside of what a single thread computes, all threads of an item come here.
void DeviceLoopWriter::write_once(const std::string& text) {
  code_.line(emission_.device->is_alone ? text : cat("if (group.lane == 0 && part == 0) ", text));
}

}  // namespace accel
