#include "codegen/library_texts.h"

#include "codegen/emit/prelude_parts.h"
#include "codegen/prelude.h"
#include "schedule/program/program.h"

namespace accel {
namespace {

struct Kernel {
  std::string name, parameters, call;
  int most_threads;  // of a block
};

// The parts of the prelude that elements of the dtype need, `parts`, and the kernels.
LibraryText text_of(DType dtype, std::initializer_list<std::string_view> parts, const std::vector<Kernel>& kernels) {
  Program program;
  program.target.kind = TargetKind::cuda;
  program.add_temp(dtype);
  Code out;
  out.raw("alignas(16) extern __shared__ unsigned char dynamic_shared[];\nnamespace accel_kernel_text {\n");
  add_prelude(out, program);
  for (std::string_view part : parts) out.raw(prelude_part(part));
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) {
    out.line(cat("extern \"C\" __global__ void __launch_bounds__(", kernel.most_threads, ")"));
    out.open(cat(kernel.name, "(", kernel.parameters, ")"));
    out.line(kernel.call);
    out.close();
    names.push_back(kernel.name);
  }
  out.raw("}  // namespace accel_kernel_text\n");
  return {out.text(), std::move(names)};
}

}  // namespace

LibraryText product_text(DType dtype) {
  const std::string type = dtype_info(dtype).emitted;
  return text_of(dtype, {"device_matrix", "device_product"},
                 {{"product_kernel",
                   "const char* a, const char* b, char* c, i64 m, i64 k, i64 n, i64 count, MatrixSteps of_a, MatrixSteps of_b, "
                   "MatrixSteps of_c, i64 conjugates",
                   cat("multiply_matrices<", type, ">(a, b, c, m, k, n, count, of_a, of_b, of_c, conjugates != 0, load_", type,
                       ", store_", type, ");"),
                   256}});
}

LibraryText sort_text(DType dtype) {
  const std::string type = dtype_info(dtype).emitted, load = cat("load_", type), store = cat("store_", type);
  const std::string of_sort = cat("const char* from, RowLayout layout, i64 n, ", type, "* to, i64* to_positions");
  const std::string of_merge = cat("const ", type, "* from, const i64* from_positions, ", type,
                                   "* to, i64* to_positions, i64 n, i64 width, const i64* bounds");
  const std::string of_divide = cat("const ", type, "* from, i64 n, i64 width, i64 count, i64* bounds");
  auto of_store = [](const std::string& stored) {
    return cat("const ", stored, "* from, char* to, RowLayout layout, i64 n, i64 count");
  };
  auto sort = [&](const char* with_positions) {
    return cat("sort_tiles<", type, ", ", with_positions, ">(from, layout, n, to, to_positions, ", load, ");");
  };
  auto merge = [&](const char* with_positions) {
    return cat("merge_runs<", type, ", ", with_positions, ">(from, from_positions, to, to_positions, n, width, bounds);");
  };
  auto divide = [&](const char* with_positions) {
    return cat("divide_runs<", type, ", ", with_positions, ">(from, n, width, count, bounds);");
  };
  return text_of(
      dtype, {"device_rows", "device_sort"},
      {{"sort_kernel", of_sort, sort("false"), sort_threads},
       {"divide_kernel", of_divide, divide("false"), sort_threads},
       {"merge_kernel", of_merge, merge("false"), sort_threads},
       {"store_kernel", of_store(type), cat("store_rows(from, to, layout, n, count, ", store, ");"), sort_threads},
       {"sort_with_positions_kernel", of_sort, sort("true"), sort_threads},
       {"divide_with_positions_kernel", of_divide, divide("true"), sort_threads},
       {"merge_with_positions_kernel", of_merge, merge("true"), sort_threads},
       {"store_positions_kernel", of_store("i64"), "store_rows(from, to, layout, n, count, store_i64);", sort_threads},
       {"find_equal_kernel", cat("const ", type, "* keys, i64 n, i64 count, i64* word"), "find_equal(keys, n, count, word);",
        sort_threads}});
}

LibraryText search_text(DType dtype) {
  const std::string type = dtype_info(dtype).emitted, load = cat("load_", type);
  return text_of(dtype, {"device_rows", "device_sort", "device_search"},
                 {{"find_unsorted_kernel", "const char* sorted, i64 step, i64 length, i64* word",
                   cat("find_unsorted<", type, ">(sorted, step, length, word, ", load, ");"), search_threads},
                  {"find_kernel",
                   "const char* sorted, i64 step, i64 length, const char* wanted, AnyNumber number, RowLayout layout, i64 n, "
                   "i64 count, i64 is_right, i64* to",
                   cat("find_positions<", type, ">(sorted, step, length, wanted, number, layout, n, count, is_right != 0, to, ",
                       load, ");"),
                   search_threads}});
}

