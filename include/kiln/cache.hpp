// SPDX-License-Identifier: MIT
// The kernel cache: compiled binaries on disk under everything that shaped them, shared by threads and
// processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/manifest.hpp"
#include "kiln/result.hpp"

namespace kiln {

enum class CacheMode : std::uint8_t {
  off,   ///< every build compiles
  read,  ///< hits are used, nothing is written
  on,
};

struct CacheOptions {
  CacheMode mode = CacheMode::on;
  /// Empty: $XDG_CACHE_HOME/kiln, else ~/.cache/kiln. Must be the user's own and closed to others.
  std::filesystem::path folder;
  std::uint64_t max_size = std::uint64_t{1} << 30;      ///< bytes on disk
  std::uint64_t memory_size = std::uint64_t{64} << 20;  ///< bytes kept in this process; 0: none
  double verify = 0;  ///< share of the hits, 0 to 1, that are compiled again; what differs is replaced
  /// Folders in the same format that are read before the user's and never written: owned by root or by the
  /// user, and not writable for others. With ",signed" behind the path it may be anybody's, and an entry
  /// counts when a trusted key signed it.
  std::vector<std::filesystem::path> read_only;
  /// How long a failed compilation is remembered.
  std::chrono::seconds remember_failures = std::chrono::hours(1);
  /// How long to wait for another process that compiles the same, before compiling all the same.
  std::chrono::milliseconds longest_wait = std::chrono::minutes(10);
  /// Stores of several machines, asked in this order when no folder has an entry, and given what is compiled:
  /// URLs with options behind commas, such as "https://cache.example/kiln,read-only" (docs/fleet.md). Asked
  /// by a program of its own, kiln-store.
  std::vector<std::string> remote{};
  /// How long to wait for all of these together, before compiling all the same; longer, up to `longest_wait`,
  /// only while another machine compiles the same.
  std::chrono::milliseconds remote_wait = std::chrono::milliseconds(200);
  /// The list of keys whose signatures count, beside /etc/kiln/trusted-keys; empty: the user's own,
  /// $XDG_CONFIG_HOME/kiln/trusted-keys or ~/.config/kiln/trusted-keys, which `kiln cache trust` writes.
  std::filesystem::path trust_file{};
  /// A private key as a PEM file, with which what goes to the stores is signed; empty: only those that take
  /// unsigned entries get any.
  std::filesystem::path signing_key{};
  /// Bytes on disk for what entries are compiled from (SPIR-V, OpenCL C), kept by content in the folder so
  /// that `kiln cache rewarm` can compile it again; the longest unused go first. 0: nothing is kept.
  std::uint64_t keep_inputs = 0;
};

/// `defaults` with what KILN_CACHE (off, read, on), KILN_CACHE_DIR, KILN_CACHE_MAX_SIZE (bytes, or with K, M,
/// G), KILN_CACHE_VERIFY (0 to 1), KILN_CACHE_READ_ONLY (folders, separated by colons), KILN_CACHE_REMOTE
/// (stores, separated by spaces), KILN_CACHE_REMOTE_WAIT (milliseconds), KILN_CACHE_TRUST and
/// KILN_CACHE_SIGNING_KEY (files), and KILN_CACHE_KEEP_INPUTS (bytes, as MAX_SIZE) say. Error:
/// INVALID_ARGUMENT (K0701) that names the variable.
[[nodiscard]] Result<CacheOptions> cache_options(CacheOptions defaults = {});

/// How a compilation ended, as far as a cache must know.
enum class CompilationEnd : std::uint8_t {
  built,
  failed,     ///< the compiler refused the input, and would again: remembered for a while, with its log
  died,       ///< the compiler's process ended by itself: tried once more, then reported
  transient,  ///< lack of memory, a lost device, a kill: never remembered
};

struct Compilation {
  CompilationEnd end = CompilationEnd::transient;
  ze_result_t code =
      ZE_RESULT_SUCCESS;           ///< NOT_READY: cancelled, which is told also where a hit was verified
  std::string log;                 ///< the build log, also after success
  std::vector<std::byte> facts;    ///< encode_facts() of the kernels
  std::vector<std::byte> payload;  ///< the native binary
  /// Not empty: a good result, but not what the manifest says, and why. It is this caller's alone, and the
  /// reason is logged.
  std::string not_kept{};
  /// What was compiled, as the manifest has it by digest, there until get() returns.
  std::vector<std::span<const std::byte>> inputs{};
};

enum class CacheSource : std::uint8_t {
  compiled,   ///< by this call
  memory,     ///< in this process already, or compiled by another of its threads meanwhile
  read_only,  ///< one of CacheOptions::read_only
  user,       ///< the user's folder
  remote,     ///< one of CacheOptions::remote
};
[[nodiscard]] const char* to_string(CacheSource source);

/// What a cache gives: views into memory that `owner` keeps.
struct CacheAnswer {
  CacheSource source = CacheSource::compiled;
  CompilationEnd end = CompilationEnd::transient;
  ze_result_t code = ZE_RESULT_SUCCESS;
  std::string_view log;
  std::span<const std::byte> facts, payload;
  std::shared_ptr<const void> owner;
  /// Why it was compiled by this call, in words; empty for a hit: "not there", "damaged: …", "cache is off".
  std::string missed;
};

struct CacheCounts {
  std::uint64_t memory_hits = 0, read_only_hits = 0, user_hits = 0, compilations = 0, waited = 0, stored = 0,
                store_failures = 0, damaged = 0, remembered_failures = 0, verified = 0,
                verify_differences = 0, remote_hits = 0,
                remote_refused = 0;  ///< that a store gave, and that were not used
};

/// A kernel cache. Never fails: where its folder cannot be used it compiles, and says why once through log().
/// Thread-safe; several processes share a folder. Where the folder is too large, a thread of the cache's own,
/// which takes no signals, removes what was unused longest; the destructor waits for it.
class Cache {
 public:
  /// Touches O(1) files, however many entries there are.
  [[nodiscard]] static Cache open(const CacheOptions& options);
  Cache(Cache&&) noexcept;
  Cache& operator=(Cache&&) noexcept;
  ~Cache();

