// Programs with control flow for a device: numbers that kernels give the host, and arrays that exits copy.

// Cells are memory of the host; kernels know them by another address.
static char* take_cells(const AccelLaunch* launch, int count, int checks) {
  return ((const AccelDeviceLaunch*)launch)->take_cells(launch->context, count, checks);
}
static bool defers_checks(const Frame* frame) { return ((const AccelDeviceLaunch*)frame->launch)->defers_checks != 0; }
static char* cell_of_kernels(const Frame* frame, char* cell) {
  return cell + ((const AccelDeviceLaunch*)frame->launch)->cells_distance;
}
// Waits for all kernels that have been started, so that cells have what they store. Whether the run goes on.
static __attribute__((noinline)) bool wait_for_kernels(Frame* frame) {
  if (!failed(frame)) report(frame, ((const AccelDeviceLaunch*)frame->launch)->wait(frame->launch->context));
  return !failed(frame);
}
static void copy_on_device(Frame* frame, char* to, const char* from, i64 bytes) {
  report(frame, ((const AccelDeviceLaunch*)frame->launch)->copy(frame->launch->context, to, from, bytes));
}
static bool grow_on_device(Frame* frame, int buffer, i64 bytes) {
  auto copy = [frame](char* to, const char* from, i64 size) { copy_on_device(frame, to, from, size); };
  return grow_by(frame, buffer, bytes, copy) && !failed(frame);
}
// As `give`, from memory of the device.
static bool give_from_device(Frame* frame, int output, const i64* dims, const char* from, i64 bytes) {
  char* const memory = result_memory(frame, output, dims);
  if (memory == nullptr) return false;
  copy_on_device(frame, memory, from, bytes);
  return !failed(frame);
}
