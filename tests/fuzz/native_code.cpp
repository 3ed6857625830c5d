// SPDX-License-Identifier: MIT
// Fuzz target: the reader of libiga64's text, what is counted in it, and the reader of line tables.
#include "binary/native_sections.hpp"
#include "fuzz/input.hpp"
#include "xe/analysis.hpp"
#include "xe/lines.hpp"

FUZZ_TARGET(native_code) {
  using namespace kiln;
  const auto file = fuzz::bytes(data, size);
  for (const auto& section : detail::native_sections(file)) {
    fuzz::claim(
        section.content.empty() || (section.content.data() >= file.data() &&
                                    section.content.data() + section.content.size() <= file.data() + size),
        "a section lies inside its file");
  }
  const auto tables = xe::read_lines(file);
  for (const auto& [section, lines] : tables.lines)
    for (const auto& line : lines) fuzz::claim(line.file < tables.files.size(), "a line has a file");
  const auto text = fuzz::text(data, size);
  std::uint64_t code = 0;  // as the text would have it
  for (std::size_t at = 0; at < size; at = std::min(text.find('\n', at), size - 1) + 1) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    if (!line.starts_with('L') && line.find_first_not_of(" \r\t") != line.npos)
      code += line.find("Compacted") == line.npos ? 16 : 8;
  }
  if (const auto instructions = xe::read_instructions(text, code)) {
    const auto analysis = xe::analyze(*instructions, 32);
    fuzz::claim(analysis.live.peak <= 512, "there are so many registers");
    fuzz::claim(analysis.instructions <= instructions->size(), "what is counted is there");
  }
  return 0;
}
