// SPDX-License-Identifier: MIT
// GPUs on the PCI bus and device nodes, with what sysfs says of them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>

#include "doctor/gather.hpp"
#include "doctor/names.hpp"
#include "level_zero/discovery.hpp"

namespace kiln::doctor {
namespace fs = std::filesystem;
namespace {

/// A number in a file of sysfs, such as 0x8086; 0 where there is none.
std::uint32_t number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string text;
  stream >> std::setw(32) >> text;
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  std::ranges::sort(all);
  return all;
}

std::vector<Node> nodes(const Places& places, const char* folder, const char* prefix,
                        const char* sysfs_class) {
  std::vector<Node> found;
  for (const kiln::detail::RenderNode& each :
       kiln::detail::device_nodes((places.dev / folder).string(), prefix)) {
    Node node{each.path, each.error, {}, {}, {}, {}, 0};
    struct stat status {};
    if (stat(each.path.c_str(), &status) == 0) {
      node.owner = user_name(status.st_uid);
      node.group = group_name(status.st_gid);
      char mode[8];
      std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
      node.mode = mode;
    }
    const fs::path device = places.sys / "class" / sysfs_class / fs::path(each.path).filename() / "device";
    std::error_code error;
    if (fs::exists(device, error)) {
      node.address = fs::canonical(device, error).filename().string();
      node.vendor = number_in(device / "vendor");
    }
    found.push_back(std::move(node));
  }
  return found;
}

}  // namespace

void gather_gpus(const Places& places, Facts& facts) {
  for (const fs::path& device : entries(places.sys / "bus" / "pci" / "devices")) {
    if (number_in(device / "class") >> 16 != 0x03) continue;  // display controllers
    Card card{device.filename().string(), number_in(device / "vendor"), number_in(device / "device"), {}, {}};
    std::error_code error;
    card.kernel_driver = fs::read_symlink(device / "driver", error).filename().string();
    for (const fs::path& node : entries(device / "drm"))
      if (node.filename().string().starts_with("renderD")) card.node = node.filename().string();
    facts.cards.push_back(std::move(card));
  }
  facts.nodes = nodes(places, "dri", "renderD", "drm");
  facts.accelerators = nodes(places, "accel", "accel", "accel");
  std::error_code error;
  facts.in_container = fs::exists("/.dockerenv", error) || fs::exists("/run/.containerenv", error) ||
                       facts.environment.contains("container");
}

}  // namespace kiln::doctor
