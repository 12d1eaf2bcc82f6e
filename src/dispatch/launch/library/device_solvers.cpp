#include "dispatch/launch/library/device_solvers.h"

#include <algorithm>
#include <vector>

#include "dispatch/launch/device_launch.h"
#include "dispatch/launch/library/host_flag.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"
#include "runtime/cuda/libraries/solver.h"

namespace accel {
namespace {

constexpr int copy_threads = 256;
constexpr int64_t own_shared_bytes = 1024;  // of shared memory that the kernels have besides a matrix, at most

// A gufunc, as kernels call it.
struct SolverCall {
  TextKernels& kernels;
  Op op;
  bool has_library;
};

struct Operand {
  char* data = nullptr;
  MatrixSteps steps;

  Operand transposed() const { return {data, {steps.column, steps.row, steps.matrix}}; }
  Operand matrix(int64_t number) const { return {data == nullptr ? data : data + number * steps.matrix, steps}; }
};

// `count` times: a is n x n; b, if there is one, and x are n x columns.
struct Problem {
  int64_t count = 0, n = 0, columns = 0;
  Operand a, b, x;
};

bool is_cholesky(Op op) { return op == Op::cholesky_lo || op == Op::cholesky_up; }

// NumPy's arguments of a gufunc's loop.
Problem read_problem(Op op, char* const* args, const intptr_t* dims, const intptr_t* strides) {
  const std::vector<std::vector<int>> signature = core_signature(op);
  std::vector<Operand> operands;
  const intptr_t* core = strides + signature.size();
  for (size_t k = 0; k < signature.size(); ++k) {
    Operand operand{args[k], {0, 0, strides[k]}};
    if (!signature[k].empty()) operand.steps.row = *core++;
    if (signature[k].size() > 1) operand.steps.column = *core++;
    operands.push_back(operand);
  }
  Problem problem{dims[0], dims[1], dims[1], operands.front(), {}, operands.back()};
  if (operands.size() == 3) {
    problem.b = operands[1];
    problem.columns = signature[1].size() > 1 ? dims[2] : 1;
  }
  return problem;
}

int64_t item_of(const SolverCall& call) { return item_size(call.kernels.dtype); }

// --- by kernels of accel's ---------------------------------------------------------------------------------------------

// The blocks of a kernel for `count` matrices, and memory of each for a matrix of `bytes` bytes: shared memory if it suffices.
struct Blocks {
  LaunchShape shape;
  std::shared_ptr<DeviceBlock> memory;
  char* data() const { return memory ? memory->data : nullptr; }
};

Result<Blocks> blocks_for(CudaDevice& device, int64_t count, int64_t elements, int64_t bytes) {
  Blocks blocks;
  blocks.shape.threads = elements < 1024 ? 32 : elements < 8192 ? 256 : 1024;
  blocks.shape.blocks = std::min<int64_t>(count, 1 << 30);
  if (bytes <= device.shared_bytes() - own_shared_bytes) {
    blocks.shape.shared_bytes = static_cast<int>(bytes);
    return blocks;
  }
  blocks.shape.blocks = std::min<int64_t>(count, 2 * device.processors());
  ACCEL_TRY(blocks.memory, new_device_block(device, blocks.shape.blocks * bytes));
  return blocks;
}

Status find_determinants(const SolverCall& call, Problem p) {
  ACCEL_TRY(const DeviceModule* module, call.kernels.load(solver_text));
  int64_t bytes = p.n * p.n * item_of(call);
  ACCEL_TRY(Blocks blocks, blocks_for(call.kernels.device, p.count, p.n * p.n, bytes));
  char* memory = blocks.data();
  void* arguments[] = {&p.a.data, &p.x.data, &p.n, &p.count, &p.a.steps, &p.x.steps, &memory, &bytes};
  return module->launch(static_cast<int>(SolverKernel::determinant), blocks.shape, arguments);
}

// Whether there is no solution. For solve and inv.
Result<bool> solve(const SolverCall& call, Problem p) {
  ACCEL_TRY(const DeviceModule* module, call.kernels.load(solver_text));
  HostFlag failed(call.kernels.device);
  ACCEL_TRY([[maybe_unused]] Unit done, failed.take());
  const int64_t elements = p.n * (p.n + p.columns);
  int64_t bytes = elements * item_of(call);
  ACCEL_TRY(Blocks blocks, blocks_for(call.kernels.device, p.count, elements, bytes));
  char *memory = blocks.data(), *word = failed.address();
  void* arguments[] = {&p.a.data,  &p.b.data,  &p.x.data,  &p.n,    &p.columns, &p.count,
                       &p.a.steps, &p.b.steps, &p.x.steps, &memory, &bytes,     &word};
  ACCEL_TRY(done, module->launch(static_cast<int>(SolverKernel::solve), blocks.shape, arguments));
  return failed.read();
}

// Whether a matrix is not positive definite. The upper factor is the conjugate of the lower factor of the transposed matrix,
// transposed.
Result<bool> factor_by_cholesky(const SolverCall& call, Problem p) {
  ACCEL_TRY(const DeviceModule* module, call.kernels.load(solver_text));
  HostFlag failed(call.kernels.device);
  ACCEL_TRY([[maybe_unused]] Unit done, failed.take());
  int64_t bytes = p.n * p.n * item_of(call), conjugates = call.op == Op::cholesky_up;
  if (conjugates) p.a = p.a.transposed(), p.x = p.x.transposed();
  ACCEL_TRY(Blocks blocks, blocks_for(call.kernels.device, p.count, p.n * p.n, bytes));
  char *memory = blocks.data(), *word = failed.address();
  void* arguments[] = {&p.a.data, &p.x.data, &p.n, &p.count, &p.a.steps, &p.x.steps, &conjugates, &memory, &bytes, &word};
  ACCEL_TRY(done, module->launch(static_cast<int>(SolverKernel::cholesky), blocks.shape, arguments));
  return failed.read();
}

// --- by cuSOLVER -------------------------------------------------------------------------------------------------------

// Memory of the device that goes back when this ends.
class Scratch {
 public:
  static Result<Scratch> take(CudaDevice& device, int64_t bytes) {
    Scratch made;
    ACCEL_TRY(made.block_, new_device_block(device, bytes));
    return made;
  }
  char* data() const { return block_->data; }

