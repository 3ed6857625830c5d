// SPDX-License-Identifier: MIT
// The source of a kernel: which one its SPIR-V names, and whether that lies beside it.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <spirv/unified1/spirv.hpp>

#include "kiln/binary.hpp"
#include "kiln/manifest.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

// A source with more is not the sample's.
constexpr std::size_t kMostLines = 20'000;
constexpr std::uintmax_t kLargestSource = 4 << 20;  // bytes

/// "source NAME sha256 DIGITS"
std::optional<NamedSource> parsed(std::string_view text) {
  constexpr std::string_view kBefore = "source ", kBetween = " sha256 ";
  if (!text.starts_with(kBefore)) return std::nullopt;
  text.remove_prefix(kBefore.size());
  const auto between = text.find(kBetween);
  if (between == text.npos) return std::nullopt;
  NamedSource named{std::string(text.substr(0, between)),
                    std::string(text.substr(between + kBetween.size()))};
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (named.name.empty() || named.sha256.size() != 64 || !std::ranges::all_of(named.sha256, is_digit))
    return std::nullopt;
  return named;
}

std::optional<NamedSource> named_in_spirv(std::span<const std::byte> file) {
  std::vector<std::uint32_t> words(file.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), file.data(), words.size() * sizeof(std::uint32_t));
  for (std::size_t at = 5; at < words.size();) {
    const std::uint32_t size = words[at] >> 16;
    if (size == 0 || size > words.size() - at) return std::nullopt;
    if ((words[at] & 0xffff) == spv::OpModuleProcessed) {
      const char* text = reinterpret_cast<const char*>(&words[at + 1]);
      if (auto named = parsed({text, strnlen(text, (size - 1) * sizeof(std::uint32_t))})) return named;
    }
    at += size;
  }
  return std::nullopt;
}

std::optional<std::string> text_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kLargestSource)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::optional<NamedSource> named_source(std::span<const std::byte> file) {
  switch (identify(file)) {
    case BinaryFormat::spirv:
      return named_in_spirv(file);
    case BinaryFormat::archive:
      if (const auto members = read_archive(file))
        for (const ArchiveMember& member : *members)
          if (identify(member.content) != BinaryFormat::archive)
            if (auto named = named_source(member.content)) return named;
      return std::nullopt;
    default:
      return named_in_spirv(embedded_spirv(file));
  }
}

void find_source(const std::filesystem::path& folder, const std::string& family,
                 const std::optional<NamedSource>& named, ReportFacts& facts) {
  // A file that the kernel names is read only where it is the one that belongs here: it could name any.
  const std::string file = family + ".cl";
  if (!named) {
    facts.no_source = "The kernel does not say which source it was made of, so that none is shown.";
    return;
  }
  if (named->name != file) {
    facts.no_source =
        "The kernel was made of " + named->name + ", which is not looked for: only " + file + " is.";
    return;
  }
  const auto text = text_of(folder / file);
  if (!text) {
    facts.no_source = "The kernel was made of " + file + ", which is not in " + folder.string() + ".";
    return;
  }
  if (digest(std::as_bytes(std::span(*text))) != named->sha256) {
    facts.no_source = "The kernel was not made of the " + file + " that lies in " + folder.string() +
                      ": its lines would be others.";
    return;
  }
  show_source(file, *text, facts);
}

void show_source(const std::string& file, std::string_view text, ReportFacts& facts) {
  facts.source_file = file;
  facts.source.clear();
  for (std::size_t at = 0; at < text.size() && facts.source.size() < kMostLines;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    facts.source.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace kiln::tool
