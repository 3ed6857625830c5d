// SPDX-License-Identifier: MIT
// `kiln explain`: what a code means, or why the program behind a log failed.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "diagnose/lines.hpp"
#include "tool/code_pages.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"
#include "tool/record.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kBlock = 1 << 20;            // bytes
constexpr std::uint64_t kProgressStep = 64 << 20;  // bytes

class File {
 public:
  explicit File(const std::string& path) : file_(path == "-" ? stdin : std::fopen(path.c_str(), "rbe")) {}
  File(File&&) = delete;
  ~File() {
    if (file_ && file_ != stdin) std::fclose(file_);
  }
  [[nodiscard]] std::FILE* get() const { return file_; }

 private:
  std::FILE* file_;
};

/// Reads a stream block by block, however large; tells on a terminal how far it is.
class Stream {
 public:
  Stream(std::FILE* file, std::uint64_t size)
      : file_(file), size_(size), shown_(isatty(STDERR_FILENO) == 1) {}

  void read(Lines& lines) {
    std::string block(kBlock, '\0');
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), file_)) {
      lines.add({block.data(), got});
      progress(got);
    }
    lines.end();
    if (told_) clear_progress();
  }

 private:
  void progress(std::size_t got) {
    read_ += got;
    if (!shown_ || read_ < next_) return;
    next_ += kProgressStep;
    told_ = true;
    const auto mebibytes = [](std::uint64_t bytes) { return static_cast<unsigned long long>(bytes >> 20); };
    if (size_)
      show_progress("read %llu of %llu MiB", mebibytes(read_), mebibytes(size_));
    else
      show_progress("read %llu MiB", mebibytes(read_));
  }

  std::FILE* file_;
  std::uint64_t size_, read_ = 0, next_ = kProgressStep;
  bool shown_, told_ = false;
};

void print_list(const char* title, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) say("  %s: %s\n", title, text.c_str());
}

/// Logs that have the cause more often, where one has none.
constexpr const char* kBetterLogs[] = {
    "the kernel's log of that minute: `sudo dmesg -T | grep -E 'i915|xe|oom'`",
    "the driver's reasons: NEOReadDebugKeys=1 PrintDebugMessages=1 PROGRAM 2>program.log",
    "what is refused and why, and what ran when it died: `kiln exec --record calls -- PROGRAM`, then `kiln "
    "explain "
    "calls`",
    "all calls: onetrace -c PROGRAM (or unitrace); SYCL_UR_TRACE=2 for SYCL, ONEDNN_VERBOSE=all for oneDNN",
    "where no device is found: `kiln doctor`"};

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

int tell(const CodeMeaning& meaning, bool as_json) {
  if (as_json) {
    Json json{{"name", meaning.name}};
    if (meaning.value) json["value"] = *meaning.value, json["hexadecimal"] = hex(*meaning.value);
    json["meaning"] = meaning.meaning;
    json["causes"] = meaning.causes;
    json["cures"] = meaning.cures;
    print(json);
    return kOk;
  }
  say("%s", meaning.name.c_str());
  if (meaning.value) say(" (%s, %u)", hex(*meaning.value).c_str(), *meaning.value);
  say(": %s\n", meaning.meaning.c_str());
  print_list("cause", meaning.causes);
  print_list("help", meaning.cures);
  return kOk;
}

int tell(const CodePage& page, bool as_json) {
  if (as_json) {
    print({{"code", page.code},
           {"cause", page.cause},
           {"result", page.result},
           {"cure", page.cure},
           {"example", page.example}});
    return kOk;
  }
  say("%s: %s\n", page.code.c_str(), page.cause.c_str());
  if (!page.result.empty()) say("  result code: %s\n", page.result.c_str());
  if (!page.cure.empty()) say("  help: %s\n", page.cure.c_str());
  say("\nFor example:\n\n%s", page.example.c_str());
  return kOk;
}

int fail(const Error& error, bool as_json) {
  if (as_json) print({{"error", to_json(error)}});
  complain("%s", error.text().c_str());
  return exit_code(error);
}

Error unreadable(const std::string& path, std::string why) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "read",
               {"K0402",
                "log `" + path + "` cannot be read",
                {{"reason", std::move(why)}},
                {"name a file, or - for what comes through a pipe"}});
}

/// That of the code which Kiln had reported in the log; null: it had not, or a later release's.
const CodePage* reported_page(const Diagnostic& finding) {
  if (finding.code != "K0509") return nullptr;
  for (const CodePage& page : code_pages())
    if (page.code == finding.rows.front().text) return &page;
  return nullptr;
}

int read_log(const std::string& path, bool as_json) {
  std::error_code error;
  if (path != "-" && std::filesystem::is_directory(path, error))
    return fail(unreadable(path, "it is a folder"), as_json);
  // Such as /dev/zero, which has no end; a terminal's is typed.
  const bool is_device =
      std::filesystem::is_character_file(path, error) || std::filesystem::is_block_file(path, error);
  const File file(path);
  if (is_device && file.get() && isatty(fileno(file.get())) != 1)
    return fail(unreadable(path, "it is a device"), as_json);
  if (!file.get()) return fail(unreadable(path, std::strerror(errno)), as_json);
  if (std::filesystem::is_regular_file(path, error) && is_record(file.get()))
    return explain_record(file.get(), path.c_str(), as_json);
  const std::uint64_t size = path == "-" ? 0 : std::filesystem::file_size(path, error);
  LogReader reader;
  Lines lines(reader);
  Stream(file.get(), error ? 0 : size).read(lines);
  if (std::ferror(file.get())) return fail(unreadable(path, "reading failed"), as_json);
  const auto finding = reader.finding();
  const CodePage* page = finding ? reported_page(*finding) : nullptr;
  if (as_json) {
    Json json{{"lines", lines.count()},
              {"finding", finding ? Json::parse(kiln::to_json(*finding)).value() : Json()}};
    if (!finding) json["help"] = std::vector<std::string>(std::begin(kBetterLogs), std::end(kBetterLogs));
    if (page) json["page"] = {{"code", page->code}, {"cause", page->cause}, {"cure", page->cure}};
    print(json);
  } else if (finding) {
    say("%s", to_text(*finding).c_str());
    if (page) say("\n%s: %s\n", page->code.c_str(), page->cause.c_str());
    if (page && !page->cure.empty()) say("  help: %s\n", page->cure.c_str());
  } else {
    say("no failure found in %llu lines\n", static_cast<unsigned long long>(lines.count()));
    for (const char* log : kBetterLogs) say("  help: %s\n", log);
  }
  return finding ? kOk : kWrongAnswer;
}

}  // namespace

int explain(const ExplainOptions& options) {
  if (const auto meaning = explain_code(options.what)) return tell(*meaning, options.json);
  for (const CodePage& page : code_pages())
    if (page.code == options.what) return tell(page, options.json);
  std::error_code error;
  // What has such a letter is no code, and the name of a file that is not there.
  if (options.what == "-" || options.what.find_first_of("/.") != std::string::npos ||
      std::filesystem::exists(options.what, error))
    return read_log(options.what, options.json);
  return fail(
      Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "explain",
            {"K0403",
             "`" + options.what + "` is no code that is known here, and no file",
             {},
             {"give ZE_RESULT_ERROR_…, 0x70000003, CL_OUT_OF_RESOURCES, -5, UR_RESULT_ERROR_… or K0101",
              "or the name of a log, or - for what comes through a pipe"}}),
      options.json);
}

}  // namespace kiln::tool
