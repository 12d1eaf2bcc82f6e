#include "codegen/emit/device/device_function.h"

#include <algorithm>

#include "codegen/analysis/statements.h"
#include "codegen/emit/device/cached_rows.h"
#include "codegen/emit/device/device_reduction_writer.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

namespace {

using i64 = int64_t;
#include "codegen/prelude/launch_choice.h"

constexpr int most_repeated_operations = 8;

// Whether a body has a parallel loop or a reduction, at any depth.
bool has_inner_work(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) {
    return is_parallel_loop(stmt) || has_shared_run(stmt.kind) || has_inner_work(stmt.body);
  });
}

// Items that a thread computes: several where each is little work, so that their loads overlap, and more of narrow ones.
int items_of_thread(const Program& program, const DeviceItem& item) {
  if (item.mapping != Mapping::elements || item.items.loops.empty()) return 1;
  int operations = 0, widest = 1;
  for (const Stmt& stmt : *item.items.body) {
    if (!is_number(stmt.kind) && stmt.kind != StmtKind::store) return 1;
    operations += stmt.kind == StmtKind::compute;
    const bool is_memory = stmt.kind == StmtKind::load || stmt.kind == StmtKind::store;
    if (is_memory) widest = std::max(widest, item_size(stmt.dtype));
  }
  if (operations > most_repeated_operations) return operations > 4 * most_repeated_operations ? 1 : 2;
  return widest <= 2 ? 8 : 4;
}

int64_t partial_bytes(const Program& program, const Stmt& stmt) {
  if (stmt.kind == StmtKind::argreduce || stmt.op == Op::squared_deviations) return 32;
  return item_size(program.temps[static_cast<size_t>(stmt.kind == StmtKind::pairwise ? stmt.args[0] : stmt.dst)]) * 2;
}

}  // namespace

Status DeviceFunction::write() {
  emission_.device.emplace();
  DeviceItem& item = *emission_.device;
  item.mapping = emission_.nest.mapping;
  item.items = items_of(emission_.nest);
  item.is_alone = item.mapping == Mapping::elements || item.mapping == Mapping::ordered;
  item.updates = item.mapping == Mapping::ordered && updates_elements(item.items);
  item.items_of_thread = items_of_thread(emission_.copy.program, item);
  emission_.inputs.emplace();
  emission_.names.set_names_divisions(true);
  find_shared();
  take_temps();
  write_index();
  StatementWriter(emission_).write_all(item.items.before);
  if (item.mapping == Mapping::rows) item.rows = find_cached_rows(emission_.copy, *item.items.body);
  row_bytes_ = row_bytes();
  write_rows();
  StatementWriter(emission_).write_all(*item.items.body);
  for (const Stmt* loop : item.items.loops) emission_.names.leave(*emission_.copy.dims.as_symbol(loop->var));
  longest_ = longest();
  if (item.mapping == Mapping::ordered) target_ = target();
  take_parameters();
  choose_kernels();
  if (emission_.failure) return *emission_.failure;
  return Unit{};
}

// Temps from outside of the nest: constants of the launch are computed again, others are parameters.
void DeviceFunction::take_temps() {
  for (TempId temp : temps_from_outside(emission_.nest.body)) {
    if (emission_.copy.facts.is_launch_constant(temp))
      StatementWriter(emission_).write_one(*emission_.copy.facts.definition(temp));
    else
      temps_.push_back({emission_.names.type(temp), temp_name(temp)});
  }
}

