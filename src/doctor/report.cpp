// SPDX-License-Identifier: MIT
// The pages of a bug report.
#include "doctor/report.hpp"

#include <sys/klog.h>

#include <algorithm>
#include <cerrno>

#include "support/json.hpp"
#include "support/printable.hpp"

namespace kiln::doctor {
namespace {

using detail::Json;

/// Of a table's cell: what would end it, or the line.
std::string cell(std::string_view text) {
  std::string safe = kiln::detail::printable(text);
  for (std::size_t at = 0; (at = safe.find('|', at)) != safe.npos; at += 2) safe.insert(at, "\\");
  return safe;
}

/// A block of text as it is; a fence in it would end it.
std::string block(std::string text, const char* language = "") {
  for (std::size_t at = 0; (at = text.find("```", at)) != text.npos;) text.replace(at, 3, "'''");
  if (!text.ends_with('\n')) text += '\n';
  return std::string("```") + language + "\n" + text + "```\n";
}

std::string row(std::string_view name, std::string_view value) {
  return "| " + cell(name) + " | " + cell(value) + " |\n";
}

std::string devices_text(const std::string& json) {
  const auto all = Json::parse(json);
  if (!all) return "None could be asked.\n";
  std::string table;
  for (const Json& device : (*all)["devices"]) {
    table += (table.empty() ? "" : "\n") + std::string("| ") + cell(device.value("kind", "")) + " | " +
             cell(device.value("name", "")) + " |\n|---|---|\n";
    for (const auto& [name, value] : device.items())
      if (name != "kind" && name != "name")
        table += row(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  for (const Json& missing : (*all)["missing"])
    table += (table.empty() ? "" : "\n") + std::string("No ") + cell(missing.value("kind", "")) + ": " +
             cell(missing.value("code", "")) + ", " + cell(missing.value("message", "")) + "\n";
  return table;
}

std::string memory_text(const BugReport& report) {
  const MemoryAccount& account = report.memory;
  std::string text = "| what | |\n|---|---|\n";
  for (const MemoryCard& card : account.cards)
    text +=
        row("card " + card.address, card.driver + (card.total ? ", " + memory_size_text(*card.total) : "") +
                                        (card.free ? ", free " + memory_size_text(*card.free) : "") +
                                        (card.window ? ", window " + memory_size_text(card.window) : ""));
  for (const MemoryClient& client : account.clients)
    text += row(
        "process " + std::to_string(client.process) + " on " + client.card,
        memory_size_text(client.device_memory()) + ", of the host " + memory_size_text(client.host_memory()));
  const HostMemory& host = account.host;
  text += row("host", memory_size_text(host.total) + ", available " + memory_size_text(host.available));
  text += row("swap", memory_size_text(host.swap_total) + ", free " + memory_size_text(host.swap_free));
  text += row("vm.overcommit_memory", std::to_string(host.overcommit));
  if (host.graphics_limit) text += row("ttm.pages_limit", memory_size_text(*host.graphics_limit));
  for (const MemoryGroup& group : account.groups)
    if (group.limit)
      text += row("control group " + group.path,
                  memory_size_text(*group.limit) + ", left " + memory_size_text(*group.left()));
  const auto limit = [&](const char* name, const std::optional<std::uint64_t>& value) {
    text += row(name, value ? memory_size_text(*value) : "no limit");
  };
  limit("ulimit -l", account.limits.locked);
  limit("ulimit -v", account.limits.address_space);
  for (const Diagnostic& cause : report.memory_causes) text += "\n" + block(to_text(cause));
  return text;
}

}  // namespace

std::optional<std::string> read_kernel_log() {
  constexpr int kReadAll = 3, kSize = 10;  // SYSLOG_ACTION_READ_ALL, SYSLOG_ACTION_SIZE_BUFFER
  constexpr int kLargest = 64 << 20;       // bytes
  const int size = klogctl(kSize, nullptr, 0);
  if (size < 0) return std::nullopt;
  std::string text(static_cast<std::size_t>(std::min(size, kLargest)), '\0');
  const int count = klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  if (count < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  return text;
}

std::string system_name(std::string_view os_release) {
  constexpr std::string_view kName = "PRETTY_NAME=";
  while (!os_release.empty()) {
    const auto end = std::min(os_release.find('\n'), os_release.size());
    std::string_view line = os_release.substr(0, end);
    os_release.remove_prefix(std::min(end + 1, os_release.size()));
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    return kiln::detail::printable(line.substr(0, 100));
  }
  return "unknown";
}

std::string finding_text(const Finding& finding) {
  std::string text = (finding.state == State::problem ? "PROBLEM" : to_string(finding.state)) +
                     std::string(" ") + finding.area + ": " + finding.text;
  if (!finding.why) return text + "\n";
  text += " [" + finding.why->code + "]\n";
  const std::string whole = to_text(*finding.why);
  return text + whole.substr(std::min(whole.find('\n') + 1, whole.size()));
}

std::string to_markdown(const BugReport& report, std::string_view json) {
  std::string page =
      "# A machine, for a bug report\n\nMade by `kiln doctor --report`. What it has is listed: names of "
      "users, "
      "hosts, programs, private folders, command lines and variables that are no driver's are left out. Read "
      "it before you share it.\n\n";
  if (report.by_sudo)
    page +=
        "Made by `sudo`: variables and rights are root's, and may be others for the user whose programs "
        "fail.\n\n";
  page += "## What is wrong\n\n";
  bool any = false;
  for (const Finding& finding : report.report.findings)
    if (finding.state == State::problem) page += block(finding_text(finding)), any = true;
  if (!any) page += "No problem was found.\n";
  page += "\n" + cell(report.report.verdict) + "\n\n## Versions\n\n| what | |\n|---|---|\n";
  page += row("Kiln", report.kiln) + row("system", report.system) + row("kernel", report.kernel);
  page += "\n## Devices\n\n" + devices_text(report.devices) + "\n## What was looked at\n\n";
  std::string all;
  for (const Finding& finding : report.report.findings) all += finding_text(finding);
  page += block(all) + "\n## Environment\n\n";
  if (!report.environment.empty()) page += "| variable | value |\n|---|---|\n";
  for (const auto& [name, value] : report.environment) page += row(name, value);
  if (report.environment.empty()) page += "No variable that changes drivers is set.\n";
  if (report.left_out)
    page += "\nLeft out, as they only look like a driver's or are not known to be public: " +
            std::to_string(report.left_out) + "\n";
  page += "\n## Memory\n\n" + memory_text(report) + "\n## The kernel's log\n\n";
  if (!report.kernel_log_error.empty())
    page += "It could not be read (" + cell(report.kernel_log_error) +
            "). A second report, by `sudo kiln doctor --report FILE`, has its lines about the GPU.\n";
  else if (report.kernel_log.empty())
    page += "It has no line of i915, xe or drm.\n";
  std::string lines;
  for (const std::string& line : report.kernel_log) lines += kiln::detail::printable(line) + "\n";
  if (!lines.empty()) page += block(lines);
  return page + "\n## For programs\n\n" + block(std::string(json), "json");
}

}  // namespace kiln::doctor
