// SPDX-License-Identifier: MIT
// The places of a kernel that touch memory or wait, as the instrumented code numbers them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cpu {

enum class PlaceKind : std::uint8_t { read, write, atomic, barrier };

/// `generic`: known at run time only.
enum class PlaceMemory : std::uint8_t { none, global, constant, slm, generic, private_memory };

/// What an access needs of the bytes of SLM that it reads.
enum class PlaceNeed : std::uint8_t {
  all,   ///< each byte: a number
  some,  ///< vectors, structures and copies may have bytes that nobody uses
  none,  ///< it writes, or puts back what it has read
};

/// One instruction of the kernel with everything inlined: a function that is called twice gives two places.
/// Stored in native binaries as it is.
struct Place {
  std::uint32_t id = 0;    ///< SPIR-V result id, of a store that of its pointer; 0: not known
  std::uint32_t line = 0;  ///< of the source; 0: no debug information
  PlaceKind kind = PlaceKind::read;
  PlaceMemory memory = PlaceMemory::none;
  std::uint16_t neighbours =
      1;  ///< accesses of one work-item that could be one wide access, this one included
  std::uint32_t neighbour_bytes = 0;  ///< what they cover together
  std::uint32_t bytes = 0;            ///< of one access; 0: known at run time only
  std::int16_t argument = -1;         ///< the argument that the address comes from; -1: another, or not known
  PlaceNeed need = PlaceNeed::none;
  std::uint8_t unused = 0;
  std::uint64_t object_bytes = 0;  ///< of the variable that the address comes from; 0: not one
  bool operator==(const Place&) const = default;
};

using KernelPlaces = std::vector<Place>;

/// For a section of the native binary.
std::string write_places(const std::vector<KernelPlaces>& kernels);

/// Empty when the bytes are no such list of exactly `kernels`. Every read is bounded.
std::vector<KernelPlaces> read_places(std::string_view bytes, std::size_t kernels);

}  // namespace kiln::cpu
