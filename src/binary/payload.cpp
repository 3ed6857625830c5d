// SPDX-License-Identifier: MIT
// Reads payloads from `.ze_info`. Compiled with exceptions, since yaml-cpp throws; none leaves this file.
#include "binary/payload.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace kiln::detail {
namespace {

using Kind = PayloadItem::Kind;

// Hardware and drivers have less: what is beyond is damage.
constexpr std::uint32_t kMostShared = 64u << 10, kMostIds = 4096, kMostThreadBytes = 2u << 20;

template <class T>
T number(const YAML::Node& map, const char* key, T otherwise = {}) {
  const YAML::Node value = map[key];
  return value ? value.as<T>() : otherwise;
}
std::string text(const YAML::Node& map, const char* key) { return number<std::string>(map, key); }

/// What a line without an argument stands for; nothing: not known.
std::optional<Kind> kind_of(const std::string& type) {
  if (type == "local_size" || type == "enqueued_local_size") return Kind::local_size;
  if (type == "group_count") return Kind::group_count;
  if (type == "global_size") return Kind::global_size;
  if (type == "global_id_offset") return Kind::global_offset;
  if (type == "work_dimensions") return Kind::dimensions;
  if (type == "private_base_stateless") return Kind::private_base;
  if (type == "buffer_offset") return Kind::zero;  // surfaces begin where pointers point
  return std::nullopt;
}

void add_item(KernelPayload& kernel, const YAML::Node& entry) {
  const std::string type = text(entry, "arg_type"), mode = text(entry, "addrmode");
  PayloadItem item{.offset = number<std::uint32_t>(entry, "offset"),
                   .size = number<std::uint32_t>(entry, "size"),
                   .argument = number<std::uint32_t>(entry, "arg_index"),
                   .source = number<std::uint32_t>(entry, "source_offset")};
  if (item.size == 0) return;
  if (item.offset > kMostShared || item.size > kMostShared || item.source > kMostShared)
    throw YAML::Exception(entry.Mark(), "a payload of more than 64 KiB");
  if (type == "arg_byvalue") {
    item.kind = Kind::value;
  } else if (type == "buffer_address") {
    item.kind = Kind::pointer;
  } else if (type == "arg_bypointer") {
    const std::string space = text(entry, "addrspace");
    if (space == "image" || space == "sampler") kernel.unsupported = "images and samplers";
    item.kind = mode == "slm" ? Kind::local_pointer : mode == "bindless" ? Kind::bindless : Kind::pointer;
    item.alignment =
        std::bit_ceil(std::clamp<std::uint32_t>(number<std::uint32_t>(entry, "slm_alignment", 16), 1, 4096));
  } else if (const auto kind = kind_of(type)) {
    item.kind = *kind;
  } else {
    kernel.unsupported = type == "printf_buffer" ? "printf" : "what `.ze_info` calls " + type;
    return;
  }
  const bool is_triple = item.kind == Kind::local_size || item.kind == Kind::group_count ||
                         item.kind == Kind::global_size || item.kind == Kind::global_offset;
  if ((is_triple && item.size > 12) || (item.kind != Kind::value && !is_triple && item.size > 8))
    throw YAML::Exception(entry.Mark(), "a line of the payload is too long");
  kernel.items.push_back(item);
}

KernelPayload read_kernel(const YAML::Node& node) {
  const YAML::Node environment = node["execution_env"];
  KernelPayload kernel{.name = text(node, "name"),
                       .simd = number<std::uint32_t>(environment, "simd_size"),
                       .registers = number<std::uint32_t>(environment, "grf_count", 128),
                       .slm = number<std::uint32_t>(environment, "slm_size"),
                       .inline_bytes = number<std::uint32_t>(environment, "inline_data_payload_size")};
  if (std::ranges::count(std::array{1u, 8u, 16u, 32u}, kernel.simd) == 0)
    throw YAML::Exception(node.Mark(), "simd_size is none that hardware has");
  if (kernel.registers == 0 || kernel.registers > 256 || kernel.inline_bytes > 64)
    throw YAML::Exception(node.Mark(), "more registers or inline data than hardware has");
  if (number<bool>(environment, "require_sync_buffer")) kernel.unsupported = "barriers of all work-groups";
  if (number<bool>(environment, "has_rtcalls")) kernel.unsupported = "ray tracing";
  if (const YAML::Node order = environment["work_group_walk_order_dimensions"])
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i].as<std::size_t>() != i) kernel.unsupported = "local ids in another order than x, y, z";
  for (const YAML::Node& entry : node["payload_arguments"]) add_item(kernel, entry);
  for (const YAML::Node& entry : node["per_thread_payload_arguments"]) {
    if (text(entry, "arg_type") != "local_id") {
      kernel.unsupported = "local ids that come packed";
      continue;
    }
    kernel.id_bytes = number<std::uint32_t>(entry, "size");
    if (kernel.id_bytes > kMostIds) throw YAML::Exception(entry.Mark(), "local ids of more than 4096 bytes");
  }
  for (const YAML::Node& entry : node["binding_table_indices"])
    kernel.surfaces.push_back(
        {number<std::uint32_t>(entry, "bti_value"), number<std::uint32_t>(entry, "arg_index")});
  for (const YAML::Node& entry : node["per_thread_memory_buffers"]) {
    std::uint64_t bytes = number<std::uint32_t>(entry, "size");
    if (number<bool>(entry, "is_simt_thread")) bytes *= kernel.simd;
    if (bytes > kMostThreadBytes)
      throw YAML::Exception(entry.Mark(), "more than 2 MiB of memory for a thread");
    if (text(entry, "type") == "scratch")
      kernel.scratch_bytes = std::max(kernel.scratch_bytes, static_cast<std::uint32_t>(bytes));
    else
      kernel.private_bytes += bytes;
    if (number<std::uint32_t>(entry, "slot") != 0) kernel.unsupported = "two kinds of scratch memory";
  }
  if (kernel.private_bytes > kMostThreadBytes)
    throw YAML::Exception(node.Mark(), "more than 2 MiB of memory for a thread");
  return kernel;
}

}  // namespace

tl::expected<std::vector<KernelPayload>, BinaryError> read_payloads(std::string_view ze_info) {
  // Its checks come first: aliases, and more lines than there can be.
  if (const auto facts = read_ze_info(ze_info); !facts) return tl::unexpected(facts.error());
  try {
    std::vector<KernelPayload> kernels;
    for (const YAML::Node& node : YAML::Load(std::string(ze_info))["kernels"])
      if (node["execution_env"] && node["execution_env"]["simd_size"]) kernels.push_back(read_kernel(node));
    return kernels;
  } catch (const std::exception& error) {
    return tl::unexpected(BinaryError{std::string("a kernel's payload cannot be read: ") + error.what(), 0});
  }
}

}  // namespace kiln::detail
