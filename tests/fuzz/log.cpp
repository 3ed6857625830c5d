// SPDX-License-Identifier: MIT
// Fuzz target: logs and traces, whole and in blocks. The first byte chooses the blocks.
#include "diagnose/lines.hpp"
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

namespace {

std::string said(const kiln::LogReader& reader) {
  const auto finding = reader.finding();
  if (!finding) return {};
  kiln::fuzz::claim_renders(*finding);
  return to_text(*finding);
}

}  // namespace

FUZZ_TARGET(log) {
  using namespace kiln;
  if (size == 0) return 0;
  std::uint32_t state = *data;
  const std::string_view log = fuzz::text(data + 1, size - 1);

  LogReader by_line;
  std::uint64_t count = 0;
  for (std::string_view rest = log; !rest.empty(); ++count) {
    const auto end = rest.find('\n');
    by_line.line(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  LogReader by_block;
  Lines lines(by_block);
  for (std::string_view rest = log; !rest.empty();) {
    state = state * 1103515245 + 12345;  // some block or other, the same for the same input
    const std::size_t block = std::min<std::size_t>(rest.size(), (state >> 16) % 97);
    lines.add(rest.substr(0, block));
    rest.remove_prefix(block);
  }
  lines.end();
  fuzz::claim(lines.count() == count, "lines are counted alike");
  fuzz::claim(said(by_line) == said(by_block), "blocks change nothing");
  if (const auto meaning = explain_code(log.substr(0, log.find('\n'))))
    fuzz::claim(!meaning->name.empty() && !meaning->meaning.empty(), "a code that is known has a meaning");
  return 0;
}
