#include "runtime/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/parallel.h"
#include "runtime/thread_pool.h"

namespace accel {
namespace {

constexpr unsigned staging_portable = 1, staging_event_without_time = 2;
constexpr int64_t staging_alignment = 256;
constexpr int64_t small_bytes = int64_t{4} << 20;  // copies of fewer bytes are not divided
constexpr size_t small_buffers = 4;
constexpr int64_t piece_bytes = int64_t{2} << 20;  // of a copy that threads share
constexpr size_t most_threads = 8, buffers_of_thread = 2;

std::vector<StagingRing> rings_of_threads(const CudaContext& context) {
  std::vector<StagingRing> rings;
  for (size_t k = 0; k < most_threads; ++k) rings.emplace_back(context, piece_bytes, buffers_of_thread);
  return rings;
}

// A large copy. Threads take pieces of it; each has a ring of two buffers, so that it fills or empties one while the device
// reads or writes the other.
class SharedCopy final : public SharedWork {
 public:
  SharedCopy(const CudaContext& context, std::vector<StagingRing>& rings, int64_t bytes, CudaStream stream)
      : context_(context), rings_(rings), bytes_(bytes), stream_(stream) {}

  Status upload(char* to, const char* from) { return run(&SharedCopy::upload_pieces, to, const_cast<char*>(from)); }
  Status download(char* to, const char* from) { return run(&SharedCopy::download_pieces, const_cast<char*>(from), to); }

  void run_as_worker(int) override {
    ActiveContext active(context_);
    if (active.ok()) run_with_ring();
  }
  bool has_more() const override { return next_piece_ < pieces() && next_ring_ < rings_.size(); }
  void while_waiting() override {}

 private:
  using CopyPieces = Status (SharedCopy::*)(StagingRing&);

  Status run(CopyPieces copy, char* device, char* host) {
    copy_ = copy, device_ = device, host_ = host;
    const int64_t most = std::min<int64_t>({thread_count(), static_cast<int64_t>(rings_.size()), pieces()});
    if (most > 1) share_work(*this, static_cast<int>(most) - 1);
    run_with_ring();
    if (most > 1) withdraw_work(*this);
    return first_failure_;
  }

  void run_with_ring() {
    const size_t ring = next_ring_.fetch_add(1);
    if (ring >= rings_.size()) return;
    Status done = (this->*copy_)(rings_[ring]);
    if (done.ok()) return;
    std::lock_guard lock(mutex_);
    if (first_failure_.ok()) first_failure_ = std::move(done);
    next_piece_ = pieces();
  }

  int64_t pieces() const { return (bytes_ + piece_bytes - 1) / piece_bytes; }
  size_t size(int64_t piece) const { return static_cast<size_t>(std::min(piece_bytes, bytes_ - piece * piece_bytes)); }

  Status upload_pieces(StagingRing& ring) {
    for (int64_t turn = 0, piece = 0; (piece = next_piece_.fetch_add(1)) < pieces(); ++turn) {
      auto& buffer = ring.buffer(turn);
      ACCEL_TRY([[maybe_unused]] Unit ready, ring.make_ready(buffer));
      std::memcpy(buffer.memory, host_ + piece * piece_bytes, size(piece));
      ACCEL_CUDA(*context_.driver, cuMemcpyHtoDAsync, device_ + piece * piece_bytes, buffer.memory, size(piece), stream_);
      ACCEL_TRY([[maybe_unused]] Unit recorded, ring.record(buffer, stream_));
    }
    return Unit{};
  }

  Status download_pieces(StagingRing& ring) {
    int64_t before = pieces();  // the piece that the other buffer has
    for (int64_t turn = 0;; ++turn) {
      const int64_t piece = next_piece_.fetch_add(1);
      if (piece < pieces()) {
        auto& buffer = ring.buffer(turn);
        ACCEL_TRY([[maybe_unused]] Unit ready, ring.make_ready(buffer));
        ACCEL_CUDA(*context_.driver, cuMemcpyDtoHAsync, buffer.memory, device_ + piece * piece_bytes, size(piece), stream_);
        ACCEL_TRY([[maybe_unused]] Unit recorded, ring.record(buffer, stream_));
      }
      if (before < pieces()) {
        auto& buffer = ring.buffer(turn - 1);
        ACCEL_TRY([[maybe_unused]] Unit complete, ring.wait(buffer));
        std::memcpy(host_ + before * piece_bytes, buffer.memory, size(before));
      }
      if (piece >= pieces()) return Unit{};
      before = piece;
    }
  }

