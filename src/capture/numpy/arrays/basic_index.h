#pragma once
// Parsing of index expressions of arrays.

#include <vector>

#include "capture/context/context.h"

namespace accel {

enum class IndexKind : uint8_t {
  integer,
  slice,
  newaxis,
  ellipsis,
  mask,     // bool array of rank > 0: consumes as many axes as it has
  indices,  // integer array of rank > 0, or a sequence that becomes one
};

struct IndexPart {
  IndexKind kind = IndexKind::slice;
  Ref ref;              // mask, indices: an array
  int axes = 0;         // number of operand axes that it consumes; ellipsis: all remaining ones
  bool copies = false;  // an integer from a 0-d array: the result is no view
};

// The parts of an index of an array, with an ellipsis unless every axis is consumed. Fails with will_raise for an index that
// NumPy rejects whatever its values are.
Result<std::vector<IndexPart>> index_parts(Capture& capture, const Ref& array, const Ref& index);

inline bool is_advanced(const IndexPart& part) { return part.kind == IndexKind::mask || part.kind == IndexKind::indices; }
bool has_advanced(const std::vector<IndexPart>& parts);

// The view selected by the basic parts, with all axes of the advanced parts in full.
Result<Ref> basic_view(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts);

// Reads and writes with masks or integer arrays.
Result<Ref> advanced_getitem(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts);
// ufunc.at: updates the elements one after the other.
Status update_elements(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts, const Ref& value, Op ufunc);
Status advanced_setitem(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts, const Ref& value);

}  // namespace accel
