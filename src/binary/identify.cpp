// SPDX-License-Identifier: MIT
// Tells kernel file formats apart by their first bytes.
#include <algorithm>
#include <cstring>

#include "kiln/binary.hpp"

namespace kiln {

const KernelFacts* ModuleFacts::find(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &KernelFacts::name);
  return found == kernels.end() ? nullptr : &*found;
}

BinaryFormat identify(std::span<const std::byte> file) {
  const auto starts_with = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  using namespace std::string_view_literals;
  if (starts_with("\x03\x02\x23\x07"sv) || starts_with("\x07\x23\x02\x03"sv)) return BinaryFormat::spirv;
  if (starts_with("\x7f\x45LF"sv)) {
    // Before zebin, Intel's driver wrapped patch tokens in an ELF file of a type of its own (e_type 0xff01 to
    // 0xff05).
    constexpr std::size_t kType = 16;
    const bool wrapped = file.size() > kType + 1 && file[kType + 1] == std::byte{0xff} &&
                         file[kType] >= std::byte{1} && file[kType] <= std::byte{5};
    return wrapped ? BinaryFormat::patch_tokens : BinaryFormat::elf;
  }
  if (starts_with("!<arch>\n"sv)) return BinaryFormat::archive;
  if (starts_with("CTNI"sv)) return BinaryFormat::patch_tokens;
  return BinaryFormat::unknown;
}

}  // namespace kiln
