// SPDX-License-Identifier: MIT
// Reads native files and puts addresses where a driver's linker would.
#include "xe/native/module.hpp"

#include <algorithm>
#include <cstring>

#include "binary/native_sections.hpp"
#include "xe/disassembler.hpp"

namespace kiln::xe {
namespace {

/// Kinds of relocations. Source: zebin_elf.h of intel/compute-runtime.
enum Relocation : std::uint32_t { kNone = 0, kAddress = 1, kAddressLow = 2, kAddressHigh = 3 };

std::uint64_t address_of(const std::vector<std::byte>& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

}  // namespace

tl::expected<std::shared_ptr<const NativeModule>, std::string> NativeModule::read(
    const Target& target, std::span<const std::byte> file) {
  const auto disassembler = Disassembler::open();
  if (!disassembler)
    return tl::unexpected("libiga64, which decodes it, cannot be used: " + disassembler.error().reason);
  if (const auto line = disassembler->line(std::array<std::byte, 16>{}, instruction_set(target)); !line)
    return tl::unexpected(line.error().reason + ": that needs the one of a newer driver's compiler");
  std::shared_ptr<NativeModule> module(new NativeModule(target));
  module->is_older_ = target.architecture == 12 && target.release < 50;
  module->register_bytes_ = register_bytes_of(target);
  if (std::string why = module->link(file); !why.empty()) return tl::unexpected(std::move(why));
  return module;
}

std::string NativeModule::link(std::span<const std::byte> file) {
  const auto sections = detail::native_sections(file);
  for (const auto& each : sections)
    if (each.name == ".ze_info") {
      auto payloads =
          detail::read_payloads({reinterpret_cast<const char*>(each.content.data()), each.content.size()});
      if (!payloads) return payloads.error().message;
      payloads_ = std::move(*payloads);
      break;
    }
  for (const auto& each : sections)
    if (each.name.starts_with(".data."))
      data_.push_back({std::string(each.name), {each.content.begin(), each.content.end()}});
  const auto patch = [&](std::string_view name, std::vector<std::byte>& bytes) -> std::string {
    for (const detail::NativeRelocation& each : detail::native_relocations(file, name)) {
      if (each.kind == kNone) continue;
      const auto home = std::ranges::find(data_, each.section, &Section::name);
      if (home == data_.end())
        return "section " + std::string(name) + " refers to " + std::string(each.section) +
               ", which only a driver can place";
      const std::uint64_t value = address_of(home->bytes) + each.address;
      const std::size_t size = each.kind == kAddress ? 8 : 4;
      const std::uint64_t written = each.kind == kAddressHigh ? value >> 32 : value;
      if (each.kind > kAddressHigh)
        return "section " + std::string(name) + " has a relocation of kind " + std::to_string(each.kind);
      if (each.offset > bytes.size() || size > bytes.size() - each.offset)
        return "a relocation lies outside section " + std::string(name);
      std::memcpy(bytes.data() + each.offset, &written, size);
    }
    return {};
  };
  for (Section& each : data_)
    if (std::string why = patch(each.name, each.bytes); !why.empty()) return why;
  for (detail::KernelPayload& kernel : payloads_) {
    const std::string name = ".text." + kernel.name;
    const auto found =
        std::ranges::find_if(sections, [&](const auto& each) { return each.name == std::string_view(name); });
    if (found == sections.end()) return "kernel `" + kernel.name + "` has no code";
    texts_.emplace_back(found->content.begin(), found->content.end());
    if (std::string why = patch(name, texts_.back()); !why.empty() && kernel.unsupported.empty())
      kernel.unsupported = "a linker: " + why;
  }
  codes_.resize(payloads_.size());
  return {};
}

tl::expected<std::shared_ptr<const Code>, std::string> NativeModule::code(std::size_t kernel) const {
  const std::lock_guard guard(mutex_);
  if (!codes_[kernel]) {
    auto decoded = Code::decode(target_, texts_[kernel], 0);
    if (!decoded) return decoded;
    codes_[kernel] = std::move(*decoded);
  }
  return codes_[kernel];
}

Stretch NativeModule::reach(std::uint64_t address, bool write) const {
  for (const Section& each : data_) {
    const std::uint64_t begin = address_of(each.bytes);
    if (address < begin || address - begin >= each.bytes.size()) continue;
    if (write && each.name.starts_with(".data.const")) return {};
    return {reinterpret_cast<std::byte*>(address), each.bytes.size() - (address - begin)};
  }
  return {};
}

}  // namespace kiln::xe
