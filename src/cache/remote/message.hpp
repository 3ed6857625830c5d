// SPDX-License-Identifier: MIT
// What the library and kiln-store say to each other: docs/fleet.md has the whole of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/manifest.hpp"

namespace kiln::cache {

/// The first message, once: which stores there are.
struct StoreSettings {
  std::vector<std::string> stores;  ///< as parse_remote() reads them, credentials included
  std::string signing_key;          ///< a file; empty: nothing is signed
};

enum class StoreVerb : std::uint32_t {
  get,      ///< the entry of `key` from the stores, from `store` on
  put,      ///< `entry` into all stores, behind the asker's back
  release,  ///< `lease`, without an entry
  get_one,  ///< as get, of `store` alone
  put_one,  ///< as put, into `store` alone; answered when it is done
  list,     ///< keys that `store` has, as far as it can tell
  figures,  ///< of `store`, as lines of text
};

struct StoreRequest {
  StoreVerb verb = StoreVerb::get;
  CacheKey key{};
  CacheKey inputs{};          ///< names what is compiled: how long that took before is remembered under it
  std::uint64_t store = 0;    ///< in the order of the settings
  std::uint64_t lead_ms = 0;  ///< get: not 0, and where nobody has it one of all machines may compile it,
                              ///< while others wait that long at most
  std::int64_t until =
      0;  ///< get, …_one: an answer is of use until then, in nanoseconds of the steady clock of this machine
  std::uint64_t lease = 0;    ///< put, release: from the answer to get, or 0
  std::uint64_t took_ms = 0;  ///< put: what the compilation took
  bool replace = false;       ///< put: what is there is wrong
  std::span<const std::byte> entry{};
};

enum class StoreResult : std::uint32_t {
  found,    ///< `entry`, with a seal where there is one, checked by nobody
  absent,   ///< compile it
  lead,     ///< compile it: others wait for `lease`
  waiting,  ///< another machine compiles it; another answer follows within `wait_ms`, maybe this one again
  done,     ///< put: taken; release
  failed,   ///< `reason`
};

struct StoreAnswer {
  StoreResult result = StoreResult::failed;
  std::uint64_t store = 0;  ///< that has it
  std::uint64_t lease = 0;
  std::uint64_t wait_ms = 0;
  std::string reason{};  ///< why the stores were of no use, in words; of a list or figures the text
  std::string note{};    ///< one line for the log; empty: none
  std::span<const std::byte> entry{};
};

/// Pure. Whatever is read is checked whole: nothing where it is not what encode() writes.
[[nodiscard]] std::vector<std::byte> encode(const StoreSettings& settings);
[[nodiscard]] std::vector<std::byte> encode(const StoreRequest& request);
[[nodiscard]] std::vector<std::byte> encode(const StoreAnswer& answer);
/// What stands before the entry, which is at the end.
[[nodiscard]] std::vector<std::byte> encode_before_entry(const StoreRequest& request);
[[nodiscard]] std::vector<std::byte> encode_before_entry(const StoreAnswer& answer);
[[nodiscard]] std::optional<StoreSettings> decode_store_settings(std::span<const std::byte> message);
/// Views into `message`.
[[nodiscard]] std::optional<StoreRequest> decode_store_request(std::span<const std::byte> message);
[[nodiscard]] std::optional<StoreAnswer> decode_store_answer(std::span<const std::byte> message);

/// So much longer than kiln-store asks stores the library listens for its answer, which says why there is
/// none.
constexpr std::chrono::milliseconds kLate{20};
/// The same while another machine compiles. Where kiln-store does not come to run, it waits for longer than
/// it has said, and says so when it does.
constexpr std::chrono::milliseconds kLateWhileWaiting{3000};

/// Above it no entry goes over a wire, and no message is read.
constexpr std::uint64_t kLargestOnWire = std::uint64_t{256} << 20;  // bytes
constexpr std::uint64_t kLargestMessage = kLargestOnWire + (1 << 20);

}  // namespace kiln::cache
