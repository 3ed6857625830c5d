// SPDX-License-Identifier: MIT
// A compilation as the cache sees it, made up, so that a test can change one thing of it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "build/compiler_identity.hpp"

namespace kiln::cache {

inline std::vector<std::byte> bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

/// All that the key is made of, as it is sampled at the edge.
struct World {
  std::vector<Library> libraries;
  detail::EnvironmentSnapshot snapshot;
  std::uint32_t driver_version = 0x01036013;
  std::array<std::uint8_t, 16> native_format{};
  DeviceProperties device;
  std::vector<std::byte> code = bytes("first"), second = bytes("second");
  std::vector<InputFacts> inputs;

  std::vector<std::string> known{"ForceLargeGrfCompilationMode", "UseBindlessMode", "Enable64kbpages",
                                 "IgcLibraryName"};  // that the driver's libraries contain

  std::string& variable(std::string name) {
    snapshot.environment.insert(snapshot.environment.begin(), std::move(name));
    return snapshot.environment.front();
  }
};

inline World make_world() {
  World world;
  world.libraries = {
      {"", "program", "00", {"libkiln.so.0", "libLLVM-17.so.1"}, 1, false, false},
      {"/usr/lib/libkiln.so.0", "libkiln.so.0", "01", {"libcrypto.so.3"}, 2, true, false},
      {"/usr/lib/libze_intel_gpu.so.1", "libze_intel_gpu.so.1", "02", {"libigdgmm.so.12"}, 3, false, true},
      {"/usr/lib/libigc.so.1", "libigc.so.1", "03", {"libLLVM-14.so.1", "libLLVMSPIRVLib.so.14"}, 4},
      {"/usr/lib/libigdfcl.so.1", "libigdfcl.so.1", "04", {"libopencl-clang.so.14"}, 5},
      {"/usr/lib/libLLVM-14.so.1", "libLLVM-14.so.1", "05", {"libz.so.1", "libm.so.6"}, 6},
      {"/usr/lib/libLLVMSPIRVLib.so.14", "libLLVMSPIRVLib.so.14", "06", {}, 7},
      {"/usr/lib/libopencl-clang.so.14", "libopencl-clang.so.14", "07", {}, 8},
      {"/usr/lib/libm.so.6", "libm.so.6", "08", {"libc.so.6"}, 9},
      {"/usr/lib/libz.so.1", "libz.so.1", "09", {}, 10},
      {"/usr/lib/libLLVM-17.so.1", "libLLVM-17.so.1", "0a", {}, 11},
      {"/usr/lib/libigdgmm.so.12", "libigdgmm.so.12", "0b", {}, 12},
  };
  world.snapshot.environment = {"HOME=/home/me", "PATH=/usr/bin", "IGC_EnableA=1"};
  world.device.vendor_id = 0x8086;
  world.device.device_id = 0x56a0;
  world.device.ip_version = 0x030dc008;
  world.device.name = "Arc";
  world.inputs = {{"spirv", world.code, "-cl-opt-disable", {{1, 10}, {2, 20}}}};
  return world;
}

inline detail::EnvironmentSnapshot sampled(detail::EnvironmentSnapshot snapshot) {
  snapshot.inputs = detail::environment_inputs(snapshot.environment);
  return snapshot;
}

inline Identity identity_of(const World& world) {
  const auto no_file = [](const Library&) { return std::optional<std::string>(); };
  const auto known = [&](std::span<const std::uintptr_t> places, std::vector<std::string> names) {
    CHECK(std::ranges::count(places, 3) == 1);  // the driver
    CHECK(std::ranges::count(places, 1) == 0);  // the program
    std::erase_if(names, [&](const auto& name) { return std::ranges::count(world.known, name) == 0; });
    return names;
  };
  return make_identity(library_inputs(world.libraries, no_file), sampled(world.snapshot), nullptr, known);
}

inline CacheKey key(const World& world) {
  const Identity identity = identity_of(world);
  REQUIRE_MESSAGE(identity.usable(), identity.bypass << identity.unknown);
  Manifest manifest = identity.fields;
  manifest.merge(device_fields(world.driver_version, world.native_format, world.device));
  manifest.merge(input_fields(world.inputs));
  return key_of(encode(manifest));
}

}  // namespace kiln::cache
