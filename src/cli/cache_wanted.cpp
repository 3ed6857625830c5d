// SPDX-License-Identifier: MIT
// What a load of a file would look up in the cache: the only place of the command that knows.
#include "cli/cache_wanted.hpp"

#include "cache/identity.hpp"

namespace kiln::cli {

Wanted wanted_manifest(const OpenDevice& device, const KernelFile& file, const std::string& flags) {
  const cache::Identity& identity = cache::identity();
  Wanted wanted{identity.fields, identity.bypass.empty() ? identity.unknown : identity.bypass};
  const cache::InputFacts input{"spirv", file.bytes, flags, {}};
  wanted.manifest.merge(cache::device_fields(device.driver, device.device, device.properties));
  wanted.manifest.merge(cache::input_fields({&input, 1}));
  return wanted;
}

}  // namespace kiln::cli
