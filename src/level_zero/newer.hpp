// SPDX-License-Identifier: MIT
// Calls of entry points that not every loader and driver has: without one the answer is K0230, and nobody is
// called.
#pragma once

#include <optional>

#include "kiln/feature.hpp"
#include "level_zero/call.hpp"

// KILN_CALL for an OPTIONAL entry point, which that feature needs.
#define KILN_CALL_NEWER(feature, name, ...) \
  ::kiln::detail::call_newer(::kiln::Feature::feature, #name, &::kiln::Api::name, __VA_ARGS__)

namespace kiln::detail {

// What Feature::import_host looks for.
inline constexpr const char* kSystemMemoryExtension = "ZE_extension_external_memmap_sysmem";
inline constexpr const char* kImportPointer = "zexDriverImportExternalPointer";

/// K0230. `answered`: what the call gave, where there was one to be made.
[[nodiscard]] Error lacking(Feature feature, const char* call,
                            std::optional<ze_result_t> answered = std::nullopt);

/// K0230 where the driver of that device has not the feature.
[[nodiscard]] Result<void> require(Feature feature, DeviceRef device, const char* call);

/// Whether a code says that nobody stands behind an entry point: a loader that is newer than its driver gives
/// UNINITIALIZED.
[[nodiscard]] inline bool is_lacking(ze_result_t code) {
  return code == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE || code == ZE_RESULT_ERROR_UNINITIALIZED;
}

template <class... Parameters, class First, class... Rest>
Result<void> call_newer(Feature feature, const char* name,
                        ze_result_t (ZE_APICALL* Api::*function)(Parameters...), const First& first,
                        const Rest&... rest) {
  if (is_empty(plain(first))) return tl::unexpected(empty_handle(name));
  if (!(first.api().*function)) return tl::unexpected(lacking(feature, name));
  auto result = call(name, function, first, rest...);
  if (result || !is_lacking(result.error().code())) [[likely]]
    return result;
  return tl::unexpected(lacking(feature, name, result.error().code()));
}

}  // namespace kiln::detail
