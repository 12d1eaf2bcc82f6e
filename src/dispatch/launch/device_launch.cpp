#include "dispatch/launch/device_launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device_array/device_array.h"
#include "dispatch/signals/interrupt.h"
#include "ndarray/array.h"
#include "runtime/runtime.h"

namespace accel {

namespace {

constexpr int words_of_number = 2;
// Arguments of up to this many bytes are written at once, when all of them have arrived; copies of larger ones cost too much.
constexpr int64_t most_bytes_at_once = 4 << 20;
constexpr int64_t least_bytes_without_gil = 256 << 10;

// The launch that the calling thread runs.
thread_local DeviceLaunch* running = nullptr;

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

// Whether all arguments in a span are copied part by part, while the kernel runs.
bool has_all_arguments(const ChunkedRun& run, const DevicePlan& plan, const Binding& binding, const ArgumentSpan& span) {
  for (size_t k = 0; k < plan.inputs.size(); ++k) {
    const char* const data = static_cast<const char*>(binding.inputs[k]);
    const bool is_in_span = plan.inputs[k].source >= 0 && data >= span.low && data < span.high;
    if (is_in_span && !run.has(false, static_cast<int>(k))) return false;
  }
  return true;
}

// Whether all results with memory are copied part by part.
bool has_all_results(const ChunkedRun& run, const std::vector<char*>& memory) {
  for (size_t k = 0; k < memory.size(); ++k)
    if (memory[k] != nullptr && !run.has(true, static_cast<int>(k))) return false;
  return true;
}

}  // namespace

DevicePlan::DevicePlan(const Captured& captured, const DeviceCode& code, CudaDevice& on, bool may_raise)
    : device(&on), gives_device_arrays(captured.guards.has_device_arrays()) {
  inputs.resize(static_cast<size_t>(captured.guards.input_count));
  for (const Guard& guard : captured.guards.guards) {
    if (guard.kind != GuardKind::array) continue;
    if (guard.array.input < 0) continue;
    const size_t number = static_cast<size_t>(guard.array.input);
    const bool is_written = number < code.written_inputs.size() && code.written_inputs[number];
    inputs[number] = {guard.source, guard.array.dtype, guard.array.device >= 0, is_written};
    writes_arguments |= is_written && guard.array.device < 0;
    writes_device_arrays |= is_written && guard.array.device >= 0;
  }
  call_sites = captured.calls;
  // A copy of arrays takes longer than a wait, but not than one in each iteration of a loop. Runs with calls wait for them.
  defers_checks = code.has_deferred_checks && call_sites.empty() && (!writes_device_arrays || code.has_checks_in_loops);
  backs_up = writes_device_arrays && may_raise;
  if (!gives_device_arrays && !writes_arguments && call_sites.empty() && !defers_checks) chunks = ChunkPlan::make(code);
}

void DeviceLaunch::Lists::clear() {
  inputs.clear();
  spans.clear();
  backups.clear();
  memory.clear();
  shapes.clear();
  words.clear();
  cells = {};
  checks = 0;
}

std::unique_ptr<DeviceLaunch::Lists> DeviceLaunch::Lists::take() {
  if (unused().empty()) return std::make_unique<Lists>();
  std::unique_ptr<Lists> taken = std::move(unused().back());
  unused().pop_back();
  return taken;
}

std::vector<std::unique_ptr<DeviceLaunch::Lists>>& DeviceLaunch::Lists::unused() {
  static thread_local std::vector<std::unique_ptr<Lists>> lists;
  return lists;
}

DeviceLaunch::~DeviceLaunch() {
  if (failure_ && (!lists_->words.empty() || lists_->cells.first != nullptr))
    (void)without_gil([&] { return plan_.device->wait(); });  // kernels may still write them
  for (const auto* spans : {&lists_->spans, &lists_->backups})
    for (const ArgumentSpan& span : *spans)
      if (span.copy != nullptr) plan_.device->release(span.copy);
  for (char* memory : lists_->memory)
    if (memory != nullptr) plan_.device->release(memory);
  for (const auto& [words, output] : lists_->words) plan_.device->give_words_back(words, words_of_number);
  if (lists_->cells.first != nullptr) plan_.device->give_words_back(lists_->cells.first, lists_->cells.second);
  lists_->clear();
  Lists::unused().push_back(std::move(lists_));
}

bool DeviceLaunch::check(const Status& status) {
  if (!status.ok() && !failure_) failure_ = status.failure();
  return status.ok();
}

char* DeviceLaunch::take(int64_t bytes) {
  Result<char*> memory = plan_.device->allocate(bytes);
  if (memory.ok()) return *memory;
  if (!failure_) failure_ = memory.failure();
  return nullptr;
}

// --- services of the runtime -------------------------------------------------------------------------------------------

bool DeviceLaunch::note(const Status& status) { return running->check(status); }

void* DeviceLaunch::allocate_output(void* context, int output, const int64_t* dims) {
  return static_cast<DeviceLaunch*>(context)->make_output(output, dims);
}

int DeviceLaunch::start(const void* kernels, int number, int64_t blocks, int threads, int64_t bytes, void** arguments) {
  const auto& loaded = *static_cast<const DeviceKernels*>(kernels);
  const LaunchShape shape{blocks, threads, static_cast<int>(bytes)};
  if (running->chunked_) return running->start_in_parts(loaded, number, shape, arguments);
  return running->check(loaded.launch(number, shape, arguments)) ? 0 : accel_error;
}

char* DeviceLaunch::take_cells(void* context, int count, int checks) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  CudaDevice& device = *self.plan_.device;
  const int size = count * words_of_number;
  Result<int64_t*> words = device.take_words(size);
  if (!words.ok()) return self.failure_ = words.failure(), nullptr;
  self.lists_->cells = {*words, size};
  self.lists_->checks = checks;
  std::fill_n(*words, checks * words_of_number, 1);
  char* const cells = reinterpret_cast<char*>(*words);
  self.launch_.cells_distance = device.device_address(*words) - cells;
  return cells;
}

