// SPDX-License-Identifier: MIT
// Of the C interface: bundles and their kernels.
#include <filesystem>
#include <mutex>

#include "capi/facts.hpp"

namespace kiln_c {
namespace {

/// What all ways to a bundle are given.
struct BundleRequest {
  std::shared_ptr<BundleObject> bundle = std::make_shared<BundleObject>();
  BundleOptions options;
  std::shared_ptr<CacheObject> cache;

  [[nodiscard]] const OpenDevice& device() const { return bundle->loaded->device->open; }
  [[nodiscard]] Cache* cache_or_null() const { return cache ? &cache->cache : nullptr; }
};

Result<BundleRequest> bundle_request(const char* call, kiln_device device, const kiln_bundle_options* given,
                                     kiln_cache cache, kiln_bundle* out) {
  BundleRequest request;
  KILN_TRY(receives(call, "bundle", out));
  KILN_TRY(request.bundle->loaded->device, hold<DeviceObject>(call, device));
  if (cache) {
    KILN_TRY(request.cache, hold<CacheObject>(call, cache));
  }
  if (!given) return request;
  Input<kiln_bundle_options> input;
  KILN_TRY(Input<kiln_bundle_options>::read(call, "kiln_bundle_options", given, input));
  KILN_TRY(request.options.flags, optional_text(call, "flags", input->flags));
  request.options.only_spirv = input->only_spirv != 0;
  if (input->same_process) request.options.isolation = Isolation::never;
  if (input->registers > KILN_REGISTERS_256)
    return tl::unexpected(unknown_bits(call, "registers", input->registers));
  request.options.registers = static_cast<Registers>(input->registers);
  request.options.spill_limit = input->spill_limit;
  constexpr std::uint32_t kMost = 1 << 16;
  if (input->constant_count > kMost)
    return tl::unexpected(out_of_range(call, "constant_count", input->constant_count, kMost));
  if (input->constant_count && !(input->constant_ids && input->constant_values))
    return tl::unexpected(null_parameter(call, input->constant_ids ? "constant_values" : "constant_ids"));
  for (std::uint32_t i = 0; i < input->constant_count; ++i)
    request.options.constants.push_back({input->constant_ids[i], input->constant_values[i]});
  return request;
}

Result<std::vector<KernelFile>> kernel_files(const char* call, const kiln_memory_file* given,
                                             std::uint32_t count) {
  constexpr std::uint32_t kMost = 1 << 16;
  if (!given || count == 0)
    return tl::unexpected(given ? bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, "file_count", "is 0")
                                : null_parameter(call, "files"));
  if (count > kMost) return tl::unexpected(out_of_range(call, "file_count", count, kMost));
  std::vector<KernelFile> files;
  for (std::uint32_t i = 0; i < count; ++i) {
    KILN_TRY(std::string name, optional_text(call, "name", given[i].name));
    KILN_TRY(std::vector<std::byte> bytes, copy_of(call, "bytes", given[i].bytes, given[i].size));
    files.push_back({name.empty() ? "memory" : std::move(name), std::move(bytes)});
  }
  return files;
}

/// Of arrays that a source has.
Result<void> readable(const char* call, const char* parameter, const void* given, std::uint32_t count) {
  constexpr std::uint32_t kMost = 1 << 16;
  if (count && !given) return tl::unexpected(null_parameter(call, parameter));
  if (count > kMost) return tl::unexpected(out_of_range(call, parameter, count, kMost));
  return {};
}

Result<Source> source_of(const char* call, const kiln_source* given) {
  Input<kiln_source> input;
  KILN_TRY(Input<kiln_source>::read(call, "kiln_source", given, input));
  KILN_TRY(readable(call, "headers", input->headers, input->header_count));
  KILN_TRY(readable(call, "macros", input->macros, input->macro_count));
  KILN_TRY(readable(call, "folders", input->folders, input->folder_count));
  Source source;
  KILN_TRY(source.name, text(call, "name", input->name));
  if (input->text) {
    KILN_TRY(source.text, text(call, "text", input->text, kLongestSource));
  } else {
    KILN_TRY(source, read_source(source.name));
  }
  for (std::uint32_t i = 0; i < input->header_count; ++i) {
    KILN_TRY(std::string name, text(call, "headers", input->headers[i].name));
    KILN_TRY(std::string content, optional_text(call, "headers", input->headers[i].text, kLongestSource));
    source.headers.push_back({std::move(name), std::move(content)});
  }
  for (std::uint32_t i = 0; i < input->macro_count; ++i) {
    KILN_TRY(std::string name, text(call, "macros", input->macros[i].name));
    KILN_TRY(std::string value, optional_text(call, "macros", input->macros[i].text));
    source.macros.push_back({std::move(name), std::move(value)});
  }
  for (std::uint32_t i = 0; i < input->folder_count; ++i) {
    KILN_TRY(const std::string folder, text(call, "folders", input->folders[i]));
    source.folders.emplace_back(folder);
  }
  return source;
}

LinkedBundles& largest(const std::shared_ptr<LinkedBundles>& linked) {
  LinkedBundles* all = linked.get();
  while (all->larger) all = all->larger.get();
  return *all;
}

/// Of each what it was linked to before, too.
void add(LinkedBundles& all, const BundleObject& object) {
  const auto add_one = [&](const std::shared_ptr<LoadedBundle>& bundle) {
    if (std::ranges::find(all.bundles, bundle) == all.bundles.end()) all.bundles.push_back(bundle);
  };
  add_one(object.loaded);
  if (object.linked) std::ranges::for_each(largest(object.linked).bundles, add_one);
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_bundle_load(kiln_device device, const char* path, const kiln_bundle_options* options,
                             kiln_cache cache, kiln_bundle* bundle, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(BundleRequest request, bundle_request(call, device, options, cache, bundle));
    KILN_TRY(const std::string place, text(call, "path", path));
    KILN_TRY(request.bundle->loaded->bundle, Bundle::load(request.device(), std::filesystem::path(place),
                                                          request.options, request.cache_or_null()));
    return give(call, std::move(request.bundle), bundle);
  });
}

