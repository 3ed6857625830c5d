// SPDX-License-Identifier: MIT
// `kiln memory`: who holds the memory of the cards, what the host has left, and what stands in the way.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>

#include "kiln/memory_account.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

/// What would stand in the way of that request on each card, each cause once.
std::vector<Diagnostic> causes_of(const MemoryAccount& account, const MemoryOptions& options) {
  std::vector<Diagnostic> all;
  const auto add = [&](const MemoryRequest& request) {
    for (Diagnostic& each : memory_causes(account, request)) {
      const bool known = std::ranges::any_of(all, [&](const Diagnostic& other) {
        return other.code == each.code && other.message == each.message;
      });
      if (!known) all.push_back(std::move(each));
    }
  };
  MemoryRequest request;
  request.kind = options.kind;
  if (options.size) request.size = *options.size;
  if (account.cards.empty()) add(request);
  for (const MemoryCard& card : account.cards) {
    request.card = card.address;
    // Could a program have all that the card has free? Only where the kernel says how much that is.
    if (!options.size) request.size = card.free.value_or(0);
    add(request);
  }
  // What nobody has asked for is refused to nobody.
  if (!options.size)
    for (Diagnostic& each : all) each.severity = Severity::warning;
  return all;
}

std::string device_text(const MemoryCard& card) {
  char text[16];
  std::snprintf(text, sizeof text, "8086:%04x", card.device);
  return text;
}

void print_cards(const MemoryAccount& account) {
  if (account.cards.empty()) say("cards      none of Intel's\n");
  for (const MemoryCard& card : account.cards) {
    say("card       %s, %s, %s\n", card.address.c_str(), device_text(card).c_str(),
        card.driver.empty() ? "no kernel driver" : card.driver.c_str());
    if (card.total)
      say("  memory   %s%s%s\n", memory_size_text(*card.total).c_str(), card.free ? ", free " : "",
          card.free ? memory_size_text(*card.free).c_str() : "");
    if (card.total && card.window) say("  window   %s\n", memory_size_text(card.window).c_str());
  }
}

void print_clients(const MemoryAccount& account) {
  struct Row {
    const MemoryClient* first;
    std::uint64_t device, host, clients;
  };
  std::vector<Row> rows;
  for (const MemoryClient& client : account.clients) {
    const auto same = std::ranges::find_if(rows, [&](const Row& row) {
      return row.first->process == client.process && row.first->card == client.card;
    });
    if (same == rows.end())
      rows.push_back({&client, client.device_memory(), client.host_memory(), 1});
    else
      same->device += client.device_memory(), same->host += client.host_memory(), ++same->clients;
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.device + row.host; });
  if (!rows.empty()) {
    std::vector<std::vector<std::string>> table{
        {"process", "program", "card", "of the card", "of the host", "clients"}};
    for (const Row& row : rows)
      table.push_back({std::to_string(row.first->process), row.first->program, row.first->card,
                       memory_size_text(row.device), memory_size_text(row.host),
                       std::to_string(row.clients)});
    say("\n");
    print_table(std::move(table), 3);
  }
  if (account.unread_processes)
    say("%snot seen: the clients of %llu process%s of other users; root sees all\n", rows.empty() ? "" : "\n",
        static_cast<unsigned long long>(account.unread_processes), account.unread_processes == 1 ? "" : "es");
  if (account.hides_processes && geteuid() != 0)
    say("%snot seen: all processes of other users, which /proc hides (hidepid); root sees them\n",
        rows.empty() && !account.unread_processes ? "\n" : "");
}

void print_host(const MemoryAccount& account) {
  const HostMemory& host = account.host;
  if (host.total == 0) return;
  say("\nhost       %s, available %s\n", memory_size_text(host.total).c_str(),
      memory_size_text(host.available).c_str());
  if (host.swap_total)
    say("  swap     %s, free %s\n", memory_size_text(host.swap_total).c_str(),
        memory_size_text(host.swap_free).c_str());
  else
    say("  swap     none\n");
  if (host.overcommit == 2)
    say("  promised %s of %s\n", memory_size_text(host.committed).c_str(),
        memory_size_text(host.commit_limit).c_str());
  else if (host.overcommit == 1)
    say("  promised without limit\n");
  else
    say("  promised at most %s at once\n", memory_size_text(host.total + host.swap_total).c_str());
  if (host.graphics_limit)
    say("  cards    at most %s together\n", memory_size_text(*host.graphics_limit).c_str());
}

std::string limit_text(const std::optional<std::uint64_t>& limit) {
  return limit ? memory_size_text(*limit) : "no limit";
}

