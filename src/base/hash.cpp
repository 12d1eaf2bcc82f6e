#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace accel {
namespace {

constexpr uint64_t initial[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                                 0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

constexpr uint8_t permutation[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

}  // namespace

Blake2b::Blake2b() {
  std::copy(initial, initial + 8, state_);
  state_[0] ^= 0x01010000 ^ sizeof(Digest);
}

void Blake2b::compress(const uint8_t* block, bool last) {
  uint64_t m[16], v[16];
  std::memcpy(m, block, sizeof m);
  std::copy(state_, state_ + 8, v);
  std::copy(initial, initial + 8, v + 8);
  v[12] ^= count_;
  if (last) v[14] = ~v[14];
  for (const auto& s : permutation) {
    for (int i = 0; i < 4; i++) mix(v[i], v[4 + i], v[8 + i], v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
    for (int i = 0; i < 4; i++)
      mix(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
  }
  for (int i = 0; i < 8; i++) state_[i] ^= v[i] ^ v[8 + i];
}

void Blake2b::update(const void* data, size_t size) {
  auto* bytes = static_cast<const uint8_t*>(data);
  while (size > 0) {
    // The last block is compressed by finish(), so a full buffer waits for more input.
    if (buffered_ == sizeof buffer_) {
      count_ += buffered_;
      compress(buffer_, false);
      buffered_ = 0;
    }
    size_t part = std::min(size, sizeof buffer_ - buffered_);
    std::memcpy(buffer_ + buffered_, bytes, part);
    buffered_ += part;
    bytes += part;
    size -= part;
  }
}

void Blake2b::update_field(std::string_view text) {
  uint64_t size = text.size();
  update(&size, sizeof size);
  update(text);
}

Digest Blake2b::finish() {
  count_ += buffered_;
  std::memset(buffer_ + buffered_, 0, sizeof buffer_ - buffered_);
  compress(buffer_, true);
  Digest digest;
  std::memcpy(digest.data(), state_, digest.size());
  return digest;
}

Digest digest_of(std::string_view bytes) {
  Blake2b hash;
  hash.update(bytes);
  return hash.finish();
}

std::string hex(const Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) {
  auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t h = hash_combine(seed, size);
  for (; size >= 8; bytes += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    h = hash_combine(h, word);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, bytes, size);
  return hash_combine(h, tail);
}

}  // namespace accel