kiln_result kiln_bundle_load_memory(kiln_device device, const kiln_memory_file* files, uint32_t file_count,
                                    const kiln_bundle_options* options, kiln_cache cache, kiln_bundle* bundle,
                                    kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(BundleRequest request, bundle_request(call, device, options, cache, bundle));
    KILN_TRY(std::vector<KernelFile> copies, kernel_files(call, files, file_count));
    KILN_TRY(request.bundle->loaded->bundle,
             Bundle::load(request.device(), std::move(copies), request.options, request.cache_or_null()));
    return give(call, std::move(request.bundle), bundle);
  });
}

kiln_result kiln_bundle_link(kiln_device device, const kiln_memory_file* files, uint32_t file_count,
                             const kiln_bundle_options* options, kiln_cache cache, kiln_bundle* bundle,
                             kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(BundleRequest request, bundle_request(call, device, options, cache, bundle));
    KILN_TRY(std::vector<KernelFile> copies, kernel_files(call, files, file_count));
    KILN_TRY(request.bundle->loaded->bundle,
             Bundle::link(request.device(), std::move(copies), request.options, request.cache_or_null()));
    return give(call, std::move(request.bundle), bundle);
  });
}

kiln_result kiln_bundle_compile(kiln_device device, const kiln_source* source,
                                const kiln_bundle_options* options, kiln_cache cache, kiln_bundle* bundle,
                                kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(BundleRequest request, bundle_request(call, device, options, cache, bundle));
    KILN_TRY(const Source what, source_of(call, source));
    KILN_TRY(request.bundle->loaded->bundle,
             Bundle::compile(request.device(), what, request.options, request.cache_or_null()));
    return give(call, std::move(request.bundle), bundle);
  });
}

kiln_result kiln_bundle_get_info(kiln_bundle bundle, kiln_bundle_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(KILN_ORIGIN_CACHE == static_cast<int>(BinaryOrigin::cache) &&
                  KILN_ORIGIN_JIT == static_cast<int>(BinaryOrigin::jit) &&
                  KILN_FIT_COMPATIBLE == static_cast<int>(BinaryFit::compatible) &&
                  KILN_FIT_SPIRV == static_cast<int>(BinaryFit::spirv) &&
                  KILN_REGISTERS_AUTOMATIC == static_cast<int>(Registers::automatic) &&
                  KILN_REGISTERS_128 == static_cast<int>(Registers::r128) &&
                  KILN_REGISTERS_256 == static_cast<int>(Registers::r256));
    KILN_TRY(const BundleObject* object, get<BundleObject>(call, bundle));
    const Bundle& loaded = object->loaded->bundle;
    kiln_bundle_info known = KILN_INIT(kiln_bundle_info);
    known.file = loaded.file().c_str();
    known.member = loaded.member().c_str();
    known.target = loaded.target().c_str();
    known.build_log = loaded.build_log().c_str();
    known.register_choice = loaded.register_choice().c_str();
    known.build_time = static_cast<std::uint64_t>(loaded.build_time().count());
    known.origin = static_cast<std::uint32_t>(loaded.origin());
    known.fit = static_cast<std::uint32_t>(loaded.fit());
    known.kernels = static_cast<std::uint32_t>(loaded.facts().kernels.size());
    known.registers = static_cast<std::uint32_t>(loaded.registers());
    return write(call, "kiln_bundle_info", known, info);
  });
}

