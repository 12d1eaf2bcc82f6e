#include "cpython/bytecode/code_tables.h"

#include <algorithm>
#include <cstdint>

#include "cpython/py_ref.h"

namespace accel {

namespace {

// Big-endian groups of six bits; bit 6 says that another group follows.
int read_varint(const uint8_t*& p) {
  int value = *p & 63;
  while (*p & 64) value = (value << 6) | (*++p & 63);
  ++p;
  return value;
}

// One item of co_lines(): (start byte, end byte, line or None).
bool read_line_range(PyObject* item, int& start, int& end, int& line) {
  if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 3) return false;
  start = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(item, 0))) / 2;
  end = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(item, 1))) / 2;
  PyObject* number = PyTuple_GET_ITEM(item, 2);
  line = number == Py_None ? -1 : static_cast<int>(PyLong_AsLong(number));
  return !PyErr_Occurred();
}

}  // namespace

std::vector<ExceptionRange> exception_ranges(PyCodeObject* code) {
  std::vector<ExceptionRange> ranges;
  auto p = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(code->co_exceptiontable));
  const uint8_t* end = p + PyBytes_GET_SIZE(code->co_exceptiontable);
  while (p < end) {
    ExceptionRange range;
    range.start = read_varint(p);
    range.end = range.start + read_varint(p);
    range.target = read_varint(p);
    int depth_lasti = read_varint(p);
    range.depth = depth_lasti >> 1;
    range.push_lasti = depth_lasti & 1;
    ranges.push_back(range);
  }
  return ranges;
}

const ExceptionRange* find_range(const std::vector<ExceptionRange>& ranges, int unit) {
  for (const ExceptionRange& range : ranges)
    if (unit >= range.start && unit < range.end) return &range;
  return nullptr;
}

std::vector<int> unit_lines(PyCodeObject* code, int unit_count) {
  std::vector<int> lines(static_cast<size_t>(unit_count), -1);
  PyRef items = PyRef::steal(PyObject_CallMethod(reinterpret_cast<PyObject*>(code), "co_lines", nullptr));
  while (items) {
    PyRef item = PyRef::steal(PyIter_Next(items.get()));
    int start = 0, end = 0, line = -1;
    if (!item || !read_line_range(item.get(), start, end, line)) break;
    for (int unit = std::max(start, 0); unit < std::min(end, unit_count); ++unit) lines[static_cast<size_t>(unit)] = line;
  }
  PyErr_Clear();
  return lines;
}

}  // namespace accel