  /// The binary for what `manifest` names: from memory, a read-only folder or the user's, else from
  /// `compile`, which is called by one of the threads and processes that ask at the same time, while the
  /// others wait. A result that is not kept (CompilationEnd::transient, `not_kept`) is never another's: then
  /// each compiles for itself. `storable` is false when the manifest does not tell everything that shapes the
  /// result: then `compile` is called and nothing is kept.
  ///
  /// `compile` is called on this thread, with no lock held but the key's turn. It may throw, or its thread be
  /// cancelled: that passes through, as does std::bad_alloc of the cache itself, nothing is kept, and who
  /// waits compiles for himself. It may use this cache; asking for the same key, it compiles. Two that each
  /// ask for the key that the other makes wait for ever: ask for what you need before. It must not fork and
  /// return in the child. The same holds for a log sink, which is called with no lock held.
  [[nodiscard]] CacheAnswer get(const Manifest& manifest, bool storable,
                                const std::function<Compilation()>& compile);

  /// Sets the entry aside and compiles: for a hit that proved false, such as a binary that the driver
  /// compiled again.
  [[nodiscard]] CacheAnswer replace(const Manifest& manifest, const std::function<Compilation()>& compile,
                                    std::string_view reason);

  [[nodiscard]] CacheCounts counts() const;
  /// The user's folder, empty when there is none; why it is not written to, empty when it is.
  [[nodiscard]] const std::filesystem::path& folder() const;
  [[nodiscard]] const std::string& unusable() const;
  /// Opened with CacheMode::off: `get` compiles, and nothing that it is given is kept, not even in memory.
  [[nodiscard]] bool is_off() const;

 private:
  struct State;
  explicit Cache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln
