// SPDX-License-Identifier: MIT
// Asks the stores in their order, waits for other machines, and uploads.
#include "store/service.hpp"

#include <algorithm>
#include <random>
#include <system_error>

#include "store/wire.hpp"

namespace kiln::store {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostQueued = std::size_t{64} << 20;  // bytes
constexpr milliseconds kForUpload = 5s, kForUsual = 1s, kUnknown = 60s;
// So much longer than a lease lives its waiters wait: of those of a dead one the first gets it, before they
// all give up.
constexpr milliseconds kBeyondLife = 2s;
// What a question to a store, or a pause, takes longer than that, somebody did not come to run.
constexpr milliseconds kPrompt = 100ms;
constexpr std::uint64_t kMostWait = 86'400'000;  // milliseconds: more may not fit the clock

Moment until(const cache::StoreRequest& request) {
  return std::min(Moment(std::chrono::nanoseconds(request.until)), Clock::now() + 10min);
}

OwnAnswer says(cache::StoreResult result, std::string reason = {}) {
  OwnAnswer own;
  own.answer.result = result;
  own.answer.reason = std::move(reason);
  return own;
}

OwnAnswer has(std::uint64_t store, cache::FrameBytes entry) {
  OwnAnswer own = says(cache::StoreResult::found);
  own.answer.store = store;
  own.entry = std::move(entry);
  return own;
}

/// At first often, later an eighth of the time that has passed: so who waits is late by an eighth at most,
/// and asks a store a few dozen times.
milliseconds pause_after(Clock::duration waited) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto eighth = std::chrono::duration_cast<milliseconds>(waited) / 8;
  const auto pause = std::clamp<milliseconds>(eighth, 4ms, 500ms);
  return pause * 3 / 4 +
         milliseconds(std::uniform_int_distribution<int>(0, static_cast<int>(pause.count() / 2))(random));
}

/// What does not count of a time that should have been `planned` long.
Clock::duration late(Clock::duration took, Clock::duration planned) {
  return std::max<Clock::duration>(took - planned - kPrompt, 0s);
}

/// How long who waits for another machine gives it: twice what these inputs took last time. Of inputs that
/// are new, twice the longest of late, and never little.
milliseconds usual(const Reply& known) {
  if (known.end != Reply::End::found && known.end != Reply::End::busy) return kUnknown;
  const milliseconds twice(2 * std::min<std::uint64_t>(known.token, 3'600'000));
  return known.end == Reply::End::found ? twice : std::max(twice, kUnknown);
}

/// A lease that a store may have given in an answer that was not heard: told to the store when nobody asks
/// any more.
struct Unheard {
  Leases& leases;
  Lease lease;
  bool may_be = false;
  ~Unheard() {
    if (may_be) leases.give_back(lease);
  }
};

/// Names one question among those of all machines.
std::string new_name() {
  thread_local std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + '-';
  return name;
}

std::vector<cache::RemoteUrl> read_stores(const cache::StoreSettings& settings) {
  std::vector<cache::RemoteUrl> stores;
  // The library has left out what cannot be meant.
  for (const std::string& text : settings.stores)
    if (auto store = cache::parse_remote(text)) stores.push_back(*std::move(store));
  return stores;
}

}  // namespace