// Blocks share reductions of an item when these are its own statements, and at most one loop comes after them.
void DeviceFunction::find_shared() {
  DeviceItem& item = *emission_.device;
  const Body& body = *item.items.body;
  if (item.is_alone) return;
  int loops = 0, lists = 0;
  bool can_share = true;
  std::vector<SharedReduction> found;
  for (const Stmt& stmt : body) {
    const bool is_loop = is_parallel_loop(stmt);
    loops += is_loop;
    lists += stmt.kind == StmtKind::list || stmt.kind == StmtKind::accumulate;
    item.has_scan |= stmt.kind == StmtKind::accumulate;
    can_share &= is_number(stmt.kind) || is_loop || has_shared_run(stmt.kind) || stmt.kind == StmtKind::store;
    can_share &= stmt.kind != StmtKind::masked_pairwise && !(loops > 0 && has_shared_run(stmt.kind));
    if (item.mapping == Mapping::columns) can_share &= !is_loop && stmt.kind != StmtKind::pairwise;
    if (is_loop) can_share &= !has_inner_work(stmt.body);
    if (has_shared_run(stmt.kind) && !emission_.names.constant_value(stmt.extent))
      found.push_back({&stmt, DeviceReductionWriter(emission_).partial_type(stmt)});
    if (has_shared_run(stmt.kind)) {  // the host must know how long its run is
      std::vector<int> symbols = emission_.copy.dims.symbols(stmt.extent);
      can_share &= symbols.empty() || symbols.back() < DimTable::first_variable;
      can_share &= found.empty() || found[0].stmt->extent == stmt.extent;
    }
  }
  item.has_last_phase = loops + lists > 0;
  if (can_share && loops + lists <= 1) item.shared = std::move(found);
}

// The loop variables of an item, from its number.
void DeviceFunction::write_index() {
  Names& names = emission_.names;
  const auto& loops = emission_.device->items.loops;
  Dim count = emission_.copy.dims.constant(1);
  for (size_t k = loops.size(); k-- > 0;) {
    const std::string var = names.variable(loops[k]->var), extent = names.dim(loops[k]->extent);
    count = emission_.copy.dims.mul(count, loops[k]->extent);
    if (k == 0) {
      emission_.code.line(cat("[[maybe_unused]] const i64 ", var, " = ", loops.size() > 1 ? "rest" : "item", ";"));
    } else {
      const bool first = k + 1 == loops.size();
      emission_.code.line(cat("[[maybe_unused]] const i64 ", var, " = ", first ? "item" : "rest", " % ", extent, ";"));
      emission_.code.line(cat(first ? "i64 rest = item / " : "rest = rest / ", extent, ";"));
    }
  }
  for (const Stmt* loop : loops) names.enter(*emission_.copy.dims.as_symbol(loop->var), names.resolve(loop->extent));
  items_ = names.dim(count);
  items_hint_ = hint(count);
}

// The longest run that the threads of an item share.
std::string DeviceFunction::longest() {
  std::string out = "1";
  for (const Stmt& stmt : *emission_.device->items.body) {
    if (!is_parallel_loop(stmt) && !has_shared_run(stmt.kind)) continue;
    std::vector<int> symbols = emission_.copy.dims.symbols(stmt.extent);
    const bool is_known = symbols.empty() || symbols.back() < DimTable::first_variable;
    if (!is_known) continue;
    out = cat("index_max(", out, ", ", emission_.names.dim(stmt.extent), ")");
    longest_hint_ = std::max(longest_hint_, hint(stmt.extent));
  }
  for (const SharedReduction& shared : emission_.device->shared) {
    const int64_t chunk = shared.stmt->chunk;
    const std::string n = emission_.names.dim(shared.stmt->extent);
    chunks_.push_back(chunk > 0 ? cat("(", n, " + ", chunk - 1, ") / ", chunk) : "");
  }
  return out;
}

// The bytes of all cached rows of an item, each at a multiple of 16.
std::string DeviceFunction::row_bytes() {
  std::string out = "0";
  auto& rows = emission_.device->rows;
  std::erase_if(rows, [&](const CachedRow& row) {  // the host must know how long it is
    const std::vector<int> symbols = emission_.copy.dims.symbols(row.extent);
    return !symbols.empty() && symbols.back() >= DimTable::first_variable;
  });
  for (size_t k = 0; k < rows.size(); ++k) {
    rows[k].number = static_cast<int>(k);
    const int item = item_size(rows[k].load->dtype);
    out += cat(" + (", emission_.names.dim(rows[k].extent), "*", item, " + 15) / 16*16");
    row_bytes_hint_ += (hint(rows[k].extent) * item + 15) / 16 * 16;
  }
  return out;
}