int DeviceLaunch::wait(void* context) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  return self.wait_and_check() ? 0 : accel_error;
}

// Waits for all kernels, and tests the checks that were not awaited.
bool DeviceLaunch::wait_and_check() {
  if (!check(plan_.device->submit())) return false;  // before other threads run
  if (!check(without_gil([&] { return plan_.device->wait(); }))) return false;
  for (int k = 0; defers_checks_ && k < lists_->checks; ++k)
    has_failed_check_ |= *reinterpret_cast<const char*>(lists_->cells.first + words_of_number * k) == 0;
  return !has_failed_check_;
}

int DeviceLaunch::copy(void* context, void* to, const void* from, int64_t bytes) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  return self.check(self.plan_.device->copy(static_cast<char*>(to), static_cast<const char*>(from), bytes)) ? 0 : accel_error;
}

// Status bits of a call, or those of a device that failed.
int DeviceLaunch::status_of(Result<int> result) {
  if (result.ok()) return *result;
  if (!failure_) failure_ = result.failure();
  return accel_error;
}

int DeviceLaunch::call(void* context, int number, const void* const* operands, const int64_t* dims) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  if (!self.check(self.plan_.device->submit())) return accel_error;  // before other threads run
  if (self.plan_.call_sites[static_cast<size_t>(number)].python == nullptr)
    return self.status_of(self.calls_->call(number, operands, dims));
  if (!self.show_inputs()) return accel_error;
  self.calls_of_run_.take_references(false);
  const int status = self.status_of(self.calls_->call(number, operands, dims));
  if ((status & accel_left) != 0) return status;  // the objects are the interpreter's
  self.calls_of_run_.take_references(true);
  return status == 0 && !self.upload_spans() ? int{accel_error} : status;
}

// Unknown code may read and change the arguments, so that they are written as the interpreter would have them. These stores are
// not undone any more.
bool DeviceLaunch::show_inputs() {
  if (!download_inputs()) return false;
  is_written_ = false;
  return true;
}