Service::Service(const cache::StoreSettings& settings)
    : stores_(read_stores(settings)),
      key_file_(settings.signing_key),
      breakers_(stores_.size()),
      writes_(stores_.size()),
      leases_(stores_) {
  constexpr int kUploaders = 2;
  try {
    for (int i = 0; i < kUploaders; ++i) threads_.emplace_back([this] { upload_all(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // one does
  }
}

Service::~Service() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

OwnAnswer Service::answer(const cache::StoreRequest& request, Connections& connections, const Asker& asker) {
  using cache::StoreResult;
  using cache::StoreVerb;
  OwnAnswer own = says(StoreResult::failed, "there is no such store");
  const bool known = request.store < stores_.size();
  const auto deadline = until(request);
  const auto told = [&](const Reply& reply) {
    return says(reply.end == Reply::End::found ? StoreResult::done : StoreResult::failed, reply.reason);
  };
  switch (request.verb) {
    case StoreVerb::get:
      own = get(request, connections, asker);
      break;
    case StoreVerb::put:
      own = put(request);
      break;
    case StoreVerb::release:
      if (const auto lease = leases_.take(request.lease)) free(*lease, connections);
      own = says(StoreResult::done);
      break;
    case StoreVerb::get_one:
      if (known) {
        Got got = get_from(request.store, request.key, connections, deadline);
        own = got.found         ? has(request.store, std::move(got.entry))
              : got.why.empty() ? says(StoreResult::absent)
                                : says(StoreResult::failed, got.why);
      }
      break;
    case StoreVerb::put_one:
      if (known) {
        const std::string why = put_into(request.store, request, connections, deadline);
        own = says(why.empty() ? StoreResult::done : StoreResult::failed, why);
      }
      break;
    case StoreVerb::list:
      if (known) own = told(connections.to(request.store).list(deadline));
      break;
    case StoreVerb::figures:
      if (known) own = told(connections.to(request.store).figures(deadline));
      break;
  }
  own.answer.note = take_notes();
  return own;
}

OwnAnswer Service::refuse(const cache::StoreRequest& request, std::string reason) {
  leases_.give_back(request.lease);
  using cache::StoreVerb;
  const bool asks = request.verb == StoreVerb::get || request.verb == StoreVerb::get_one;
  return says(asks ? cache::StoreResult::absent : cache::StoreResult::failed, std::move(reason));
}

OwnAnswer Service::get(const cache::StoreRequest& request, Connections& connections, const Asker& asker) {
  const auto deadline = until(request);
  std::string why;
  for (std::uint64_t store = request.store; store < stores_.size(); ++store) {
    const auto now = Clock::now();
    if (!breakers_[store].allows(now)) {
      why = stores_[store].name() + " is left alone for a while, since it failed";
      continue;
    }
    // One that is slow leaves time for those behind it.
    const auto share = now + (deadline - now) / static_cast<std::int64_t>(stores_.size() - store);
    Got got = get_from(store, request.key, connections, share);
    if (got.found) return has(store, std::move(got.entry));
    if (!got.why.empty()) why = stores_[store].name() + ": " + got.why;
  }
  if (request.lead_ms != 0)
    if (const auto store = leading_store())
      if (auto own = lead(request, *store, connections, asker, deadline, why)) return *std::move(own);
  return says(cache::StoreResult::absent, why);
}

Service::Got Service::get_from(std::uint64_t store, const CacheKey& key, Connections& connections,
                               Moment deadline) {
  Reply reply = connections.to(store).get(key, deadline);
  if (reply.end == Reply::End::refused) reply.end = Reply::End::failed;
  note_result(store, reply);
  if (reply.end == Reply::End::found) return read(store, key, reply.bytes);
  if (reply.end == Reply::End::failed) return {false, {}, reply.reason};
  return {};
}

Service::Got Service::read(std::uint64_t store, const CacheKey& key, std::span<const std::byte> wire) {
  tl::expected<cache::FrameBytes, std::string> entry;
  try {
    entry = decode_wire(wire);
  } catch (const std::bad_alloc&) {
    return {false, {}, "there is no memory for what it gives"};
  }
  if (entry) return {true, *std::move(entry), {}};
  note("what " + stores_[store].name() + " gives is not used: " + entry.error());
  const std::lock_guard lock(mutex_);
  damaged_.insert({store, key});
  return {false, {}, entry.error()};
}

/// The first that has leases, takes entries, and answers.
std::optional<std::uint64_t> Service::leading_store() {
  for (std::uint64_t store = 0; store < stores_.size(); ++store)
    if (stores_[store].is_redis() && takes(store) && writes_[store].allows(Clock::now())) return store;
  return std::nullopt;
}

std::optional<OwnAnswer> Service::lead(const cache::StoreRequest& request, std::uint64_t store,
                                       Connections& connections, const Asker& asker, Moment deadline,
                                       std::string& why) {
  if (!begin_lead(store, request.key)) return std::nullopt;
  struct UnderWay {
    Service& service;
    ~UnderWay() { service.end_lead(); }
  } const under_way{*this};
  Connection& connection = connections.to(store);
  const auto begin = Clock::now(), longest = begin + milliseconds(std::min(request.lead_ms, kMostWait));
  const std::string who = new_name();
  Unheard unheard{leases_, {store, {request.key, 0, who}}};
  auto until = deadline;
  Moment told{};  // to the asker
  bool waits = false;
  milliseconds bound{};
  Clock::duration not_counted{};  // since this machine, or the store, did not come to it
  for (;;) {
    const auto now = Clock::now();
    if (!waits && !breakers_[store].allows(now)) return std::nullopt;
    // A connection that says nothing is given up while there is time: if the question has taken the lease,
    // the next one, which has the same name, has it again.
    const auto patience = std::max(std::min<Moment>(until, now + kLeaseLife / 4), now + 1s);
    Reply reply = connection.lead(request.key, who, leases_.life(), waits ? patience : deadline);
    if (reply.end != Reply::End::failed) not_counted += late(Clock::now() - now, {});
    if (!waits) note_written(store, reply);
    // Once it was not heard: it may still come to the store.
    unheard.may_be = (unheard.may_be || reply.sent) && reply.end != Reply::End::lead;
    switch (reply.end) {
      case Reply::End::found: {
        Got got = read(store, request.key, reply.bytes);
        if (got.found) return has(store, std::move(got.entry));
        why = stores_[store].name() + ": " + got.why;
        return std::nullopt;
      }
      case Reply::End::lead: {
        const Lease lease{store, {request.key, reply.token, who}, Clock::now()};
        if (lease.since > until + (waits ? kBeyondLife : cache::kLate)) {  // nobody listens any more
          free(lease, connections);
          return std::nullopt;
        }
        OwnAnswer own = says(cache::StoreResult::lead);
        own.answer.store = store;
        own.answer.lease = leases_.add(lease);
        return own;
      }
      case Reply::End::failed:
        why = stores_[store].name() + ": " + reply.reason;
        if (!waits) return std::nullopt;
        break;  // it may be back before the wait is over
      case Reply::End::refused:
        return std::nullopt;
      default:
        break;
    }
    const auto tell = [&](Moment end) {
      if (end <= told + kBeyondLife / 4) return;
      cache::StoreAnswer waiting;
      waiting.result = cache::StoreResult::waiting;
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      waiting.wait_ms = static_cast<std::uint64_t>(std::max(left, 0ms).count());
      asker.tells(waiting);
      told = end;
    };
    if (!std::exchange(waits, true)) {
      tell(std::min(Clock::now() + 2 * kForUsual, longest));  // the asker has time by now
      bound = usual(connection.usual(request.inputs, Clock::now() + kForUsual));
    }
    const milliseconds life(reply.end == Reply::End::busy ? std::int64_t(reply.token) : 0);
    bound = std::max(bound, std::clamp(life, kLeaseLife, kLongestLife) + kBeyondLife);
    until = std::min(begin + bound + std::min<Clock::duration>(not_counted, bound), longest);
    tell(until);
    const auto paused = Clock::now();
    if (paused >= until) {
      why = "another machine compiles it for longer than that usually takes";
      return std::nullopt;
    }
    const auto pause = pause_after(paused - begin);
    if (!asker.pauses(pause) || finishes_) return std::nullopt;
    not_counted += late(Clock::now() - paused, pause);
  }
}

/// False: what the store has is to be replaced, or nobody is to be given a lease any more.
bool Service::begin_lead(std::uint64_t store, const CacheKey& key) {
  const std::lock_guard lock(mutex_);
  if (finishes_ || damaged_.contains({store, key})) return false;
  ++leads_;
  return true;
}

void Service::end_lead() {
  const std::lock_guard lock(mutex_);
  --leads_;
}

bool Service::takes(std::uint64_t store) const {
  return !stores_[store].read_only && (stores_[store].accepts_unsigned || !key_file_.empty());
}

OwnAnswer Service::put(const cache::StoreRequest& request) {
  const std::size_t size = request.entry.size();
  {
    const std::lock_guard lock(mutex_);
    // One that is larger than all of that goes where nothing else waits.
    if (queued_ != 0 && queued_ + size > kMostQueued)
      return refuse(request, "an entry is not given to the stores: with it more than " +
                                 std::to_string(kMostQueued >> 20) + " MiB would wait to be uploaded");
    queued_ += size;
  }
  try {
    Upload upload{request, {request.entry.begin(), request.entry.end()}};
    const std::lock_guard lock(mutex_);
    uploads_.push_back(std::move(upload));
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    queued_ -= size;
    throw;
  }
  changed_.notify_one();
  return says(cache::StoreResult::done);
}

const tl::expected<SigningKey, std::string>& Service::signing_key() {
  std::call_once(key_read_, [&] {
    key_ = SigningKey::read(key_file_);
    if (!*key_) note("nothing is signed: " + key_->error());
  });
  return *key_;
}

std::string Service::put_into(std::uint64_t store, const cache::StoreRequest& request,
                              Connections& connections, Moment deadline) {
  const auto sealed = cache::decode_sealed(request.entry);
  if (!sealed) return sealed.error().message;
  std::optional<cache::Seal> seal = sealed->seal;
  if (!seal && !key_file_.empty() && signing_key()) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto made = signing_key()->sign(sealed->bytes, now);
    if (!made) return made.error();
    seal = *made;
  }
  if (!seal && !stores_[store].accepts_unsigned)
    return "it is not signed, and there is no key to sign it with";
  Connection::Put how{nullptr, request.replace};
  auto took = milliseconds(request.took_ms);
  const auto lease = leases_.find(request.lease);
  if (lease) {  // extended until the entry is there
    how.lease = lease->store == store ? &lease->name : nullptr;
    // What the others waited for: the upload of an entry belongs to it, on a machine that is busy most of
    // all.
    took = std::max(took, std::chrono::duration_cast<milliseconds>(Clock::now() - lease->since));
  }
  {
    const std::lock_guard lock(mutex_);
    how.replace |= damaged_.erase({store, request.key}) != 0;
  }
  Connection& connection = connections.to(store);
  const auto wire = encode_wire(sealed->bytes, seal);
  const auto time = deadline - Clock::now();
  Reply reply = connection.put(request.key, wire, how, deadline);
  if (how.lease && reply.end == Reply::End::failed)  // others wait for it, on a store that may be crowded out
    reply = connection.put(request.key, wire, how, deadline = Clock::now() + time);
  // One that is late with an upload may be crowded out, and not be left alone: questions tell whether it
  // answers. One that takes no connection is gone.
  const bool late = reply.end == Reply::End::failed && !reply.unreached && Clock::now() + kPrompt >= deadline;
  if (!late) note_written(store, reply);
  if (reply.end == Reply::End::failed || reply.end == Reply::End::refused) return reply.reason;
  if (how.lease) {
    (void)leases_.take(request.lease);  // the store has given it up with the upload
    connection.remember(request.inputs, static_cast<std::uint64_t>(took.count()), deadline);
  }
  return {};
}

void Service::upload(Upload upload, Connections& connections) {
  upload.request.entry = upload.entry;
  std::vector<std::uint64_t> order;
  for (std::uint64_t store = 0; store < stores_.size(); ++store)
    if (takes(store)) order.push_back(store);
  // First the one where others wait, also where it failed a question in the meantime.
  const auto lease = leases_.find(upload.request.lease);
  if (lease)
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint64_t store) { return store == lease->store; });
  for (const std::uint64_t store : order) {
    const bool allowed = breakers_[store].allows(Clock::now()) && writes_[store].allows(Clock::now());
    if (allowed || (lease && store == lease->store))
      (void)put_into(store, upload.request, connections,
                     Clock::now() + (allowed ? kForUpload : kForUpload / 5));
  }
  if (const auto lease = leases_.take(upload.request.lease)) free(*lease, connections);
}

