#include "schedule/lowering/tiles.h"

#include <algorithm>

#include "schedule/analysis/iteration_direction.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/lowering/lowering.h"
#include "schedule/lowering/reductions.h"
#include "schedule/lowering/scopes.h"

namespace accel {

namespace {

// Whether a scalar operand is copied to every element of a tile: NumPy's vector loops gather the elements of a scalar, which is
// slower than loading contiguous ones. Exponents for which NumPy's scalar loop may have a special case stay scalars.
bool is_spread(const Graph& graph, const Node& node, ValueId operand) {
  if (dtype_kind(graph.type(operand).dtype) != 'f' || item_size(graph.type(operand).dtype) < 4) return false;
  if (node.op == Op::arctan2) return true;
  if (node.op != Op::power) return false;
  if (operand != node.operands[1]) return true;
  constexpr double special_exponents[] = {-1, 0, 0.5, 1, 2};
  if (graph.is_input(operand) || graph.producer(operand).op != Op::constant) return false;
  double exponent = graph.producer(operand).attrs.literal.as_complex().real();
  return std::find(std::begin(special_exponents), std::end(special_exponents), exponent) == std::end(special_exponents);
}

}  // namespace

Address TileLowering::new_tile(DType dtype, Dim variable, Dim extent) {
  // A tile of one element is read where no loop over the variable is open, so its address must not name it.
  if (dims_.is_constant(extent, 1)) return {lowering_.scratch(dtype, dims_.constant(1), "tile"), dims_.constant(0)};
  return {lowering_.scratch(dtype, dims_.constant(tile_elements), "tile"), dims_.mul(variable, item_size(dtype))};
}

TempId TileLowering::call_at(ValueId v, const Node& node, const Index& index) {
  if (!lowering_.in_tile(index)) {
    Address result = call_tile(v, node, index, dims_.new_variable(), dims_.constant(1), nullptr);
    return lowering_.load({result.buffer, dims_.constant(0)}, graph_.type(v).dtype);
  }
  Dim variable = lowering_.innermost().header.var, extent = lowering_.innermost().header.extent;
  Address result;
  {
    Cut cut(lowering_, lowering_.depth() - 2);
    result = call_tile(v, node, index, variable, extent, nullptr);
  }
  return lowering_.load(result, graph_.type(v).dtype);
}

// The tile is filled by a separate loop before the current one.
TempId TileLowering::tiled_at(ValueId v, const Index& index) {
  Dim variable = lowering_.innermost().header.var, extent = lowering_.innermost().header.extent;
  Address tile = new_tile(graph_.type(v).dtype, variable, extent);
  {
    Cut cut(lowering_, lowering_.depth() - 2);
    fill_tile(tile, v, index, variable, extent);
    lowering_.innermost().tiles[{v, index}] = tile;
  }
  return lowering_.load(tile, graph_.type(v).dtype);
}

Address TileLowering::call_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent,
                                const Address* destination) {
  auto done = lowering_.innermost().tiles.find({v, index});
  if (done != lowering_.innermost().tiles.end()) return done->second;
  if (node.op == Op::power && dtype_kind(graph_.type(node.operands[0]).dtype) != 'f' &&
      dtype_kind(graph_.type(node.operands[0]).dtype) != 'c')
    lowering_.fail_with(fail(Reason::unsupported_call, "integer power with an exponent that is not a constant"));
  Stmt call;
  call.kind = StmtKind::call;
  call.op = node.op;
  call.node = graph_.values[v].producer;
  call.extent = extent;
  LoopImport import{node.op, {}};
  for (ValueId operand : node.operands) {
    import.dtypes.push_back(graph_.type(operand).dtype);
    Index at = graph_.type(operand).rank() == 0 ? Index{} : index;
    call.operands.push_back(call_operand(operand, node, at, variable, extent));
  }
  Address wanted;
  for (ValueId result : node.results) {
    DType dtype = graph_.type(result).dtype;
    import.dtypes.push_back(dtype);
    Address address = destination ? *destination : new_tile(dtype, variable, extent);
    int symbol = *dims_.as_symbol(variable);
    Dim start = dims_.substitute(address.offset, symbol, 0);
    Dim stride = dims_.sub(dims_.substitute(address.offset, symbol, 1), start);
    call.operands.push_back({{address.buffer, start}, stride});
    lowering_.innermost().tiles[{result, index}] = address;
    if (result == v) wanted = address;
  }
  call.import = lowering_.import_of(import);
  lowering_.append(std::move(call));
  return wanted;
}