int DeviceLaunch::receive(void* context, int number, int result, void* memory, const int64_t* dims) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  if (!self.check(self.plan_.device->submit())) return accel_error;
  return self.status_of(self.calls_->receive(number, result, memory, dims));
}

void* DeviceLaunch::receive_output(void* context, int number, int result, int output, const int64_t* dims) {
  DeviceLaunch& self = *static_cast<DeviceLaunch*>(context);
  void* made = self.outputs_.data[output];
  if (made == nullptr && self.plan_.gives_device_arrays && self.output_plan_.rank(output) > 0) {
    if (std::shared_ptr<DeviceBlock> computed = self.calls_->take_computed(number))
      return self.make_array(output, dims, std::move(computed));
  }
  if (made == nullptr) made = self.make_output(output, dims);
  return made != nullptr && receive(context, number, result, made, dims) == 0 ? made : nullptr;
}

const AccelRuntime& DeviceLaunch::services() {
  static const AccelRuntime table = [] {
    AccelRuntime made = host_runtime();
    made.allocate = [](int64_t bytes) -> void* { return running->take(bytes); };
    made.release = [](void* memory) { running->plan_.device->release(static_cast<char*>(memory)); };
    made.allocate_output = allocate_output;
    made.call = call;
    made.extent = [](void*, int number, int result, int axis) { return running->calls_->extent(number, result, axis); };
    made.receive = receive;
    made.receive_output = receive_output;
    made.open_draw = [](void*, int number) {
      if (!running->check(running->plan_.device->submit())) return int{accel_error};  // before other threads run
      return running->calls_of_run_.calls->open_draw(number);
    };
    return made;
  }();
  return table;
}

// --- one run -----------------------------------------------------------------------------------------------------------

int DeviceLaunch::run(AccelKernel kernel, const DeviceKernels* kernels, const std::vector<AccelImport>& imports,
                      bool allocates_first, int& exit) {
  lists_->memory.assign(static_cast<size_t>(output_plan_.count()), nullptr);
  lists_->shapes.resize(lists_->memory.size());
  if (allocates_first && plan_.chunks && plan_.graphs == nullptr)
    chunked_ = ChunkedRun::make(*plan_.chunks, *plan_.device, binding_.symbols);
  if (!upload_inputs() || !back_up_inputs() || !take_words() || (allocates_first && !allocate_outputs()))
    return accel_no_memory;
  if (BoxedCalls* calls = calls_of_run_.calls) {
    const std::span<const ArgumentSpan> unchanged = lists_->spans;
    calls_.emplace(plan_.call_sites, *calls, *plan_.device, plan_.writes_arguments ? unchanged.first(0) : unchanged);
    launch_.launch.draws = calls->draws().data();
  }
  launch_.launch.runtime = &services();
  launch_.launch.imports = imports.data();
  launch_.launch.symbols = binding_.symbols;
  launch_.launch.inputs = lists_->inputs.data();
  launch_.launch.outputs = outputs_.data;
  launch_.launch.context = this;
  launch_.launch.exit = &exit;
  launch_.kernels = kernels;
  launch_.shared_bytes = plan_.device->shared_bytes();
  launch_.start = start;
  launch_.take_cells = take_cells;
  launch_.defers_checks = defers_checks_ ? 1 : 0;
  launch_.wait = wait;
  launch_.copy = copy;
  const LaunchScope scope(*plan_.device, plan_.graphs.get());
  DeviceLaunch* const outside = std::exchange(running, this);
  constexpr int events = accel_divide | accel_overflow | accel_underflow | accel_invalid;
  launch_.launch.accepted = launch_.launch.ignored = events;
  // A device has no events: those that the kernel reports are of the host's flags before the call, or of a library.
  int status = kernel(&launch_.launch) & ~events;
  running = outside;
  if (!check(plan_.device->submit())) status |= accel_error;
  if (defers_checks_ && !has_failed_check_ && !wait_and_check()) status |= accel_error;
  if (status == 0 && !download(exit, defers_checks_)) status = accel_error;
  if (status != 0) restore_inputs();
  return status;
}