  const CudaContext& context_;
  std::vector<StagingRing>& rings_;
  const int64_t bytes_;
  const CudaStream stream_;
  CopyPieces copy_ = nullptr;
  char *device_ = nullptr, *host_ = nullptr;
  std::atomic<int64_t> next_piece_{0};
  std::atomic<size_t> next_ring_{0};
  std::mutex mutex_;
  Status first_failure_ = Unit{};
};

}  // namespace

Status StagingRing::make_ready(Buffer& buffer) {
  if (buffer.memory) return wait(buffer);
  if (!buffer.event) ACCEL_CUDA(*context_.driver, cuEventCreate, &buffer.event, staging_event_without_time);
  void* memory = nullptr;
  ACCEL_CUDA(*context_.driver, cuMemHostAlloc, &memory, static_cast<size_t>(buffer_bytes_), staging_portable);
  buffer.memory = static_cast<char*>(memory);
  return Unit{};
}

Status StagingRing::record(Buffer& buffer, CudaStream stream) {
  buffer.is_busy = true;
  buffer.stream = stream;
  ACCEL_CUDA(*context_.driver, cuEventRecord, buffer.event, stream);
  return Unit{};
}

Status StagingRing::wait(Buffer& buffer) {
  if (buffer.is_busy) ACCEL_CUDA(*context_.driver, cuEventSynchronize, buffer.event);
  buffer.is_busy = false;
  return Unit{};
}

Staging::Staging(const CudaContext& context)
    : context_(context),
      small_up_(context, small_bytes, small_buffers),
      small_down_(context, small_bytes, 1),
      up_(rings_of_threads(context)),
      down_(rings_of_threads(context)) {}

Status Staging::upload(char* to, const char* from, int64_t bytes, CudaStream stream) {
  std::lock_guard lock(up_mutex_);
  return bytes < small_bytes ? upload_small(to, from, bytes, stream)
                             : SharedCopy(context_, up_, bytes, stream).upload(to, from);
}

// A buffer holds many copies of one stream, whose order its event is in.
Status Staging::upload_small(char* to, const char* from, int64_t bytes, CudaStream stream) {
  auto* buffer = &small_up_.buffer(current_);
  if (buffer->filled + bytes > small_bytes || (buffer->filled > 0 && buffer->stream != stream)) {
    buffer = &small_up_.buffer(++current_);
    buffer->filled = 0;
  }
  if (buffer->filled == 0) {
    ACCEL_TRY([[maybe_unused]] Unit ready, small_up_.make_ready(*buffer));
  }
  char* staged = buffer->memory + buffer->filled;
  std::memcpy(staged, from, static_cast<size_t>(bytes));
  ACCEL_CUDA(*context_.driver, cuMemcpyHtoDAsync, to, staged, static_cast<size_t>(bytes), stream);
  buffer->filled += (bytes + staging_alignment - 1) / staging_alignment * staging_alignment;
  return small_up_.record(*buffer, stream);
}

Status Staging::download(char* to, const char* from, int64_t bytes, CudaStream stream) {
  std::lock_guard lock(down_mutex_);
  Status done = bytes < small_bytes ? download_small(to, from, bytes, stream)
                                    : SharedCopy(context_, down_, bytes, stream).download(to, from);
  // Copies that are under way when one fails must not write to buffers that are used again.
  if (!done.ok()) context_.driver->cuStreamSynchronize(stream);
  return done;
}

Status Staging::download_small(char* to, const char* from, int64_t bytes, CudaStream stream) {
  auto& buffer = small_down_.buffer(0);
  ACCEL_TRY([[maybe_unused]] Unit ready, small_down_.make_ready(buffer));
  ACCEL_CUDA(*context_.driver, cuMemcpyDtoHAsync, buffer.memory, from, static_cast<size_t>(bytes), stream);
  ACCEL_TRY([[maybe_unused]] Unit recorded, small_down_.record(buffer, stream));
  ACCEL_TRY([[maybe_unused]] Unit complete, small_down_.wait(buffer));
  std::memcpy(to, buffer.memory, static_cast<size_t>(bytes));
  return Unit{};
}

}  // namespace accel
