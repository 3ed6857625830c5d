// SPDX-License-Identifier: MIT
// Upkeep of a kernel cache's folder: what is in it, is it whole, and out with it. Of libkiln-offline.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/cache.hpp"
#include "kiln/long_work.hpp"
#include "kiln/result.hpp"

namespace kiln {

// All functions take the options that the program gives to Cache::open(), and look after the user's folder
// that they name: CacheOptions::folder, or the default one. cache_options() adds what the variables say. A
// folder that is not there is an empty one, and none makes it but import_cache(). Several threads and
// processes may work on a folder at the same time, caches that are open among them: those keep what they have
// in memory, and store again what they compile.
//
// Errors of all: K0710 the folder cannot be used (others may write to it, no rights); K0711 an operation on
// it failed; K0423 stopped.

enum class CacheEntryKind : std::uint8_t {
  binary,   ///< native code
  failure,  ///< the compiler refused, with its log
  crash,    ///< the compiler's process ended by itself
};
/// "binary", "failure" or "crash".
[[nodiscard]] const char* to_string(CacheEntryKind kind);

struct CacheEntry {
  CacheKey key;
  std::uint64_t size = 0;                ///< bytes of its file
  std::chrono::sys_seconds last_used{};  ///< right within an hour
  /// Empty: it is whole. Else why not; then nothing below is known, and a load passes it over.
  std::string damage{};
  bool unreadable = false;  ///< it could not be read, and may be whole: a disk that fails, no rights
  CacheEntryKind kind = CacheEntryKind::binary;
  ze_result_t code = ZE_RESULT_SUCCESS;  ///< of the build
  std::uint32_t attempts = 0;            ///< compilations that it stands for
  std::chrono::sys_seconds created{};
  std::uint64_t payload = 0;           ///< bytes of native code
  Manifest manifest{};                 ///< what shaped it
  std::optional<ModuleFacts> facts{};  ///< its kernels
  std::string log{};                   ///< the build log; list_cache() leaves it out
};

/// What lies where an entry or a folder of Kiln's own would, and is never used: a link, a pipe, a file that
/// others may write to.
struct UnusablePlace {
  std::string name;  ///< below v1 in the folder
  std::string reason;
  bool removed = false;  ///< by clear_cache()
};

struct CacheList {
  std::filesystem::path folder{};
  bool exists = false;
  std::vector<CacheEntry> entries{};  ///< the last used first
  std::vector<UnusablePlace> unusable{};
};

/// Reads every entry. Thread-safe.
[[nodiscard]] Result<CacheList> list_cache(const CacheOptions& options = {}, const LongWork& work = {});

struct CacheSize {
  std::filesystem::path folder{};
  bool exists = false;
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t set_aside = 0;  ///< damaged entries that were replaced, and are kept for who looks into it
};

/// How full it is, without reading entries. Thread-safe.
[[nodiscard]] Result<CacheSize> cache_size(const CacheOptions& options = {});

/// One entry with all it says. Error: K0407, there is none of that key. Thread-safe.
[[nodiscard]] Result<CacheEntry> read_cache_entry(const CacheKey& key, const CacheOptions& options = {});

struct CacheRemoval {
  std::filesystem::path folder{};
  std::uint64_t removed = 0, removed_bytes = 0, kept = 0, kept_bytes = 0;
  std::uint64_t orphans = 0;  ///< files that were removed, since the processes that wrote them died
  std::vector<UnusablePlace> unusable{};
};

/// Removes all entries, whatever else lies in their places, and what was set aside; follows no links, and
/// leaves files whose names are not Kiln's. What could not go is among `unusable`, not removed. Thread-safe.
[[nodiscard]] Result<CacheRemoval> clear_cache(const CacheOptions& options = {});

/// Removes what was last used longer ago than `older_than`, then what was unused longest until the rest takes
/// at most CacheOptions::max_size bytes on disk. Thread-safe.
[[nodiscard]] Result<CacheRemoval> prune_cache(const CacheOptions& options = {},
                                               std::optional<std::chrono::seconds> older_than = {});

enum class CacheFault : std::uint8_t { damaged, unreadable, unusable };

struct CacheFinding {
  CacheFault fault = CacheFault::damaged;
  std::string name;               ///< digits of the key, or the place below the folder
  std::optional<CacheKey> key{};  ///< of an entry
  std::uint64_t size = 0;         ///< bytes, of an entry
  std::string reason;
  bool removed = false;
  std::string kept{};  ///< why it was not removed, where that was asked for
};

struct CacheCheck {
  std::filesystem::path folder{};
  std::uint64_t entries = 0;             ///< that were read
  std::vector<CacheFinding> findings{};  ///< in the order of their names
};

/// Reads every entry, and names what is none. `remove`: also removes that, but for what a disk may give
/// later. Thread-safe.
[[nodiscard]] Result<CacheCheck> verify_cache(const CacheOptions& options = {}, bool remove = false,
                                              const LongWork& work = {});

/// An entry that was not taken.
struct RefusedEntry {
  std::string name;  ///< its key, or what an archive says in place of one: not safe to print as it is
  std::string reason;
};

struct CacheExport {
  std::uint64_t exported = 0;
  std::vector<RefusedEntry> refused{};
};

/// Writes native code into one file, for import_cache() elsewhere: the entries of these keys, or all. The
/// file is put there whole or not at all, and is for its owner alone to read: entries name variables and
/// libraries of this machine. Errors: K0407 keys, and no cache; K0408 it cannot be written. Thread-safe.
[[nodiscard]] Result<CacheExport> export_cache(const std::filesystem::path& archive,
                                               const CacheOptions& options = {},
                                               std::span<const CacheKey> keys = {},
                                               const LongWork& work = {});

struct CacheImport {
  std::filesystem::path folder{};
  std::uint64_t imported = 0;
  std::uint64_t there_already = 0;
  std::uint64_t pruned = 0;           ///< entries that went, since the folder became too large
  std::uint64_t imported_pruned = 0;  ///< those of the archive among them
  std::vector<RefusedEntry> refused{};
};

/// Takes over what export_cache() wrote, and trusts nothing of it: each entry must be whole, native code, and
/// of the key of its manifest. The code itself runs on the device: import what you trust, or `only_signed`,
/// what somebody signed whom the user trusts (CacheOptions::trust_file). Errors: K0408 no such archive; K0712
/// CacheOptions::mode stores nothing. What was taken over before an error or a stop stays. Thread-safe.
[[nodiscard]] Result<CacheImport> import_cache(const std::filesystem::path& archive,
                                               const CacheOptions& options = {}, const LongWork& work = {},
                                               bool only_signed = false);

}  // namespace kiln