// Copies the rows that the item caches into shared memory.
void DeviceFunction::write_rows() {
  Code& code = emission_.code;
  const auto& rows = emission_.device->rows;
  if (rows.empty()) return;
  code.line(
      cat("[[maybe_unused]] unsigned char* const own_rows = dynamic_shared + threadIdx.x / group.size*(", row_bytes_, ");"));
  std::string offset = "0";
  for (const CachedRow& row : rows) {
    const std::string type = dtype_info(row.load->dtype).emitted, name = cat("row", row.number);
    code.line(cat("[[maybe_unused]] ", type, "* const ", name, " = (", type, "*)(own_rows + (", offset, "));"));
    offset += cat(" + (", emission_.names.dim(row.extent), "*", item_size(row.load->dtype), " + 15) / 16*16");
  }
  code.open("if constexpr (caches)");
  for (const CachedRow& row : rows) {
    const std::string var = emission_.names.variable(row.variable);
    const int symbol = *emission_.copy.dims.as_symbol(row.variable);
    emission_.names.enter(symbol, emission_.names.resolve(row.extent));
    code.open(
        cat("for (i64 ", var, " = group.lane; ", var, " < ", emission_.names.dim(row.extent), "; ", var, " += group.size)"));
    code.line(cat("row", row.number, "[", var, "] = load_", dtype_info(row.load->dtype).emitted, "(",
                  emission_.names.address(row.load->address), ");"));
    code.close();
    emission_.names.leave(symbol);
  }
  code.line("group.sync();");
  code.close();
}

void DeviceFunction::take_parameters() {
  for (const auto& [name, value] : *emission_.inputs) inputs_.push_back({name.substr(name.find('_') + 1), name});
  for (BufferId id : emission_.names.buffers()) parameters_.push_back({"char* __restrict", cat("b", id)});
  for (const Parameter& temp : temps_) parameters_.push_back(temp);
  for (int k : emission_.names.given_dims()) parameters_.push_back({"i64", cat("d", k)});
  for (const Parameter& input : inputs_) parameters_.push_back(input);
}

std::vector<BufferId> DeviceFunction::buffers() const {
  return {emission_.names.buffers().begin(), emission_.names.buffers().end()};
}

std::vector<BufferId> DeviceFunction::parameter_buffers(size_t number) const {
  const bool computes_items = kernels_[number].phase < 0 && emission_.device->mapping != Mapping::ordered;
  if (!computes_items) return {};
  std::vector<BufferId> out(2 + 2 * emission_.device->shared.size(), -1);
  const std::vector<BufferId> addresses = buffers();
  out.insert(out.end(), addresses.begin(), addresses.end());
  out.resize(out.size() + parameters_.size() - addresses.size(), -1);
  return out;
}

std::vector<std::string> DeviceFunction::dims() const {
  std::vector<std::string> out;
  for (int k : emission_.names.given_dims()) out.push_back(emission_.copy.dims.text(given_.dims[static_cast<size_t>(k)]));
  return out;
}

// The value of a dim at capture; where it is unknown, all kernels are likely.
int64_t DeviceFunction::hint(Dim d) {
  const std::vector<int> symbols = emission_.copy.dims.symbols(d);
  if (symbols.empty() || symbols.back() < static_cast<int>(hints_.size())) return emission_.copy.dims.evaluate(d, hints_);
  knows_sizes_ = false;
  return 1;
}

