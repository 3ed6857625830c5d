// SPDX-License-Identifier: MIT
// A cache folder that was verified and is held open: everything below it is reached from its descriptor.
#pragma once

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "kiln/manifest.hpp"
#include "kiln/result.hpp"
#include "support/descriptor.hpp"

namespace kiln::cache {

using detail::Descriptor;
using detail::error_text;

enum class Access : std::uint8_t {
  read,   ///< owned by this user or by root; nothing is made or changed
  write,  ///< owned by this user; made where it is missing
  any,    ///< as read, of whatever owner: who reads checks signatures
};

/// FOLDER/v1, closed to the writing of others. Entries lie in v1/ab/cdef…, by the digits of their key;
/// v1/damaged has what was set aside, v1/temporary what is being written where the file system wants a name
/// for it, v1/lock is for locks, and the length of v1/usage estimates the size. Thread-safe.
class Folder {
 public:
  Folder(std::filesystem::path path, Access access, Descriptor version);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Access access() const { return access_; }
  /// The descriptor of v1.
  [[nodiscard]] int descriptor() const { return version_.get(); }
  /// Whether a folder or file of this status belongs to somebody whom this folder trusts.
  [[nodiscard]] bool trusts(const struct stat& status) const { return distrusts(status).empty(); }
  /// Why not, in words; empty: it does.
  [[nodiscard]] std::string distrusts(const struct stat& status) const;
  /// Whether entries of this key may be looked for: v1/ab is a folder of a trusted owner, closed to the
  /// writing of others. Asks the system once a folder. A folder that is missing has no entries, and is asked
  /// for again.
  [[nodiscard]] bool may_read(const CacheKey& key) const;
  /// Opens a folder inside v1, made when missing; error: errno, EPERM for one that is not trusted.
  [[nodiscard]] tl::expected<Descriptor, int> subfolder(const char* name, bool make) const;

  /// "nfs" where the file system is one of several machines: no lock on a file there is relied on. Empty: it
  /// is none.
  [[nodiscard]] std::string_view file_system() const { return file_system_; }
  [[nodiscard]] bool is_shared() const { return !file_system_.empty(); }

  /// Cleared when the file system has no files without a name, or no links to them.
  [[nodiscard]] std::atomic<bool>& nameless_files() const { return shared_->nameless_files; }

 private:
  struct Shared {
    std::array<std::atomic<bool>, 256> verified{};
    std::atomic<bool> nameless_files{true};
  };
  std::filesystem::path path_;
  Access access_;
  Descriptor version_;
  std::string_view file_system_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
};

/// Error: K0710 with the reason; ZE_RESULT_ERROR_NOT_AVAILABLE when it is not there.
[[nodiscard]] Result<Folder> open_folder(const std::filesystem::path& path, Access access);

/// A folder of CacheOptions::read_only, which may be one of others, with ",signed" behind it. Pure.
struct ReadOnlyFolder {
  std::filesystem::path path;
  Access access = Access::read;
};
[[nodiscard]] ReadOnlyFolder read_only_folder(const std::filesystem::path& text);

/// $XDG_CACHE_HOME/kiln, else ~/.cache/kiln, else by the user's entry in the password file. Error: K0710,
/// also where that would lie in a temporary folder, sticky and open to all, and for a process that has more
/// rights than its user (setuid), where neither variables nor folders of the user may be trusted.
[[nodiscard]] Result<std::filesystem::path> default_folder();

/// K0710 and K0711; `error` is an errno.
[[nodiscard]] Error unusable_folder(const std::filesystem::path& path, const std::string& reason, int error);
[[nodiscard]] Error failed_operation(const Folder& folder, const char* what, int error);

/// Where the entry of a key lies, relative to v1, and relative to its folder v1/ab.
struct EntryName {
  explicit EntryName(const CacheKey& key);
  [[nodiscard]] const char* path() const { return text.data(); }      ///< "ab/cdef…"
  [[nodiscard]] const char* file() const { return text.data() + 3; }  ///< "cdef…"
  [[nodiscard]] std::string folder() const { return {text.data(), 2}; }
  std::array<char, 66> text{};
};

/// Calls `each` with the names in an open folder, except . and ..; false when it cannot be read.
bool each_name(int folder, const std::function<void(const char* name)>& each);

/// Of 32 digits, at random: a name that nobody else chooses.
[[nodiscard]] std::string random_name();

}  // namespace kiln::cache
