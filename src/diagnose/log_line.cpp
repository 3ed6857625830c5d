// SPDX-License-Identifier: MIT
// What sort of line it is: of whose device or driver, a command, or one in which nothing has failed.
#include "diagnose/log_line.hpp"

#include <algorithm>

namespace kiln::detail {
namespace {

bool is_hexadecimal(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }

/// "Nov 24 12:00:00 host kernel: ": whatever else is compiled may be named a kernel as well.
bool is_behind_time(std::string_view line, std::size_t at) {
  if (at == line.npos) return false;
  const auto is_digit = [&](std::size_t place) { return line[place] >= '0' && line[place] <= '9'; };
  for (auto colon = line.find(':'); colon < at; colon = line.find(':', colon + 1))
    if (colon > 1 && is_digit(colon - 2) && is_digit(colon - 1) && is_digit(colon + 1) && is_digit(colon + 2))
      return true;
  return false;
}

/// "modprobe: FATAL: Module zfs not found in directory …": of no module of Intel's GPUs.
bool is_of_another_module(std::string_view small) {
  return has_one_of(small, {"modprobe: ", "insmod: ", "rmmod: ", "depmod: "}) &&
         !has_one_of(small, {"i915", " xe", "'xe", "xe.ko", "drm", "dmabuf", "dma-buf", "dma_buf", "intel",
                             "mei", "gpu"});
}

/// "returns error code 5 if the file is missing": what a manual says, not what somebody met.
bool is_of_a_manual(std::string_view small) {
  const bool exits = has_one_of(small, {"exits with", "exit with", "exit code", "exit status"});
  if (!exits && !has_one_of(small, {"returns ", "return ", "fails with"})) return false;
  if (!has_one_of(small, {"code", "status", "error", "cl_", "ze_result"})) return false;
  if (small.starts_with("i ") || has_one_of(small, {" i ", "i'", " my ", " we "})) return false;
  return small.starts_with("if ") || has_one_of(small, {" if ", " unless ", " in case "}) ||
         (exits && (small.starts_with("when ") || has_one_of(small, {" when ", " whenever "})));
}

/// "  * Fix GPU hang on resume": a line of release notes, which is about what happens no more.
bool is_of_release_notes(std::string_view small) {
  while (small.starts_with(' ') || small.starts_with('\t')) small.remove_prefix(1);
  return (small.starts_with("* ") || small.starts_with("- ") || small.starts_with("+ ") ||
          small.starts_with("*) ")) &&
         has_one_of(small.substr(0, 24), {" fix", "bugfix", " revert", " avoid"});
}

/// What clinfo asks of no platform at all, to show what the loader then does: an answer, whatever it is.
bool is_asked_of_no_platform(std::string_view line) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"clGetPlatformInfo(NULL", "clGetDeviceIDs(NULL",
                                              "clCreateContext(NULL", "clCreateContextFromType(NULL"},
      [&](std::string_view call) { return line.starts_with(call); });
}

}  // namespace

std::string in_small_letters(std::string_view line) {
  std::string small(line);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return small;
}

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool is_another_vendors(std::string_view small) {
  // What has no CUDA, or takes nothing else, fails on Intel's GPU.
  const auto has = [&](std::string_view word) { return small.find(word) != small.npos; };
  if (has("not compiled with cuda") ||
      (has("xpu") &&
       (has("only support") || has("got:") || has("start of device string") || has("must be one of"))))
    return false;
  if (has("not an intel") || has("cuda/xpu") || has("xpu/cuda")) return false;
  // Who offers or wants one of several, Intel's among them, found none.
  if ((has("intel") || has("level_zero") || has("oneapi") || has("opencl")) &&
      (has(" or cuda") || has("must be one of") || has("such as") || has("expected intel") || has("only \"")))
    return false;
  for (const std::string_view word :
       {"cuda", "nvidia", "nvrm", "amdgpu", "rocm", "nccl", "geforce", "radeon", "adreno"})
    if (small.find(word) != small.npos) return true;
  return false;
}