// The kernels in the order in which the functions of the host's prelude (part "launches") expect them.
void DeviceFunction::choose_kernels() {
  const DeviceItem& item = *emission_.device;
  if (item.mapping == Mapping::ordered) return kernels_.assign(ordered_kernels().size(), {1, 0, false, true});
  const bool by_columns = item.mapping == Mapping::columns;
  const int count = static_cast<int>(item.shared.size());
  const bool shares = count > 0 && (by_columns ? blocks_share_columns(items_hint_, longest_hint_)
                                               : blocks_share_rows(items_hint_, longest_hint_));
  const int own = item.mapping == Mapping::rows && !item.has_scan ? threads_of_row(items_hint_, longest_hint_) : 1;
  const bool caches_own = caches_rows(own, row_bytes_hint_);
  const bool by_eight = by_columns && count > 0 && threads_share_columns(items_hint_, longest_hint_);
  kernels_.push_back({1, -1, false, own == 1 && !shares && !by_eight});
  if (by_columns && count > 0) kernels_.push_back({8, -1, false, by_eight && !shares});
  for (bool caches : {false, true}) {
    if (item.mapping != Mapping::rows || item.has_scan || (caches && item.rows.empty())) continue;
    for (int threads : {warp_threads, block_threads})
      kernels_.push_back({threads, -1, caches, own == threads && caches == caches_own && !shares});
  }
  const int threads = by_columns ? 1 : block_threads;
  for (int k = 0; k < count; ++k)
    kernels_.insert(kernels_.end(), {{threads, 2 * k, false, shares}, {block_threads, 2 * k + 1, false, shares}});
  if (count > 0 && item.has_last_phase) kernels_.push_back({threads, 2 * count, false, shares});
  for (DeviceKernel& kernel : kernels_) kernel.is_likely |= !knows_sizes_;
}

// --- text for the device -----------------------------------------------------------------------------------------------

std::string DeviceFunction::shared_parameters(const char* type) const {
  std::string out;
  for (size_t k = 0; k < emission_.device->shared.size(); ++k)
    out += cat(", ", type, "partials", static_cast<int>(k), ", ", type, "totals", static_cast<int>(k));
  return out;
}

// The kernels of a nest whose items store in order, as the functions of the host's prelude (part "ordered_launches") expect
// them.
std::vector<std::string> DeviceFunction::ordered_kernels() const {
  const std::string item = "$_item<1, ", arguments = cat(", ", this->arguments(), ");");
  std::vector<std::string> out = {"clear_slot(ordered);", cat(item, "0, false>(group_number<1>()", arguments)};
  const std::string run = cat(item, "1, false>(");
  if (!emission_.device->updates) {
    out.push_back(cat(run, "group_number<1>()", arguments));
    return out;
  }
  for (const char* step : {"count_digits", "add_up_digits", "scatter_items"}) out.push_back(cat(step, "(ordered, items);"));
  out.push_back(cat("run_slot(ordered, items, [=](i64 number) { ", run, "number", arguments, " });"));
  return out;
}

// What kernels pass to the function of an item.
std::string DeviceFunction::arguments() const {
  std::string out = cat("items, parts", shared_parameters(""));
  if (emission_.device->mapping == Mapping::ordered) out += ", ordered";
  for (const Parameter& p : parameters_) out += cat(", ", p.name);
  return out;
}

// The parameters of kernels.
std::string DeviceFunction::head() const {
  std::string out = cat("i64 items, i64 parts", shared_parameters("char* "));
  if (emission_.device->mapping == Mapping::ordered) out += ", Ordered ordered";
  for (const Parameter& p : parameters_) out += cat(", ", p.type, " ", p.name);
  return out;
}

std::string DeviceFunction::device_text() const {
  Code out;
  out.line("template <int threads, int phase, bool caches>");
  out.open(cat("ACCEL_DEVICE void $_item(i64 number, ", head(), ")"));
  out.line("[[maybe_unused]] const auto group = this_group<threads>();");
  if (emission_.device->shared.empty()) {
    out.line("[[maybe_unused]] constexpr i64 part = 0;");
    out.line("const i64 item = number;");
  } else {
    const bool by_columns = emission_.device->mapping == Mapping::columns;
    const char* item = by_columns ? "number % items" : "number / parts";
    const char* part = by_columns ? "number / items" : "number % parts";
    out.line("constexpr bool is_divided = phase >= 0 && phase % 2 == 0;");
    out.line(cat("const i64 item = is_divided ? ", item, " : number, part = is_divided ? ", part, " : 0;"));
    out.line("if constexpr (phase < 0) parts = 1;");
    out.line("if (part >= parts) return;");
  }
  out.line("if (item >= items) return;");
  if (emission_.device->mapping == Mapping::ordered && !emission_.device->updates)
    out.line("if constexpr (phase == 1) if (!is_last_of_slot(ordered, item)) return;");
  const Names& names = emission_.names;
  for (size_t k = 0; k < names.divisions().size(); ++k)
    out.line(cat("const i64 q", static_cast<int>(k), " = ", names.divisions()[k], ";"));
  out.raw(emission_.code.text());
  out.close();
  return out.text();
}

