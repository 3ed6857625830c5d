// SPDX-License-Identifier: MIT
// Of the C interface: devices and the kernel cache.
#include "cache/remote/url.hpp"
#include "capi/boundary.hpp"
#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"

namespace kiln_c {
namespace {

Result<kiln_device_info> device_info(const DeviceObject& device) {
  static_assert(KILN_DEVICE_CPU == static_cast<int>(DeviceKind::cpu) &&
                KILN_DEVICE_CAPTURE == static_cast<int>(DeviceKind::capture) &&
                KILN_DEVICE_DRIVER == static_cast<int>(DeviceKind::driver) &&
                KILN_DEVICE_SIMULATED == static_cast<int>(DeviceKind::simulated));
  const OpenDevice& open = device.open;
  // Again, as the free memory changes.
  KILN_TRY(const DeviceProperties now, open.device.properties());
  KILN_TRY(const ModuleProperties modules, open.device.module_properties());
  KILN_TRY(const std::uint32_t version, open.driver.version());
  const DeviceProperties& properties = open.properties;
  const ComputeProperties& compute = open.compute;
  kiln_device_info info = KILN_INIT(kiln_device_info);
  info.name = properties.name.c_str();
  info.memory = kiln::detail::memory_of(open.device);
  info.free_memory = now.usable_memory.value_or(0);
  info.largest_allocation = properties.largest_allocation;
  info.slm_per_group = compute.slm_per_group;
  info.timer_ticks_per_second = properties.timer_ticks_per_second;
  info.kind = static_cast<std::uint32_t>(open.kind);
  info.vendor_id = properties.vendor_id;
  info.device_id = properties.device_id;
  info.ip_version = properties.ip_version.value_or(0);
  info.driver_version = version;
  info.slices = properties.slices;
  info.sub_slices_per_slice = properties.sub_slices_per_slice;
  info.eus_per_sub_slice = properties.eus_per_sub_slice;
  info.threads_per_eu = properties.threads_per_eu;
  info.simd_width = properties.simd_width;
  info.max_group_size = compute.max_total_group_size;
  std::ranges::copy(compute.max_group_size, info.max_group_extent);
  std::ranges::copy(compute.max_group_count, info.max_groups);
  for (const std::uint32_t size : compute.sub_group_sizes)
    if (info.sub_group_size_count < KILN_MAX_SUB_GROUP_SIZES)
      info.sub_group_sizes[info.sub_group_size_count++] = size;
  info.timestamp_bits = properties.timestamp_bits;
  info.fp64 = modules.fp64;
  info.int64_atomics = modules.int64_atomics;
  return info;
}

Result<void> read_cache_options(const char* call, const kiln_cache_options& given, CacheOptions& into) {
  constexpr std::uint32_t kMost = 1 << 10;
  if (!(given.verify >= 0 && given.verify <= 1))
    return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "verify",
                                        "is " + std::to_string(given.verify) + ", not a share of 0 to 1"));
  into.verify = given.verify;
  if (given.longest_wait)
    into.longest_wait = std::chrono::ceil<std::chrono::milliseconds>(timeout_of(given.longest_wait));
  if (given.read_only_count && !given.read_only) return tl::unexpected(null_parameter(call, "read_only"));
  if (given.read_only_count > kMost)
    return tl::unexpected(out_of_range(call, "read_only_count", given.read_only_count, kMost));
  for (std::uint32_t i = 0; i < given.read_only_count; ++i) {
    KILN_TRY(const std::string folder, text(call, "read_only", given.read_only[i]));
    into.read_only.emplace_back(folder);
  }
  return {};
}