bool asks_for_cuda(std::string_view small) {
  for (const std::string_view word : {"no cuda gpus", "cuda is not available", "cuda not available",
                                      "found no nvidia driver", "torch.cuda.is_available() is false"})
    if (small.find(word) != small.npos) return true;
  return false;
}

bool is_of_the_gpus_driver(std::string_view small) {
  for (const std::string_view word : {"i915 0000:", " xe 0000:", "[drm", "i915:", " xe:", "drmn0:"})
    if (small.find(word) != small.npos) return true;
  return small.starts_with("xe 0000:");
}

bool is_of_another_driver(std::string_view small) {
  if (is_of_the_gpus_driver(small)) return false;
  for (const std::string_view word :
       {"oom", "killed process", "dmar", "pcie", "segfault at", "general protection", "module", "bar 2"})
    if (small.find(word) != small.npos) return false;
  if (is_behind_time(small, small.find(" kernel: "))) return true;
  if (!small.starts_with('[')) return false;
  for (const std::string_view day : {"mon ", "tue ", "wed ", "thu ", "fri ", "sat ", "sun "})
    if (small.substr(1).starts_with(day)) return true;
  const auto end = small.find(']');
  const auto point = small.find('.');
  return end != small.npos && point < end && end - point == 7 &&
         small.substr(1, end - 1).find_first_not_of(" .0123456789") == small.npos;
}

bool is_node_of_another_group(std::string_view small) {
  const auto start = small.find("crw-rw---- "), number = small.find(" 226,");
  if (start == small.npos || number == small.npos || number < start) return false;
  // Mode, links, owner, group; numbers alone are what `ls -n` prints.
  std::string_view rest = small.substr(start, number - start), fields[4];
  for (std::string_view& field : fields) {
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
    field = rest.substr(0, rest.find(' '));
    rest.remove_prefix(field.size());
  }
  const auto [mode, links, owner, group] = fields;
  return !owner.empty() && owner.find_first_not_of("0123456789") != owner.npos && group != "render" &&
         group != "video" && group != "root";
}

bool is_card(std::string_view small) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"dg1", "dg2", "battlemage", "ponte vecchio", "data center gpu",
                                              "[arc a", "[arc b", "[arc pro"},
      [&](std::string_view card) { return small.find(card) != small.npos; });
}

bool is_command(std::string_view line) {
  return line.starts_with("$ ") || line.starts_with("+ ") || line.find("$ ") != line.npos;
}
bool is_compilers_command(std::string_view small) {
  std::size_t start = 0;
  if (small.starts_with("+ "))
    start = 2;
  else if (const auto prompt = small.find("$ "); prompt != small.npos)
    start = prompt + 2;
  std::string_view command = small.substr(start);
  const std::string_view program = command.substr(0, command.find(' '));
  for (const std::string_view tool : {"ocloc", "llvm-spirv", "icpx"}) {
    if (program != tool && !program.ends_with("/" + std::string(tool))) continue;
    const std::string_view rest = command.substr(std::min(command.size(), program.size() + 1));
    return start != 0 || rest.starts_with('-') || rest.starts_with("compile ");
  }
  return false;
}

bool says_failure(std::string_view small) {
  return has_one_of(small, {"fail", "error", "cannot", "unable", "could not", "unknown", "not support"});
}

bool is_innocent(std::string_view line, std::string_view small) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  for (const std::string_view start : {"except ", "except:", "catch (", "} catch", "Collecting ",
                                       "Possible results:", "Exit status: 0", "[       OK ]", "[  PASSED  ]"})
    if (line.starts_with(start)) return true;
  while (line.ends_with(' ')) line.remove_suffix(1);
  for (const std::string_view end : {" PASSED", "... ok", ".. Passed"})
    if (line.ends_with(end)) return true;
  return is_asked_of_no_platform(line) || is_of_another_module(small) || is_of_a_manual(small) ||
         is_of_release_notes(small) ||
         has_one_of(line, {". Passed ", ".   Passed", "\u2026 Passed", "module verification failed",
                           "Linking CXX executable", "Linking C executable", "-fno-exceptions",
                           "error state capture buffer maybe small", "xception handler registered",
                           "rror table:", "Conflicts with: "});
}

