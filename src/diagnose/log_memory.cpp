// SPDX-License-Identifier: MIT
// The amounts that allocators print, and what they say together.
#include "diagnose/log_memory.hpp"

#include <algorithm>
#include <array>

#include "support/digits.hpp"

namespace kiln::detail {
namespace {

constexpr std::uint64_t kGibibyte = 1ull << 30;
// Source: intel/compute-runtime, GfxCoreHelper::getMaxMemAllocSize: 4 GiB less 8 KiB on Arc A and older.
constexpr std::uint64_t kLargestUsually = 4 * kGibibyte - 8192;
constexpr std::uint64_t kLeastAmount = 64 << 10;
constexpr std::uint64_t kLargestOnWindowsLinux = kGibibyte;

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// "1.71 GiB", "568.00 MiB", "0 bytes", "4831838208 bytes", and a number alone where bytes are meant.
std::optional<std::uint64_t> amount(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('=') || text.starts_with(':')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && is_decimal(text[end])) ++end;
  const auto whole = parse_digits(text.substr(0, end));
  if (!whole) return std::nullopt;
  double value = static_cast<double>(*whole);
  if (end + 1 < text.size() && text[end] == '.' && is_decimal(text[end + 1])) {
    double place = 0.1;
    for (++end; end < text.size() && is_decimal(text[end]); ++end, place /= 10)
      value += place * (text[end] - '0');
  }
  text.remove_prefix(end);
  while (text.starts_with(' ')) text.remove_prefix(1);
  for (const auto& [unit, shift] :
       {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"KB", 10}, {"MB", 20}, {"GB", 30}})
    if (text.starts_with(unit)) {
      value *= static_cast<double>(1ull << shift);
      return value < 1.8e19 ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
    }
  return whole;
}

std::optional<std::uint64_t> amount_behind(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  return at == line.npos ? std::nullopt : amount(line.substr(at + words.size()));
}

/// "15.56 GiB total capacity": the amount before the words.
std::optional<std::uint64_t> amount_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == line.npos || at == 0) return std::nullopt;
  const auto start = line.substr(0, at).find_last_of(";,(:");
  std::string_view text =
      line.substr(start == line.npos ? 0 : start + 1, at - (start == line.npos ? 0 : start + 1));
  if (const auto which = text.rfind("which "); which != text.npos) text.remove_prefix(which + 6);
  if (const auto sentence = text.rfind(". "); sentence != text.npos) text.remove_prefix(sentence + 2);
  return amount(text);
}

}  // namespace

void LoggedMemory::read(std::string_view line) {
  const auto take = [](std::optional<std::uint64_t>& known, std::optional<std::uint64_t> read) {
    if (!known) known = read;
  };
  relaxed |= line.find("RELAXED_ALLOCATION_LIMITS=1") != line.npos;
  take(asked, amount_behind(line, "Tried to allocate "));
  take(asked, amount_behind(line, "allocation: requested "));
  take(asked, amount_behind(line, "can't allocate "));
  take(asked, amount_behind(line, "can't malloc "));
  if (const auto at = line.find("failed to allocate "); at != line.npos)
    take(asked, amount_behind(line.substr(at), " of size "));
  // In any program's words; what is less than a page of the device counts other things.
  for (const std::string_view words : {"llocate ", "llocating ", "llocation of size ", "llocation of "})
    if (const auto some = amount_behind(line, words); some && *some >= kLeastAmount) take(asked, some);
  take(largest, amount_behind(line, "max alloc size supported by device is "));
  if (const auto limit = amount_behind(line, "MAX_MEM_ALLOC_SIZE is ")) {
    take(largest, limit);
    take(asked, amount_behind(line, "requested "));
  }
  take(total, amount_behind(line, "total capacity of "));
  take(total, amount_before(line, " total capacity"));
  take(free, amount_before(line, " is free"));
  take(free, amount_before(line, " of free device memory"));
  if (!free)
    if (const auto at = line.find(" device memory vs. "); at != line.npos)
      take(free, amount(line.substr(at + 19)));
  take(used, amount_before(line, " already allocated"));
  take(used, amount_behind(line, "Of the allocated memory "));
  take(allowed, amount_before(line, " allowed"));
}

MemoryVerdict verdict(const LoggedMemory& m) {
  if (!m.asked) return {};
  const std::uint64_t asked = *m.asked, used = m.used.value_or(0);
  if (m.largest && asked > *m.largest) return {Cause::too_large, Cause::none, {}};
  if (m.total && asked > *m.total)
    return {Cause::memory_full, Cause::none, "a single allocation asks for more than the device has in all"};
  if (m.free && asked > *m.free) return {Cause::memory_full, Cause::none, {}};
  if (m.allowed && used + asked > *m.allowed - *m.allowed / 32)
    return {Cause::memory_full, Cause::none,
            "the program's own share of the device's memory is used up (set_per_process_memory_fraction)"};
  if (m.total && used + asked > *m.total - *m.total / 16) return {Cause::memory_full, Cause::none, {}};
  if (asked > kLargestUsually && !m.relaxed)
    return {Cause::too_large, m.free ? Cause::host_memory : Cause::memory_full, {}};
  if (m.free || (m.total && m.used)) {
    if (asked > kLargestOnWindowsLinux && used == 0 && !m.free)
      return {Cause::too_large, Cause::host_memory,
              "an allocation of more than 1 GiB fails while the device is empty: Windows' subsystem for "
              "Linux takes no "
              "more in one piece"};
    return {
        Cause::host_memory, Cause::memory_full,
        "memory of the device is free, and was refused: the driver needs as much of the host's, most likely"};
  }
  return {Cause::memory_full, Cause::host_memory, {}};
}

namespace {

/// What a failure of an allocation is, where that is its reason.
Cause cause_of_account(std::string_view code) {
  if (code == "K0244" || code == "K0247") return Cause::memory_full;
  return code == "K0245" ? Cause::none : Cause::host_memory;
}

}  // namespace

bool is_about_memory(const Diagnostic& failure) {
  return std::ranges::any_of(std::array{Cause::memory_full, Cause::too_large, Cause::host_memory},
                             [&](Cause cause) { return failure.code == text_of(cause).code; });
}

Diagnostic with_account(Diagnostic failure, const Diagnostic& account) {
  const Cause cause = cause_of_account(account.code);
  // What a log says outright stays: only what it leaves open, or Kiln's own refusal, gets another cause.
  const bool open = failure.code == "K0509" || failure.code == text_of(cause).code ||
                    std::ranges::find(failure.rows, "undecided", &DiagnosticRow::label) != failure.rows.end();
  const bool certain = account.severity == Severity::error && cause != Cause::none && open;
  if (certain) {
    const CauseText& text = text_of(cause);
    failure.code = text.code;
    failure.message = std::string(text.message) + ": " + account.message;
    std::erase_if(failure.rows, [](const DiagnosticRow& row) { return row.label == "undecided"; });
    failure.help.clear();
    for (const std::string_view help : text.help)
      if (!help.empty()) failure.help.emplace_back(help);
  }
  failure.rows.push_back(
      {(certain ? "`kiln memory`, " : "`kiln memory`, in the way, ") + account.code, account.message});
  for (const DiagnosticRow& row : account.rows)
    if (std::ranges::find(failure.rows, row.label, &DiagnosticRow::label) == failure.rows.end())
      failure.rows.push_back(row);
  failure.help.insert(open ? failure.help.begin() : failure.help.end(), account.help.begin(),
                      account.help.end());
  return failure;
}

}  // namespace kiln::detail