CallOperand TileLowering::call_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent) {
  DType dtype = graph_.type(v).dtype;
  int symbol = *dims_.as_symbol(variable);
  bool depends = std::any_of(index.begin(), index.end(), [&](Dim d) { return dims_.names(d, symbol); });
  if (!depends && is_spread(graph_, node, v) && !dims_.is_constant(extent, 1)) {
    Address tile = new_tile(dtype, variable, extent);
    fill_tile(tile, v, index, variable, extent);
    return {{tile.buffer, dims_.constant(0)}, dims_.constant(item_size(dtype))};
  }
  if (!depends) {
    Address single{lowering_.scratch(dtype, dims_.constant(1), "scalar"), dims_.constant(0)};
    lowering_.store(single, lowering_.value_at(v, index), dtype);
    return {single, dims_.constant(0)};
  }
  auto stride_of = [&](const Address& address) -> std::optional<CallOperand> {
    std::optional<Dim> stride = dims_.slope(address.offset, symbol);
    if (!stride) return std::nullopt;
    return CallOperand{{address.buffer, dims_.substitute(address.offset, symbol, 0)}, *stride};
  };
  for (int k = lowering_.depth(); k-- > 0;) {
    auto it = lowering_.scope(k).tiles.find({v, index});
    if (it != lowering_.scope(k).tiles.end()) return *stride_of(it->second);
  }
  if (std::optional<Address> address = lowering_.located(v, index)) {
    std::optional<CallOperand> operand = stride_of(*address);
    if (operand && may_walk_backwards(operand->stride)) return copied_operand(v, node, index, variable, extent);
    if (operand) return *operand;
  }
  if (!graph_.is_input(v) && placement_.places[v] == Place::inlined) {
    const Node& from = graph_.producer(v);
    if (is_loop_call(graph_, from)) return *stride_of(call_tile(v, from, index, variable, extent, nullptr));
    if (from.op == Op::reduce && lowering_.plan_of(v).run_axes.empty())
      return *stride_of(lowering_.reductions().column_tile(v, from, index, variable, extent));
  }
  Address tile = new_tile(dtype, variable, extent);
  fill_tile(tile, v, index, variable, extent);
  lowering_.innermost().tiles[{v, index}] = tile;
  return *stride_of(tile);
}

void TileLowering::fill_tile(const Address& tile, ValueId v, const Index& index, Dim variable, Dim extent) {
  lowering_.open_loop_over(variable, LoopKind::simd, extent, false);
  const bool is_tiled = !graph_.is_input(v) && placement_.is_tiled(v);
  lowering_.store(tile, is_tiled ? lowering_.element_at(v, graph_.producer(v), index) : lowering_.value_at(v, index),
                  graph_.type(v).dtype);
  lowering_.close_loop();
}

// Many inner loops give other bits for a negative stride. NumPy passes one unless the innermost of several loops is short, in
// which case it copies the operand through its buffer.
bool TileLowering::may_walk_backwards(Dim stride) {
  if (lowering_.outer_loops().empty()) return false;
  bool unknown_sign = std::any_of(graph_.inputs.begin(), graph_.inputs.end(), [&](const Input& input) {
    return std::any_of(input.strides.begin(), input.strides.end(), [&](Dim d) {
      std::optional<int> own = dims_.as_symbol(d);
      return own && dims_.names(stride, *own);
    });
  });
  return unknown_sign || dims_.evaluate(stride, graph_.hints) < 0;
}

