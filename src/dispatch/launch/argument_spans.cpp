#include "dispatch/launch/argument_spans.h"

#include <algorithm>

namespace accel {

std::pair<const char*, const char*> memory_span(const ArrayLayout& layout) {
  const char *low = layout.data, *high = layout.data + layout.item_bytes;
  for (int k = 0; k < layout.ndim; ++k) {
    if (layout.dims[k] == 0) return {layout.data, layout.data};
    const int64_t last = (layout.dims[k] - 1) * layout.strides[k];
    (last < 0 ? low : high) += last;
  }
  return {low, high};
}

void add_span(std::vector<ArgumentSpan>& spans, const ArrayLayout& layout) {
  const auto [low, high] = memory_span(layout);
  ArgumentSpan joined{low, high};
  std::erase_if(spans, [&](const ArgumentSpan& other) {
    const bool overlaps = other.low < joined.high && joined.low < other.high;
    if (overlaps) joined = {std::min(joined.low, other.low), std::max(joined.high, other.high)};
    return overlaps;
  });
  spans.push_back(joined);
}

char* address_in_copy(std::span<const ArgumentSpan> spans, const char* data) {
  char* found = nullptr;
  for (const ArgumentSpan& span : spans)
    if (span.low <= data && data <= span.high && (data < span.high || span.low == span.high))
      found = span.copy + (data - span.low);
  return found;
}

const char* address_in_original(std::span<const ArgumentSpan> spans, const char* copied) {
  for (const ArgumentSpan& span : spans)
    if (span.copy <= copied && copied < span.copy + (span.high - span.low)) return span.low + (copied - span.copy);
  return nullptr;
}

}  // namespace accel
