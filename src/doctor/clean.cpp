// SPDX-License-Identifier: MIT
// What may be public is listed; all else is left out.
#include "doctor/clean.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "doctor/judgement.hpp"
#include "kiln/open.hpp"

namespace kiln::doctor {
namespace {

enum class Shown : std::uint8_t { number, mask, words, device, file, libraries, folder, folders };

struct PublicVariable {
  std::string_view name;
  Shown as;
};

// Names that are read by Intel's driver, the loaders, the runtimes above and Kiln. Those that a prefix alone
// would take, such as SYCL_TOKEN, are not shown.
constexpr PublicVariable kPublic[] = {
    {"CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE", Shown::number},
    {"CL_CONFIG_CPU_FORCE_PRIVATE_MEM_SIZE", Shown::number},
    {"CreateMultipleRootDevices", Shown::number},
    {"CreateMultipleSubDevices", Shown::number},
    {"EnableDeferBacking", Shown::number},
    {"ForceDeviceId", Shown::number},
    {"GPU_ENABLE_LARGE_ALLOCATIONS", Shown::words},
    {"HardwareInfoOverride", Shown::number},
    {"IGC_DumpToCurrentDir", Shown::number},
    {"IGC_ShaderDumpEnable", Shown::number},
    {"KILN_CACHE", Shown::words},
    {"KILN_CPU_DRIVER", Shown::file},
    {"KILN_DEVICE", Shown::device},
    {"KILN_MEMORY_ROOT", Shown::folder},
    {"LD_LIBRARY_PATH", Shown::folders},
    {"LD_PRELOAD", Shown::libraries},
    {"NEOReadDebugKeys", Shown::number},
    {"NEO_CACHE_DIR", Shown::folder},
    {"NEO_CACHE_MAX_SIZE", Shown::number},
    {"NEO_CACHE_PERSISTENT", Shown::number},
    {"NEO_FP64_EMULATION", Shown::number},
    {"NEO_LOCAL_MEMORY_ALLOCATION_MODE", Shown::number},
    {"ONEAPI_DEVICE_SELECTOR", Shown::words},
    {"OverrideDefaultFP64Settings", Shown::number},
    {"OverrideHwIpVersion", Shown::number},
    {"PrintDebugMessages", Shown::number},
    {"ProductFamilyOverride", Shown::words},
    {"SYCL_CACHE_PERSISTENT", Shown::number},
    {"SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS", Shown::number},
    {"SYCL_PI_TRACE", Shown::number},
    {"SYCL_UR_TRACE", Shown::number},
    {"SetCommandStreamReceiver", Shown::number},
    {"UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS", Shown::number},
    {"UR_L0_USE_IMMEDIATE_COMMANDLISTS", Shown::number},
    {"UseAubStream", Shown::number},
    {"UseBindlessMode", Shown::number},
    {"UseExternalAllocatorForSshAndDsh", Shown::number},
    {"ZEL_DRIVERS_ORDER", Shown::words},
    {"ZEL_LIBRARY_PATH", Shown::folder},
    {"ZES_ENABLE_SYSMAN", Shown::number},
    {"ZET_ENABLE_API_TRACING_EXP", Shown::number},
    {"ZET_ENABLE_METRICS", Shown::number},
    {"ZET_ENABLE_PROGRAM_DEBUGGING", Shown::number},
    {"ZET_ENABLE_PROGRAM_INSTRUMENTATION", Shown::number},
    {"ZEX_NUMBER_OF_CCS", Shown::number},
    {"ZE_AFFINITY_MASK", Shown::mask},
    {"ZE_ENABLE_ALT_DRIVERS", Shown::libraries},
    {"ZE_ENABLE_LOADER_DEBUG_TRACE", Shown::number},
    {"ZE_ENABLE_LOADER_DRIVER_DDI_PATH", Shown::number},
    {"ZE_ENABLE_LOADER_INTERCEPT", Shown::number},
    {"ZE_ENABLE_NULL_DRIVER", Shown::number},
    {"ZE_ENABLE_PARAMETER_VALIDATION", Shown::number},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", Shown::number},
    {"ZE_ENABLE_TRACING_LAYER", Shown::number},
    {"ZE_ENABLE_VALIDATION_LAYER", Shown::number},
    {"ZE_FLAT_DEVICE_HIERARCHY", Shown::words},
};

constexpr std::string_view kPrefixes[] = {"CL_CONFIG_", "IGC_", "KILN_", "NEO",  "ONEAPI_", "PI_", "SYCL_",
                                          "UR_",        "ZEL_", "ZES_",  "ZET_", "ZEX_",    "ZE_"};

constexpr std::string_view kWords[] = {
    "COMBINED", "COMPOSITE", "FLAT", "NO",         "OFF",        "ON",   "YES",        "acc",
    "all",      "auto",      "bmg",  "capture",    "cpu",        "cuda", "dg2",        "discrete",
    "fpga",     "gpu",       "hip",  "integrated", "level_zero", "lnl",  "native_cpu", "no",
    "npu",      "off",       "on",   "opencl",     "ptl",        "pvc",  "read",       "sim",
    "skl",      "tgllp",     "true", "false",      "yes",        "KMD"};

constexpr std::string_view kFiles[] = {"Options.txt",        "igdrcl.config", "l0_cache",    "neo.config",
                                       "neo_compiler_cache", "ocloc",         "kiln-compile"};
constexpr std::string_view kLibraries[] = {"libOpenCL.so", "libigc.so",       "libigdfcl.so", "libkiln",
                                           "libocloc",     "libopencl-clang", "libze_"};
// Folders of the system, and what is below.
constexpr std::string_view kFolders[] = {"/dev", "/etc/OpenCL", "/lib",     "/lib64",     "/opt/intel",
                                         "/sys", "/usr/bin",    "/usr/lib", "/usr/lib64", "/usr/libexec"};
constexpr std::string_view kGroups[] = {"render", "root", "video"};

constexpr std::size_t kLongestNumber = 16, kLongestMask = 1024, kLongestLine = 400;
constexpr std::size_t kMostLines = 200;  // of the kernel's log

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_one_of(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

/// "1", "0.1,1", "8x4x16", "0xe20b"; nothing that a person would choose.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kLongestNumber && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || std::string_view(".,:-xabcdefABCDEFMGK").find(c) != std::string_view::npos;
  }) && std::ranges::any_of(text, is_digit);
}