 private:
  std::shared_ptr<DeviceBlock> block_;
};

// Copies one matrix; `from` without data is the identity.
Status copy(const SolverCall& call, Operand from, Operand to, int64_t rows, int64_t columns, bool conjugates, bool is_lower) {
  ACCEL_TRY(const DeviceModule* module, call.kernels.load(solver_text));
  int64_t conjugated = conjugates, lower = is_lower;
  void* arguments[] = {&from.data, &to.data, &rows, &columns, &from.steps, &to.steps, &conjugated, &lower};
  const int64_t blocks = (rows * columns + copy_threads - 1) / copy_threads;
  return module->launch(static_cast<int>(SolverKernel::copy), {blocks, copy_threads, 0}, arguments);
}

// A matrix of `rows` rows, column by column.
Operand by_columns(char* data, int64_t rows, int64_t item) { return {data, {item, rows * item, 0}}; }

// Whether one of `count` numbers that cuSOLVER has written is not 0.
Result<bool> any_failed(CudaDevice& device, const Scratch& infos, int64_t count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  ACCEL_TRY([[maybe_unused]] Unit done, device.download(numbers.data(), infos.data(), count * 4));
  return std::any_of(numbers.begin(), numbers.end(), [](int info) { return info != 0; });
}

Status find_determinant(const SolverCall& call, char* factors, char* pivots, char* info, int64_t n, char* x) {
  ACCEL_TRY(const DeviceModule* module, call.kernels.load(solver_text));
  void* arguments[] = {&factors, &pivots, &info, &n, &x};
  return module->launch(static_cast<int>(SolverKernel::factored_determinant), {1, 1, 0}, arguments);
}

// One matrix after the other. Whether NumPy raises.
Result<bool> call_library(const SolverCall& call, const Problem& p) {
  CudaDevice& device = call.kernels.device;
  const int64_t item = item_of(call), n = p.n;
  const DType dtype = call.kernels.dtype;
  const bool is_upper = call.op == Op::cholesky_up;
  ACCEL_TRY(Scratch factors, Scratch::take(device, n * n * item));
  ACCEL_TRY(Scratch right, Scratch::take(device, call.op == Op::det || is_cholesky(call.op) ? 0 : n * p.columns * item));
  ACCEL_TRY(Scratch pivots, Scratch::take(device, n * 8));
  ACCEL_TRY(Scratch infos, Scratch::take(device, (p.count + 1) * 4));  // the last: of calls that cannot fail
  char* const unused_info = infos.data() + p.count * 4;
  const Operand matrix = by_columns(factors.data(), n, item), solution = by_columns(right.data(), n, item);
  auto solve_one = [&](Cusolver& library, int64_t k) -> Status {
    Operand a = p.a.matrix(k), x = p.x.matrix(k);
    char* const info = infos.data() + k * 4;
    if (is_upper) a = a.transposed(), x = x.transposed();
    ACCEL_TRY(Unit done, copy(call, a, matrix, n, n, is_upper, is_cholesky(call.op)));
    if (is_cholesky(call.op)) {
      ACCEL_TRY(done, library.factor_cholesky(dtype, n, factors.data(), info));
      return copy(call, matrix, x, n, n, is_upper, true);
    }
    ACCEL_TRY(done, library.factor_lu(dtype, n, factors.data(), pivots.data(), info));
    if (call.op == Op::det) return find_determinant(call, factors.data(), pivots.data(), info, n, x.data);
    ACCEL_TRY(done, copy(call, p.b.matrix(k), solution, n, p.columns, false, false));
    ACCEL_TRY(done, library.solve_lu(dtype, n, p.columns, factors.data(), pivots.data(), right.data(), unused_info));
    return copy(call, solution, x, n, p.columns, false, false);
  };
  ACCEL_TRY([[maybe_unused]] Unit done, call_cusolver(device, [&](Cusolver& library) -> Status {
              for (int64_t k = 0; k < p.count; ++k) {
                ACCEL_TRY([[maybe_unused]] Unit solved, solve_one(library, k));
              }
              return Unit{};
            }));
  if (call.op == Op::det) return false;
  return any_failed(device, infos, p.count);
}

// --- the choice --------------------------------------------------------------------------------------------------------

// The rows of a matrix for which the library and a block take the same time, measured on an H200. From there on the block takes
// longer by the square of the rows; but there are many blocks, and the library computes one matrix after the other.
int64_t rows_of_equal_time(Op op) { return is_cholesky(op) ? 66 : op == Op::inv ? 90 : 130; }

bool prefers_library(const SolverCall& call, const Problem& p) {
  const int64_t processors = call.kernels.device.processors(), turns = (p.count + processors - 1) / processors;
  const double equal = static_cast<double>(rows_of_equal_time(call.op)), rows = static_cast<double>(p.n);
  return call.has_library && rows * rows * static_cast<double>(turns) > equal * equal * static_cast<double>(p.count);
}

// Whether NumPy raises. Called without the GIL.
Result<bool> run(const SolverCall& call, const Problem& p) {
  const bool has_result = call.op == Op::det || (p.n > 0 && p.columns > 0);
  if (p.count == 0 || !has_result) return false;
  if (prefers_library(call, p)) return call_library(call, p);
  if (is_cholesky(call.op)) return factor_by_cholesky(call, p);
  if (call.op != Op::det) return solve(call, p);
  ACCEL_TRY([[maybe_unused]] Unit done, find_determinants(call, p));
  return false;
}

int run_solver(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void*) {
  const auto& call = *static_cast<const SolverCall*>(context);
  const Problem problem = read_problem(call.op, args, dims, strides);
  if (!DeviceLaunch::note(call.kernels.device.submit())) return -1;  // before other threads run
  Result<bool> raises = without_gil([&] { return run(call, problem); });
  if (!raises.ok()) DeviceLaunch::note(raises.failure());
  return raises.ok() && !*raises ? 0 : -1;
}

}  // namespace

bool is_solver(Op op) { return op == Op::solve || op == Op::solve1 || op == Op::inv || op == Op::det || is_cholesky(op); }

DeviceFunctionCall solver_function(CudaDevice& device, const LoopImport& import) {
  static auto* cache = new TextKernelCache;
  auto call =
      std::make_shared<SolverCall>(SolverCall{cache->of(device, import.dtypes.front()), import.op, find_cusolver().ok()});
  return {{run_solver, call.get(), nullptr}, call};
}

}  // namespace accel
