// SPDX-License-Identifier: MIT
// Composes what a walker gives a thread. Source of the layout: the compiler's specification of `.ze_info` and
// Intel's Programmer's Reference Manuals (thread payloads of GPGPU_WALKER and COMPUTE_WALKER).
#include "xe/native_run.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "binary/native_sections.hpp"

namespace kiln::test {

std::uint64_t FlatBus::add(std::uint64_t size) {
  const std::uint64_t address = next_;
  next_ += (size + 0x1fff) / 0x1000 * 0x1000 + 0x10000;
  buffers_[address].resize((size + 0xfff) / 0x1000 * 0x1000);
  return address;
}
std::span<std::byte> FlatBus::bytes(std::uint64_t address) { return buffers_.at(address); }

xe::Stretch FlatBus::reach(std::uint64_t address, bool) {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return {};
  --found;
  const std::uint64_t within = address - found->first;
  if (within >= found->second.size()) return {};
  return {found->second.data() + within, found->second.size() - within};
}
std::optional<xe::Surface> FlatBus::surface(xe::SurfaceKind kind, std::uint32_t index) {
  const auto found = surfaces_.find({kind, index});
  return found == surfaces_.end() ? std::nullopt : std::optional(found->second);
}

namespace {

std::uint32_t number(const YAML::Node& node, const char* key, std::uint32_t otherwise = 0) {
  return node[key] ? node[key].as<std::uint32_t>() : otherwise;
}
std::string text(const YAML::Node& node, const char* key) {
  return node[key] ? node[key].as<std::string>() : std::string();
}

struct Kernel {
  std::vector<std::byte> code;
  YAML::Node info;
};

std::optional<Kernel> find_kernel(std::span<const std::byte> file, std::string_view name) {
  Kernel kernel;
  for (const auto& section : kiln::detail::native_sections(file)) {
    if (section.name == ".text." + std::string(name))
      kernel.code.assign(section.content.begin(), section.content.end());
    if (section.name != ".ze_info") continue;
    const YAML::Node root = YAML::Load(
        std::string(reinterpret_cast<const char*>(section.content.data()), section.content.size()));
    for (const auto& each : root["kernels"])
      if (each["name"].as<std::string>() == name) kernel.info.reset(each);
  }
  if (kernel.code.empty() || !kernel.info.IsMap()) return std::nullopt;
  return kernel;
}

void put(std::vector<std::byte>& to, std::size_t at, const void* from, std::size_t size) {
  if (to.size() < at + size) to.resize(at + size);
  std::memcpy(to.data() + at, from, size);
}

}  // namespace

std::optional<std::string> run_native(std::span<const std::byte> file, std::string_view product,
                                      std::string_view name, const Launch& launch,
                                      std::vector<Argument>& arguments) {
  const auto kernel = find_kernel(file, name);
  if (!kernel) return "there is no kernel " + std::string(name);
  const Target* target = find_target(product);
  if (!target) return "there is no product " + std::string(product);
  auto decoded = xe::Code::decode(*target, kernel->code, 0);
  if (!decoded) return decoded.error();

  FlatBus bus;
  const YAML::Node info = kernel->info, environment = info["execution_env"];
  const bool older = target->architecture == 12 && target->release < 50;
  const std::uint32_t grf = target->architecture == 12 && target->release == 60 ? 64 : 32;
  const std::uint32_t simd = number(environment, "simd_size", 8);
  const std::uint32_t inline_bytes = number(environment, "inline_data_payload_size");
  const std::uint32_t items = launch.local[0] * launch.local[1] * launch.local[2];
  const std::uint32_t threads = (items + simd - 1) / simd;
  const std::array<std::uint32_t, 3> groups{launch.global[0] / launch.local[0],
                                            launch.global[1] / launch.local[1],
                                            launch.global[2] / launch.local[2]};

  // Arguments.
  std::vector<std::uint64_t> addresses(arguments.size());
  std::uint32_t slm = number(environment, "slm_size");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].buffer) {
      addresses[i] = bus.add(std::max<std::size_t>(1, arguments[i].value.size()));
      std::ranges::copy(arguments[i].value, bus.bytes(addresses[i]).begin());
    }
  for (const auto& each : info["binding_table_indices"]) {
    const auto argument = number(each, "arg_index");
    if (argument < arguments.size() && arguments[argument].buffer)
      bus.bind(xe::SurfaceKind::table, number(each, "bti_value"),
               {.base = addresses[argument], .size = (arguments[argument].value.size() + 3) / 4 * 4});
  }
  const std::uint32_t kHardwareThreads = 64;
  std::uint32_t scratch = 0;
  std::uint64_t private_base = 0;
  for (const auto& each : info["per_thread_memory_buffers"]) {
    const std::uint32_t size = number(each, "size") * (text(each, "is_simt_thread") == "true" ? simd : 1);
    if (text(each, "type") == "scratch")
      scratch = std::max(scratch, size);
    else
      private_base = bus.add(std::uint64_t{size} * kHardwareThreads);
  }
  std::uint32_t scratch_pitch = 1024;
  while (scratch_pitch < scratch) scratch_pitch *= 2;
  const std::uint64_t scratch_base = bus.add(std::uint64_t{scratch_pitch} * kHardwareThreads);
  constexpr std::uint32_t kScratchState = 0x400;
  bus.bind(xe::SurfaceKind::state, kScratchState,
           {.base = scratch_base,
            .size = std::uint64_t{scratch_pitch} * kHardwareThreads,
            .thread_bytes = scratch_pitch});

  std::vector<std::byte> shared;
  for (const auto& each : info["payload_arguments"]) {
    const std::string kind = text(each, "arg_type");
    const std::uint32_t at = number(each, "offset"), size = number(each, "size"),
                        index = number(each, "arg_index");
    if (size == 0) continue;
    const std::vector<std::byte> zeros(size);
    put(shared, at, zeros.data(), size);
    if (kind == "arg_byvalue") {
      put(shared, at, arguments.at(index).value.data() + number(each, "source_offset"), size);
    } else if (kind == "arg_bypointer" && text(each, "addrmode") == "slm") {
      slm = (slm + 15) / 16 * 16;
      put(shared, at, &slm, 4);
      slm += arguments.at(index).local_bytes;
    } else if (kind == "arg_bypointer" || kind == "buffer_address") {
      put(shared, at, &addresses.at(index), 8);
    } else if (kind == "local_size" || kind == "enqueued_local_size") {
      put(shared, at, launch.local.data(), 12);
    } else if (kind == "group_count") {
      put(shared, at, groups.data(), 12);
    } else if (kind == "global_size") {
      put(shared, at, launch.global.data(), 12);
    } else if (kind == "work_dimensions") {
      const std::uint32_t dimensions = 3;
      put(shared, at, &dimensions, 4);
    } else if (kind == "private_base_stateless") {
      put(shared, at, &private_base, 8);
    } else if (kind != "global_id_offset" && kind != "buffer_offset" && kind != "printf_buffer") {
      return "an argument of kind " + kind;
    }
  }
  shared.resize((std::max<std::size_t>(shared.size(), inline_bytes) + 31) / 32 * 32);

  std::uint32_t ids_bytes = 0;
  for (const auto& each : info["per_thread_payload_arguments"]) {
    if (text(each, "arg_type") != "local_id") return "thread data of kind " + text(each, "arg_type");
    ids_bytes = number(each, "size");
  }
  const auto ids_of = [&](std::uint32_t thread) {
    std::vector<std::byte> ids(ids_bytes);
    for (std::uint32_t lane = 0; lane < simd && ids_bytes; ++lane) {
      const std::uint32_t item = thread * simd + lane;
      const std::array<std::uint32_t, 3> id{item % launch.local[0], item / launch.local[0] % launch.local[1],
                                            item / launch.local[0] / launch.local[1]};
      for (std::uint32_t i = 0; i < 3; ++i) {
        const auto word = static_cast<std::uint16_t>(id[i]);
        std::memcpy(ids.data() + i * ids_bytes / 3 + 2 * std::size_t{lane}, &word, 2);
      }
    }
    return ids;
  };
  // From Xe-HP on: what is not inline lies in memory, the shared part first.
  std::uint64_t indirect = 0;
  if (!older) {
    std::vector<std::byte> rest(shared.begin() + inline_bytes, shared.end());
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      const auto ids = ids_of(thread);
      rest.insert(rest.end(), ids.begin(), ids.end());
    }
    indirect = bus.add(rest.size() + 4096);
    std::ranges::copy(rest, bus.bytes(indirect).begin());
    bus.set_general_state_base(indirect - 0x1000);
    indirect = 0x1000;
  } else {
    bus.set_general_state_base(scratch_base - 0x4000);
  }

  xe::Group group{.register_bytes = grf,
                  .registers = number(environment, "grf_count", 128),
                  .slm_bytes = (slm + 1023) / 1024 * 1024};
  group.most_instructions = launch.most_instructions;
  const auto run = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z,
                       xe::Counts* counts) -> std::optional<std::string> {
    std::vector<xe::ThreadStart> starts(threads);
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      xe::ThreadStart& start = starts[thread];
      start.number = thread % kHardwareThreads;
      const std::uint32_t lanes = std::min(simd, items - thread * simd);
      start.dispatch_mask = lanes >= 32 ? ~0U : (1U << lanes) - 1;
      std::array<std::uint32_t, 16> r0{};
      r0[0] = static_cast<std::uint32_t>(indirect);
      r0[1] = x, r0[6] = y, r0[7] = z;
      if (older) {
        r0[5] = (0x4000 + thread * scratch_pitch) | start.number;
      } else {
        r0[2] = threads << 24 | thread;
        r0[5] = kScratchState << 4 | start.number;
      }
      put(start.payload, 0, r0.data(), grf);
      if (older) {
        const auto ids = ids_of(thread);
        put(start.payload, grf, ids.data(), ids.size());
        put(start.payload, grf + ids.size(), shared.data(), shared.size());
      } else if (inline_bytes) {
        put(start.payload, grf, shared.data(), inline_bytes);
      }
    }
    group.threads = starts;
    const auto fault = xe::run_group(**decoded, group, bus, counts);
    return fault ? std::optional(fault->text) : std::nullopt;
  };
  for (std::uint32_t z = 0; z < groups[2]; ++z)
    for (std::uint32_t y = 0; y < groups[1]; ++y)
      for (std::uint32_t x = 0; x < groups[0]; ++x)
        if (auto why = run(x, y, z, launch.counts)) return why;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].buffer)
      std::copy_n(bus.bytes(addresses[i]).begin(), arguments[i].value.size(), arguments[i].value.begin());
  return std::nullopt;
}

}  // namespace kiln::test
