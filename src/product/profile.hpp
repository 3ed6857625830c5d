// SPDX-License-Identifier: MIT
// Limits of the products that the CPU device can stand in for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::product {

/// What Intel's driver 26.27 reports for a product without a GPU. Sizes in bytes.
struct Profile {
  std::string_view name;
  std::uint32_t device_id;
  std::uint32_t ip_version;
  std::uint32_t slices;
  std::uint32_t sub_slices_per_slice;
  std::uint32_t eus_per_sub_slice;
  std::uint32_t threads_per_eu;
  std::uint32_t simd_width;  ///< physical lanes of an EU
  std::uint32_t max_group_size;
  std::uint32_t slm_per_group;
  std::uint64_t memory;          ///< 0: shares the host's
  std::uint64_t max_allocation;  ///< 0: the whole memory
  bool fp64;
  std::uint32_t timestamp_bits;
  std::uint32_t kernel_timestamp_bits;
  std::array<std::uint32_t, 3> sub_group_sizes;  ///< zero: not used
};

/// All products, in the order of their age.
[[nodiscard]] std::span<const Profile> profiles();

/// The product of that name, or null.
[[nodiscard]] const Profile* find_profile(std::string_view name);

/// Their names, which Intel's driver without a GPU knows them by too.
inline constexpr std::array<std::string_view, 6> kProfileNames{"tgllp", "dg2", "pvc", "bmg", "lnl", "ptl"};
inline constexpr std::string_view kDefaultProfile = "bmg";

}  // namespace kiln::product
