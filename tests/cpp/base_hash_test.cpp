#include <gtest/gtest.h>

#include "base/hash.h"

namespace accel {
namespace {

// Expected values from Python: hashlib.blake2b(data, digest_size=32).hexdigest().
TEST(Hash, KnownDigests) {
  EXPECT_EQ(hex(digest_of("")), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hex(digest_of("abc")), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(hex(digest_of(std::string(128, 'a'))), "ae2aa48507885c4c950fb809b2076f959cde9f8ea6da260d9a3587df33dac450");
  EXPECT_EQ(hex(digest_of(std::string(1000, 'x'))), "ab75119ede14ef06ebf31f745fb655ed006cccfe8054c635308a557f7c9beaba");
}

TEST(Hash, PiecesGiveTheSameDigest) {
  std::string text(1000, 'x');
  Blake2b hash;
  for (size_t i = 0; i < text.size(); i += 7) hash.update(std::string_view(text).substr(i, 7));
  EXPECT_EQ(hash.finish(), digest_of(text));
}

TEST(Hash, FieldsDoNotRunTogether) {
  Blake2b a, b;
  a.update_field("ab"), a.update_field("c");
  b.update_field("a"), b.update_field("bc");
  EXPECT_NE(a.finish(), b.finish());
}

TEST(Hash, BytesDependOnContentLengthAndSeed) {
  EXPECT_NE(hash_bytes("aaaa", 4), hash_bytes("aaab", 4));
  EXPECT_NE(hash_bytes("\0\0", 1), hash_bytes("\0\0", 2));
  EXPECT_NE(hash_bytes("a", 1, 1), hash_bytes("a", 1, 2));
}

}  // namespace
}  // namespace accel
