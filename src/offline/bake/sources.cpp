// SPDX-License-Identifier: MIT
// The sources of a bundle, and the options they are compiled with.
#include <algorithm>

#include "offline/bake/parts.hpp"

namespace kiln::offline {
namespace {

/// Words as ocloc's compiler splits them: at blanks outside of double quotes, which stay in the word.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ' ' || c == '\t' || c == '\n')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    words.back() += c;
  }
  return words;
}

void append(std::string& options, const std::string& word) {
  if (!options.empty()) options += ' ';
  options += word;
}

Error refused_source(Diagnostic diagnostic) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "bake", std::move(diagnostic));
}

/// `part`: of several, and so perhaps without all that it uses.
Result<BakeSource> told_apart(const std::string& name, std::vector<std::byte> bytes, bool part) {
  BakeSource source{name, SourceLanguage::opencl_c, std::move(bytes)};
  if (identify(source.bytes) == BinaryFormat::spirv) {
    source.language = SourceLanguage::spirv;
    // Before a compiler or a linker sees it: they end on some that are damaged.
    auto facts = read_spirv(source.bytes, part ? SpirvUse::part : SpirvUse::whole);
    if (!facts) return tl::unexpected(unreadable_part(name, {{}, BinaryFormat::spirv, std::move(facts)}));
  } else if (!name.ends_with(".cl")) {
    return tl::unexpected(refused_source(bad_source("`" + name + "` is no source of kernels", {},
                                                    "give OpenCL C in a file that ends in .cl, or SPIR-V")));
  }
  return source;
}

}  // namespace

BakeFlags parse_flags(std::string_view options) {
  BakeFlags flags;
  const auto words = words_of(options);
  flags.debug =
      std::ranges::find(words, "-g") != words.end() && std::ranges::find(words, "-s") == words.end();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("-I") && !word.starts_with("-D")) {
      append(flags.front_end, words[i]);
      append(flags.back_end, words[i]);
      continue;
    }
    const bool apart = word.size() == 2 && i + 1 < words.size();
    std::string value = apart ? words[++i] : std::string(word.substr(2));
    if (word.starts_with("-D")) {
      append(flags.front_end, "-D" + value);
      continue;
    }
    std::erase(value, '"');
    flags.include_folders.emplace_back(value);
    std::error_code ignored;
    // ocloc runs in a folder of its own.
    append(flags.front_end, "-I \"" + std::filesystem::absolute(value, ignored).string() + "\"");
  }
  return flags;
}

Diagnostic bad_source(std::string message, std::vector<DiagnosticRow> rows, std::string help) {
  return {"K0420", std::move(message), std::move(rows), {std::move(help)}};
}

Result<std::vector<BakeSource>> read_sources(const std::vector<std::string>& files,
                                             const std::vector<KernelFile>& in_memory) {
  std::vector<BakeSource> sources;
  const bool several = files.size() + in_memory.size() > 1;
  for (const std::string& path : files) {
    KILN_TRY(auto file, read_kernel_file(path));
    KILN_TRY(auto source, told_apart(path, std::move(file.bytes), several));
    sources.push_back(std::move(source));
  }
  for (const KernelFile& file : in_memory) {
    KILN_TRY(auto source, told_apart(file.name, file.bytes, several));
    sources.push_back(std::move(source));
  }
  if (sources.empty())
    return tl::unexpected(refused_source(bad_source("there is no source to bake", {}, "name one at least")));
  return sources;
}

}  // namespace kiln::offline
