#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace accel {
namespace {

constexpr unsigned staging_portable = 1, staging_event_without_time = 2;
constexpr int64_t staging_alignment = 256;

}  // namespace

Status StagingRing::make_ready(Buffer& buffer) {
  if (buffer.memory) return wait(buffer);
  if (!buffer.event) ACCEL_CUDA(*context_.driver, cuEventCreate, &buffer.event, staging_event_without_time);
  void* memory = nullptr;
  ACCEL_CUDA(*context_.driver, cuMemHostAlloc, &memory, buffer_bytes, staging_portable);
  buffer.memory = static_cast<char*>(memory);
  return Unit{};
}

Status StagingRing::record(Buffer& buffer) {
  buffer.is_busy = true;
  ACCEL_CUDA(*context_.driver, cuEventRecord, buffer.event, buffer.stream);
  return Unit{};
}

Status StagingRing::wait(Buffer& buffer) {
  if (buffer.is_busy) ACCEL_CUDA(*context_.driver, cuEventSynchronize, buffer.event);
  buffer.is_busy = false;
  return Unit{};
}

Status Staging::upload(char* to, const char* from, int64_t bytes, CudaStream stream) {
  std::lock_guard lock(up_mutex_);
  while (bytes > 0) {
    auto* buffer = &up_.buffer(current_);
    // A buffer holds copies of one stream, whose order its event is in.
    if (buffer->filled >= StagingRing::buffer_bytes || (buffer->filled > 0 && buffer->stream != stream)) {
      buffer = &up_.buffer(++current_);
      buffer->filled = 0;
    }
    if (buffer->filled == 0) {
      ACCEL_TRY([[maybe_unused]] Unit ready, up_.make_ready(*buffer));
      buffer->stream = stream;
    }
    int64_t part = std::min(bytes, StagingRing::buffer_bytes - buffer->filled);
    ACCEL_TRY([[maybe_unused]] Unit copied, upload_part(to, from, part, stream));
    to += part;
    from += part;
    bytes -= part;
  }
  return Unit{};
}

Status Staging::upload_part(char* to, const char* from, int64_t bytes, CudaStream stream) {
  auto& buffer = up_.buffer(current_);
  char* staged = buffer.memory + buffer.filled;
  std::memcpy(staged, from, static_cast<size_t>(bytes));
  ACCEL_CUDA(*context_.driver, cuMemcpyHtoDAsync, to, staged, static_cast<size_t>(bytes), stream);
  buffer.filled = std::min((buffer.filled + bytes + staging_alignment - 1) / staging_alignment * staging_alignment,
                           StagingRing::buffer_bytes);
  return up_.record(buffer);
}

Status Staging::download(char* to, const char* from, int64_t bytes, CudaStream stream) {
  std::lock_guard lock(down_mutex_);
  auto done = download_parts(to, from, bytes, stream);
  // Copies that are under way when one fails must not write to buffers that are used again.
  if (!done.ok()) context_.driver->cuStreamSynchronize(stream);
  return done;
}

Status Staging::download_parts(char* to, const char* from, int64_t bytes, CudaStream stream) {
  constexpr int64_t most = StagingRing::buffer_bytes;
  int64_t parts = (bytes + most - 1) / most;
  auto size = [&](int64_t part) { return static_cast<size_t>(std::min(most, bytes - part * most)); };
  for (int64_t begun = 0, done = 0; done < parts; done++) {
    for (; begun < parts && begun < done + StagingRing::buffer_count; begun++) {
      auto& buffer = down_.buffer(begun);
      buffer.stream = stream;
      ACCEL_TRY([[maybe_unused]] Unit ready, down_.make_ready(buffer));
      ACCEL_CUDA(*context_.driver, cuMemcpyDtoHAsync, buffer.memory, from + begun * most, size(begun), stream);
      ACCEL_TRY([[maybe_unused]] Unit recorded, down_.record(buffer));
    }
    auto& buffer = down_.buffer(done);
    ACCEL_TRY([[maybe_unused]] Unit complete, down_.wait(buffer));
    std::memcpy(to + done * most, buffer.memory, size(done));
  }
  return Unit{};
}

}  // namespace accel
