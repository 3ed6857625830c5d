// SPDX-License-Identifier: MIT
// Reads the YAML text of `.ze_info`. Compiled with exceptions, since yaml-cpp throws; none leaves this file.
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>
#include <stdexcept>

#include "binary/info_version.hpp"
#include "binary/ze_info_lines.hpp"
#include "kiln/binary.hpp"

namespace kiln {
namespace {

constexpr std::size_t kLargestText = 64u << 20;  // bytes; real ones hold a few kilobytes a kernel
constexpr std::uint32_t kMostArguments = 4096;   // of a kernel
constexpr std::uint32_t kWidestSimd = 64;        // work-items; no hardware has more than 32
constexpr std::size_t kMostSteps = 1u << 20;     // arguments and list entries over all kernels

/// The first that tells of indirect accesses (ZEInfo's list of versions in intel/intel-graphics-compiler).
constexpr detail::InfoVersion kSaysIndirect{1, 21};

/// What the hardware can give a work-group (lookup_array.h:32 of intel/compute-runtime 22.43 ends the process
/// over another).
constexpr std::uint32_t kBarrierCounts[] = {0, 1, 2, 4, 8, 16, 24, 32};

/// No kernel: the entry under which the compiler lists program-scope variables.
constexpr const char* kSymbolTable = "Intel_Symbol_Table_Void_Program";

/// Aliases let a short text repeat a long one without end. No compiler writes them, Intel's driver does not
/// know them, and so they are refused before anything is built of them.
class RefuseAliases final : public YAML::EventHandler {
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw YAML::Exception(mark, "an alias"); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

void refuse_aliases(const std::string& text) {
  if (text.find('&') == text.npos) return;  // no anchor that an alias could name
  std::istringstream stream(text);
  RefuseAliases handler;
  YAML::Parser(stream).HandleNextDocument(handler);
}

/// A short line can ask for thousands of arguments: the work is counted, not only the text.
class Budget {
 public:
  void spend(std::size_t steps) {
    if (steps > left_) throw std::out_of_range("more than 1,048,576 arguments in all");
    left_ -= steps;
  }

 private:
  std::size_t left_ = kMostSteps;
};

template <class T>
T number(const YAML::Node& map, const char* key, T otherwise = {}) {
  const YAML::Node value = map[key];
  return value ? value.as<T>() : otherwise;
}

std::string text(const YAML::Node& map, const char* key) {
  const YAML::Node value = map[key];
  return value ? value.as<std::string>() : std::string{};
}

ArgumentFacts& slot(KernelFacts& kernel, std::uint32_t index, Budget& budget) {
  if (index >= kMostArguments) throw std::out_of_range("argument index above 4095");
  ArgumentFacts unused;
  unused.kind = ArgumentKind::other;
  if (kernel.arguments.size() <= index) {
    budget.spend(index + 1 - kernel.arguments.size());
    kernel.arguments.resize(index + 1, unused);
  }
  return kernel.arguments[index];
}

/// Lines of the payload that belong to a source argument, by what the argument then is to the driver.
/// Source: zeinfo.h of intel/compute-runtime 26.31.
enum class PayloadClass : std::uint8_t { none, pointer, value };

PayloadClass payload_class(const std::string& type) {
  if (type == "arg_byvalue") return PayloadClass::value;
  const bool pointer = type == "arg_bypointer" || type == "buffer_address" || type == "buffer_offset";
  return pointer ? PayloadClass::pointer : PayloadClass::none;
}

/// Drivers take an argument for what its first line says, and end the process when another says otherwise
/// (kernel_arg_descriptor.h:220-284 of intel/compute-runtime 22.43). A key that is lacking counts as 0.
class PayloadCheck {
 public:
  void look_at(KernelFacts& kernel, const YAML::Node& entry) {
    const std::string type = text(entry, "arg_type");
    const PayloadClass kind = payload_class(type);
    const bool has_size = entry["size"] && number<std::uint32_t>(entry, "size") != 0;
    // A pointer that goes through a surface takes no room.
    if (type.empty() || !entry["offset"] ||
        !(has_size || (entry["size"] && type == "arg_bypointer" && text(entry, "addrmode") != "stateless")))
      kernel.malformed = "a line of its payload has no type, offset or size";
    number<std::uint32_t>(entry, "offset");  // throws for what is no number
    if (type == "arg_bypointer" && text(entry, "addrmode") == "stateless" && !entry["access_type"])
      kernel.malformed = "a pointer does not say how it is used";
    if (kind == PayloadClass::none) return;
    if (!entry["arg_index"]) {
      kernel.malformed = "a line of its payload belongs to no argument";
      return;
    }
    const auto [known, fresh] = kinds_.emplace(number<std::uint32_t>(entry, "arg_index"), kind);
    if (!fresh && known->second != kind) kernel.malformed = "an argument is a pointer and a value";
  }

