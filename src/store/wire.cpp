// SPDX-License-Identifier: MIT
// Writes and reads what stores keep.
#include "store/wire.hpp"

#include <xxhash.h>
#include <zstd.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "cache/remote/message.hpp"

namespace kiln::store {
namespace {

constexpr char kMagic[] = {'K', 'I', 'L', 'N', 'W', 'I', 'R', 'E'};
constexpr std::uint32_t kVersion = 1, kSealed = 1;
constexpr int kLevel = 3;  // zstd's own default
constexpr int kPlain =
    -1'000;  // of its levels without entropy coding, one that finds little: copied when read

struct Header {
  char magic[sizeof kMagic];
  std::uint32_t version, flags;
  std::uint64_t size;      ///< bytes of the entry
  std::uint64_t checksum;  ///< of what is before it and what follows
};
static_assert(sizeof(Header) == 32);

/// Finds damage before anything else looks at it; zstd's frames have bits that mean nothing.
std::uint64_t checksum(const Header& header, std::span<const std::byte> rest) {
  return XXH3_64bits_withSeed(rest.data(), rest.size(), XXH3_64bits(&header, offsetof(Header, checksum)));
}

/// One a thread: making one costs more than taking a small entry apart.
ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> own(ZSTD_createDCtx(),
                                                                              &ZSTD_freeDCtx);
  return own.get();
}

tl::unexpected<std::string> refuse(const char* why) { return tl::unexpected(std::string(why)); }

}  // namespace

std::vector<std::byte> encode_wire(std::span<const std::byte> entry, const std::optional<cache::Seal>& seal) {
  Header header{{}, kVersion, seal ? kSealed : 0, entry.size(), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const std::size_t start = sizeof header + (seal ? cache::kSealSize : 0);
  std::vector<std::byte> bytes(start + ZSTD_compressBound(entry.size()));
  if (seal) {
    const auto encoded = cache::encode_seal(*seal);
    std::memcpy(bytes.data() + sizeof header, encoded.data(), encoded.size());
  }
  const auto compress = [&](int level) {
    return ZSTD_compress(bytes.data() + start, bytes.size() - start, entry.data(), entry.size(), level);
  };
  std::size_t size = compress(kLevel);
  // What hardly shrinks takes longer to read than the bytes that it saves take on a network.
  if (!ZSTD_isError(size) && size > entry.size() - entry.size() / 8) size = compress(kPlain);
  bytes.resize(start + (ZSTD_isError(size) ? 0 : size));  // only for want of memory: read as damage
  header.checksum = checksum(header, std::span(bytes).subspan(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

tl::expected<cache::FrameBytes, std::string> decode_wire(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return refuse("it is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return refuse("it is nothing of Kiln's");
  if (header.version != kVersion) return refuse("it is of another version");
  if (header.flags > kSealed) return refuse("it has flags that are not known");
  if (header.size > cache::kLargestOnWire) return refuse("it is too large");
  auto rest = bytes.subspan(sizeof header);
  if (checksum(header, rest) != header.checksum) return refuse("its checksum is wrong");
  const std::size_t seal = header.flags == kSealed ? cache::kSealSize : 0;
  if (rest.size() < seal) return refuse("it is cut short");
  const auto sealed = rest.first(seal);
  rest = rest.subspan(seal);
  if (ZSTD_getFrameContentSize(rest.data(), rest.size()) != header.size)
    return refuse("its compressed part says another size");
  if (ZSTD_findFrameCompressedSize(rest.data(), rest.size()) != rest.size())
    return refuse("its compressed part does not end where it ends");
  cache::FrameBytes room;
  room.resize(header.size + seal);
  const auto entry = room.get();
  ZSTD_DCtx* const from = decompressor();
  if (!from) return refuse("there is no memory to read it");
  if (ZSTD_decompressDCtx(from, entry.data(), header.size, rest.data(), rest.size()) != header.size)
    return refuse("its compressed part is damaged");
  if (seal) std::memcpy(entry.data() + header.size, sealed.data(), seal);
  return room;
}

}  // namespace kiln::store