// Copies what the run may overwrite before it finds that NumPy raises, so that the interpreter can make the call again.
bool DeviceLaunch::back_up_inputs() {
  const bool backs_up = plan_.backs_up || (plan_.writes_device_arrays && defers_checks_);
  for (size_t k = 0; backs_up && k < plan_.inputs.size(); ++k) {
    const DevicePlan::Input& input = plan_.inputs[k];
    if (!input.is_on_device || !input.is_written) continue;
    const auto [low, high] = memory_span(array_layout(binding_.sources[input.source]));
    char* const memory = take(high - low);
    if (memory == nullptr) return false;
    lists_->backups.push_back({low, high, memory});
    if (!check(plan_.device->copy(memory, low, high - low))) return false;
  }
  return true;
}

void DeviceLaunch::restore_inputs() {
  for (const ArgumentSpan& span : lists_->backups)
    check(plan_.device->copy(const_cast<char*>(span.low), span.copy, span.high - span.low));
}

// Small copies end before another thread could have taken the GIL and given it back.
Status DeviceLaunch::upload(const ArgumentSpan& span) {
  const int64_t bytes = span.high - span.low;
  auto copy = [&] { return plan_.device->upload(span.copy, span.low, bytes); };
  return bytes < least_bytes_without_gil ? copy() : without_gil(copy);
}

// Copies the arguments that are NumPy's to the device. Those that overlap share one copy.
bool DeviceLaunch::upload_inputs() {
  lists_->inputs.resize(plan_.inputs.size());
  for (size_t k = 0; k < lists_->inputs.size(); ++k) {
    lists_->inputs[k] = binding_.inputs[k];
    if (plan_.inputs[k].is_on_device || plan_.inputs[k].source < 0) continue;
    add_span(lists_->spans, array_layout(binding_.sources[plan_.inputs[k].source]));
  }
  for (ArgumentSpan& span : lists_->spans)
    if ((span.copy = take(span.high - span.low)) == nullptr) return false;
  if (!upload_spans()) return false;
  for (size_t k = 0; k < lists_->inputs.size(); ++k) {
    if (plan_.inputs[k].is_on_device) continue;
    if (char* found = address_in_copy(lists_->spans, static_cast<const char*>(binding_.inputs[k]))) lists_->inputs[k] = found;
  }
  return true;
}

bool DeviceLaunch::upload_spans() {
  return std::ranges::all_of(lists_->spans, [&](const ArgumentSpan& span) {
    return (chunked_ && has_all_arguments(*chunked_, plan_, binding_, span)) || check(upload(span));
  });
}

// --- a launch in parts -------------------------------------------------------------------------------------------------

// The launch of the only kernel: its results are in memory of the host afterwards.
int DeviceLaunch::start_in_parts(const DeviceKernels& kernels, int number, const LaunchShape& shape, void** arguments) {
  if (!chunked_->can_launch(number) || !has_all_results(*chunked_, lists_->memory)) {
    chunked_.reset();
    return upload_spans() && check(kernels.launch(number, shape, arguments)) ? 0 : accel_error;
  }
  for (ChunkedArray& array : chunked_->arrays()) {
    const auto binding = static_cast<size_t>(array.binding);
    if (!array.is_output) {
      array.host = const_cast<char*>(static_cast<const char*>(binding_.inputs[binding]));
      array.device = static_cast<char*>(lists_->inputs[binding]);
      continue;
    }
    array.device = lists_->memory[binding];
    array.host = static_cast<char*>(output_plan_.allocate(array.binding, lists_->shapes[binding].data(), outputs_));
    if (array.host != nullptr) continue;
    PyErr_Clear();
    failure_ = fail(Reason::out_of_memory, "memory for a result");
    return accel_no_memory;
  }
  if (!check(chunked_->run(kernels, number, shape, arguments))) return accel_error;
  has_results_ = true;
  return 0;
}

