#include "codegen/emit/statements/call_writer.h"

#include "codegen/analysis/compared.h"
#include "codegen/emit/expressions.h"

namespace accel {

void CallWriter::call(const Stmt& stmt) { library_call(stmt, "call_loop", {dim(stmt.extent)}, {}); }

// One number. Where the result is only compared, the loop is called if an estimate leaves the comparison undecided.
void CallWriter::call_for_one(const Body& body, size_t position) {
  const Stmt& stmt = body[position];
  auto numbers = compared_with(copy_.program, emission_.nest, body, position);
  if (!numbers) return call(stmt);
  std::string items = cat(address(stmt.operands[0].address), ", ", address(stmt.operands[1].address));
  for (TempId number : *numbers) items += ", " + temp_name(number);
  DType dtype = copy_.program.imports[static_cast<size_t>(stmt.import)].dtypes.back();
  code_.open(
      cat("if (__builtin_expect(!decides<", cpp_type(dtype), ", ", estimate_of(copy_.program, stmt), ">(", items, "), 0))"));
  call(stmt);
  code_.close();
}

void CallWriter::gufunc(const Stmt& stmt) {
  std::vector<std::string> dims = {stmt.extent.id < 0 ? "1" : dim(stmt.extent)}, strides;
  for (Dim d : stmt.core_dims) dims.push_back(dim(d));
  for (Dim d : stmt.core_strides) strides.push_back(dim(d));
  std::optional<Dot> dot = dot_of(copy_.program, stmt);
  // On a device the function returns an error instead.
  bool solves = !copy_.program.target.is_device() && (copy_.program.own_events(stmt) & event_error) != 0;
  if (is_matrix_by_vector(copy_.program, stmt)) {
    DType dtype = copy_.program.imports[static_cast<size_t>(stmt.import)].dtypes.back();
    return library_call(stmt, cat("multiply_rows<", cpp_type(dtype), ">"), dims, strides);
  }
  if (!dot) return library_call(stmt, solves ? "call_solver" : "call_loop", dims, strides);
  const Address &row = stmt.operands[dot->row].address, &column = stmt.operands[dot->column].address;
  std::string kind = stmt.op == Op::matmul ? "true" : "false", end;
  if (int panel = copy_.facts.panel_of(emission_.nest); panel >= 0) {
    kind += cat(", ", panel);
    end = cat(", ", buffer(column.buffer), " + 8L*", dim(buffer_info(names_.memory_of(column.buffer)).elements));
  }
  code_.open(cat("if (!dot<", stmt.import, ", ", kind, ">(frame, ", address(row), ", ", dim(dot->row_stride), ", ",
                 address(column), ", ", dim(dot->column_stride), ", ", dim(dot->extent), ", ",
                 address(stmt.operands[2].address), end, "))"));
  library_call(stmt, "call_loop", dims, strides);
  code_.close();
}

// `dims` as NumPy passes them; `strides` come after those of the operands.
void CallWriter::library_call(const Stmt& stmt, const std::string& function, std::vector<std::string> dims,
                              std::vector<std::string> strides) {
  std::vector<std::string> pointers, all_strides;
  for (const CallOperand& operand : stmt.operands) {
    pointers.push_back(address(operand.address));
    all_strides.push_back(operand.stride.id < 0 ? "0" : dim(operand.stride));
  }
  all_strides.insert(all_strides.end(), strides.begin(), strides.end());
  code_.open("");
  code_.line(cat("char* const pointers[] = {", listed(pointers), "};"));
  code_.line(cat("const iptr dims[] = {", listed(dims), "};"));
  code_.line(cat("const iptr strides[] = {", listed(all_strides), "};"));
  code_.line(cat(function, "(frame, status, ", stmt.import, ", pointers, dims, strides);"));
  code_.close();
}

}  // namespace accel
