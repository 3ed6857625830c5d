// SPDX-License-Identifier: MIT
// Reads the messages of clang, on which all of Intel's front ends are built.
#include "bundle/compile_log.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "binary/native_sections.hpp"

namespace kiln::detail {
namespace {

constexpr std::size_t kShownErrors = 5;
constexpr std::string_view kNoEntryPoint = "module has no kernel entry point";  // read_spirv()'s words
constexpr std::size_t kShownLog = 4096;                                         // bytes
constexpr std::size_t kLongestLine = 240;  // bytes, of a source's line that is shown

/// The number behind the last colon, which is taken away with it.
std::optional<std::size_t> take_number(std::string_view& text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

std::optional<CompileMessage> read_line(std::string_view line) {
  using Kind = CompileMessage::Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {{": fatal error: ", Kind::error},
                                                          {": error: ", Kind::error},
                                                          {": warning: ", Kind::warning},
                                                          {": note: ", Kind::note}};
  for (const auto& [word, kind] : kKinds) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    std::string_view place = line.substr(0, at);
    CompileMessage message{kind, {}, 0, 0, std::string(line.substr(at + word.size()))};
    const auto last = take_number(place);
    if (!last) continue;
    const auto first = take_number(place);
    message.line = first.value_or(*last);
    message.column = first ? *last : 0;
    message.file = place;
    if (!message.file.empty()) return message;
  }
  return std::nullopt;
}

/// Characters before a byte of a text in UTF-8.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void add_excerpt(const CompileMessage& message, const SourceText& source, std::vector<DiagnosticRow>& rows) {
  auto line = source.line(message.file, message.line);
  if (!line || line->size() > kLongestLine) return;
  std::ranges::replace(*line, '\t', ' ');
  if (line->find_first_not_of(' ') == line->npos) return;
  const bool marked = message.column > 0 && message.column <= line->size() + 1;
  const std::string mark =
      marked ? std::string(characters(line->substr(0, message.column - 1)), ' ') + "^" : "";
  rows.push_back({"source", *std::move(line)});
  if (marked) rows.push_back({"here", mark});
  const auto file = std::ranges::find(source.files, message.file, &TextFile::name);
  if (file != source.files.end() && !file->included_at.empty())
    rows.push_back({"included at", file->included_at});
}

}  // namespace

std::vector<CompileMessage> read_compile_log(std::string_view log) {
  std::vector<CompileMessage> messages;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    if (auto message = read_line(log.substr(0, end))) messages.push_back(*std::move(message));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return messages;
}

Diagnostic explain_source_failure(const std::string& name, const SourceText& source, const std::string& log) {
  Diagnostic diagnostic{"K0251", "OpenCL C in `" + name + "` does not compile", {}, {}};
  diagnostic.help = {"correct the source, or the options and macros that it is given"};
  std::size_t errors = 0;
  for (const CompileMessage& message : read_compile_log(log)) {
    if (message.kind != CompileMessage::Kind::error || ++errors > kShownErrors) continue;
    const std::string place = message.file + ":" + std::to_string(message.line) +
                              (message.column ? ":" + std::to_string(message.column) : "");
    diagnostic.rows.push_back({"error", place + ": " + message.text});
    add_excerpt(message, source, diagnostic.rows);
  }
  // Compilers make SPIR-V without an entry point of it, or native code without kernels.
  if (errors == 0 && (log.find(kNoEntryPoint) != log.npos || log.find(kNoZeInfo) != log.npos)) {
    diagnostic.message = "OpenCL C in `" + name + "` compiles, and has no kernel";
    diagnostic.help = {"declare a function as `kernel void NAME(...)`",
                       "functions alone are a part that is linked: build it with `-library-compilation`"};
    return diagnostic;
  }
  if (errors > kShownErrors) diagnostic.rows.push_back({"errors in all", {}, errors});
  const auto begin = std::min(log.find_first_not_of('\n'), log.size());
  if (errors == 0) diagnostic.rows.push_back({"build log", log.substr(begin, kShownLog)});
  return diagnostic;
}

}  // namespace kiln::detail