/// Devices and tiles; what is wrong with it a judge finds.
bool is_public_mask(std::string_view text) {
  return text.size() <= kLongestMask && text.find_first_not_of("0123456789,.") == text.npos;
}

bool is_words(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      if (std::string_view(":,;.!* -").find(text[at]) == std::string_view::npos) return false;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (!is_one_of(kWords, word) && !(word.size() <= 3 && std::ranges::all_of(word, is_digit))) return false;
    at = end;
  }
  return true;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_public_file(std::string_view name) {
  if (is_one_of(kFiles, name)) return true;
  return std::ranges::any_of(kLibraries, [&](std::string_view begin) { return name.starts_with(begin); }) &&
         std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

/// "libze_x.so", "build/libze_x.so.1".
bool is_library(std::string_view word) {
  const auto end = word.find(".so");
  return end != word.npos && (end + 3 == word.size() || word[end + 3] == '.') &&
         std::ranges::all_of(word, [](char c) { return is_word(c) || std::string_view("./+-").find(c) < 4; });
}

/// Without what leads nowhere: of one folder there is one text.
std::string normal(std::string_view path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

bool is_public_folder(std::string_view path) {
  return std::ranges::any_of(kFolders, [&](std::string_view each) { return is_below(path, each); });
}

/// What the name of a file ends with may be anything.
std::string version(const std::string& text) {
  return text.find_first_not_of("0123456789.") == text.npos ? text : "";
}

const PublicVariable* public_variable(std::string_view name) {
  // Drivers since 2023 take keys with these before them.
  for (const std::string_view prefix : {"", "NEO_L0_", "NEO_"}) {
    if (!name.starts_with(prefix)) continue;
    const auto found = std::ranges::find(kPublic, name.substr(prefix.size()), &PublicVariable::name);
    if (found != std::end(kPublic)) return found;
  }
  return nullptr;
}

/// Every `word` of the text, where no letter or digit stands beside it, as `by`.
void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos;) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !is_word(text[at - 1]) || !is_word(word.front())) &&
                       (end == text.size() || !is_word(text[end]) || !is_word(word.back()));
    if (whole) text.replace(at, word.size(), by);
    at += whole ? by.size() : 1;
  }
}

