#pragma once
// Spans of memory that the arguments of a launch take, and their copies in other memory. Arguments that overlap share a span,
// so that they overlap in the copy, too.

#include <span>
#include <utility>
#include <vector>

#include "ndarray/array.h"

namespace accel {

struct ArgumentSpan {
  const char *low, *high;  // the first byte, and the one after the last
  char* copy = nullptr;
};

// The bytes that the elements of an array take: the first, and the one after the last.
std::pair<const char*, const char*> memory_span(const ArrayLayout& layout);

// Adds the span of an array, joined with those that it overlaps.
void add_span(std::vector<ArgumentSpan>& spans, const ArrayLayout& layout);

// Where the copy has what is at `data`; null when no span has it.
char* address_in_copy(std::span<const ArgumentSpan> spans, const char* data);
// Of which memory there is a copy at `copied`; null when that is in no copy.
const char* address_in_original(std::span<const ArgumentSpan> spans, const char* copied);

}  // namespace accel
