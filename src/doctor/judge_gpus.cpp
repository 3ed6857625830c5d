// SPDX-License-Identifier: MIT
// Cards and nodes, and why Level Zero shows no GPU.
#include <algorithm>
#include <cstring>

#include "doctor/judgement.hpp"
#include "kiln/result.hpp"
#include "level_zero/discovery.hpp"

namespace kiln::doctor {
namespace {

/// PCI device ids of a product, and the builds of Intel's driver between which it knows that product.
struct Product {
  std::uint32_t mask, id;
  const char* name;
  std::uint32_t first_build;
  const char* first_release;
  std::uint32_t last_build = ~0u;
};
// Driver 22.43 was seen not to know Lunar Lake, Battlemage and Panther Lake, 26.27 to know them. The first
// releases are those of about the time when the product came; no finding rests on them where a GPU is
// shown. 24.35 is the last for Gen8, Gen9 and Gen11, by its release notes.
constexpr std::uint32_t kLastOld = 30872;
constexpr Product kProducts[] = {
    {0xff00, 0x1600, "Gen8", 0, "", kLastOld},
    {0xff00, 0x1900, "Gen9", 0, "", kLastOld},
    {0xff00, 0x5900, "Gen9", 0, "", kLastOld},
    {0xff00, 0x3e00, "Gen9", 0, "", kLastOld},
    {0xff00, 0x9b00, "Gen9", 0, "", kLastOld},
    {0xff00, 0x8a00, "Gen11", 0, "", kLastOld},
    {0xff00, 0x7d00, "Meteor or Arrow Lake", 26918, "23.30"},
    {0xff00, 0x6400, "Lunar Lake", 30872, "24.35"},
    {0xff00, 0xe200, "Battlemage", 31740, "24.45"},
    {0xff00, 0xb000, "Panther Lake", 33578, "25.18"},
};
constexpr std::uint32_t kFirstWithXe = 26918;  // 22.43 asks for the kernel driver i915 alone

const Product* product(const Card& card) {
  for (const Product& each : kProducts)
    if ((card.device & each.mask) == each.id) return &each;
  return nullptr;
}

bool may_be_intel(const Node& node) { return node.vendor == kIntel || node.vendor == 0; }

std::string node_text(const Node& node) {
  return node.path + ": " + (node.error ? std::strerror(node.error) : "opens") + ", " + node.owner + ":" +
         node.group + " " + node.mode;
}

bool has_node(const Facts& facts, const Card& card) {
  return std::ranges::any_of(facts.nodes, [&](const Node& node) {
    return !card.node.empty() && node.path.ends_with("/" + card.node);
  });
}

std::string card_text(const Card& card) {
  const Product* known = product(card);
  return pci_id(card.vendor, card.device) +
         (known && card.vendor == kIntel ? std::string(", ") + known->name : "") +
         (card.kernel_driver.empty() ? ", no kernel driver"
                                     : ", kernel driver " + printable(card.kernel_driver));
}

std::vector<const Card*> intel_cards(const Facts& facts) {
  std::vector<const Card*> cards;
  for (const Card& card : facts.cards)
    if (card.vendor == kIntel) cards.push_back(&card);
  return cards;
}

std::vector<DiagnosticRow> card_rows(const std::vector<const Card*>& cards) {
  std::vector<DiagnosticRow> rows;
  for (const Card* card : cards) rows.push_back({printable(card->address), card_text(*card)});
  return rows;
}

constexpr const char* kUseCpu = "or run on Kiln's CPU device: --device cpu, or KILN_DEVICE=cpu";

/// K0603 and K0604: the bus has a GPU, and there is no node of it.
std::optional<Diagnostic> explain_missing_node(const Facts& facts, const std::vector<const Card*>& cards) {
  if (cards.empty()) return std::nullopt;
  const auto driven = [](const Card* card) {
    return card->kernel_driver == "i915" || card->kernel_driver == "xe";
  };
  if (std::ranges::none_of(cards, driven)) {
    Diagnostic why{"K0604", "the GPU has no kernel driver that offers it to programs", card_rows(cards), {}};
    why.help = {
        "load it: `modprobe i915`, or `modprobe xe` for Lunar Lake and newer; `dmesg | grep -e i915 -e xe` "
        "tells why it does not take the GPU",
        "vfio-pci means that the GPU is set aside for a virtual machine", kUseCpu};
    return why;
  }
  if (std::ranges::any_of(cards, [&](const Card* card) { return has_node(facts, *card); }))
    return std::nullopt;
  Diagnostic why{"K0603", "the machine has a GPU, but /dev/dri has no node of it", card_rows(cards), {}};
  why.rows.push_back({"container", facts.in_container ? "yes" : "not that it shows"});
  why.help = {
      "in a container: pass the node in, `--device /dev/dri`, with `--group-add` and the number of its group",
      "else: `udevadm trigger` makes the nodes anew", kUseCpu};
  return why;
}

/// K0602, when the release of the driver explains that it passes over this card.
std::optional<Diagnostic> explain_wrong_release(const Facts& facts, const std::vector<const Card*>& cards) {
  const Start* intel = intel_driver(facts);
  if (!intel || !intel->build) return std::nullopt;
  for (const Card* card : cards) {
    const Product* known = product(*card);
    const bool old_for_card = known && *intel->build < known->first_build;
    const bool old_for_xe = card->kernel_driver == "xe" && *intel->build < kFirstWithXe;
    const bool too_new = known && *intel->build > known->last_build;
    if (!old_for_card && !old_for_xe && !too_new) continue;
    Diagnostic why{"K0602",
                   std::string("Intel's driver is too ") + (too_new ? "new" : "old") + " for this GPU",
                   card_rows({card}),
                   {}};
    why.rows.push_back({"driver", "build " + std::to_string(*intel->build)});
    if (too_new)
      why.help = {"install the driver for old GPUs, libze_intel_gpu_legacy1.so.1, from the releases 24.35"};
    else
      why.help = {"install release " + std::string(old_for_card ? known->first_release : "23.30") +
                  " or newer of Intel's driver (intel-compute-runtime)"};
    if (old_for_xe && !old_for_card)
      why.help.push_back("or let the kernel driver i915 have the GPU: this release knows no other");
    why.help.push_back(kUseCpu);
    return why;
  }
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + printable(word);
  return text;
}

/// The library's own explanation, K0302 to K0305, with what is known beyond.
Diagnostic explain(const Facts& facts, const std::vector<Node>& nodes) {
  kiln::detail::GpuSurvey survey;
  if (const std::string* alternative = variable(facts, "ZE_ENABLE_ALT_DRIVERS"))
    survey.alternative = printable(*alternative);
  const Start* intel = intel_driver(facts);
  if (intel && !intel->error.empty()) survey.driver_error = printable(intel->error);
  for (const Node& node : nodes)
    if (may_be_intel(node)) survey.nodes.push_back({node.path, node.error});
  const auto code = static_cast<ze_result_t>(facts.loader.answer.value_or(ZE_RESULT_ERROR_UNINITIALIZED));
  Diagnostic why =
      code == ZE_RESULT_SUCCESS
          ? *kiln::detail::explain_missing_gpu(ZE_RESULT_ERROR_UNINITIALIZED, "zeDeviceGet", survey)
                 .diagnostic()
          : *kiln::detail::explain_missing_gpu(code, "zeInit", survey).diagnostic();
  if (code == ZE_RESULT_SUCCESS) why.answer.reset();  // it was no failure
  if (intel && !intel->devices.empty()) {
    why.rows.push_back({"Intel's driver by itself", "shows " + printable(intel->devices[0].name)});
    if (!survey.alternative.empty()) why.help.insert(why.help.begin(), "unset ZE_ENABLE_ALT_DRIVERS");
  }
  if (why.code == "K0304") {
    for (const Node& node : nodes)
      why.rows.push_back({"rights of " + node.path, node.owner + ":" + node.group + " " + node.mode});
    why.rows.push_back({"groups of this process", joined(facts.groups)});
    // The library names the usual group; here it is known.
    const auto owned = std::ranges::find_if(nodes, [](const Node& node) { return node.error != 0; });
    if (owned != nodes.end() && owned->group == "root")
      why.help[0] =
          "let the system's udev rules give the node to group render, or in a container: `--group-add`";
    else if (owned != nodes.end() && !owned->group.empty())
      why.help[0] = "join the group that owns the node: `sudo usermod -aG " + printable(owned->group) +
                    " $USER`, then log in again";
  }
  return why;
}

Diagnostic find_reason(const Facts& facts) {
  const auto cards = intel_cards(facts);
  Diagnostic why = explain(facts, facts.nodes);
  if (why.code == "K0302") return why;
  if (why.code == "K0303") {
    if (auto missing = explain_missing_node(facts, cards)) return *std::move(missing);
    if (!facts.nodes.empty() || !facts.cards.empty()) {
      Diagnostic other{"K0607", "this machine has GPUs, but none of Intel", {}, {}};
      for (const Card& card : facts.cards) other.rows.push_back({printable(card.address), card_text(card)});
      for (const Node& node : facts.nodes)
        other.rows.push_back({node.path, "vendor " + pci_id(node.vendor, 0).substr(0, 4)});
      other.help = {"Kiln needs an Intel GPU, with a Level Zero driver", kUseCpu};
      return other;
    }
  }
  if (why.code == "K0305")
    if (auto release = explain_wrong_release(facts, cards)) return *std::move(release);
  return why;
}

/// Another finding says already why there is no GPU.
bool is_told(const Facts& facts) {
  const Mask mask = affinity_mask(facts);
  const Start* intel = intel_driver(facts);
  if (intel && is_broken(*intel) && !variable(facts, "ZE_ENABLE_ALT_DRIVERS")) return true;
  return !facts.loader.error.empty() || !end_text(facts.loader.end).empty() || mask == Mask::ill_formed ||
         mask == Mask::hides_all || debug_keys(facts).simulated ||
         (facts.loader.refusal && facts.loader.refusal->code == "K0306");
}

}  // namespace

void judge_gpus(const Facts& facts, Findings& findings) {
  for (const Card& card : facts.cards)
    findings.ok("GPU", printable(card.address) + ": " + card_text(card) +
                           (has_node(facts, card) ? ", /dev/dri/" + card.node : ""));
  for (const Node& node : facts.nodes)
    if (node.error == 0 || !may_be_intel(node)) findings.ok("GPU", node_text(node));
  for (const Node& node : facts.accelerators)
    findings.ok("GPU", node_text(node) + "; an accelerator, which Kiln does not use");
  const auto gpus = usable_gpus(facts);
  for (const DeviceFact& gpu : gpus)
    findings.ok("GPU", printable(gpu.name) + ", " + pci_id(gpu.vendor, gpu.device));
  if (gpus.empty() && !is_told(facts)) return findings.add("GPU", find_reason(facts));
  for (const Node& node : facts.nodes)
    if (node.error != 0 && may_be_intel(node)) {
      Diagnostic why = explain(facts, {node});
      if (!gpus.empty()) why.severity = Severity::warning;
      findings.add("GPU", std::move(why));
    }
}

}  // namespace kiln::doctor