LibraryText count_text(DType dtype) {
  const std::string of_elements = "const char* x, i64 step, i64 n", of_weights = ", const char* weights, i64 weights_step";
  return text_of(dtype, {"device_count"},
                 {{"limits_kernel", of_elements + ", i64* limits", "find_limits(x, step, n, limits);", count_threads},
                  {"clear_kernel", "i64* bins, i64 count", "clear_bins(bins, count);", count_threads},
                  {"count_in_blocks_kernel", of_elements + ", i64 bins, i64* to",
                   "count_in_block((u32*)dynamic_shared, x, step, n, bins, to);", count_threads},
                  {"count_kernel", of_elements + ", i64 bins, i64* to", "count_in_memory(x, step, n, to);", count_threads},
                  {"sum_in_blocks_kernel", of_elements + of_weights + ", i64 part, i64 bins, f64* sums",
                   "sum_in_block((f64*)dynamic_shared, x, step, n, weights, weights_step, part, bins, sums);", count_threads},
                  {"add_blocks_kernel", "const f64* sums, i64 blocks, i64 bins, f64* to", "add_blocks(sums, blocks, bins, to);",
                   count_threads},
                  {"sum_sorted_kernel", "const i64* keys, const i64* positions, i64 n" + of_weights + ", f64* to",
                   "sum_sorted(keys, positions, n, weights, weights_step, to);", count_threads}});
}

LibraryText fourier_text(DType dtype) {
  const std::string type = dtype_info(dtype).emitted, real = dtype == DType::complex64 ? "f32" : "f64";
  std::vector<Kernel> kernels;
  auto add_take = [&](const char* name, const std::string& function, const std::string& to, DType from, const char* more) {
    const std::string of = dtype_info(from).emitted;
    kernels.push_back({cat(name, "_", of, "_kernel"),
                       cat("const char* from, RowLayout layout, i64 have, ", to, "* to, i64 n, i64 count, i64 points"),
                       cat(function, "(from, layout, have, to, n, count, ", more, "load_", of, ");"), fourier_threads});
  };
  auto add_store = [&](const char* name, const std::string& from, DType to) {
    const std::string of = dtype_info(to).emitted;
    kernels.push_back({cat(name, "_", of, "_kernel"),
                       cat("const ", from, "* from, char* to, RowLayout layout, i64 n, i64 count, f64 factor"),
                       cat("store_points<", of, ">(from, to, layout, n, count, factor, store_", of, ");"), fourier_threads});
  };
  for (DType from : fourier_dtypes) add_take("take", "take_points", type, from, "");
  for (DType from : fourier_dtypes) add_take("take_half", "take_half", type, from, "points, ");
  for (DType from : fourier_floats) add_take("take_real", "take_points", real, from, "");
  for (DType to : fourier_complex) add_store("store", type, to);
  for (DType to : fourier_floats) add_store("store_real", real, to);
  return text_of(dtype, {"device_rows", "device_fourier"}, kernels);
}

LibraryText solver_text(DType dtype) {
  const std::string type = dtype_info(dtype).emitted, load = cat("load_", type), store = cat("store_", type);
  const std::string memory = cat("(", type, "*)matrix_memory(memory, bytes)");
  return text_of(
      dtype, {"device_matrix", "device_solver"},
      {{"solve_kernel",
        "const char* a, const char* b, char* x, i64 n, i64 columns, i64 count, MatrixSteps of_a, MatrixSteps of_b, MatrixSteps "
        "of_x, char* memory, i64 bytes, i64* failed",
        cat("solve_matrices(a, b, x, n, columns, count, of_a, of_b, of_x, ", memory, ", failed, ", load, ", ", store, ");"),
        1024},
       {"determinant_kernel",
        "const char* a, char* x, i64 n, i64 count, MatrixSteps of_a, MatrixSteps of_x, char* memory, i64 bytes",
        cat("find_determinants(a, x, n, count, of_a, of_x, ", memory, ", ", load, ", ", store, ");"), 1024},
       {"cholesky_kernel",
        "const char* a, char* x, i64 n, i64 count, MatrixSteps of_a, MatrixSteps of_x, i64 conjugates, char* memory, i64 "
        "bytes, "
        "i64* failed",
        cat("find_cholesky_factors(a, x, n, count, of_a, of_x, conjugates != 0, ", memory, ", failed, ", load, ", ", store,
            ");"),
        1024},
       {"copy_kernel",
        "const char* from, char* to, i64 rows, i64 columns, MatrixSteps of_from, MatrixSteps of_to, i64 conjugates, i64 "
        "is_lower",
        cat("copy_matrix<", type, ">(from, to, rows, columns, of_from, of_to, conjugates != 0, is_lower != 0, ", load, ", ",
            store, ");"),
        256},
       {"factored_determinant_kernel", "const char* matrix, const i64* pivots, const int* info, i64 n, char* x",
        cat("find_factored_determinant((const ", type, "*)matrix, pivots, info, n, x, ", store, ");"), 1}});
}

}  // namespace accel
