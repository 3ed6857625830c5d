// SPDX-License-Identifier: MIT
// Puts headers in place of the directives that ask for them.
#include "build/source/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "build/source/lexer.hpp"
#include "support/descriptor.hpp"

namespace kiln::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestText = std::size_t{16} << 20;  // bytes, of a file and of all that it becomes
constexpr std::size_t kDeepest = 200;                        // as clang

/// As in #line: `"` and `\` behind a backslash.
std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + '"';
}

/// With newlines alone at the ends of lines, and without a byte order mark.
std::string normal(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    result += text[i] == '\r' ? '\n' : text[i];
  }
  return result;
}

/// One that was read, and how it is known to files that it includes.
struct Header {
  std::string name;  ///< in messages
  fs::path folder;   ///< for what it includes in quotes
  bool in_memory = false;
  std::size_t number = 0;  ///< 0: the source itself
  std::string text{};
  LexedSource lexed{};

  [[nodiscard]] bool is_once() const {
    return std::ranges::count(lexed.directives, FileDirective::Kind::pragma_once, &FileDirective::kind) != 0;
  }
  /// The macro that stands when it was read to its end.
  [[nodiscard]] std::string guard() const {
    return is_once() ? "KILN_ONCE_" + std::to_string(number) : lexed.guard;
  }
};

Diagnostic cannot_follow(const std::string& name, std::size_t line, const std::string& what) {
  Diagnostic diagnostic{"K0250", "`" + name + "` asks for files in a way that Kiln does not follow", {}, {}};
  diagnostic.rows = {{"at", name + ":" + std::to_string(line)}, {"there is", what}};
  diagnostic.help = {"write `#include \"name\"` or `#include <name>`, with the name itself"};
  return diagnostic;
}

Diagnostic bad_source(const std::string& name, std::vector<DiagnosticRow> rows, std::string help) {
  return {"K0250", "`" + name + "` cannot be read as OpenCL C", std::move(rows), {std::move(help)}};
}

class Flattener {
 public:
  Flattener(const kiln::Source& source, const ReadHeader& read) : source_(source), read_(read) {}

  tl::expected<SourceText, Diagnostic> run() {
    for (const SourceHeader& header : source_.headers)
      memory_.insert_or_assign(fs::path(header.name).lexically_normal().string(), &header);
    Header main{source_.name.empty() ? kNamelessSource : source_.name, {}, true};
    if (!prepare(main, source_.text) || !macros()) return tl::unexpected(std::move(*refusal_));
    result_.files.push_back({main.name, {}, main.text});
    result_.text += "#line 1 " + in_quotes(main.name) + "\n";
    if (!put(main)) return tl::unexpected(std::move(*refusal_));
    result_.text += '\n';
    return std::move(result_);
  }

 private:
  bool refuse(Diagnostic diagnostic) {
    if (!refusal_) refusal_ = std::move(diagnostic);
    return false;
  }

  bool prepare(Header& header, std::string_view text) {
    if (text.size() > kLargestText)
      return refuse(bad_source(header.name, {{"reason", "it is larger than 16 MiB"}}, "give OpenCL C"));
    if (text.find('\0') != text.npos)
      return refuse(bad_source(header.name, {{"reason", "it has a byte of zero"}}, "give OpenCL C, as text"));
    header.text = normal(text);
    auto lexed = lex_source(header.text);
    if (!lexed) return refuse(cannot_follow(header.name, lexed.error().line, lexed.error().what));
    header.lexed = *std::move(lexed);
    if (header.lexed.asks_time)
      result_.not_kept = "`" + header.name + "` asks for the date or the time, which the key does not have";
    return true;
  }