std::string exception_words(std::string_view line) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_letter = [&](char c) {
    return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  std::string all;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_letter(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_letter(line[end])) ++end;
    const std::string_view name = line.substr(at, end - at);
    at = end;
    if (!is_capital(name[0]) || (!name.ends_with("Error") && !name.ends_with("Exception"))) continue;
    std::string words;
    int count = 1;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool begins = i > 0 && is_capital(name[i]) &&
                          (!is_capital(name[i - 1]) || (i + 1 < name.size() && !is_capital(name[i + 1])));
      if (begins) {
        words += ' ';
        ++count;
      }
      words += name[i];
    }
    if (count > 2) all += words + ' ';
  }
  return all;
}

bool is_compilers_error(std::string_view small) {
  auto at = std::min(small.find(": error:"), small.find(": fatal error:"));
  at = std::min({at, small.find(": error c"), small.find(": fatal error c")});
  if (at == small.npos) return false;
  // A slip of the pen is its author's, and follows from no GPU.
  if (has_one_of(small, {"expected '", "expected expression", "expected identifier", "too many errors"}))
    return false;
  std::string_view place = small.substr(0, at);
  const auto drop_number = [&](char before, char behind) {
    std::string_view rest = place;
    if (behind != '\0') {
      if (!rest.ends_with(behind)) return false;
      rest.remove_suffix(1);
    }
    const auto digits = rest.find_last_not_of("0123456789,");
    if (digits == rest.npos || digits + 1 == rest.size() || rest[digits] != before) return false;
    place = rest.substr(0, digits);
    return true;
  };
  if (!drop_number('(', ')') && !drop_number(':', '\0')) return false;
  drop_number(':', '\0');               // the column stood behind the line
  const auto point = place.rfind('.');  // a name of a source has an ending, and the time of day none
  return point != place.npos && point + 1 < place.size() && place.size() - point <= 6 &&
         place.substr(point + 1).find_first_not_of("abcdefghijklmnopqrstuvwxyz+") == place.npos;
}

bool begins_pci_device(std::string_view line) {
  const auto end = line.find(' ');
  return end != line.npos && end >= 7 && end <= 12 && line[end - 2] == '.' && line[end - 5] == ':';
}

bool GitLog::line(std::string_view line) {
  if (is_command(line)) {
    commit_ = Commit::none;
    one_line_ = has_one_of(line, {"git log", "git shortlog", "git reflog", "git cherry"});
    return false;
  }
  constexpr std::size_t kShortHash = 7, kHash = 40;
  const std::string_view rest = line.substr(std::min(line.size(), line.find_first_not_of("*|\\/_ ")));
  if (rest.starts_with("commit ") && rest.size() >= 7 + kHash && is_hexadecimal(rest.substr(7, kHash))) {
    commit_ = Commit::begun;
    return true;
  }
  const bool field = std::ranges::any_of(
      std::initializer_list<std::string_view>{
          "Author: ", "AuthorDate: ", "Commit: ", "CommitDate: ", "Date: ", "Merge: "},
      [&](std::string_view name) { return rest.starts_with(name); });
  // A report may name a commit too: only its author's name makes it one of a list.
  if (commit_ != Commit::none) {
    const bool below =
        rest.empty() || line.starts_with("    ") || (line.starts_with(' ') && line.find(" | ") != line.npos);
    commit_ = field ? Commit::named : commit_ == Commit::named && below ? Commit::named : Commit::none;
    if (commit_ != Commit::none) return true;
  }
  const std::string_view hash = rest.substr(0, rest.find(' '));
  one_line_ = one_line_ &&
              (rest.empty() || (hash.size() >= kShortHash && hash.size() <= kHash && is_hexadecimal(hash)));
  return one_line_;
}

}  // namespace kiln::detail