std::string DeviceFunction::kernel_text(size_t number) const {
  const std::string arguments = this->arguments();
  const DeviceKernel& kernel = kernels_[number];
  const int each = emission_.device->items_of_thread;
  const std::string item = cat("$_item<", kernel.threads, ", ", kernel.phase, ", ", kernel.caches ? "true" : "false", ">(");
  Code out;
  out.open(cat("extern \"C\" __global__ void __launch_bounds__(256) $_", static_cast<int>(number), "(", head(), ")"));
  if (emission_.device->mapping == Mapping::ordered) {
    out.line(ordered_kernels()[number]);
  } else if (each == 1) {
    out.line(cat(item, "group_number<", kernel.threads, ">(), ", arguments, ");"));
  } else {  // a block width apart
    out.line(cat("const i64 first = (i64)blockIdx.x*", block_threads * each, " + threadIdx.x;"));
    out.open(cat("if (first + ", block_threads * (each - 1), " < items)"));
    out.line("#pragma unroll");
    out.line(cat("for (int k = 0; k < ", each, "; ++k) ", item, "first + k*", block_threads, ", ", arguments, ");"));
    out.close("} else {");
    out.line("#pragma unroll 1");
    out.line(
        cat("  for (i64 number = first; number < items; number += ", block_threads, ") ", item, "number, ", arguments, ");"));
    out.line("}");
  }
  out.close();
  return out.text();
}

// --- text for the host -------------------------------------------------------------------------------------------------

std::string DeviceFunction::host_text(int first) {
  std::string head = "Frame* frame, [[maybe_unused]] int* status", pointers = "&items, &parts";
  for (size_t k = 0; k < emission_.device->shared.size(); ++k)
    pointers += cat(", &partials", static_cast<int>(k), ", &totals", static_cast<int>(k));
  const bool is_ordered = emission_.device->mapping == Mapping::ordered;
  if (is_ordered) pointers += ", &ordered";
  for (const Parameter& p : parameters_) {
    const bool is_input = p.name.starts_with("in");
    if (!is_input) head += cat(", ", p.type == "char* __restrict" ? "char*" : p.type, " ", p.name);
    pointers += cat(", &", p.name);
  }
  Code out;
  out.open(cat("static void $_body(", head, ")"));
  for (const auto& [name, value] : *emission_.inputs) out.line(cat("auto ", name, " = ", value, ";"));
  for (BufferId id : buffers())
    if (emission_.names.buffer_info(id).kind == BufferKind::cell)
      out.line(cat("b", id, " = cell_of_kernels(frame, b", id, ");"));
  out.line(cat("i64 items = ", items_, ", parts = 1;"));
  const bool has_shared = !emission_.device->shared.empty();

  for (int k = 0; k < static_cast<int>(emission_.device->shared.size()); ++k)
    out.line(cat("char *partials", k, " = nullptr, *totals", k, " = nullptr;"));
  if (is_ordered) out.raw(target_);
  out.line(cat("void* arguments[] = {", pointers, "};"));
  const std::string common = cat("frame, ", first, ", items, ");
  switch (emission_.device->mapping) {
    case Mapping::rows:
      out.line(cat("const i64 longest = ", longest_, ";"));
      if (has_shared) out.open("if (!blocks_share_rows(items, longest))");
      out.line(emission_.device->has_scan ? cat("launch_parts(", common, "arguments);")
                                          : cat("launch_rows(", common, "longest, ", row_bytes_, ", arguments);"));
      if (has_shared) out.line("return;");
      if (has_shared) out.close();
      break;
    case Mapping::columns:
      out.line(cat("const i64 longest = ", longest_, ";"));
      if (has_shared) out.open("if (!blocks_share_columns(items, longest))");
      out.line(has_shared ? cat("launch_columns(", common, "longest, arguments);")
                          : cat("launch_parts(", common, "arguments);"));
      if (has_shared) out.line("return;");
      if (has_shared) out.close();
      break;
    case Mapping::ordered:
      out.line(cat(emission_.device->updates ? "launch_updates(" : "launch_last_stores(", common, "&ordered, arguments);"));
      break;
    default:
      out.line(cat("launch_elements(", common, emission_.device->items_of_thread, ", arguments);"));
      break;
  }
  if (has_shared) write_phases(out, first);
  out.close();
  if (emission_.copy.program.blocks.empty()) write_call(out);
  return out.text();
}