Result<void> read_remote_options(const char* call, const kiln_cache_options& given, CacheOptions& into) {
  constexpr std::uint32_t kMost = 1 << 6;
  if (given.remote_count && !given.remote) return tl::unexpected(null_parameter(call, "remote"));
  if (given.remote_count > kMost)
    return tl::unexpected(out_of_range(call, "remote_count", given.remote_count, kMost));
  for (std::uint32_t i = 0; i < given.remote_count; ++i) {
    KILN_TRY(std::string store, text(call, "remote", given.remote[i]));
    if (const auto url = cache::parse_remote(store); !url)  // not shown: it may have a password
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "remote",
                                          "has a store that is not understood: " + url.error()));
    into.remote.push_back(std::move(store));
  }
  constexpr std::chrono::milliseconds kLongest = std::chrono::minutes(10);
  if (given.remote_wait)
    into.remote_wait =
        std::min(kLongest, std::chrono::ceil<std::chrono::milliseconds>(timeout_of(given.remote_wait)));
  into.keep_inputs = given.keep_inputs;
  KILN_TRY(into.trust_file, optional_text(call, "trust_file", given.trust_file));
  KILN_TRY(into.signing_key, optional_text(call, "signing_key", given.signing_key));
  return {};
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_device_open(const char* request, kiln_device* device, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "device", device));
    KILN_TRY(const std::string wanted, optional_text(call, "request", request));
    KILN_TRY(const DeviceRequest parsed, request ? parse_device_request(wanted) : requested_device());
    KILN_TRY(OpenDevice opened, open_device(parsed));
    auto object = std::make_shared<DeviceObject>(std::move(opened));
    KILN_TRY(object->queue_group, object->open.device.compute_queue_group());
    return give(call, std::move(object), device);
  });
}

kiln_result kiln_device_get_info(kiln_device device, kiln_device_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    KILN_TRY(check_struct(call, "kiln_device_info", info));
    KILN_TRY(const kiln_device_info known, device_info(*object));
    return write(call, "kiln_device_info", known, info);
  });
}

kiln_result kiln_device_get_native(kiln_device device, kiln_native_device* native, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    kiln_native_device known = KILN_INIT(kiln_native_device);
    known.driver = object->open.driver.raw();
    known.device = object->open.device.raw();
    known.context = object->open.context.get().raw();
    return write(call, "kiln_native_device", known, native);
  });
}

kiln_result kiln_device_status(kiln_device device, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    const ze_result_t status = object->open.device.status();
    if (status == ZE_RESULT_SUCCESS) return {};
    return tl::unexpected(kiln::detail::refused(status, "zeDeviceGetStatus"));
  });
}

void kiln_device_destroy(kiln_device device) { destroy<DeviceObject>(device); }

kiln_result kiln_cache_open(const kiln_cache_options* options, kiln_cache* cache, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "cache", cache));
    CacheOptions wanted;
    if (options) {
      Input<kiln_cache_options> input;
      KILN_TRY(Input<kiln_cache_options>::read(call, "kiln_cache_options", options, input));
      KILN_TRY(wanted.folder, optional_text(call, "folder", input->folder));
      if (input->max_size) wanted.max_size = input->max_size;
      if (input->memory_size) wanted.memory_size = input->memory_size;
      if (input->mode > KILN_CACHE_ON) return tl::unexpected(unknown_bits(call, "mode", input->mode));
      if (input->mode == KILN_CACHE_OFF) wanted.mode = CacheMode::off;
      if (input->mode == KILN_CACHE_READ) wanted.mode = CacheMode::read;
      KILN_TRY(read_cache_options(call, *input.operator->(), wanted));
      KILN_TRY(read_remote_options(call, *input.operator->(), wanted));
    }
    KILN_TRY(const CacheOptions chosen, cache_options(wanted));
    return give(call, std::make_shared<CacheObject>(CacheObject{{}, Cache::open(chosen)}), cache);
  });
}

kiln_result kiln_cache_get_counts(kiln_cache cache, kiln_cache_counts* counts, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const CacheObject* object, get<CacheObject>(call, cache));
    const CacheCounts now = object->cache.counts();
    kiln_cache_counts known = KILN_INIT(kiln_cache_counts);
    known.memory_hits = now.memory_hits;
    known.read_only_hits = now.read_only_hits;
    known.user_hits = now.user_hits;
    known.compilations = now.compilations;
    known.waited = now.waited;
    known.stored = now.stored;
    known.store_failures = now.store_failures;
    known.damaged = now.damaged;
    known.remembered_failures = now.remembered_failures;
    known.verified = now.verified;
    known.verify_differences = now.verify_differences;
    known.remote_hits = now.remote_hits;
    known.remote_refused = now.remote_refused;
    return write(call, "kiln_cache_counts", known, counts);
  });
}

void kiln_cache_destroy(kiln_cache cache) { destroy<CacheObject>(cache); }
