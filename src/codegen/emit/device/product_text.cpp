#include "codegen/product_text.h"

#include "codegen/emit/prelude_parts.h"
#include "codegen/prelude.h"
#include "schedule/program/program.h"

namespace accel {

std::string product_text(DType dtype) {
  Program program;
  program.target.kind = TargetKind::cuda;
  program.add_temp(dtype);
  Code out;
  out.raw("namespace accel_kernel_text {\n");
  add_prelude(out, program);
  out.raw(prelude_part("device_product"));
  const std::string type = dtype_info(dtype).emitted;
  out.line("extern \"C\" __global__ void __launch_bounds__(256)");
  out.open(
      "product_kernel(const char* a, const char* b, char* c, i64 m, i64 k, i64 n, i64 count, ProductMatrix of_a, ProductMatrix "
      "of_b, "
      "ProductMatrix of_c, i64 conjugates)");
  out.line(cat("multiply_matrices<", type, ">(a, b, c, m, k, n, count, of_a, of_b, of_c, conjugates != 0, load_", type,
               ", store_", type, ");"));
  out.close();
  out.raw("}  // namespace accel_kernel_text\n");
  return out.text();
}

}  // namespace accel