// Numbers, and arrays without axes, are written to memory of the host, which kernels reach as well.
bool DeviceLaunch::take_word(int output) {
  Result<int64_t*> words = plan_.device->take_words(words_of_number);
  if (!words.ok()) return failure_ = words.failure(), false;
  lists_->words.emplace_back(*words, output);
  outputs_.data[output] = plan_.device->device_address(*words);
  return true;
}

bool DeviceLaunch::take_words() {
  for (int output = 0; output < output_plan_.count(); ++output)
    if (!output_plan_.is_array(output) && !take_word(output)) return false;
  return true;
}

bool DeviceLaunch::allocate_outputs() {
  for (int output = 0; output < output_plan_.count(); ++output) {
    if (!output_plan_.is_array(output)) continue;
    const std::vector<int64_t> dims = output_plan_.shape(output, binding_.symbols);
    if (make_output(output, dims.data()) == nullptr) return false;
  }
  return true;
}

void* DeviceLaunch::make_output(int output, const int64_t* dims) {
  if (output_plan_.rank(output) == 0) return take_word(output) ? outputs_.data[output] : nullptr;
  const std::span<const int64_t> shape(dims, output_plan_.rank(output));
  const int64_t item = item_size(output_plan_.dtype(output)), bytes = element_count(shape) * item;
  if (!plan_.gives_device_arrays) {
    lists_->shapes[static_cast<size_t>(output)].assign(shape.begin(), shape.end());
    return outputs_.data[output] = lists_->memory[static_cast<size_t>(output)] = take(bytes);
  }
  Result<std::shared_ptr<DeviceBlock>> block = new_device_block(*plan_.device, bytes);
  if (!block.ok()) {
    if (!failure_) failure_ = block.failure();
    return nullptr;
  }
  return make_array(output, dims, std::move(block).value());
}

// A DeviceArray over a block becomes the output. Its memory.
void* DeviceLaunch::make_array(int output, const int64_t* dims, std::shared_ptr<DeviceBlock> block) {
  const std::span<const int64_t> shape(dims, output_plan_.rank(output));
  char* const data = block->data;
  const std::vector<int64_t> strides = dense_strides(output_plan_.dtype(output), shape, output_plan_.order(output));
  outputs_.arrays[output] = new_device_array(output_plan_.dtype(output), shape, strides, std::move(block), data);
  if (outputs_.arrays[output] == nullptr) {
    PyErr_Clear();
    failure_ = fail(Reason::out_of_memory, {});
    return nullptr;
  }
  return outputs_.data[output] = data;
}

// --- results that the host gets ----------------------------------------------------------------------------------------

// Arguments are written last: until then the call can be made again elsewhere. `is_done`: whether all kernels have ended.
bool DeviceLaunch::download(int exit, bool is_done) {
  for (int output = output_plan_.first(exit); output < output_plan_.last(exit); ++output) {
    if (lists_->memory[static_cast<size_t>(output)] == nullptr) continue;
    if (!has_results_ && !download_output(output)) return false;
    is_done |= element_count(lists_->shapes[static_cast<size_t>(output)]) > 0;  // nothing else waits
  }
  if (!lists_->words.empty() && !is_done && !check(without_gil([&] { return plan_.device->wait(); }))) return false;
  for (const auto& [words, output] : lists_->words)
    if (!finish_word(words, output)) return false;
  return download_inputs();
}

// Makes a number, or an array without axes, of what is in memory of the host.
bool DeviceLaunch::finish_word(const int64_t* words, int output) {
  if (!output_plan_.is_array(output)) {
    outputs_.data[output] = outputs_.numbers + words_of_number * output;
    std::memcpy(outputs_.data[output], words, words_of_number * sizeof(int64_t));
    return true;
  }
  const int64_t bytes = item_size(output_plan_.dtype(output));
  if (!plan_.gives_device_arrays) {
    if (output_plan_.allocate(output, nullptr, outputs_) == nullptr) return PyErr_Clear(), false;
    std::memcpy(outputs_.data[output], words, static_cast<size_t>(bytes));
    return true;
  }
  Result<std::shared_ptr<DeviceBlock>> block = new_device_block(*plan_.device, bytes);
  if (!block.ok()) return failure_ = block.failure(), false;
  char* data = (*block)->data;
  if (!check(plan_.device->upload(data, words, bytes))) return false;
  outputs_.arrays[output] = new_device_array(output_plan_.dtype(output), {}, {}, std::move(block).value(), data);
  if (outputs_.arrays[output] == nullptr) return PyErr_Clear(), false;
  outputs_.data[output] = data;
  return true;
}