 private:
  std::map<std::uint32_t, PayloadClass> kinds_;
};

/// The local ids of a hardware thread: one to three rows of two bytes for each of at least 16 work-items. Of
/// another size the driver ends the process at the launch (command_encoder_xehp_and_later.inl:472, 22.43).
void check_thread_payload(KernelFacts& kernel, const YAML::Node& entry) {
  if (text(entry, "arg_type") != "local_id") return;
  const std::uint32_t row = 2 * std::max(kernel.simd_size, 16u), size = number<std::uint32_t>(entry, "size");
  if (size == 0 || size % row != 0 || size / row > 6 || number<std::uint32_t>(entry, "offset") != 0)
    kernel.malformed = "the local ids of its threads do not fit its sub-group size";
}

/// `.ze_info` names a payload argument a line; several lines may belong to one source argument.
void add_argument(KernelFacts& kernel, const YAML::Node& entry, Budget& budget) {
  budget.spend(1);
  const std::string type = text(entry, "arg_type");
  if (type != "arg_bypointer" && type != "arg_byvalue") return;
  const auto index = number<std::uint32_t>(entry, "arg_index");
  ArgumentFacts& argument = slot(kernel, index, budget);
  const auto size = number<std::uint32_t>(entry, "size");
  if (type == "arg_byvalue") {
    // A struct is split into parts: the last byte that any part copies tells the least size.
    const auto source_offset = number<std::uint32_t>(entry, "source_offset");
    argument.kind = ArgumentKind::value;
    argument.size = std::max(argument.size, source_offset + size);
  } else if (text(entry, "addrmode") == "slm") {
    argument.kind = ArgumentKind::local_pointer;
    if (!entry["offset"]) kernel.malformed = "a `__local` argument has no offset";
    argument.local_alignment =
        std::bit_ceil(std::min(number<std::uint32_t>(entry, "slm_alignment", 16), 1u << 31));
  } else if (const std::string space = text(entry, "addrspace"); space == "image" || space == "sampler") {
    argument.kind = space == "image" ? ArgumentKind::image : ArgumentKind::sampler;
  } else {
    argument.kind = ArgumentKind::global_pointer;
    argument.size = 8;
  }
}

/// `kernels_misc_info` lists every source argument, also those that the compiler found unused.
void add_source_arguments(KernelFacts& kernel, const YAML::Node& arguments, Budget& budget) {
  for (const YAML::Node& entry : arguments) {
    budget.spend(1);
    ArgumentFacts& argument = slot(kernel, entry["index"].as<std::uint32_t>(), budget);
    argument.name = text(entry, "name");
    const std::string type = text(entry, "type_name");  // such as 'float*;8': type and size in bytes
    const std::string space = text(entry, "address_qualifier");
    const std::string access = text(entry, "access_qualifier");
    if (type.starts_with("sampler_t")) {
      argument.kind = ArgumentKind::sampler;
    } else if (access != "NONE" && !access.empty()) {
      if (type.starts_with("image")) argument.kind = ArgumentKind::image;  // else a pipe
    } else if (space == "__local") {
      argument.kind = ArgumentKind::local_pointer;
    } else if (space == "__global" || space == "__constant") {
      argument.kind = ArgumentKind::global_pointer;
      argument.size = 8;
    } else {
      argument.kind = ArgumentKind::value;
      if (const auto at = type.rfind(';'); at != type.npos)
        argument.size = YAML::Node(type.substr(at + 1)).as<std::uint32_t>();
    }
  }
  kernel.arguments_known = std::ranges::none_of(
      kernel.arguments, [](const ArgumentFacts& argument) { return argument.kind == ArgumentKind::other; });
}

std::array<std::uint32_t, 3> triple(const YAML::Node& list) {
  std::array<std::uint32_t, 3> values{};
  if (list && list.size() == 3)
    for (std::size_t i = 0; i < 3; ++i) values[i] = list[i].as<std::uint32_t>();
  return values;
}

/// Memory that every hardware thread has for itself. The driver multiplies by the SIMD width where the size
/// is that of a work-item. Source: zeinfo_decoder.cpp:1674-1723 of intel/compute-runtime 26.31.
void add_thread_memory(KernelFacts& kernel, const YAML::Node& entry, Budget& budget) {
  budget.spend(1);
  std::uint64_t bytes = number<std::uint32_t>(entry, "size");
  if (number<bool>(entry, "is_simt_thread")) bytes *= std::max(kernel.simd_size, 1u);
  const std::string type = text(entry, "type");
  if (type == "global" && text(entry, "usage") == "private_space") {
    kernel.private_per_thread += bytes;
  } else if (type == "scratch") {
    const auto slot = number<std::uint32_t>(entry, "slot");
    if (slot >= kernel.scratch_per_thread.size()) throw std::out_of_range("scratch slot above 1");
    kernel.scratch_per_thread[slot] = std::max(kernel.scratch_per_thread[slot], bytes);
  }
}

/// Whether the compiler says that it looked, and found no access through a pointer that is no argument.
bool follows_no_pointers(const YAML::Node& node, Budget& budget) {
  const YAML::Node environment = node["execution_env"];
  if (number<std::uint32_t>(environment, "indirect_stateless_count") != 0 ||
      number<bool>(environment, "has_stack_calls") || number<bool>(environment, "has_indirect_calls"))
    return false;
  for (const YAML::Node& entry : node["experimental_properties"]) {
    budget.spend(1);
    for (const char* key :
         {"has_non_kernel_arg_load", "has_non_kernel_arg_store", "has_non_kernel_arg_atomic"})
      if (number<int>(entry, key) != 0) return false;
  }
  return true;
}

/// A number that may be an address.
bool is_wide_value(const ArgumentFacts& argument) {
  return argument.kind == ArgumentKind::value && argument.size >= sizeof(std::uint64_t);
}

KernelFacts read_kernel(const YAML::Node& node, Budget& budget) {
  KernelFacts kernel;
  kernel.name = text(node, "name");
  const YAML::Node environment = node["execution_env"];
  if (kernel.name.empty() || !environment)
    throw YAML::Exception(node.Mark(), "kernel without name or execution_env");
  kernel.static_slm = number<std::uint64_t>(environment, "slm_size");
  const int slm_mode = number<int>(environment, "slm_alloc_mode");
  if (slm_mode < 0 || slm_mode > 1)
    kernel.malformed = "slm_alloc_mode is " + std::to_string(slm_mode) + ", neither 0 nor 1";
  kernel.slm_mode = slm_mode == 1 ? SlmMode::runtime_adjusted : SlmMode::compiler_resolved;
  kernel.simd_size = number<std::uint32_t>(environment, "simd_size");
  if (kernel.simd_size > kWidestSimd) throw std::out_of_range("simd_size above 64");
  kernel.grf_count = number<std::uint32_t>(environment, "grf_count");
  kernel.barrier_count = number<std::uint32_t>(environment, "barrier_count");
  if (std::ranges::find(kBarrierCounts, kernel.barrier_count) == std::end(kBarrierCounts))
    kernel.malformed = "barrier_count is " + std::to_string(kernel.barrier_count);
  kernel.required_sub_group_size = number<std::uint32_t>(environment, "required_sub_group_size");
  kernel.private_size = number<std::uint32_t>(environment, "private_size");
  kernel.spill_size = number<std::uint32_t>(environment, "spill_size");
  kernel.required_group_size = triple(environment["required_work_group_size"]);
  const auto& required = kernel.required_group_size;
  if (required[0] != 0 && (required[1] == 0 || required[2] == 0))
    kernel.malformed = "required_work_group_size is zero in some dimension only";
  kernel.has_4gb_buffers = number<bool>(environment, "has_4gb_buffers");
  kernel.needs_sync_buffer = number<bool>(environment, "require_sync_buffer");
  kernel.has_stack_calls = number<bool>(environment, "has_stack_calls");
  kernel.has_printf = number<bool>(environment, "has_printf_calls");  // since `.ze_info` 1.2x
  kernel.has_global_atomics = number<bool>(environment, "has_global_atomics");
  if (const YAML::Node attributes = node["user_attributes"]) {
    kernel.group_size_hint = triple(attributes["work_group_size_hint"]);
    if (kernel.required_sub_group_size == 0)
      kernel.required_sub_group_size = number<std::uint32_t>(attributes, "intel_reqd_sub_group_size");
    kernel.is_invalid = static_cast<bool>(attributes["invalid_kernel"]);
  }
  PayloadCheck payload;
  for (const YAML::Node& entry : node["payload_arguments"]) {
    payload.look_at(kernel, entry);
    add_argument(kernel, entry, budget);
    const std::string type = text(entry, "arg_type");
    kernel.has_printf |= type == "printf_buffer";
    kernel.needs_sync_buffer |= type == "sync_buffer";  // how IGC of 26.27 says it
  }
  for (const YAML::Node& entry : node["per_thread_payload_arguments"]) check_thread_payload(kernel, entry);
  for (const YAML::Node& entry : node["per_thread_memory_buffers"]) add_thread_memory(kernel, entry, budget);
  return kernel;
}

}  // namespace

tl::expected<ModuleFacts, BinaryError> read_ze_info(std::string_view info) {
  if (info.size() > kLargestText) return tl::unexpected(BinaryError{".ze_info is larger than 64 MiB", 0});
  try {
    const std::string content(info);
    refuse_aliases(content);
    const YAML::Node root = YAML::Load(content);
    ModuleFacts facts;
    Budget budget;
    std::map<std::string, std::size_t> place;  // kernel name → place in facts.kernels
    facts.info_version = text(root, "version");
    const bool says_indirect =
        detail::parse_info_version(facts.info_version).value_or(detail::InfoVersion{}) >= kSaysIndirect;
    for (const YAML::Node& node : root["kernels"]) {
      budget.spend(1);
      if (text(node, "name") == kSymbolTable) continue;
      facts.kernels.push_back(read_kernel(node, budget));
      facts.kernels.back().may_follow_pointers = !says_indirect || !follows_no_pointers(node, budget);
      place.emplace(facts.kernels.back().name, facts.kernels.size() - 1);
    }
    for (const YAML::Node& node : root["kernels_misc_info"]) {
      budget.spend(1);
      if (const auto found = place.find(text(node, "name")); found != place.end())
        add_source_arguments(facts.kernels[found->second], node["args_info"], budget);
    }
    for (KernelFacts& kernel : facts.kernels)
      kernel.may_follow_pointers |= std::ranges::any_of(kernel.arguments, is_wide_value);
    if (const auto line = detail::irregular_line(info)) {
      const std::string why = ".ze_info has a line that no compiler writes, at byte " + std::to_string(*line);
      if (facts.kernels.empty()) return tl::unexpected(BinaryError{why, *line});
      if (std::string& malformed = facts.kernels.front().malformed; malformed.empty()) malformed = why;
    }
    return facts;
  } catch (const std::exception& error) {
    return tl::unexpected(BinaryError{std::string(".ze_info cannot be read: ") + error.what(), 0});
  }
}

}  // namespace kiln
