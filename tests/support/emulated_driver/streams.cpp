// Streams: queues of work that is done when something waits for it.

#include <algorithm>

#include "emulator.h"

namespace emulated {
namespace {

std::vector<Stream*> streams{new Stream};  // the first is the default stream

}  // namespace

Stream* default_stream() { return streams[0]; }

// 0 and 1 both mean the default stream.
Stream* stream_of(Stream* handle) { return reinterpret_cast<size_t>(handle) < 2 ? streams[0] : handle; }

Stream* new_stream(bool is_blocking) {
  streams.push_back(new Stream{{}, is_blocking});
  return streams.back();
}

void destroy_stream(Stream* stream) {
  drain(stream);
  streams.erase(std::find(streams.begin(), streams.end(), stream));
  delete stream;
}

// Does the stream's next work.
int step(Stream* stream) {
  auto& e = emulator();
  Work work = std::move(stream->queue.front());
  stream->queue.pop_front();
  if (e.sticky) return e.sticky;
  DeviceWorks works;
  int code = work();
  if (code && code != invalid_value && !e.sticky) e.sticky = code;
  return e.sticky;
}

int drain(Stream* stream) {
  auto& e = emulator();
  if (e.options.seed) {
    for (size_t i = 0; i < streams.size(); ++i) {
      Stream* other = streams[i];
      if (other == stream) continue;
      for (size_t count = e.random() % (other->queue.size() + 1); count && !other->queue.empty(); --count) step(other);
    }
  }
  while (!stream->queue.empty()) step(stream);
  return e.sticky;
}

int drain_all() {
  for (size_t i = 0; i < streams.size(); ++i) drain(streams[i]);
  return emulator().sticky;
}

int finish(const std::shared_ptr<Mark>& mark) {
  while (mark && !mark->is_done && !emulator().sticky && !mark->stream->queue.empty()) step(mark->stream);
  return emulator().sticky;
}

void drop_work() {
  for (Stream* stream : streams) stream->queue.clear();
}

// The default stream and streams that are ordered with it wait for each other.
int enqueue(Stream* handle, Work work) {
  Stream* stream = stream_of(handle);
  if (stream == streams[0]) {
    for (Stream* other : streams)
      if (other->is_blocking) drain(other);
  } else if (stream->is_blocking) {
    drain(streams[0]);
  }
  stream->queue.push_back(std::move(work));
  return emulator().options.eager ? drain(stream) : success;
}

}  // namespace emulated