  /// Later ones win, as with -D.
  bool macros() {
    if (!source_.macros.empty()) result_.text += "#line 1 \"<macros>\"\n";
    std::map<std::string, const SourceMacro*> last;
    const auto plain = [](const SourceMacro& macro) { return macro.name.substr(0, macro.name.find('(')); };
    for (const SourceMacro& macro : source_.macros) {
      const auto lines = [](const std::string& text) {
        return text.find_first_of(std::string_view("\n\r\0", 3));
      };
      const std::string name = plain(macro);
      const bool well = !name.empty() &&
                        name.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_") == name.npos &&
                        (name[0] < '0' || name[0] > '9');
      // What would reach into the next line, or is no text of one, would change what follows.
      if (!well || lines(macro.name) != macro.name.npos || lines(macro.value) != macro.value.npos ||
          macro.value.ends_with('\\') || macro.value.find("/*") != macro.value.npos ||
          macro.value.find("?"
                           "?/") != macro.value.npos ||
          macro.name.find("/*") != macro.name.npos)
        return refuse(bad_source(source_.name, {{"macro", macro.name + " " + macro.value}},
                                 "give each macro a name, and a value of one line without a comment"));
      last[name] = &macro;
    }
    std::string text;
    for (const SourceMacro& macro : source_.macros)
      if (last[plain(macro)] == &macro) text += "#define " + macro.name + " " + macro.value + "\n";
    Header none{"<macros>", {}, true};
    if (!prepare(none, text)) return false;
    result_.text += text;
    return true;
  }

  bool put(const Header& header) {
    chain_.push_back(&header);
    std::size_t from = 0;
    for (const FileDirective& directive : header.lexed.directives) {
      const bool once = directive.kind == FileDirective::Kind::pragma_once;
      if (once && header.number == 0) continue;
      result_.text.append(header.text, from, directive.begin - from);
      from = directive.end;
      const std::size_t more_lines = directive.end_line - directive.line;
      if (once) {
        result_.text += "#define " + header.guard();
        splice(more_lines);
        continue;
      }
      const Header* found = find(header, directive);
      if (refusal_) return false;
      if (directive.kind == FileDirective::Kind::has_include) {
        result_.text += found ? "1" : "0";
        splice(more_lines);
      } else if (!found) {
        result_.text +=
            "#error " + in_quotes(directive.name) + " is in no folder, nor among the headers given";
        result_.text.append(more_lines, '\n');
      } else if (!include(header, directive, *found)) {
        return false;
      }
    }
    result_.text.append(header.text, from);
    chain_.pop_back();
    return true;
  }

  /// So many lines end here, and the directive goes on.
  void splice(std::size_t lines) {
    for (; lines > 0; --lines) result_.text += "\\\n";
  }

  bool include(const Header& includer, const FileDirective& directive, const Header& found) {
    const std::string at = includer.name + ":" + std::to_string(directive.line);
    const std::string guard = found.guard();
    if (std::ranges::find(chain_, &found) != chain_.end()) {
      if (guard.empty())
        return refuse(bad_source(found.name, {{"reason", "it includes itself, by " + at}},
                                 "give it an include guard, or #pragma once"));
      // Inside itself a header adds nothing, as its guard stands.
      result_.text +=
          "\n#ifndef " + guard + "\n#error " + in_quotes(found.name) + " includes itself\n#endif\n";
    } else {
      if (chain_.size() >= kDeepest)
        return refuse(bad_source(found.name, {{"reason", "it is included by 200 files in a row"}, {"at", at}},
                                 "include fewer headers from headers"));
      if (std::ranges::find(result_.files, found.name, &TextFile::name) == result_.files.end())
        result_.files.push_back({found.name, at, found.text});
      if (found.is_once()) result_.text += "\n#ifndef " + guard;
      result_.text += "\n#line 1 " + in_quotes(found.name) + "\n";
      if (!put(found)) return false;
      // A backslash at its end must not take the next line along.
      result_.text += found.text.ends_with('\\') ? "\n\n" : "\n";
      if (found.is_once()) result_.text += "#endif\n";
    }
    result_.text += "#line " + std::to_string(directive.end_line + 1) + " " + in_quotes(includer.name);
    if (result_.text.size() <= kLargestText) return true;
    return refuse(bad_source(source_.name,
                             {{"reason", "with all that it includes it is larger than 16 MiB"}, {"at", at}},
                             "include fewer headers from headers: each place counts"));
  }

