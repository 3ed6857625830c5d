// SPDX-License-Identifier: MIT
// Finds, makes and verifies cache folders.
#include "cache/folder.hpp"

#include <dirent.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "cache/disk/file_system.hpp"

namespace kiln::cache {
namespace fs = std::filesystem;
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr const char* kVersionFolder = "v1";

/// Empty when the folder may be used.
std::string distrust(const struct stat& status, Access access) {
  if (access == Access::any) return {};
  const bool own = status.st_uid == geteuid();
  if (!own && !(access == Access::read && status.st_uid == 0))
    return "it belongs to another user (" + std::to_string(status.st_uid) + ")";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return {};
}

void make_all(const fs::path& path) {
  fs::path above;
  for (const fs::path& part : path) {
    above /= part;
    mkdir(above.c_str(), 0700);  // what fails here shows when the last one is opened
  }
}

/// In a temporary folder whoever is quicker makes what has a known name, also where nothing is there yet;
/// what is there counts when it is the user's own.
bool is_temporary(fs::path folder) {
  struct stat status {};
  while (stat(folder.c_str(), &status) != 0 && folder.has_relative_path()) folder = folder.parent_path();
  if ((status.st_mode & S_ISVTX) && (status.st_mode & S_IWOTH)) return true;
  return status.st_uid != geteuid() && folder.has_relative_path() && is_temporary(folder.parent_path());
}

Result<fs::path> folder_below(const fs::path& base, const char* name) {
  if (!is_temporary(base)) return base / name;
  return tl::unexpected(unusable_folder(base / name, "it would lie in a temporary folder", EACCES));
}

}  // namespace

Folder::Folder(fs::path path, Access access, Descriptor version)
    : path_(std::move(path)),
      access_(access),
      version_(std::move(version)),
      file_system_(shared_file_system_of(version_.get())) {}

std::string Folder::distrusts(const struct stat& status) const { return distrust(status, access_); }

bool Folder::may_read(const CacheKey& key) const {
  std::atomic<bool>& verified = shared_->verified[key.bytes[0]];
  if (verified.load(std::memory_order_relaxed)) return true;
  const EntryName name(key);
  struct stat status {};
  if (fstatat(descriptor(), name.folder().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISDIR(status.st_mode) || !trusts(status)) return false;
  verified.store(true, std::memory_order_relaxed);
  return true;
}

tl::expected<Descriptor, int> Folder::subfolder(const char* name, bool make) const {
  Descriptor folder(openat(descriptor(), name, kFolder));
  if (!folder && errno == ENOENT && make) {
    if (mkdirat(descriptor(), name, 0700) != 0 && errno != EEXIST) return tl::unexpected(errno);
    folder = Descriptor(openat(descriptor(), name, kFolder));
  }
  struct stat status {};
  if (!folder || fstat(folder.get(), &status) != 0) return tl::unexpected(errno);
  if (!trusts(status)) return tl::unexpected(EPERM);
  return folder;
}

Result<Folder> open_folder(const fs::path& path, Access access) {
  if (!path.is_absolute()) return tl::unexpected(unusable_folder(path, "its path is not absolute", EINVAL));
  if (access == Access::write) make_all(path);
  // The last part may be no link either, even with a slash behind it.
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  Descriptor opened;
  for (const char* name : {plain.c_str(), kVersionFolder}) {
    const int above = opened ? opened.get() : AT_FDCWD;
    if (opened && access == Access::write && mkdirat(above, name, 0700) != 0 && errno != EEXIST)
      return tl::unexpected(unusable_folder(path, error_text(errno), errno));
    Descriptor next(openat(above, name, kFolder));
    struct stat status {};
    if (!next || fstat(next.get(), &status) != 0)
      return tl::unexpected(unusable_folder(path, error_text(errno), errno));
    if (const std::string reason = distrust(status, access); !reason.empty())
      return tl::unexpected(unusable_folder(path, reason, EPERM));
    opened = std::move(next);
  }
  // A file system that is only read, or a mode: better known now than at the first entry.
  if (access == Access::write && faccessat(opened.get(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return tl::unexpected(unusable_folder(path, error_text(errno), errno));
  return Folder(path, access, std::move(opened));
}

ReadOnlyFolder read_only_folder(const fs::path& text) {
  constexpr std::string_view kSigned = ",signed";
  std::string path = text.string();
  if (!path.ends_with(kSigned)) return {text, Access::read};
  path.resize(path.size() - kSigned.size());
  return {path, Access::any};
}

Result<fs::path> default_folder() {
  if (getauxval(AT_SECURE) != 0)
    return tl::unexpected(
        unusable_folder({}, "a process with more rights than its user has no cache folder", EPERM));
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches == '/')
    return folder_below(caches, "kiln");
  if (const char* home = std::getenv("HOME"); home && *home == '/') return folder_below(home, ".cache/kiln");
  std::array<char, 16384> space;
  struct passwd user {
  }, *found = nullptr;
  getpwuid_r(geteuid(), &user, space.data(), space.size(), &found);
  if (!found || !found->pw_dir || *found->pw_dir != '/')
    return tl::unexpected(unusable_folder({}, "the user has no home folder", ENOENT));
  return folder_below(found->pw_dir, ".cache/kiln");
}

Error unusable_folder(const fs::path& path, const std::string& reason, int error) {
  Diagnostic diagnostic{"K0710", "the cache folder cannot be used: " + reason, {}, {}};
  if (!path.empty()) diagnostic.rows.push_back({.label = "folder", .text = path.string()});
  if (error == EPERM && !path.empty())
    diagnostic.help.push_back("give it to the user who runs this, and close it: chmod go-w");
  diagnostic.help.push_back("name another folder by KILN_CACHE_DIR, or set KILN_CACHE=off");
  return {error == ENOENT ? ZE_RESULT_ERROR_NOT_AVAILABLE : ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "open",
          std::move(diagnostic)};
}

Error failed_operation(const Folder& folder, const char* what, int error) {
  return {ZE_RESULT_ERROR_NOT_AVAILABLE,
          what,
          {"K0711",
           std::string("the cache folder failed to ") + what + ": " + error_text(error),
           {{.label = "folder", .text = folder.path().string()}},
           {"look at the space and the rights of that folder"}}};
}

EntryName::EntryName(const CacheKey& key) {
  const std::string hex = key.hex();
  std::memcpy(text.data(), hex.data(), 2);
  text[2] = '/';
  std::memcpy(text.data() + 3, hex.data() + 2, 62);
}

bool each_name(int folder, const std::function<void(const char* name)>& each) {
  const int again = openat(folder, ".", kFolder);  // a position of its own
  const auto end = [](DIR* names) { closedir(names); };
  const std::unique_ptr<DIR, decltype(end)> names(again < 0 ? nullptr : fdopendir(again));
  if (!names) {
    if (again >= 0) close(again);
    return false;
  }
  while (const dirent* entry = readdir(names.get()))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) each(entry->d_name);
  return true;
}

std::string random_name() {
  CacheKey random;
  while (getrandom(random.bytes.data(), random.bytes.size(), 0) < 0 && errno == EINTR) {
  }
  return random.hex().substr(0, 32);
}

}  // namespace kiln::cache
