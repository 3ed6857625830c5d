// SPDX-License-Identifier: MIT
// Asks the stores, and checks what they give before anybody uses it.
#include "cache/remote/tier.hpp"

#include <algorithm>

#include "cache/format/facts.hpp"
#include "kiln/log.hpp"

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kMostWait = 24h;      // more may not fit the clock
constexpr std::chrono::milliseconds kForMebibyte = 10ms;  // of an upload: 20 times what a quiet machine takes

FileBytes view_of(StoreLink::Reply reply) {
  const auto kept = std::make_shared<const FrameBytes>(std::move(reply.bytes));
  return {kept, reply.answer.entry, {}, {}};
}

}  // namespace

std::string why_refused(FileBytes& file, const CacheKey& key, bool accepts_unsigned, TrustFiles& trust,
                        std::chrono::sys_seconds now) {
  const auto sealed = decode_sealed(file.bytes);
  if (!sealed) return sealed.error().message;
  const Entry& entry = sealed->entry;
  if (key_of(entry.manifest) != key) return "it is the entry of another key";
  if (entry.kind != EntryKind::binary || entry.payload.empty()) return "it is no native binary";
  if (const auto facts = decode_facts(entry.facts); !facts) return facts.error().message;
  if (accepts_unsigned) {
    if (sealed->seal)
      if (std::string why = trust.why_revoked(*sealed->seal); !why.empty()) return why;
    file.bytes = sealed->bytes;
  } else {
    if (!sealed->seal) return "it is not signed";
    if (std::string why = trust.why_not_trusted(*sealed->seal, now); !why.empty()) return why;
    if (!is_signed(*sealed->seal, key, sealed->bytes)) return "its signature is wrong";
    file.seal = sealed->seal;
  }
  file.entry = entry;
  return {};
}

RemoteSettings remote_settings(const CacheOptions& options) {
  RemoteSettings result;
  for (const std::string& text : options.remote) {
    auto store = parse_remote(text);
    if (!store) {
      log(LogLevel::warning, "kernel cache: a store of several machines is left out: " + store.error());
      continue;
    }
    store->read_only |= options.mode != CacheMode::on;
    result.settings.stores.push_back(text);
    result.stores.push_back(*std::move(store));
  }
  result.settings.signing_key = options.signing_key.string();
  return result;
}

RemoteTier::RemoteTier(const CacheOptions& options, TrustFiles& trust)
    : wait_(std::max(options.remote_wait, 1ms)), longest_wait_(options.longest_wait), trust_(trust) {
  RemoteSettings read = remote_settings(options);
  stores_ = std::move(read.stores);
  for (const RemoteUrl& store : stores_)
    gives_ |= !store.read_only && (store.accepts_unsigned || !options.signing_key.empty());
  if (!stores_.empty()) link_.emplace(std::move(read.settings));
}

RemoteTier::Lease::~Lease() {
  if (tier_ && number_ != 0) tier_->release(number_);
}

void RemoteTier::release(std::uint64_t lease) {
  StoreRequest request;
  request.verb = StoreVerb::release;
  request.lease = lease;
  (void)link_->ask(request, std::chrono::steady_clock::now() + wait_);
}

RemoteTier::Found RemoteTier::find(const CacheKey& key, const CacheKey& inputs, bool leads,
                                   std::chrono::sys_seconds now) {
  Found found;
  if (!link_) return found;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now(), longest = begin + std::min(longest_wait_, kMostWait);
  auto told = begin + 2s;  // what is not longer is not worth a line
  const auto waits = [&](std::chrono::milliseconds time) {
    const auto most = std::min(time, longest_wait_);
    const auto end = std::min(Clock::now() + most, longest);
    if (end > told + 1s) {
      log(LogLevel::warning, "kernel cache: waits for another machine that compiles the same, at most " +
                                 std::to_string(std::chrono::ceil<std::chrono::seconds>(most).count()) +
                                 " s");
      told = end;
    }
    found.waited = true;
    return end + kLateWhileWaiting;
  };
  StoreRequest request;
  request.key = key;
  request.inputs = inputs;
  auto until = begin + wait_;
  for (std::uint64_t store = 0; store < stores_.size();) {
    request.until = std::chrono::nanoseconds(until.time_since_epoch()).count();
    request.store = store;
    request.lead_ms = leads && gives_ && !found.refused
                          ? static_cast<std::uint64_t>(std::max(longest_wait_, 1ms).count())
                          : 0;
    auto reply = link_->ask(request, until + kLate, waits);
    if (!reply) {
      if (reply.error() != kLeftAlone) say_once(reply.error());
      found.missed = reply.error();
      return found;
    }
    const StoreAnswer& answer = reply->answer;
    if (!answer.note.empty()) log(LogLevel::warning, "kernel cache: " + answer.note);
    if (answer.result == StoreResult::lead) {
      found.lease = Lease(this, answer.lease);
      return found;
    }
    if (answer.result != StoreResult::found || answer.store < store || answer.store >= stores_.size()) {
      if (!answer.reason.empty()) found.missed = answer.reason;
      return found;
    }
    const RemoteUrl& from = stores_[answer.store];
    store = answer.store + 1;
    FileBytes file = view_of(*std::move(reply));
    std::string why = why_refused(file, key, from.accepts_unsigned, trust_, now);
    if (why.empty()) {
      found.file = std::move(file);
      return found;
    }
    found.refused = true;
    found.missed = from.name() + ": " + why;
    say_once("an entry of " + from.name() + " is not used: " + why);
    // The wait has taken no time of those behind it. Without any left nobody could answer.
    if (const auto now = Clock::now(); now >= until) {
      if (!found.waited) return found;
      until = now + wait_;
    }
  }
  return found;
}

void RemoteTier::offer(const CacheKey& key, const CacheKey& inputs, std::span<const std::byte> entry,
                       Lease lease, std::chrono::milliseconds took, bool replace) {
  if (!link_ || !gives_ || entry.size() > kLargestOnWire) return;
  StoreRequest request;
  request.verb = StoreVerb::put;
  request.key = key;
  request.inputs = inputs;
  request.lease = std::exchange(lease.number_, 0);
  request.took_ms = static_cast<std::uint64_t>(took.count());
  request.replace = replace;
  request.entry = entry;
  // kiln-store takes it in memory, which is what a large one takes time for.
  const auto time = wait_ + kForMebibyte * static_cast<int>(entry.size() >> 20);
  const auto reply = link_->ask(request, std::chrono::steady_clock::now() + time);
  if (!reply) return;
  if (!reply->answer.note.empty()) log(LogLevel::warning, "kernel cache: " + reply->answer.note);
  if (reply->answer.result == StoreResult::failed) say_once(reply->answer.reason);
}

void RemoteTier::say_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(said_, text) != said_.end()) return;
    constexpr std::size_t kMostLines = 100;
    if (said_.size() < kMostLines) said_.push_back(text);
  }
  log(LogLevel::warning, "kernel cache: " + text);
}

}  // namespace kiln::cache