// Copies the elements to a tile, in reverse where NumPy walks the operand with a negative stride.
CallOperand TileLowering::copied_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent) {
  DType dtype = graph_.type(v).dtype;
  Dim item = dims_.constant(item_size(dtype)), backwards = walked_backwards(dims_, graph_, placement_.places, node, v);
  Dim turned = dims_.mul(backwards, dims_.sub(dims_.sub(extent, dims_.constant(1)), dims_.mul(variable, 2)));
  Address tile{lowering_.scratch(dtype, dims_.constant(tile_elements), "tile"), dims_.mul(item, dims_.add(variable, turned))};
  fill_tile(tile, v, index, variable, extent);
  return {{tile.buffer, dims_.substitute(tile.offset, *dims_.as_symbol(variable), 0)},
          dims_.mul(item, dims_.sub(dims_.constant(1), dims_.mul(backwards, 2)))};
}

std::optional<Address> TileLowering::row_at(ValueId v, const Index& index) {
  std::vector<int> fixed_symbols;
  for (int k = 0; k < placement_.row_levels[v] && k < static_cast<int>(lowering_.outer_loops().size()); ++k)
    fixed_symbols.insert(fixed_symbols.end(), lowering_.outer_loops()[k].begin(), lowering_.outer_loops()[k].end());
  // A constant index does not make an axis fixed: a run over several axes leaves the slower ones at 0.
  auto is_fixed = [&](int axis) {
    std::vector<int> symbols = dims_.symbols(index[axis]);
    auto first = std::partition(symbols.begin(), symbols.end(), [](int s) { return !DimTable::is_variable(s); });
    bool moves = first != symbols.end() || dims_.is_constant(graph_.type(v).shape[axis], 1);
    return moves && std::all_of(first, symbols.end(), [&](int s) {
             return std::find(fixed_symbols.begin(), fixed_symbols.end(), s) != fixed_symbols.end();
           });
  };
  Index fixed, key(index.size(), dims_.constant(-1));
  std::vector<int> axes;
  for (uint8_t axis : graph_.type(v).axis_order()) {
    if (is_fixed(axis)) {
      fixed.push_back(key[axis] = index[axis]);
    } else {
      axes.push_back(axis);
    }
  }
  int level = lowering_.scope_of(fixed);
  auto it = lowering_.scope(level).rows.find({v, key});
  BufferId buffer = -1;
  if (it != lowering_.scope(level).rows.end()) {
    buffer = it->second;
  } else {
    Cut cut(lowering_, level);
    buffer = fill_row(v, index, axes);
    lowering_.innermost().rows[{v, key}] = buffer;
  }
  Dim stride = dims_.constant(item_size(graph_.type(v).dtype)), offset = dims_.constant(0);
  for (size_t k = axes.size(); k-- > 0;) {
    offset = dims_.add(offset, dims_.mul(index[axes[k]], stride));
    stride = dims_.mul(stride, graph_.type(v).shape[axes[k]]);
  }
  return Address{buffer, offset};
}

BufferId TileLowering::fill_row(ValueId v, const Index& index, const std::vector<int>& axes) {
  const Type& type = graph_.type(v);
  StoreTarget target{v, -1, dims_.constant(0), std::vector<Dim>(type.shape.size(), dims_.constant(0))};
  Dim elements = dims_.constant(1);
  for (size_t k = axes.size(); k-- > 0;) {
    target.strides[axes[k]] = dims_.mul(elements, item_size(type.dtype));
    elements = dims_.mul(elements, type.shape[axes[k]]);
  }
  target.buffer = lowering_.scratch(type.dtype, elements, "row");
  Index at = index;
  int opened = 0;
  for (size_t k = 0; k + 1 < axes.size(); ++k, ++opened)
    at[axes[k]] = lowering_.open_loop(LoopKind::serial, type.shape[axes[k]], true);
  Dim extent = axes.empty() ? dims_.constant(1) : type.shape[axes.back()];
  Dim tile = lowering_.open_loop(
      LoopKind::serial, dims_.floordiv(dims_.add(extent, dims_.constant(tile_elements - 1)), dims_.constant(tile_elements)),
      true);
  Dim begin = dims_.mul(tile, tile_elements);
  Dim count = dims_.min(dims_.constant(tile_elements), dims_.sub(extent, begin));
  lowering_.store_tile({target}, at, axes.empty() ? -1 : axes.back(), begin, count);
  for (++opened; opened > 0; --opened) lowering_.close_loop();
  return target.buffer;
}

}  // namespace accel
