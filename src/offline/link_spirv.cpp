// SPDX-License-Identifier: MIT
// SPIR-V modules linked by SPIRV-Tools, where it was there when Kiln was built.
#include "offline/link_spirv.hpp"

#ifdef KILN_SPIRV_LINKER
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <spirv-tools/linker.hpp>
#endif

namespace kiln::offline {

#ifdef KILN_SPIRV_LINKER

namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::size_t kHeader = 5;  // words; the second is the version

/// Visits instructions, their operation first, until told to stop.
template <class Visit>
void each_instruction(std::span<std::uint32_t> module, Visit visit) {
  for (std::size_t at = kHeader; at < module.size();) {
    const std::size_t count = std::clamp<std::size_t>(module[at] >> 16, 1, module.size() - at);
    if (!visit(module[at] & 0xffff, module.subspan(at, count))) return;
    at += count;
  }
}

/// The translator writes the oldest version that a module can have, and the linker takes one version alone.
/// From 1.4 on an entry point lists all variables of the module that it uses; it may list more.
void raise_version(Words& module, std::uint32_t version) {
  constexpr std::uint32_t kListsVariables = 0x10400;
  constexpr std::uint32_t kEntryPoint = 15, kFunction = 54, kVariable = 59;
  const bool lists = module[1] >= kListsVariables || version < kListsVariables;
  module[1] = version;
  if (lists) return;
  Words variables, raised(module.begin(), module.begin() + kHeader);
  each_instruction(module, [&](std::uint32_t code, std::span<const std::uint32_t> words) {
    if (code == kVariable && words.size() > 2) variables.push_back(words[2]);
    return code != kFunction;  // behind it, variables are a function's own
  });
  each_instruction(module, [&](std::uint32_t code, std::span<const std::uint32_t> words) {
    raised.insert(raised.end(), words.begin(), words.end());
    if (code != kEntryPoint) return true;
    std::size_t added = 0;
    for (const std::uint32_t variable : variables)
      // The first words are no interface; one of them that is equal by chance is a word of the name.
      if (words.size() > 3 && std::ranges::find(words.subspan(3), variable) == words.end()) {
        raised.push_back(variable);
        ++added;
      }
    raised[raised.size() - added - words.size()] += static_cast<std::uint32_t>(added << 16);
    return true;
  });
  module = std::move(raised);
}

/// Every module brings variables of its own for the work-item functions. A second one of a kind has a second
/// name, which readers that go by the name do not know; so the first stands for all.
void share_builtins(Words& module) {
  constexpr std::uint32_t kEntryPoint = 15, kVariable = 59, kDecorate = 71, kBuiltIn = 11;
  // Those that have a pointer as first operand behind type and result: load, access chains, casts.
  constexpr std::array<std::uint32_t, 6> kUses{61, 65, 66, 67, 70, 124};
  std::map<std::uint32_t, std::uint32_t> kinds, first_of;                   // by variable
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> firsts;  // by kind and type
  const auto share = [&](std::uint32_t& id) {
    if (const auto found = first_of.find(id); found != first_of.end()) id = found->second;
  };
  each_instruction(module, [&](std::uint32_t code, std::span<std::uint32_t> words) {
    if (code == kDecorate && words.size() == 4 && words[2] == kBuiltIn) kinds[words[1]] = words[3];
    if (code == kVariable && words.size() > 2 && kinds.contains(words[2]))
      first_of[words[2]] = firsts.try_emplace({kinds[words[2]], words[1]}, words[2]).first->second;
    if (words.size() > 3 && std::ranges::find(kUses, code) != kUses.end()) share(words[3]);
    return true;
  });
  each_instruction(module, [&](std::uint32_t code, std::span<std::uint32_t> words) {
    if (code == kEntryPoint && words.size() > 3) {
      // The name ends in the first word with a zero byte at its end; behind it is the interface.
      std::size_t at = 3;
      while (at < words.size() && words[at] >> 24 != 0) ++at;
      for (++at; at < words.size(); ++at) share(words[at]);
    }
    return true;
  });
}

}  // namespace

tl::expected<std::vector<std::byte>, std::string> link_spirv(
    std::span<const std::span<const std::byte>> modules) {
  std::vector<Words> inputs;
  std::uint32_t version = 0;
  for (const auto& module : modules) {
    auto& words = inputs.emplace_back(module.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), module.data(), words.size() * sizeof(std::uint32_t));
  }
  for (const Words& each : inputs) version = std::max(version, each[1]);
  for (Words& each : inputs) raise_version(each, version);
  std::string said;
  spvtools::Context context(SPV_ENV_UNIVERSAL_1_6);
  context.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
        said += (said.empty() ? "" : "; ") + std::string(message);
      });
  spvtools::LinkerOptions options;
  // Compilers leave functions of their own as imports.
  options.SetAllowPartialLinkage(true);
  Words linked;
  if (spvtools::Link(context, inputs, &linked, options) != SPV_SUCCESS)
    return tl::unexpected(said.empty() ? std::string("the linker of SPIRV-Tools gives no reason") : said);
  share_builtins(linked);
  std::vector<std::byte> bytes(linked.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), linked.data(), bytes.size());
  return bytes;
}

#else

tl::expected<std::vector<std::byte>, std::string> link_spirv(std::span<const std::span<const std::byte>>) {
  return tl::unexpected(std::string("this kiln was built without the linker of SPIRV-Tools"));
}

#endif

}  // namespace kiln::offline
