// SPDX-License-Identifier: MIT
// Fuzz target: OpenCL C with headers. Zero bytes divide the source from its headers, "a.h", "b.h" and so on.
#include "build/source/lexer.hpp"
#include "build/source/text.hpp"
#include "bundle/compile_log.hpp"
#include "fuzz/input.hpp"

FUZZ_TARGET(source) {
  using namespace kiln;
  Source source{"main.cl", {}};
  std::string_view rest = fuzz::text(data, size);
  for (char name = 'a' - 1; name <= 'z'; ++name) {
    const auto end = std::min(rest.find('\0'), rest.size());
    const std::string text(rest.substr(0, end));
    if (name < 'a')
      source.text = text;
    else
      source.headers.push_back({std::string(1, name) + ".h", text});
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  const auto flat = detail::flatten(source, [](const std::filesystem::path&) { return std::nullopt; });
  if (!flat) {
    fuzz::claim(flat.error().code == "K0250", "what is refused has its code");
    return 0;
  }
  const auto lexed = detail::lex_source(flat->text);
  fuzz::claim(lexed.has_value(), "what was put together can be read again");
  for (const detail::FileDirective& directive : lexed->directives)
    fuzz::claim(directive.kind == detail::FileDirective::Kind::pragma_once, "no other file is asked for");
  fuzz::claim(flat->files[0].name == "main.cl", "the source is its first file");
  (void)detail::explain_source_failure("main.cl", *flat, source.text);
  return 0;
}