bool DeviceLaunch::download_output(int output) {
  const std::vector<int64_t>& shape = lists_->shapes[static_cast<size_t>(output)];
  void* to = output_plan_.allocate(output, shape.data(), outputs_);
  if (to == nullptr) {
    PyErr_Clear();
    failure_ = fail(Reason::out_of_memory, "memory for a result");
    return false;
  }
  const int64_t bytes = element_count(shape) * item_size(output_plan_.dtype(output));
  return check(without_gil([&] { return plan_.device->download(to, lists_->memory[static_cast<size_t>(output)], bytes); }));
}

bool DeviceLaunch::download_inputs() {
  if (!plan_.writes_arguments) return true;
  int64_t bytes = 0;
  std::vector<std::vector<char>> copies(plan_.inputs.size());
  for (size_t k = 0; k < copies.size(); ++k) {
    if (!is_downloaded(k)) continue;
    const auto [low, high] = memory_span(array_layout(binding_.sources[plan_.inputs[k].source]));
    bytes += high - low;
  }
  for (size_t k = 0; k < copies.size() && bytes <= most_bytes_at_once; ++k)
    if (is_downloaded(k) && !fetch_input(k, copies[k])) return false;
  for (size_t k = 0; k < copies.size(); ++k)
    if (is_downloaded(k) && !(bytes <= most_bytes_at_once ? write_input(k, copies[k]) : download_input(k))) return false;
  return true;
}

// The memory between the first and the last element of an argument, as it is on the device.
bool DeviceLaunch::fetch_input(size_t input, std::vector<char>& copy) {
  const ArrayLayout layout = array_layout(binding_.sources[plan_.inputs[input].source]);
  const auto [low, high] = memory_span(layout);
  const char* from = static_cast<const char*>(lists_->inputs[input]) - (layout.data - low);
  copy.resize(static_cast<size_t>(high - low));
  return check(without_gil([&] { return plan_.device->download(copy.data(), from, static_cast<int64_t>(copy.size())); }));
}

// Elements between those of the array keep what they have: other threads may write to them meanwhile.
bool DeviceLaunch::write_input(size_t input, std::vector<char>& copy) {
  PyObject* array = binding_.sources[plan_.inputs[input].source];
  const ArrayLayout layout = array_layout(array);
  const char* low = memory_span(layout).first;
  const std::span<const int64_t> dims(layout.dims, layout.ndim), strides(layout.strides, layout.ndim);
  PyObject* elements = new_array_over(plan_.inputs[input].dtype, dims, strides, copy.data() + (layout.data - low));
  is_written_ = true;
  const bool is_copied = elements != nullptr && copy_elements(array, elements);
  Py_XDECREF(elements);
  if (!is_copied) PyErr_Clear(), failure_ = fail(Reason::internal_error, "an argument could not be written");
  return is_copied;
}

bool DeviceLaunch::download_input(size_t input) {
  PyObject* array = binding_.sources[plan_.inputs[input].source];
  const ArrayLayout layout = array_layout(array);
  const auto [low, high] = memory_span(layout);
  const int64_t bytes = element_count({layout.dims, static_cast<size_t>(layout.ndim)}) * layout.item_bytes;
  if (bytes != high - low) {
    std::vector<char> copy;
    return fetch_input(input, copy) && write_input(input, copy);
  }
  const char* from = static_cast<const char*>(lists_->inputs[input]) - (layout.data - low);
  is_written_ = true;
  return check(without_gil([&, low = low] { return plan_.device->download(const_cast<char*>(low), from, bytes); }));
}

}  // namespace accel