kiln_result kiln_bundle_kernel_name(kiln_bundle bundle, uint32_t index, const char** name,
                                    kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BundleObject* object, get<BundleObject>(call, bundle));
    if (!name) return tl::unexpected(null_parameter(call, "name"));
    const auto& kernels = object->loaded->bundle.facts().kernels;
    if (index >= kernels.size()) return tl::unexpected(out_of_range(call, "index", index, kernels.size()));
    *name = kernels[index].name.c_str();
    return {};
  });
}

kiln_result kiln_bundle_global(kiln_bundle bundle, const char* name, void** data, size_t* size,
                               kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BundleObject* object, get<BundleObject>(call, bundle));
    KILN_TRY(const std::string wanted, text(call, "name", name));
    if (!data || !size) return tl::unexpected(null_parameter(call, data ? "size" : "data"));
    KILN_TRY(const GlobalVariable variable, object->loaded->bundle.module().global(wanted.c_str()));
    *data = variable.data;
    *size = variable.size;
    return {};
  });
}

kiln_result kiln_bundle_function(kiln_bundle bundle, const char* name, void** address, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BundleObject* object, get<BundleObject>(call, bundle));
    KILN_TRY(const std::string wanted, text(call, "name", name));
    if (!address) return tl::unexpected(null_parameter(call, "address"));
    KILN_TRY(*address, object->loaded->bundle.module().function(wanted.c_str()));
    return {};
  });
}

void* kiln_bundle_native(kiln_bundle bundle) {
  const auto* const object = find<BundleObject>(bundle);
  return object ? object->loaded->bundle.module().raw() : nullptr;
}

kiln_result kiln_link_modules(const kiln_bundle* bundles, uint32_t count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(readable(call, "bundles", bundles, count));
    std::vector<std::shared_ptr<BundleObject>> objects;
    std::vector<ModuleRef> modules;
    for (std::uint32_t i = 0; i < count; ++i) {
      KILN_TRY(std::shared_ptr<BundleObject> object, hold<BundleObject>(call, bundles[i]));
      modules.push_back(object->loaded->bundle.module());
      objects.push_back(std::move(object));
    }
    static std::mutex linking;
    const std::lock_guard lock(linking);
    // Made beforehand, as nothing may fail behind the link.
    const auto all = std::make_shared<LinkedBundles>();
    for (const auto& object : objects) add(*all, *object);
    KILN_TRY(link_modules(modules));
    for (const auto& object : objects) {
      if (object->linked)
        if (LinkedBundles& before = largest(object->linked); &before != all.get()) before.larger = all;
      object->linked = all;
    }
    return {};
  });
}

void kiln_bundle_destroy(kiln_bundle bundle) { destroy<BundleObject>(bundle); }

kiln_result kiln_kernel_create(kiln_bundle bundle, const char* name, kiln_kernel* kernel, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "kernel", kernel));
    auto object = std::make_shared<KernelObject>();
    KILN_TRY(object->bundle, hold<BundleObject>(call, bundle));
    KILN_TRY(const std::string wanted, text(call, "name", name));
    KILN_TRY(object->kernel, object->bundle->loaded->bundle.make_kernel(wanted));
    return give(call, std::move(object), kernel);
  });
}

kiln_result kiln_kernel_get_info(kiln_kernel kernel, kiln_kernel_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    return write(call, "kiln_kernel_info", kernel_info(object->kernel->facts()), info);
  });
}

kiln_result kiln_kernel_get_argument(kiln_kernel kernel, uint32_t argument, kiln_argument_info* info,
                                     kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    const auto& arguments = object->kernel->facts().arguments;
    if (argument >= arguments.size())
      return tl::unexpected(out_of_range(call, "argument", argument, arguments.size()));
    return write(call, "kiln_argument_info", argument_info(arguments[argument]), info);
  });
}

kiln_result kiln_kernel_suggest_group_size(kiln_kernel kernel, kiln_extent global_size,
                                           kiln_extent* group_size, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const KernelObject* object, get<KernelObject>(call, kernel));
    if (!group_size) return tl::unexpected(null_parameter(call, "group_size"));
    const Extent wanted = extent_of(global_size);
    if (wanted.x == 0)
      return tl::unexpected(
          bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, "global_size", "has an x of 0"));
    KILN_TRY(const Extent size, object->kernel->kernel().suggest_group_size(wanted));
    *group_size = {size.x, size.y, size.z};
    return {};
  });
}

void* kiln_kernel_native(kiln_kernel kernel) {
  const auto* const object = find<KernelObject>(kernel);
  return object ? object->kernel->kernel().raw() : nullptr;
}

void kiln_kernel_destroy(kiln_kernel kernel) { destroy<KernelObject>(kernel); }
