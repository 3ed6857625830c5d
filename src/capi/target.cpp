// SPDX-License-Identifier: MIT
// Of the C interface: products and their limits.
#include "capi/facts.hpp"
#include "kiln/needs.hpp"

namespace kiln_c {

kiln_target_info target_info(const Target& target) {
  // Names as C has them, with a zero behind. Never freed: who was given one may keep it.
  struct Names {
    std::vector<std::pair<std::string, std::string>> of;
    Names() {
      for (const Target& each : targets()) of.emplace_back(each.name, each.release_name);
    }
  };
  static const Names& names = *new Names;
  const auto& [name, release_name] = names.of[static_cast<std::size_t>(&target - targets().data())];
  const TargetLimits limits = target_limits(target);
  const DeviceFeatures features = target_features(target);
  kiln_target_info info = KILN_INIT(kiln_target_info);
  info.name = name.c_str();
  info.release_name = release_name.c_str();
  info.architecture = target.architecture;
  info.release = target.release;
  info.slm_per_group = limits.slm_per_group;
  info.max_scratch_per_thread = limits.max_scratch_per_thread;
  info.slm_per_core = core_limits(target).slm_per_core;
  info.max_group_size = limits.max_group_size;
  info.smallest_sub_group = limits.smallest_sub_group;
  info.max_arguments_size = limits.max_arguments_size;
  info.fp64 = features.fp64;
  info.fp16 = features.fp16;
  info.int64_atomics = features.int64_atomics;
  return info;
}

Result<const Target*> target_named(const char* call, const char* parameter, const char* name) {
  KILN_TRY(const std::string wanted, text(call, parameter, name));
  if (const Target* const found = find_target(wanted)) return found;
  std::string all;
  for (const Target& each : targets()) all += (all.empty() ? "" : ", ") + std::string(each.name);
  return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, parameter,
                                      "is `" + wanted + "`, which is no product that is known",
                                      {"one of " + all + ", or an alias or a version of one"}));
}

Result<std::vector<std::byte>> copy_of(const char* call, const char* parameter, const void* bytes,
                                       std::size_t size) {
  if (!bytes && size != 0) return tl::unexpected(null_parameter(call, parameter));
  constexpr std::size_t kLargest = std::size_t{1} << 30;  // as of files
  if (size > kLargest)
    return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, parameter,
                                        "has " + std::to_string(size) + " bytes, more than 1 GiB"));
  const auto span = bytes_of(bytes, size);
  return std::vector<std::byte>(span.begin(), span.end());
}

}  // namespace kiln_c

using namespace kiln_c;

uint32_t kiln_target_count() { return static_cast<uint32_t>(targets().size()); }

kiln_result kiln_target_get(uint32_t index, kiln_target_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    if (index >= targets().size())
      return tl::unexpected(out_of_range(call, "index", index, targets().size()));
    return write(call, "kiln_target_info", target_info(targets()[index]), info);
  });
}

kiln_result kiln_target_find(const char* name, kiln_target_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const Target* target, target_named(call, "name", name));
    return write(call, "kiln_target_info", target_info(*target), info);
  });
}
