// Runs the kernel that it is linked with, in an emulator of another CPU. Input and output are 64-bit integers and arrays: the
// number of bytes, on input the offset of the first element, the bytes.
//   threads allocations interrupted accepted serial_work polls, symbols..., inputs, outputs (contents before the run),
//   result kinds (bytes of an element, rank) of outputs that the kernel allocates
//   status exit live_allocations, inputs, outputs (after the run), results: which of them there are, dims, elements

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "codegen/kernel_abi.h"

extern "C" {
int accel_kernel(const accel::AccelLaunch* launch);
const accel::AccelRuntime* host_runtime(int threads, int64_t allocations, int interrupted);
int64_t host_live_allocations();
void host_set_allocate_output(void* (*function)(void*, int, const int64_t*));
void host_set_serial_work(int64_t work);
void host_interrupt_after(int count);
}

namespace {

struct Result {
  int64_t item_bytes, rank;
  bool is_made = false;
  std::vector<int64_t> dims;
  std::vector<char> elements;
};
std::vector<Result> results;

int64_t read_number() {
  int64_t number = 0;
  if (std::fread(&number, sizeof number, 1, stdin) != 1) std::abort();
  return number;
}
struct Array {
  std::vector<char> memory;
  int64_t first;
};
std::vector<Array> read_arrays() {
  std::vector<Array> arrays(static_cast<size_t>(read_number()));
  for (Array& array : arrays) {
    array.memory.resize(static_cast<size_t>(read_number()));
    array.first = read_number();
    if (std::fread(array.memory.data(), 1, array.memory.size(), stdin) != array.memory.size()) std::abort();
  }
  return arrays;
}
std::vector<void*> pointers(std::vector<Array>& arrays) {
  std::vector<void*> out;
  for (Array& array : arrays) out.push_back(array.memory.data() + array.first);
  return out;
}
void write_number(int64_t number) { std::fwrite(&number, sizeof number, 1, stdout); }
void write_array(const std::vector<char>& array) {
  write_number(static_cast<int64_t>(array.size()));
  std::fwrite(array.data(), 1, array.size(), stdout);
}

void* allocate_output(void*, int output, const int64_t* dims) {
  Result& result = results[static_cast<size_t>(output)];
  result.is_made = true;
  result.dims.assign(dims, dims + result.rank);
  int64_t bytes = result.item_bytes;
  for (int64_t dim : result.dims) bytes *= dim;
  result.elements.resize(static_cast<size_t>(bytes) + 1);
  return result.elements.data();
}

}  // namespace

int main() {
  int64_t head[6];
  for (int64_t& number : head) number = read_number();
  std::vector<int64_t> symbols(static_cast<size_t>(read_number()) + 1);
  for (size_t k = 0; k + 1 < symbols.size(); ++k) symbols[k] = read_number();
  auto inputs = read_arrays(), outputs = read_arrays();
  results.resize(static_cast<size_t>(read_number()));
  for (Result& result : results) result.item_bytes = read_number(), result.rank = read_number();
  auto input_pointers = pointers(inputs), output_pointers = pointers(outputs);
  output_pointers.resize(output_pointers.size() + results.size() + 1);

  int exit = -1;
  accel::AccelLaunch launch = {};
  launch.runtime = host_runtime(static_cast<int>(head[0]), head[1], static_cast<int>(head[2]));
  host_set_allocate_output(allocate_output);
  host_set_serial_work(head[4]);
  host_interrupt_after(static_cast<int>(head[5]));
  launch.symbols = symbols.data();
  launch.inputs = input_pointers.data();
  launch.outputs = output_pointers.data();
  launch.exit = &exit;
  launch.accepted = launch.ignored = static_cast<int>(head[3]);
  int status = accel_kernel(&launch);

  write_number(status);
  write_number(exit);
  write_number(host_live_allocations());
  for (const Array& array : inputs) write_array(array.memory);
  for (const Array& array : outputs) write_array(array.memory);
  for (const Result& result : results) {
    write_number(result.is_made);
    for (int64_t dim : result.dims) write_number(dim);
    if (result.is_made) write_array({result.elements.begin(), result.elements.end() - 1});
  }
}
