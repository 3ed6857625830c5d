// SPDX-License-Identifier: MIT
// The products' limits, as Intel's driver 26.27 reports them without a GPU.
#include "product/profile.hpp"

#include <algorithm>

namespace kiln::product {
namespace {

// Read with zeDeviceGetProperties and its companions from driver 26.27 in capture mode, with tgllp 1x6x16,
// dg2 8x4x16, pvc 8x16x8, bmg 5x4x8, lnl 2x4x8 and ptl 3x4x8 (slices x sub-slices x EUs). The largest
// allocation is 4 GiB - 8 KiB where buffers are addressed through a surface, else the whole memory. That
// driver gives device 0 for lnl: 0x6420 is the product's own.
//
// Without a GPU that driver takes the host's memory for all. Those with memory of their own have here as much
// as the largest card (Arc A770, Arc B580; of Data Center GPU Max 1550 one stack).
constexpr std::uint64_t kStatefulLimit = 4294959104;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::array<Profile, 6> kProfiles{{
    {"tgllp", 0x9a49, 0x03000000, 1, 6, 16, 7, 8, 512, 65536, 0, kStatefulLimit, false, 36, 32, {8, 16, 32}},
    {"dg2",
     0x4f80,
     0x030dc008,
     8,
     4,
     16,
     8,
     8,
     1024,
     65536,
     16 * kGiB,
     kStatefulLimit,
     false,
     36,
     32,
     {8, 16, 32}},
    {"pvc", 0x0bd5, 0x030f0007, 8, 16, 8, 8, 16, 1024, 131072, 64 * kGiB, 0, true, 36, 32, {16, 32, 0}},
    {"bmg", 0xe202, 0x05004000, 5, 4, 8, 8, 16, 1024, 131072, 12 * kGiB, 0, true, 64, 64, {16, 32, 0}},
    {"lnl", 0x6420, 0x05010004, 2, 4, 8, 8, 16, 1024, 131072, 0, 0, true, 64, 64, {16, 32, 0}},
    {"ptl", 0xb080, 0x07800004, 3, 4, 8, 10, 16, 1024, 131072, 0, 0, true, 64, 64, {16, 32, 0}},
}};
static_assert(std::ranges::equal(kProfiles, kProfileNames, {}, &Profile::name));

}  // namespace

std::span<const Profile> profiles() { return kProfiles; }

const Profile* find_profile(std::string_view name) {
  const auto* found = std::ranges::find(kProfiles, name, &Profile::name);
  return found == kProfiles.end() ? nullptr : found;
}

}  // namespace kiln::product
