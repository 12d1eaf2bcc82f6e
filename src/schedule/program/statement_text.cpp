#include "schedule/program/statement_text.h"

#include "schedule/program/text_words.h"

namespace accel {

namespace {

const char* const loop_kinds[] = {"serial", "simd", "parallel"};

const Field op_field = {[](const DimTable&, const Stmt& s) { return std::string(op_info(s.op).name); },
                        [](DimTable&, std::string_view word, Stmt& s) {
                          auto op = op_from_name(word);
                          if (op) s.op = *op;
                          return op.has_value();
                        }};
const Field dtype_field = {[](const DimTable&, const Stmt& s) { return std::string(dtype_name(s.dtype)); },
                           [](DimTable&, std::string_view word, Stmt& s) { return read_dtype(word, s.dtype); }};
const Field args_field = {
    [](const DimTable&, const Stmt& s) { return list_text(s.args, [](TempId t) { return "t" + std::to_string(t); }); },
    [](DimTable&, std::string_view word, Stmt& s) {
      return read_list(word, s.args, [](std::string_view item, TempId& t) { return read_prefixed(item, 't', t); });
    }};
const Field loop_kind_field = {
    [](const DimTable&, const Stmt& s) { return std::string(loop_kinds[static_cast<int>(s.loop_kind)]); },
    [](DimTable&, std::string_view word, Stmt& s) { return read_enum(word, loop_kinds, s.loop_kind); }};
const Field variable_field = {[](const DimTable& dims, const Stmt& s) { return dims.text(s.var); },
                              [](DimTable& dims, std::string_view word, Stmt& s) { return read_variable(dims, word, s.var); }};
const Field count_field = {[](const DimTable& dims, const Stmt& s) { return dims.text(s.count); },
                           [](DimTable& dims, std::string_view word, Stmt& s) { return read_variable(dims, word, s.count); }};
const Field extent_field = {[](const DimTable& dims, const Stmt& s) { return dim_text(dims, s.extent); },
                            [](DimTable& dims, std::string_view word, Stmt& s) { return read_dim(dims, word, s.extent); }};
const Field step_field = {[](const DimTable&, const Stmt& s) { return std::to_string(s.step); },
                          [](DimTable&, std::string_view word, Stmt& s) { return read_number(word, s.step); }};
const Field chunk_field = {[](const DimTable&, const Stmt& s) { return std::to_string(s.chunk); },
                           [](DimTable&, std::string_view word, Stmt& s) { return read_number(word, s.chunk); }};
const Field divide_field = {[](const DimTable&, const Stmt& s) { return std::string(s.divide_work ? "divided" : "whole"); },
                            [](DimTable&, std::string_view word, Stmt& s) {
                              s.divide_work = word == "divided";
                              return s.divide_work || word == "whole";
                            }};
const Field if_divided_field = {[](const DimTable&, const Stmt& s) { return std::string(s.divide_work ? "divided" : ""); },
                                [](DimTable&, std::string_view word, Stmt& s) { return s.divide_work = word == "divided"; },
                                true};
const Field quiet_field = {[](const DimTable&, const Stmt& s) { return std::string(s.quiet ? "quiet" : ""); },
                           [](DimTable&, std::string_view word, Stmt& s) { return s.quiet = word == "quiet"; }, true};
const Field address_field = {
    [](const DimTable& dims, const Stmt& s) { return address_text(dims, s.address); },
    [](DimTable& dims, std::string_view word, Stmt& s) { return read_address(dims, word, s.address); }};
const Field literal_field = {[](const DimTable&, const Stmt& s) { return s.literal.text(); },
                             [](DimTable&, std::string_view word, Stmt& s) {
                               auto literal = parse_literal(s.dtype, word);
                               if (literal) s.literal = *literal;
                               return literal.has_value();
                             }};
const Field dim_field = {[](const DimTable& dims, const Stmt& s) { return dim_text(dims, s.dim); },
                         [](DimTable& dims, std::string_view word, Stmt& s) { return read_dim(dims, word, s.dim); }};
const Field slot_field = {[](const DimTable&, const Stmt& s) { return std::to_string(s.slot); },
                          [](DimTable&, std::string_view word, Stmt& s) { return read_number(word, s.slot); }};
const Field import_field = {[](const DimTable&, const Stmt& s) { return std::to_string(s.import); },
                            [](DimTable&, std::string_view word, Stmt& s) { return read_number(word, s.import); }};

const Field numbers_field = {
    [](const DimTable&, const Stmt& s) { return list_text(s.numbers, [](int k) { return std::to_string(k); }); },
    [](DimTable&, std::string_view word, Stmt& s) {
      return read_list(word, s.numbers, [](std::string_view item, int& k) { return read_number(item, k); });
    }};

std::string operand_text(const DimTable& dims, const CallOperand& operand) {
  return address_text(dims, operand.address) + ":" + dim_text(dims, operand.stride);
}
bool read_operand(DimTable& dims, std::string_view word, CallOperand& out) {
  size_t colon = word.rfind(":[");
  return colon != word.npos && read_address(dims, word.substr(0, colon), out.address) &&
         read_dim(dims, word.substr(colon + 1), out.stride);
}
const Field operands_field = {
    [](const DimTable& dims, const Stmt& s) {
      return list_text(s.operands, [&](const CallOperand& operand) { return operand_text(dims, operand); });
    },
    [](DimTable& dims, std::string_view word, Stmt& s) {
      return read_list(word, s.operands,
                       [&](std::string_view item, CallOperand& out) { return read_operand(dims, item, out); });
    }};

template <std::vector<Dim> Stmt::* member>
constexpr Field dims_field = {
    [](const DimTable& dims, const Stmt& s) { return list_text(s.*member, [&](Dim d) { return dim_text(dims, d); }); },
    [](DimTable& dims, std::string_view word, Stmt& s) {
      return read_list(word, s.*member, [&](std::string_view item, Dim& out) { return read_dim(dims, item, out); });
    }};

// Lists that are empty are left out.
template <std::vector<Dim> Stmt::* member>
constexpr Field if_dims_field = {
    [](const DimTable& dims, const Stmt& s) { return (s.*member).empty() ? std::string() : dims_field<member>.print(dims, s); },
    [](DimTable& dims, std::string_view word, Stmt& s) { return dims_field<member>.parse(dims, word, s); }, true};

const std::vector<Row>& rows() {
  static const Field variable = variable_field, extent = extent_field, dtype = dtype_field, args = args_field,
                     dims = dims_field<&Stmt::core_dims>, strides = dims_field<&Stmt::core_strides>;
  static const std::vector<Row> table = {
      {StmtKind::loop, "loop", false, true, {loop_kind_field, variable, extent}},
      {StmtKind::tile, "tile", false, true, {loop_kind_field, variable, count_field, extent, step_field}},
      {StmtKind::constant, "constant", true, false, {dtype, literal_field}},
      {StmtKind::index, "index", true, false, {dtype, dim_field}},
      {StmtKind::input, "input", true, false, {dtype, slot_field}},
      {StmtKind::load, "load", true, false, {dtype, address_field}},
      {StmtKind::store, "store", false, false, {dtype, address_field, args}},
      {StmtKind::compute, "compute", true, false, {op_field, dtype, args, quiet_field}},
      {StmtKind::declare, "declare", true, false, {dtype, args}},
      {StmtKind::assign, "assign", true, false, {dtype, args}},
      {StmtKind::call, "call", false, false, {import_field, extent, operands_field}},
      {StmtKind::pairwise, "pairwise", true, true, {dtype, variable, extent, args, chunk_field, divide_field}},
      {StmtKind::masked_pairwise, "masked_pairwise", true, true, {dtype, variable, extent, args, if_divided_field}},
      {StmtKind::fold, "fold", true, true, {op_field, dtype, variable, extent, args, divide_field}},
      {StmtKind::argreduce, "argreduce", true, true, {op_field, dtype, variable, extent, args, if_divided_field}},
      {StmtKind::accumulate, "accumulate", true, true, {op_field, dtype, variable, extent, address_field, args}},
      {StmtKind::gather, "gather", true, false, {dtype, address_field, args, strides, if_dims_field<&Stmt::core_dims>}},
      {StmtKind::scatter, "scatter", false, false, {dtype, address_field, args, strides, if_dims_field<&Stmt::core_dims>}},
      {StmtKind::list, "list", true, true, {dtype, variable, extent, address_field, args}},
      {StmtKind::listed, "listed", false, true, {variable, count_field, extent}},
      {StmtKind::repeat, "repeat", false, true, {variable, extent, args, quiet_field}},
      {StmtKind::slice, "slice", true, false, {dtype, extent, dim_field, args}},
      {StmtKind::bind, "bind", false, false, {dim_field, args}},
      {StmtKind::boxed, "boxed", true, false, {dtype, numbers_field, args, operands_field, dims, strides}},
      {StmtKind::python, "python", true, false, {dtype, numbers_field, args, operands_field, dims, strides}},
      {StmtKind::extent, "extent", true, false, {dtype, numbers_field}},
      {StmtKind::receive, "receive", true, false, {dtype, numbers_field}},
      {StmtKind::draw, "draw", true, false, {dtype, numbers_field, args}},
      {StmtKind::interrupted, "interrupted", true, false, {dtype, numbers_field}},
      {StmtKind::receive_array, "receive_array", false, false, {dtype, numbers_field, address_field, dims}},
      {StmtKind::gufunc, "gufunc", false, false, {import_field, extent, operands_field, dims, strides}},
  };
  return table;
}

}  // namespace

const Row& row_of(StmtKind kind) {
  for (const Row& row : rows()) {
    if (row.kind == kind) return row;
  }
  return rows().front();
}

const Row* row_named(std::string_view name) {
  for (const Row& row : rows()) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace accel