  /// Null: there is none, or refusal_ says what is wrong with it.
  const Header* find(const Header& includer, const FileDirective& directive) {
    const fs::path name = directive.name;
    if (name.empty() || name.is_absolute()) {
      refuse(cannot_follow(includer.name, directive.line,
                           "`" + directive.name + "`, which is no name below a folder"));
      return nullptr;
    }
    const Header* found = nullptr;
    if (directive.quoted && includer.in_memory && !includer.folder.empty())
      found = from_memory(includer.folder / name);
    else if (directive.quoted && !includer.in_memory)
      found = from_folder(includer.folder, name);
    if (!found && !refusal_) found = from_memory(name);
    for (auto folder = source_.folders.begin(); !found && !refusal_ && folder != source_.folders.end();
         ++folder)
      found = from_folder(*folder, name);
    return found;
  }

  /// What was read once is not read again: it must not be another file the second time.
  Header& remember(std::string key, std::string name, fs::path folder, bool in_memory) {
    auto& header = read_before_[std::move(key)];
    header = {std::move(name), std::move(folder), in_memory, ++headers_};
    return header;
  }

  const Header* from_memory(const fs::path& name) {
    const auto header = memory_.find(name.lexically_normal().string());
    if (header == memory_.end()) return nullptr;
    const std::string key = "memory " + header->first;
    if (const auto known = read_before_.find(key); known != read_before_.end()) return &known->second;
    Header& read = remember(key, header->first, fs::path(header->first).parent_path(), true);
    return prepare(read, header->second->text) ? &read : nullptr;
  }

  const Header* from_folder(const fs::path& folder, const fs::path& name) {
    const fs::path path = (folder.empty() ? fs::path(".") : folder) / name;
    const std::string key = "file " + path.lexically_normal().string();
    if (const auto known = read_before_.find(key); known != read_before_.end()) return &known->second;
    const auto read = read_(path);
    if (!read) return nullptr;
    Header& header = remember(key, path.lexically_normal().string(), path.parent_path(), false);
    if (*read) return prepare(header, **read) ? &header : nullptr;
    refuse(bad_source(header.name, {{"reason", read->error()}}, "check the header and its rights"));
    return nullptr;
  }

  const kiln::Source& source_;
  const ReadHeader& read_;
  std::map<std::string, const SourceHeader*> memory_;
  std::map<std::string, Header> read_before_;
  std::size_t headers_ = 0;
  std::vector<const Header*> chain_;  ///< from the source to what is put in place
  SourceText result_;
  std::optional<Diagnostic> refusal_;
};

}  // namespace

std::optional<std::string> SourceText::line(const std::string& file, std::size_t number) const {
  const auto found = std::ranges::find(files, file, &TextFile::name);
  if (found == files.end() || number == 0) return std::nullopt;
  std::string_view text = found->text;
  for (; number > 1; --number) {
    const auto end = text.find('\n');
    if (end == text.npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

tl::expected<SourceText, Diagnostic> flatten(const kiln::Source& source, const ReadHeader& read) {
  return Flattener(source, read).run();
}

std::optional<tl::expected<std::string, std::string>> read_header(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return tl::unexpected(std::string(std::strerror(errno)));
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return tl::unexpected(std::string(std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return tl::unexpected(std::string("it is no regular file"));
  if (static_cast<std::uint64_t>(status.st_size) > kLargestText)
    return tl::unexpected(std::string("it is larger than 16 MiB"));
  // One byte more, to see a file that grows.
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t end = 0;
  while (end < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + end, text.size() - end);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(std::string(std::strerror(errno)));
    if (got == 0) break;
    end += static_cast<std::size_t>(got);
  }
  if (end == text.size()) return tl::unexpected(std::string("it changes while it is read"));
  text.resize(end);
  return text;
}

}  // namespace kiln::detail
