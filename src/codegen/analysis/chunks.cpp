#include "codegen/analysis/chunks.h"

#include <algorithm>
#include <map>

#include "schedule/analysis/items.h"

namespace accel {
namespace {

class ChunkFinder {
 public:
  explicit ChunkFinder(const Program& program) : program_(program), chunks_{program.dims, {}, {}} {}

  std::optional<Chunks> find() {
    if (!program_.blocks.empty() || program_.nests.size() != 1) return std::nullopt;
    const Nest& nest = program_.nests[0];
    const Items items = items_of(nest);
    if ((nest.mapping != Mapping::elements && nest.mapping != Mapping::rows) || items.loops.empty()) return std::nullopt;
    variable_ = *dims().as_symbol(items.loops[0]->var);
    chunks_.iterations = items.loops[0]->extent;
    if (dims().has_variables(chunks_.iterations) || !read(nest.body)) return std::nullopt;
    const bool has_still_result = std::ranges::any_of(
        chunks_.buffers, [&](const ChunkedBuffer& each) { return each.is_output && dims().is_constant(each.step, 0); });
    if (has_still_result) return std::nullopt;
    // What all iterations read is copied as a whole before the first part.
    std::erase_if(chunks_.buffers, [&](const ChunkedBuffer& each) { return dims().is_constant(each.step, 0); });
    return std::move(chunks_);
  }

 private:
  DimTable& dims() { return chunks_.dims; }

  // False for what needs elements of other iterations, or uses the number of the iteration as a value.
  bool read(const Body& body) {
    return std::ranges::all_of(body, [&](const Stmt& stmt) {
      const bool is_outermost = stmt.var.id >= 0 && dims().as_symbol(stmt.var) == variable_;
      if (stmt.var.id >= 0 && !is_outermost) extents_[*dims().as_symbol(stmt.var)] = stmt.extent;
      const bool is_plain = stmt.core_dims.empty() && stmt.core_strides.empty() && stmt.operands.empty() && stmt.count.id < 0;
      if (!is_plain || names_variable(stmt.dim) || names_variable(stmt.extent)) return false;
      return (stmt.address.buffer < 0 || add(stmt)) && read(stmt.body);
    });
  }
  bool names_variable(Dim d) { return d.id >= 0 && dims().names(d, variable_); }

  // Adds what a statement reads or writes.
  bool add(const Stmt& stmt) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(stmt.address.buffer)];
    const bool is_output = buffer.kind == BufferKind::output;
    if ((!is_output && buffer.kind != BufferKind::input) || is_output != is_store(stmt.kind)) return false;
    std::optional<ChunkedBuffer> touched = touched_by(stmt.address.offset, item_size(stmt.dtype));
    if (!touched) return false;
    touched->buffer = stmt.address.buffer;
    touched->binding = buffer.binding;
    touched->is_output = is_output;
    const auto found = std::ranges::find(chunks_.buffers, stmt.address.buffer, &ChunkedBuffer::buffer);
    if (found == chunks_.buffers.end()) {
      chunks_.buffers.push_back(*touched);
    } else {
      if (found->step != touched->step) return false;
      found->low = dims().min(found->low, touched->low);
      found->high = dims().max(found->high, touched->high);
    }
    return true;
  }

  // The bytes at an address in one iteration, over all iterations of inner loops.
  std::optional<ChunkedBuffer> touched_by(Dim offset, int item) {
    ChunkedBuffer touched;
    const std::optional<Dim> step = dims().slope(offset, variable_);
    if (!step || dims().has_variables(*step)) return std::nullopt;
    touched.step = *step;
    Dim rest = dims().substitute(offset, variable_, 0), low = dims().constant(0), high = low;
    for (const auto& [variable, extent] : extents_) {
      if (!dims().names(rest, variable)) continue;
      const std::optional<Dim> slope = dims().slope(rest, variable);
      if (!slope || dims().has_variables(*slope) || dims().has_variables(extent)) return std::nullopt;
      const Dim reach = dims().mul(*slope, dims().sub(extent, dims().constant(1)));
      low = dims().add(low, dims().min(reach, dims().constant(0)));
      high = dims().add(high, dims().max(reach, dims().constant(0)));
      rest = dims().substitute(rest, variable, 0);
    }
    if (dims().has_variables(rest)) return std::nullopt;
    touched.low = dims().add(rest, low);
    touched.high = dims().add(dims().add(rest, high), dims().constant(item));
    return touched;
  }

  const Program& program_;
  Chunks chunks_;
  int variable_ = -1;
  std::map<int, Dim> extents_;  // of inner loops, by variable
};

}  // namespace

std::optional<Chunks> find_chunks(const Program& program) { return ChunkFinder(program).find(); }

}  // namespace accel