void print_process(const MemoryAccount& account) {
  if (!account.process_found) {  // of another machine, and none was named
    say("\nprocess    none of that machine was named: --pid has its limits and control groups\n");
    return;
  }
  say("\nprocess    %u%s%s\n", account.process, account.program.empty() ? "" : ", ", account.program.c_str());
  for (const MemoryGroup& group : account.groups) {
    if (group.limit)
      say("  group    %s: %s, left %s\n", group.path.c_str(), memory_size_text(*group.limit).c_str(),
          memory_size_text(*group.left()).c_str());
    for (const MemoryGroup::DeviceBound& bound : group.device_bounds)
      say("  group    %s: %s of %s, used %s\n", group.path.c_str(), memory_size_text(bound.limit).c_str(),
          bound.region.c_str(), memory_size_text(bound.used).c_str());
  }
  say("  locked   %s\n  address  %s\n", limit_text(account.limits.locked).c_str(),
      limit_text(account.limits.address_space).c_str());
}

void print_account(const MemoryAccount& account, const std::vector<Diagnostic>& causes,
                   const MemoryOptions& options) {
  print_cards(account);
  print_clients(account);
  print_host(account);
  print_process(account);
  for (const Diagnostic& each : causes) say("\n%s", to_text(each).c_str());
  if (!options.size || !causes.empty()) return;
  const char* const kind = options.kind == MemoryKind::device ? "device"
                           : options.kind == MemoryKind::host ? "host"
                                                              : "shared";
  say("\nnothing that is seen here stands in the way of %s of %s memory\n",
      memory_size_text(*options.size).c_str(), kind);
}

Json account_json(const MemoryAccount& account, const std::vector<Diagnostic>& causes) {
  Json json = Json::parse(kiln::to_json(account)).value();
  json["causes"] = Json::array();
  for (const Diagnostic& each : causes) json["causes"].push_back(Json::parse(kiln::to_json(each)).value());
  return json;
}

/// Of a folder in the place of /.
bool is_machine(const std::string& root) {
  std::error_code ignored;
  const std::filesystem::path folder(root);
  return std::filesystem::is_directory(folder / "proc", ignored) ||
         std::filesystem::is_directory(folder / "sys", ignored);
}

Error no_such_process(const MemoryOptions& options) {
  return usage_error("there is no process " + std::to_string(options.process),
                     {"`ps -e` lists the processes; one of another container has another number there"});
}

/// Waits for the next account, or for the user to interrupt. The signals wait too, so that none is lost
/// between two accounts, and a watch ends as a command that did what it was asked.
class Pause {
 public:
  Pause() {
    sigemptyset(&ends_);
    sigaddset(&ends_, SIGINT);
    sigaddset(&ends_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends_, nullptr);
  }
  /// False: it is to end.
  [[nodiscard]] bool wait(double seconds) const {
    const double whole = std::floor(seconds);
    const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
    int signal = 0;
    do signal = sigtimedwait(&ends_, nullptr, &time);
    while (signal < 0 && errno == EINTR);
    return signal < 0;
  }

 private:
  sigset_t ends_;
};

}  // namespace

int memory(const MemoryOptions& options) {
  if (!options.root.empty() && !is_machine(options.root)) {
    const Error error = usage_error("`" + options.root + "` has neither proc nor sys",
                                    {"name a folder that /proc and /sys of a machine were copied to"});
    complain("%s", error.text().c_str());
    if (options.json) print({{"error", to_json(error)}});
    return kUsage;
  }
  const bool redraws = options.watch && !options.json && isatty(STDOUT_FILENO);
  std::optional<Pause> pause;
  if (options.watch) pause.emplace();
  for (;;) {
    MemoryAccountOptions where;
    where.process = options.process;
    where.root = options.root;
    const MemoryAccount account = memory_account(where);
    if (options.process && !account.process_found) {
      const Error error = no_such_process(options);
      complain("%s", error.text().c_str());
      if (options.json) print({{"error", to_json(error)}});
      return kUsage;
    }
    const std::vector<Diagnostic> causes = causes_of(account, options);
    if (redraws) say_exactly(stdout, "\x1b[H\x1b[2J");
    if (options.json && options.watch)
      say_exactly(stdout, account_json(account, causes).dump() + "\n");
    else if (options.json)
      print(account_json(account, causes));
    else
      print_account(account, causes, options);
    std::fflush(stdout);
    if (!pause || !pause->wait(*options.watch)) return kOk;
    if (!options.json && !redraws) say("\n");
  }
}

}  // namespace kiln::tool
