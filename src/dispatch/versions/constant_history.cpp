#include "dispatch/versions/constant_history.h"

#include <memory>

#include "cpython/code_data.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// A fingerprint: of numbers by type and value, of other objects by address. A collision only costs another version.
uint64_t fingerprint(PyObject* object) {
  uint64_t bits[2] = {0, 0};
  bool is_number = PyLong_CheckExact(object) ? read_scalar(object, DType::int64, bits)
                                             : PyFloat_CheckExact(object) && read_scalar(object, DType::float64, bits);
  if (PyComplex_CheckExact(object)) is_number = read_scalar(object, DType::complex128, bits);
  if (!is_number) return reinterpret_cast<uint64_t>(object);
  return reinterpret_cast<uint64_t>(Py_TYPE(object)) ^ (bits[0] * 0x9E3779B97F4A7C15u) ^ (bits[1] * 0xC2B2AE3D27D4EB4Fu);
}

void release(void* history) { delete static_cast<ConstantHistory*>(history); }

}  // namespace

ConstantHistory* ConstantHistory::of(PyCodeObject* code) {
  if (void* known = code_data(code)) return static_cast<ConstantHistory*>(known);
  auto fresh = std::make_unique<ConstantHistory>();
  return set_code_data(code, fresh.get(), release) ? fresh.release() : nullptr;
}

std::set<std::string> ConstantHistory::changed(bool versions_are_many) const {
  std::set<std::string> texts;
  for (const auto& [text, seen] : seen_) {
    if (seen.changed && (versions_are_many || !seen.is_flag)) texts.insert(text);
  }
  return texts;
}

bool ConstantHistory::note(const GuardSet& guards) {
  bool fresh = false;
  std::set<std::string> noted;
  for (const Guard& guard : guards.guards) {
    if (guard.kind != GuardKind::identity && guard.kind != GuardKind::equals) continue;
    const std::string& text = guards.sources[static_cast<size_t>(guard.source)].text;
    if (!noted.insert(text).second) continue;  // the same text again: a global of another module
    uint64_t value = fingerprint(guard.object.get());
    auto [place, is_new] = seen_.try_emplace(text, Seen{value});
    Seen& seen = place->second;
    seen.is_flag &= PyBool_Check(guard.object.get()) != 0;
    if (is_new || seen.value == value) continue;
    seen.value = value;
    fresh |= !seen.changed;
    seen.changed = true;
  }
  return fresh;
}

}  // namespace accel
