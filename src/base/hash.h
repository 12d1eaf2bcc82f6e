#pragma once
// Hashes. Digest names things on disk and proves that bytes are whole; hash_combine is for tables in memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace accel {

using Digest = std::array<uint8_t, 32>;

// BLAKE2b with a 256-bit result (RFC 7693).
class Blake2b {
 public:
  Blake2b();
  void update(const void* data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  // Adds the length too, so that two fields never run into each other.
  void update_field(std::string_view text);
  Digest finish();

 private:
  void compress(const uint8_t* block, bool last);

  uint64_t state_[8];
  uint64_t count_ = 0;
  uint8_t buffer_[128];
  size_t buffered_ = 0;
};

Digest digest_of(std::string_view bytes);
std::string hex(const Digest& digest);

inline uint64_t hash_combine(uint64_t seed, uint64_t value) {
  uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ (h >> 29);
}
uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0);

}  // namespace accel