// Where the elements of the array lie that items store to in order, as far as that is known.
std::string DeviceFunction::target() {
  Names& names = emission_.names;
  const Stmt& store = emission_.device->items.body->back();
  const Buffer& buffer = names.buffer_info(store.address.buffer);
  const bool is_strided = !buffer.strides.empty() && buffer.strides.size() == buffer.shape.size();
  const bool is_own = buffer.kind == BufferKind::temp || buffer.kind == BufferKind::output;
  Code out;
  out.line("Ordered ordered = {};");
  for (Dim extent : store.core_dims) out.line(cat("if (", names.dim(extent), " <= 0) return;"));
  if (!is_strided && !is_own) return out.text();
  const int item = item_size(buffer.dtype);
  out.line(cat("ordered.low = b", store.address.buffer, ", ordered.unit_bits = ", item >= 8 ? 3 : item / 2, ";"));
  auto add_axis = [&](Dim extent, const std::string& stride) {
    out.line(cat("add_axis(&ordered, ", names.dim(extent), ", ", stride, ");"));
  };
  if (!is_strided) add_axis(buffer.elements, std::to_string(item));
  for (size_t k = 0; is_strided && k < buffer.shape.size(); ++k) add_axis(buffer.shape[k], names.dim(buffer.strides[k]));
  return out.text();
}

// The function that runners of programs without blocks call.
void DeviceFunction::write_call(Code& out) const {
  std::string declared = "Frame* frame", passed = "frame, &status";
  for (const Parameter& p : parameters_) {
    if (p.name.starts_with("in")) continue;
    declared += cat(", ", p.type == "char* __restrict" ? "char*" : p.type, " ", p.name);
    passed += cat(", ", p.name);
  }
  out.open(cat("static void $(", declared, ")"));
  out.line("int status = 0;");
  out.line(cat("$_body(", passed, ");"));
  out.line("report(frame, status);");
  out.close();
}

void DeviceFunction::write_phases(Code& out, int first) {
  const DeviceItem& item = *emission_.device;
  const bool by_columns = item.mapping == Mapping::columns;
  const char* divided = by_columns ? "launch_parts" : "launch_blocks";
  const int base = first + (by_columns          ? 2
                            : item.has_scan     ? 1
                            : item.rows.empty() ? 3
                                                : 5),
            count = static_cast<int>(item.shared.size());
  out.line(cat("const i64 split = ", by_columns ? "parts_of_columns" : "parts_of_rows", "(items, longest);"));
  for (int k = 0; k < count; ++k) {
    const Stmt& stmt = *item.shared[static_cast<size_t>(k)].stmt;
    const std::string partials = cat("partials", k), totals = cat("totals", k), own = chunks_[static_cast<size_t>(k)];
    out.line(cat("parts = ", own.empty() ? "split" : own, ";"));
    out.line(cat(partials, " = take_memory(frame, items*parts*", partial_bytes(emission_.copy.program, stmt), ");"));
    out.line(cat(totals, " = take_memory(frame, items*16);"));
    out.open(cat("if (", partials, " != nullptr && ", totals, " != nullptr)"));
    out.line(cat(divided, "(frame, ", base + 2 * k, ", items*parts, arguments);"));
    out.line(cat("launch_blocks(frame, ", base + 2 * k + 1, ", items, arguments);"));
    out.close();
  }
  if (item.has_last_phase) {
    out.line("parts = split;");
    out.line(cat("if (!stopped(frame)) ", divided, "(frame, ", base + 2 * count, ", items*parts, arguments);"));
  }
  for (int k = 0; k < count; ++k)
    for (const char* name : {"partials", "totals"})
      out.line(cat("if (", name, k, " != nullptr) frame->runtime->release(", name, k, ");"));
}

}  // namespace accel
