// SPDX-License-Identifier: MIT
// The places are asked of the dynamic linker and of /proc, never of argv[0], which the caller chooses.
#include "support/own_files.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>

namespace kiln::detail {

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::filesystem::path library_folder() {
  Dl_info info{};
  void* found = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&library_folder), &info, &found, RTLD_DL_LINKMAP)) return {};
  const auto* map = static_cast<const link_map*>(found);
  // The program itself has no name there, and dladdr() gives argv[0] for it.
  if (!map->l_name || !*map->l_name) return program_folder();
  // As it was when the library was loaded: its name may be relative to a folder that the process has left.
  char folder[2 * PATH_MAX];  // a current folder and a name, each of a length that the system takes
  return dlinfo(found, RTLD_DI_ORIGIN, folder) == 0 ? folder : std::filesystem::path();
}

std::filesystem::path own_file(const OwnFile& file) {
  // A link to a setuid program can stand in any folder.
  const std::filesystem::path folder = getauxval(AT_SECURE) == 0 ? library_folder() : "";
  std::error_code ignored;
  if (!folder.empty())
    for (const char* place : {file.name, file.installed, file.built})
      if (auto path = folder / place; std::filesystem::exists(path, ignored)) return path.lexically_normal();
  return file.fixed;
}

}  // namespace kiln::detail