void Service::upload_all() {
  Connections connections(stores_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !uploads_.empty(); });
    if (ends_) return;
    Upload next = std::move(uploads_.front());
    uploads_.pop_front();
    ++busy_;
    lock.unlock();
    const std::size_t size = next.entry.size();
    const std::uint64_t lease = next.request.lease;
    try {
      upload(std::move(next), connections);
    } catch (const std::bad_alloc&) {  // the next one may be smaller
      leases_.give_back(lease);
    }
    lock.lock();
    queued_ -= size;
    --busy_;
    changed_.notify_all();
  }
}

void Service::free(const Lease& lease, Connections& connections) {
  if (connections.to(lease.store).release(lease.name, Clock::now() + kForRelease).end != Reply::End::failed)
    return;
  leases_.give_back(lease);  // told again
}

bool Service::idle() {
  const std::lock_guard lock(mutex_);
  return uploads_.empty() && busy_ == 0 && leases_.empty();
}

void Service::finish(Moment deadline) {
  {
    std::unique_lock lock(mutex_);  // leases of what is uploaded go with the upload
    finishes_ = true;
    changed_.wait_until(lock, deadline, [&] { return uploads_.empty() && busy_ == 0; });
  }
  Connections connections(stores_);
  auto left = leases_.take_all();
  for (;;) {
    left = Leases::release(left, connections);
    // Before what is left is looked for: the answer to one of them may be a lease.
    const bool leads = [&] {
      const std::lock_guard lock(mutex_);
      return leads_ != 0;
    }();
    std::ranges::move(leases_.take_all(), std::back_inserter(left));
    if ((left.empty() && leases_.empty() && !leads) || Clock::now() >= deadline) return;
    std::this_thread::sleep_for(5ms);
  }
}

void Service::note_result(std::uint64_t store, const Reply& reply) {
  const std::string name = stores_[store].name();
  if (reply.end != Reply::End::failed) {
    if (breakers_[store].worked()) note(name + " answers again");
  } else if (breakers_[store].failed(Clock::now())) {
    note(name + " is left alone for a while: " + reply.reason);
  }
}

/// One that only refuses what is written goes on being read.
void Service::note_written(std::uint64_t store, const Reply& reply) {
  note_result(store, reply);
  if (reply.end == Reply::End::refused) {
    if (writes_[store].failed(Clock::now()))
      note(stores_[store].name() + " is only read for a while: " + reply.reason);
  } else if (reply.end != Reply::End::failed) {
    (void)writes_[store].worked();
  }
}

void Service::note(std::string text) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kMost = 2000;  // bytes until somebody asks
  if (notes_.size() < kMost) notes_ += (notes_.empty() ? "" : "; ") + text;
}

std::string Service::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace kiln::store
