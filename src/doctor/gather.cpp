// SPDX-License-Identifier: MIT
// The environment, the libraries, and the order of it all.
#include "doctor/gather.hpp"

#include <dlfcn.h>
#include <grp.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "doctor/child.hpp"
#include "doctor/names.hpp"
#include "doctor/probe.hpp"
#include "level_zero/discovery.hpp"
#include "support/private_folder.hpp"

namespace kiln::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostDrivers = 16;  // of ZE_ENABLE_ALT_DRIVERS

// What the loader looks for: 1.8 only the first and the last, 1.32 all.
constexpr const char* kKnownDrivers[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
                                         "libze_intel_npu.so.1", "libze_intel_vpu.so.1"};
constexpr const char* kCompilers[] = {"libigc.so.2", "libigc.so.1", "libigdfcl.so.2", "libigdfcl.so.1"};

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=', 1);
    if (equals != text.npos) all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::vector<std::string> groups() {
  std::vector<gid_t> ids(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(ids.size()), ids.data());
  ids.resize(static_cast<std::size_t>(std::max(0, count)));
  ids.push_back(getegid());
  std::vector<std::string> names;
  for (const gid_t id : ids) names.push_back(group_name(id));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<Library> compilers(int seconds) {
  std::vector<Library> found;
  for (const char* name : kCompilers) {
    const ChildOutput output = in_child(
        [&](int result) {
          const link_map* map = nullptr;
          void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
          if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return;
          const std::string_view path(map->l_name);
          if (write(result, path.data(), path.size()) < 0) _exit(1);
        },
        seconds);
    found.push_back({name, output.result, version_of_file(output.result)});
  }
  return found;
}

std::string in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::error_code error;
  for (const std::string& folder : split(path ? path : "", ':'))
    if (const fs::path file = fs::path(folder) / program;
        access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error))
      return fs::absolute(file, error).string();
  return {};
}

/// `ocloc query` prints the version (26.27), and writes it into a file in the current folder (22.43 too).
void ask_ocloc(int seconds, Facts& facts) {
  facts.ocloc = {"ocloc", in_path("ocloc"), {}};
  if (facts.ocloc.path.empty()) return;
  const auto folder = detail::PrivateFolder::make();
  if (!folder) return;
  facts.ocloc_end =
      run_program({facts.ocloc.path, "query", "OCL_DRIVER_VERSION"}, folder->path(), seconds).end;
  std::ifstream file(folder->path() / "OCL_DRIVER_VERSION");
  std::string version;
  constexpr int kLongest = 100;  // characters
  if (file >> std::setw(kLongest) >> version; version.empty())
    std::istringstream(facts.ocloc_end.printed) >> std::setw(kLongest) >> version;
  version = version.c_str();  // 22.43 ends it with a NUL
  const bool plausible =
      !version.empty() && version.size() < 40 && version.find_first_not_of("0123456789.") == version.npos;
  if (plausible) facts.ocloc.version = version;
}

}  // namespace

Facts gather(int seconds) {
  const Places places;
  Facts facts;
  facts.environment = environment();
  facts.groups = groups();
  gather_gpus(places, facts);
  gather_files(places, facts);
  gather_caches(places, facts);
  facts.loader = probe_loader(seconds);
  std::vector<std::string> wanted(std::begin(kKnownDrivers), std::end(kKnownDrivers));
  if (const char* alternatives = std::getenv("ZE_ENABLE_ALT_DRIVERS"))
    for (const std::string& each : split(alternatives, ','))
      if (std::ranges::find(wanted, each) == wanted.end() &&
          wanted.size() < std::size(kKnownDrivers) + kMostDrivers)
        wanted.push_back(each);
  for (const std::string& library : wanted) facts.drivers.push_back(probe_driver(library, seconds));
  facts.cpu = probe_driver(kiln::detail::cpu_driver_path(), seconds);
  facts.compilers = compilers(seconds);
  ask_ocloc(seconds, facts);
  return facts;
}

}  // namespace kiln::doctor