/// Where `[4711]` is a process, what stands before it is its program: "in llama-server [4711]", "[drm]
/// llama-server[4711] context reset", "i915-0000:03:00.0:llama-server[4711]". "CAT error [18]" is none.
std::string without_programs(std::string line) {
  constexpr std::string_view kProgram = "(program)";
  for (std::size_t open = line.find('['); open != line.npos; open = line.find('[', open + 1)) {
    std::size_t end = open + 1;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end == open + 1 || end == line.size() || line[end] != ']') continue;
    std::size_t begin = line.npos;
    if (open > 0 && line[open - 1] != ' ') {
      for (const std::string_view before : {"[drm] ", ": ", " in "})
        if (const auto at = line.rfind(before, open - 1); at != line.npos)
          begin = std::max(begin == line.npos ? 0 : begin, at + before.size());
      if (const auto fence = line.rfind(':', open - 1);
          fence != line.npos && line.rfind("i915-", fence) != line.npos)
        begin = std::max(begin == line.npos ? 0 : begin, fence + 1);
    } else if (const auto in = line.rfind(" in ", open); in != line.npos) {
      begin = in + 4;
    }
    if (begin == line.npos || begin >= open) continue;
    const std::size_t length = open - begin;
    line.replace(begin, length, kProgram);
    open = begin + kProgram.size();
  }
  for (const std::string_view key : {"comm=", "comm: ", "Comm: ", "Process: ", "process: ", "process "})
    for (std::size_t at = 0; (at = line.find(key, at)) != line.npos;) {
      const bool is_verb =
          std::string_view(line).substr(0, at).ends_with(" to ");  // "Failed to process CT message"
      at += key.size();
      if (is_verb) continue;
      const std::size_t end = std::min(line.find_first_of(",;[", at), line.size());
      line.replace(at, end - at, kProgram);
      at += kProgram.size();
    }
  return line;
}

}  // namespace

std::vector<std::string> private_words() {
  std::vector<std::string> words;
  const auto add = [&](const char* text) {
    if (text && std::string_view(text).size() > 1) words.emplace_back(text);
  };
  for (const char* name : {"HOME", "USER", "LOGNAME", "SUDO_USER", "HOSTNAME", "NAME"})
    add(std::getenv(name));
  if (const passwd* user = getpwuid(getuid())) {
    add(user->pw_dir);
    add(user->pw_name);
    if (user->pw_gecos)
      add(std::string(user->pw_gecos).substr(0, std::string_view(user->pw_gecos).find(',')).c_str());
  }
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) == 0) {
    add(host);
    add(std::string(host).substr(0, std::string_view(host).find('.')).c_str());
  }
  // Longer ones first, as one may be a part of another; and names that every machine has.
  std::erase_if(words,
                [](const std::string& word) { return word == "root" || word == "/root" || word == "/"; });
  std::ranges::sort(words, std::ranges::greater{}, &std::string::size);
  return words;
}

std::string Cleaner::placeholder(const char* what, const std::string& of) {
  auto& known = std::string_view(what) == "group" ? groups_ : folders_;
  const auto [place, made] = known.try_emplace(of);
  if (made) place->second = "(" + std::string(what) + " " + std::to_string(known.size()) + ")";
  return place->second;
}

std::string Cleaner::path(std::string_view given) {
  if (given.empty()) return {};
  std::string path = normal(given);
  if (is_public_folder(path)) {
    for (const std::string& word : words_) replace_word(path, word, "(name)");
    return path;
  }
  // A name alone is looked for, and no path.
  if (given.find('/') != given.npos && path.find('/') == path.npos) path.insert(0, "./");
  const auto slash = path.rfind('/');
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  if (slash == path.npos) return is_public_file(name) ? name : "(file)";
  if (!is_public_file(name)) return placeholder("folder", path);
  return placeholder("folder", path.substr(0, slash)) + "/" + name;
}

std::string Cleaner::folder(std::string_view given) {
  const std::string path = normal(given);
  return path.empty() || is_public_folder(path) ? this->path(path) : placeholder("folder", path);
}

void Cleaner::remember(const std::string& name) {
  const auto add = [&](const std::string& raw, const std::string& clean) {
    if (clean != raw && std::ranges::any_of(raw, is_word)) names_.try_emplace(raw, clean);
  };
  add(name, path(name));
  if (const auto slash = name.rfind('/'); slash != name.npos)
    add(name.substr(0, slash), folder(std::string_view(name).substr(0, slash)));
}

std::string Cleaner::text(std::string_view given) {
  std::string clean;
  const auto is_begin = [&](std::size_t at, char first) {
    return at == 0 || !is_word(first) || !is_word(given[at - 1]);
  };
  const auto remembered = [&](std::size_t at) {
    return std::ranges::find_if(names_, [&](const auto& each) {
      const std::string& raw = each.first;
      const std::size_t end = at + raw.size();
      return given.substr(at).starts_with(raw) && is_begin(at, raw.front()) &&
             (end == given.size() || !is_word(raw.back()) || !is_word(given[end]));
    });
  };
  for (std::size_t at = 0; at < given.size();) {
    if (const auto name = remembered(at); name != names_.end()) {
      clean += name->second;
      at += name->first.size();
      continue;
    }
    const char before = at ? given[at - 1] : ' ';
    if (!is_word(before) && before != '.' && before != '/') {
      const std::size_t end = std::min(given.find_first_of(" \t\n'\"`,;:()<>", at), given.size());
      const std::string_view word = given.substr(at, end - at);
      if (word.starts_with('/') || is_library(word)) {
        clean += path(word);
        at = end;
        continue;
      }
    }
    clean += given[at++];
  }
  for (const std::string& word : words_) replace_word(clean, word, "(name)");
  return clean;
}

/// One that names a device, or none, does so afterwards too.
std::string Cleaner::device_request(std::string_view request) {
  const auto parsed = parse_device_request(request);
  if (!parsed) return is_words(request) ? std::string(request) : "(no device)";
  if (parsed->kind == DeviceKind::driver) return "driver:" + path(parsed->product);
  if (parsed->kind == DeviceKind::capture && !is_words(request)) return "capture:(product)";
  return std::string(request);
}

std::string Cleaner::value(std::string_view name, std::string_view value) {
  const PublicVariable* known = public_variable(name);
  const std::string hidden = "(set; not a value that is known)";
  if (!known) return hidden;
  switch (known->as) {
    case Shown::number:
      return value.empty() || is_number(value) ? std::string(value) : hidden;
    case Shown::mask:
      return is_public_mask(value) ? std::string(value) : hidden;
    case Shown::words:
      return is_words(value) ? std::string(value) : hidden;
    case Shown::device:
      return value.empty() ? "" : device_request(value);
    case Shown::file:
      return path(value);
    case Shown::folder:
      return folder(value);
    case Shown::libraries:
    case Shown::folders: {
      std::string list;
      const std::string_view separators = known->as == Shown::folders ? ":" : ":, ";
      while (!value.empty()) {
        const auto end = std::min(value.find_first_of(separators), value.size());
        if (end)
          list += (list.empty() ? "" : std::string(1, separators.size() == 1 ? ':' : ',')) +
                  (known->as == Shown::folders ? folder(value.substr(0, end)) : path(value.substr(0, end)));
        value.remove_prefix(std::min(end + 1, value.size()));
      }
      return list;
    }
  }
  return hidden;
}

std::size_t Cleaner::take_out(std::map<std::string, std::string>& all, bool is_settings) {
  std::size_t keys = 0;
  for (auto each = all.begin(); each != all.end();) {
    const std::string& name = each->first;
    if (public_variable(name)) {
      each->second = value(name, each->second);
      ++each;
      continue;
    }
    const bool key = is_settings || is_key(name);
    keys += key;
    left_out_ += key || std::ranges::any_of(
                            kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    each = all.erase(each);
  }
  return keys;
}

std::string Cleaner::group(const std::string& name) {
  return name.empty() || is_one_of(kGroups, name) ? name : placeholder("group", name);
}

Start Cleaner::start(Start start) {
  start.library = path(start.library);
  start.path = path(start.path);
  start.error = text(start.error);
  start.version = version(start.version);
  start.end.printed.clear();
  for (DeviceFact& device : start.devices) device.name = text(device.name);
  if (start.refusal) {
    start.refusal->message = text(start.refusal->message);
    for (DiagnosticRow& row : start.refusal->rows) row.text = text(row.text);
    for (std::string& help : start.refusal->help) help = text(help);
  }
  return start;
}

Facts Cleaner::facts(const Facts& given) {
  Facts clean = given;
  std::vector<const Start*> starts{&given.loader, &given.cpu};
  for (const Start& driver : given.drivers) starts.push_back(&driver);
  for (const Start* each : starts)
    for (const std::string& name : {each->library, each->path}) remember(name);
  clean.hidden_keys = take_out(clean.environment, false);
  for (std::vector<Node>* nodes : {&clean.nodes, &clean.accelerators})
    for (Node& node : *nodes) {
      if (node.owner != "root") node.owner = "(user)";
      node.group = group(node.group);
    }
  // Of the process's groups those that nodes have.
  const auto used = [&](const std::string& name) {
    if (is_one_of(kGroups, name)) return true;
    const auto has = [&](const Node& node) { return node.group == name; };
    return std::ranges::any_of(given.nodes, has) || std::ranges::any_of(given.accelerators, has);
  };
  std::erase_if(clean.groups, [&](const std::string& name) { return !used(name); });
  for (std::string& name : clean.groups) name = group(name);
  clean.loader = start(given.loader);
  for (Start& driver : clean.drivers) driver = start(driver);
  clean.cpu = start(given.cpu);
  for (Library& library : clean.compilers) {
    library.path = path(library.path);
    library.version = version(library.version);
  }
  clean.ocloc.path = path(given.ocloc.path);
  clean.ocloc_end.printed.clear();
  const auto settings = [&](Settings& file) {
    file.path = path(file.path);
    file.hidden = take_out(file.keys, true);
  };
  for (Settings& file : clean.driver_settings) settings(file);
  if (clean.compiler_settings) settings(*clean.compiler_settings);
  for (std::string& file : clean.ocloc_files) file = "(file)_options.txt";
  for (Folder& folder : clean.caches) {
    folder.path = path(folder.path);
    if (folder.owner != "root" && !folder.owner.empty())
      folder.owner = folder.foreign ? "(another user)" : "(user)";
  }
  return clean;
}

MemoryAccount Cleaner::account(MemoryAccount account) {
  account.program.clear();
  for (MemoryClient& client : account.clients) client.program.clear();
  for (std::size_t i = 0; i < account.groups.size(); ++i)
    account.groups[i].path = i + 1 == account.groups.size() ? "/" : "(group, " + std::to_string(i) + " up)";
  return account;
}

std::vector<std::string> Cleaner::kernel_log(std::string_view log) {
  std::vector<std::string> lines;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (!line.starts_with('<')) continue;
    const auto close = line.find('>');
    // "<4>[   12.345678] xe 0000:03:00.0: …": above 7 it is of a user.
    if (close != 2 || line[1] < '0' || line[1] > '7') continue;
    line.remove_prefix(close + 1);
    std::string_view message = line;
    if (message.starts_with('[')) {
      const auto time = message.find("] ");
      if (time == message.npos) continue;
      message.remove_prefix(time + 2);
    }
    const bool is_gpu =
        std::ranges::any_of(std::to_array<std::string_view>({"i915 ", "i915: ", "xe ", "xe: ", "[drm", "drm",
                                                             "Fence expiration time out i915", "mei_gsc"}),
                            [&](std::string_view begin) { return message.starts_with(begin); });
    if (!is_gpu) continue;
    lines.push_back(text(without_programs(std::string(line))).substr(0, kLongestLine));
    if (lines.size() > kMostLines) lines.erase(lines.begin());
  }
  return lines;
}

}  // namespace kiln::doctor
