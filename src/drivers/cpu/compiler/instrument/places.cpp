// SPDX-License-Identifier: MIT
// Writes and reads lists of places: for each kernel their number, then the places as they lie in memory.
#include "drivers/cpu/compiler/instrument/places.hpp"

#include <cstring>
#include <type_traits>

namespace kiln::cpu {

static_assert(std::is_trivially_copyable_v<Place> && sizeof(Place) == 32);

std::string write_places(const std::vector<KernelPlaces>& kernels) {
  std::string out;
  for (const KernelPlaces& places : kernels) {
    const std::uint64_t count = places.size();
    out.append(reinterpret_cast<const char*>(&count), sizeof count);
    out.append(reinterpret_cast<const char*>(places.data()), count * sizeof(Place));
  }
  return out;
}

std::vector<KernelPlaces> read_places(std::string_view bytes, std::size_t kernels) {
  std::vector<KernelPlaces> out(kernels);
  for (KernelPlaces& places : out) {
    std::uint64_t count = 0;
    if (bytes.size() < sizeof count) return {};
    std::memcpy(&count, bytes.data(), sizeof count);
    bytes.remove_prefix(sizeof count);
    if (count > bytes.size() / sizeof(Place)) return {};
    places.resize(count);
    if (count > 0) std::memcpy(places.data(), bytes.data(), count * sizeof(Place));
    bytes.remove_prefix(count * sizeof(Place));
    for (const Place& place : places)
      if (place.kind > PlaceKind::barrier || place.memory > PlaceMemory::private_memory ||
          place.need > PlaceNeed::none)
        return {};
  }
  return bytes.empty() ? out : std::vector<KernelPlaces>();
}

}  // namespace kiln::cpu
