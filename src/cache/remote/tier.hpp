// SPDX-License-Identifier: MIT
// The tier behind the folders: stores of several machines, and whether what they give may be used.
#pragma once

#include <optional>
#include <utility>

#include "cache/entry_file.hpp"
#include "cache/remote/link.hpp"
#include "cache/remote/trust.hpp"
#include "cache/remote/url.hpp"
#include "kiln/cache.hpp"

namespace kiln::cache {

/// Why an entry from outside may not be used; empty: it may. It must be native code of that key, whole, with
/// facts that can be read; `accepts_unsigned` or signed by somebody whom `trust` knows. Where it is accepted
/// unsigned, its seal is dropped from `file`. Thread-safe.
[[nodiscard]] std::string why_refused(FileBytes& file, const CacheKey& key, bool accepts_unsigned,
                                      TrustFiles& trust, std::chrono::sys_seconds now);

/// Thread-safe.
class RemoteTier {
 public:
  /// Stores that cannot be meant are left out, and told in the log.
  RemoteTier(const CacheOptions& options, TrustFiles& trust);

  /// The right to compile while the other machines wait, given back where it is not used up.
  class Lease {
   public:
    Lease() = default;
    Lease(RemoteTier* tier, std::uint64_t number) : tier_(tier), number_(number) {}
    Lease(Lease&& other) noexcept
        : tier_(std::exchange(other.tier_, nullptr)), number_(std::exchange(other.number_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(tier_, other.tier_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Lease();

   private:
    friend RemoteTier;
    RemoteTier* tier_ = nullptr;
    std::uint64_t number_ = 0;
  };

  struct Found {
    std::optional<FileBytes> file;  ///< checked
    Lease lease{};
    std::string missed{};  ///< why not, in words
    bool refused = false;  ///< some store has something else under that key
    bool waited = false;   ///< for another machine
  };
  /// `inputs` names what is compiled, for how long that takes. Waits `CacheOptions::remote_wait`, and longer
  /// only while another machine compiles the same and `leads` says that this one would compile it too.
  [[nodiscard]] Found find(const CacheKey& key, const CacheKey& inputs, bool leads,
                           std::chrono::sys_seconds now);

  /// Gives an entry to the stores, and waits for none of them. `replace`: what they have is wrong.
  void offer(const CacheKey& key, const CacheKey& inputs, std::span<const std::byte> entry, Lease lease,
             std::chrono::milliseconds took, bool replace);

 private:
  void release(std::uint64_t lease);
  void say_once(const std::string& text);

  const std::chrono::milliseconds wait_, longest_wait_;
  std::vector<RemoteUrl> stores_;
  bool gives_ = false;  ///< some store takes entries
  TrustFiles& trust_;
  std::optional<StoreLink> link_;
  std::mutex mutex_;
  std::vector<std::string> said_;
};

/// The settings of kiln-store, and the stores as they were read.
struct RemoteSettings {
  StoreSettings settings;
  std::vector<RemoteUrl> stores;
};
[[nodiscard]] RemoteSettings remote_settings(const CacheOptions& options);

}  // namespace kiln::cache
