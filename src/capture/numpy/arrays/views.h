#pragma once
// Views of arrays: the view op of the graph and the layout of the Python object, made together.

#include <optional>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// A view in the making: view ops are appended, then the layout says what Python sees.
class ViewMaker {
 public:
  ViewMaker(Capture& capture, Ref array);

  ValueId value() const { return value_; }
  void transpose(std::vector<int> axes);
  void squeeze(std::vector<int> axes);
  void expand_dims(std::vector<int> axes);
  void slice(std::vector<Dim> starts, std::vector<Dim> steps, std::vector<Dim> extents);
  void reshape(std::vector<Dim> shape);
  void broadcast_to(std::vector<Dim> shape);
  void part(bool imaginary);  // of a complex array
  void parts();               // of a complex array that is not 0-d

  // The new array object.
  Ref finish(StridedLayout layout) const;

 private:
  void append(ValueId next);

  Capture& capture_;
  Ref base_;
  ValueId value_;
  std::vector<ViewStep> steps_;
};

Ref plain_view(Capture& capture, const Ref& array);  // array.view()
Ref transposed_view(Capture& capture, const Ref& array, const std::vector<int>& axes);
Ref squeezed_view(Capture& capture, const Ref& array, const std::vector<int>& axes);
Ref part_view(Capture& capture, const Ref& array, bool imaginary);
Ref parts_view(Capture& capture, const Ref& array);  // array.view((part's dtype, (2,))); not of 0-d arrays

// array.reshape(shape) without a -1: a view where NumPy makes one, else a copy. Requires equal numbers of elements.
Ref reshaped(Capture& capture, const Ref& array, const std::vector<Dim>& shape);
// Whether it depends on extents known at run time only if array.ravel() is a view, and only NumPy's own code can observe that.
bool may_be_view(Capture& capture, const Ref& array);
Ref view_or_copy(Capture& capture, const Ref& array, const std::vector<Dim>& shape, bool ravels = false);
// The extents of array.reshape(shape): a -1 is resolved, and the number of elements is checked.
Result<std::vector<Dim>> reshape_target(Capture& capture, const Ref& array, std::vector<Dim> shape);

// A fresh array with the contents of `value`, in memory of `order`.
Ref copied(Capture& capture, ValueId value, std::vector<uint8_t> order);

}  // namespace accel
