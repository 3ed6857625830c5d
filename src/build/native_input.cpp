// SPDX-License-Identifier: MIT
// Looks at each part of a native input by its format.
#include "build/native_input.hpp"

#include <ar.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kiln/check.hpp"

namespace kiln::detail {
namespace {

using Bytes = std::span<const std::byte>;

std::string text_of(const BinaryError& error) {
  return error.message + " (at byte " + std::to_string(error.offset) + ")";
}

/// Why a zebin must not reach a driver; empty: it may.
std::string refuse(const tl::expected<ModuleFacts, BinaryError>& facts, std::uint64_t memory) {
  if (!facts) return text_of(facts.error());
  const auto hazard = check_module(*facts, memory);
  return hazard ? to_text(*hazard) : std::string();
}

/// An archive whose members are hidden one by one, by a name that drivers take for padding.
class FatBinary {
 public:
  FatBinary(Bytes file, NativeInput& input) : file_(file), input_(input) {
    input_.copy.assign(file.begin(), file.end());
  }

  void read(const ArchiveMember& member, std::uint64_t memory) {
    switch (identify(member.content)) {
      case BinaryFormat::elf:
        return read_zebin_member(member, memory);
      case BinaryFormat::patch_tokens:
        if (member.name == "generic_ir") return take_spirv(embedded_spirv(member.content), member);
        input_.unread = true;
        shown_ = true;
        return;
      case BinaryFormat::spirv:
        return take_spirv(member.content, member);
      case BinaryFormat::archive:
      case BinaryFormat::unknown:
        break;
    }
    hide(member, "it is no native binary");
  }
  [[nodiscard]] bool shows_any() const { return shown_; }

 private:
  std::byte* place_of(Bytes content) { return input_.copy.data() + (content.data() - file_.data()); }

  void read_zebin_member(const ArchiveMember& member, std::uint64_t memory) {
    const auto facts = read_zebin(member.content);
    if (const std::string why = refuse(facts, memory); !why.empty()) return hide(member, why);
    shown_ = true;
    if (!facts->has_ir) return;
    if (input_.spirv.empty()) {
      input_.spirv = embedded_spirv(member.content);
      input_.options = embedded_options(member.content);
    }
    std::ranges::copy(without_spirv(member.content), place_of(member.content));
  }

  void take_spirv(Bytes spirv, const ArchiveMember& member) {
    input_.spirv = spirv;
    input_.options.clear();
    hide(member, {});
  }

  void hide(const ArchiveMember& member, const std::string& why) {
    constexpr std::string_view kHidden = "pad_hidden/     ";
    static_assert(kHidden.size() == sizeof(ar_hdr::ar_name));
    std::memcpy(place_of(member.content) - sizeof(ar_hdr), kHidden.data(), kHidden.size());
    if (input_.refusal.empty() && !why.empty()) input_.refusal = "member `" + member.name + "`: " + why;
  }

  Bytes file_;
  NativeInput& input_;
  bool shown_ = false;
};

}  // namespace

NativeInput read_native(Bytes file, std::uint64_t memory) {
  NativeInput input;
  switch (identify(file)) {
    case BinaryFormat::elf: {
      const auto facts = read_zebin(file);
      input.refusal = refuse(facts, memory);
      if (!input.refusal.empty()) return input;
      input.code = file;
      if (!facts->has_ir) return input;
      input.spirv = embedded_spirv(file);
      input.options = embedded_options(file);
      input.code = input.copy = without_spirv(file);
      return input;
    }
    case BinaryFormat::archive: {
      const auto members = read_archive(file);
      if (!members) {
        input.refusal = text_of(members.error());
        return input;
      }
      FatBinary fat(file, input);
      for (const ArchiveMember& member : *members) fat.read(member, memory);
      if (fat.shows_any()) input.code = input.copy;
      if (members->empty()) input.refusal = "an archive without members";
      return input;
    }
    case BinaryFormat::patch_tokens:
      input.code = file;
      input.unread = true;
      return input;
    case BinaryFormat::spirv:
    case BinaryFormat::unknown:
      break;
  }
  input.refusal = file.empty() ? "no code was given" : "this is no native binary";
  return input;
}

}  // namespace kiln::detail
