// SPDX-License-Identifier: MIT
// The order of things: memory, read-only folders, the user's folder, the turn to compile, the compiler.
#include "cache/store.hpp"

#include <sys/auxv.h>

#include <algorithm>
#include <random>

#include "cache/disk/inputs.hpp"
#include "cache/maintenance.hpp"
#include "cache/remembered.hpp"
#include "cache/usage.hpp"
#include "kiln/log.hpp"

namespace kiln::cache {
namespace {

/// A share of the stores counts the folder again, which heals a wrong estimate of its size: about one for all
/// entries that are there, as each of them is looked at.
double recounts(std::uint64_t usage) {
  constexpr std::uint64_t kLeast = 256, kUsualEntry = 16 << 10;
  return 1.0 / static_cast<double>(std::max(kLeast, usage / kUsualEntry));
}

StoreOptions with_defaults(StoreOptions edge) {
  if (!edge.now)
    edge.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  if (!edge.chance)
    edge.chance = [] {
      thread_local std::minstd_rand random{std::random_device{}()};
      return std::uniform_real_distribution<double>()(random);
    };
  return edge;
}

const std::string& text_of(const Error& error) { return error.diagnostic()->message; }

FileBytes own(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  FileBytes file{owner, *owner, {}, {}};
  file.entry = *decode_entry(file.bytes);
  return file;
}

bool is_kept(const Compilation& made) {
  return made.end != CompilationEnd::transient && made.not_kept.empty();
}

EntryKind kind_of(CompilationEnd end) {
  if (end == CompilationEnd::built) return EntryKind::binary;
  return end == CompilationEnd::failed ? EntryKind::failure : EntryKind::crash;
}

/// Names what is compiled, whatever for: how long that takes is much the same on all machines.
CacheKey inputs_of(const Manifest& manifest) {
  std::string text;
  for (const ManifestField& field : manifest.fields())
    if (field.name.starts_with("input.")) text += field.name + '=' + field.value + '\n';
  return key_of(text);
}

}  // namespace

struct Store::Request {
  const Compile& compile;
  const Manifest& fields;
  std::string manifest;
  CacheKey key;
  std::chrono::sys_seconds now;
  std::string missed{};       ///< why it is compiled
  std::uint32_t crashes = 0;  ///< that the user's folder knows of
  bool supersede = false;     ///< the user's folder has an entry that no longer counts
  bool own = false;           ///< what was compiled is good for the one who asked alone
  bool skip_memory = false;
  bool distrust = false;             ///< what other machines have under the key is wrong
  RemoteTier::Lease lease{};         ///< while it is compiled, other machines wait
  KeyLocks::Hold turn{};             ///< until it is stored, other processes wait
  std::chrono::milliseconds took{};  ///< the compilation
};

Store::Store(const CacheOptions& options, StoreOptions edge)
    : options_(options),
      edge_(with_defaults(std::move(edge))),
      memory_(options.memory_size),
      trust_(options.trust_file) {
  if (options_.mode == CacheMode::off) {
    unusable_ = "it is off";
    return;
  }
  open_read_only_folders();
  open_user_folder();
  if (!options_.remote.empty() && getauxval(AT_SECURE) == 0) remote_.emplace(options_, trust_);
}

void Store::open_user_folder() {
  const auto give_up = [&](const Error& error) {
    unusable_ = text_of(error);
    log(LogLevel::warning, "kernel cache: " + unusable_ + (path_.empty() ? "" : ": " + path_.string()));
  };
  path_ = options_.folder;
  if (path_.empty() || getauxval(AT_SECURE) != 0) {
    const auto standard = default_folder();  // refuses processes with more rights than their user
    if (!standard) return give_up(standard.error());
    path_ = *standard;
  }
  if (options_.mode == CacheMode::on) {
    auto opened = open_folder(path_, Access::write);
    if (!opened) {
      give_up(opened.error());
    } else {
      user_ = *std::move(opened);
      locks_ = KeyLocks::open(*user_);
      if (user_->is_shared())
        log(LogLevel::info, "kernel cache: " + path_.string() + " is on " +
                                std::string(user_->file_system()) +
                                ", which several machines may share: no lock there is relied on, and each "
                                "machine compiles for itself; `%h` in KILN_CACHE_DIR stands for its name");
      return;
    }
  } else {
    unusable_ = "it is only read";
  }
  if (auto opened = open_folder(path_, Access::read)) user_ = *std::move(opened);
}

void Store::open_read_only_folders() {
  for (const std::filesystem::path& each : options_.read_only) {
    const auto [path, access] = read_only_folder(each);
    if (auto opened = open_folder(path, access))
      read_only_.push_back(*std::move(opened));
    else
      log(LogLevel::warning, "kernel cache: " + text_of(opened.error()) + ": " + path.string());
  }
}

CacheAnswer Store::get(const Manifest& manifest, bool storable, const Compile& compile) {
  if (is_off()) return compile_unstored(compile, "cache is off");
  if (!storable) return compile_unstored(compile, "not everything that shapes the result is known");
  std::string bytes = encode(manifest);
  const CacheKey key = key_of(bytes);
  Request request{compile, manifest, std::move(bytes), key, edge_.now()};
  if (auto found = from_memory(request)) return *std::move(found);
  return answer(request);
}

CacheAnswer Store::replace(const Manifest& manifest, const Compile& compile, std::string_view reason) {
  if (is_off()) return compile_unstored(compile, "cache is off");
  std::string bytes = encode(manifest);
  const CacheKey key = key_of(bytes);
  Request request{compile, manifest, std::move(bytes), key, edge_.now(), std::string(reason)};
  request.distrust = true;
  writes_.finish();
  memory_.drop(key);
  if (user_ && user_->access() == Access::write) set_aside(*user_, key);
  {
    const std::lock_guard lock(mutex_);
    distrusted_.insert(key);
  }
  return answer(request);
}

CacheAnswer Store::answer(Request& request) {
  auto [others, turn] = single_flight_.join(request.key);
  if (others) {
    others->source = CacheSource::memory;
    others->missed.clear();
    count(&CacheCounts::waited);
    count(&CacheCounts::memory_hits);
    return *std::move(others);
  }
  if (!turn) return compile(request);
  CacheAnswer answer = lead(request);
  if (!request.own) turn->land(answer);
  turn.reset();
  if (answer.source == CacheSource::compiled) prune_when_full();
  return answer;
}

CacheAnswer Store::lead(Request& request) {
  // Another thread may have finished between the first look into memory and now.
  if (auto found = from_memory(request)) return *std::move(found);
  if (auto found = from_folders(request)) return *std::move(found);
  if (user_ && user_->access() == Access::write && storing_) {
    std::optional<CacheAnswer> found;
    const auto look = [&] {
      found = from_folder(request, *user_, CacheSource::user);
      return found.has_value();
    };
    const auto patient_until = std::chrono::steady_clock::now() + edge_.silent_wait;
    bool told = false;
    const auto look_again = [&] {
      if (!told && std::chrono::steady_clock::now() > patient_until) {
        told = true;
        log(LogLevel::warning,
            "kernel cache: waits for another process that compiles the same, at most " +
                std::to_string(std::chrono::ceil<std::chrono::seconds>(options_.longest_wait).count()) +
                " s");
      }
      return look();
    };
    request.turn = locks_.lock(request.key, options_.longest_wait, look_again);
    if (request.turn.waited()) count(&CacheCounts::waited);
    if (found || look()) return *std::move(found);
  }
  if (auto from_others = from_stores(request)) return *std::move(from_others);
  return compile(request);
}

/// With this machine's turn: its other processes wait for the answer.
std::optional<CacheAnswer> Store::from_stores(Request& request) {
  if (!remote_ || request.distrust) return std::nullopt;
  RemoteTier::Found found = remote_->find(request.key, inputs_of(request.fields), true, request.now);
  if (found.waited) count(&CacheCounts::waited);
  if (found.refused) count(&CacheCounts::remote_refused);
  request.distrust = found.refused;
  request.lease = std::move(found.lease);
  if (!found.file) {
    if (!found.missed.empty()) request.missed = std::move(found.missed);
    return std::nullopt;
  }
  auto answer = answer_of(request, *found.file, CacheSource::remote);
  if (!answer) return std::nullopt;
  keep_later(request, *found.file);
  if (options_.verify > 0 && edge_.chance() < options_.verify)
    if (auto other = verify(request, *found.file, CacheSource::remote)) return other;
  return answer;
}

std::optional<CacheAnswer> Store::from_memory(Request& request) {
  auto found = memory_.find(request.key, request.now);
  if (!found || found->file.entry.manifest != request.manifest) return std::nullopt;
  auto answer = answer_of(request, found->file, CacheSource::memory);
  if (answer && found->mark && user_ && user_->access() == Access::write)
    mark_used(*user_, request.key, request.now);
  return answer;
}

std::optional<CacheAnswer> Store::from_folders(Request& request) {
  for (const Folder& folder : read_only_)
    if (auto found = from_folder(request, folder, CacheSource::read_only)) return found;
  return user_ ? from_folder(request, *user_, CacheSource::user) : std::nullopt;
}

std::optional<CacheAnswer> Store::from_folder(Request& request, const Folder& folder, CacheSource source) {
  const bool writes = folder.access() == Access::write;
  if (!writes) {
    const std::lock_guard lock(mutex_);
    if (distrusted_.contains(request.key)) return std::nullopt;
  }
  auto file = read_entry_file(folder, request.key, writes ? std::optional(request.now) : std::nullopt);
  if (file && file->entry.manifest != request.manifest)
    file = tl::unexpected(ReadFailure{ReadFailure::Kind::damaged, "it is the entry of another key"});
  if (!file) {
    const ReadFailure& failure = file.error();
    if (failure.kind == ReadFailure::Kind::damaged) {
      count(&CacheCounts::damaged);
      say_once("damaged entry in " + folder.path().string() + ": " + failure.reason);
      if (writes) set_aside(folder, request.key);
      request.missed = "damaged: " + failure.reason;
    } else if (failure.kind == ReadFailure::Kind::unreadable) {
      say_once("cannot read from " + folder.path().string() + ": " + failure.reason);
      request.missed = failure.reason;
    }
    return std::nullopt;
  }
  if (file->seal || folder.access() == Access::any)
    if (std::string why = why_not_used(folder, request, *file); !why.empty()) {
      request.missed = std::move(why);
      request.supersede |= writes;
      return std::nullopt;
    }
  auto answer = answer_of(request, *file, source);
  if (!answer) return std::nullopt;
  memory_.put(request.key, *file, request.now);
  if (file->entry.kind == EntryKind::binary && options_.verify > 0 && edge_.chance() < options_.verify)
    if (auto other = verify(request, *file, source)) return other;
  return answer;
}

/// In the user's folder and in those of the machine revocations count, in those of others the signature.
std::string Store::why_not_used(const Folder& folder, const Request& request, FileBytes& file) {
  if (folder.access() != Access::any) return trust_.why_revoked(*file.seal);
  std::string why = why_refused(file, request.key, false, trust_, request.now);
  if (!why.empty()) say_once("an entry in " + folder.path().string() + " is not used: " + why);
  return why;
}

std::optional<CacheAnswer> Store::answer_of(Request& request, const FileBytes& file, CacheSource source) {
  const Entry& entry = file.entry;
  CacheAnswer answer{source,
                     CompilationEnd::built,
                     static_cast<ze_result_t>(entry.code),
                     entry.log,
                     entry.facts,
                     entry.payload,
                     file.owner,
                     {}};
  if (const std::string again = why_again(entry, request.now, options_.remember_failures); !again.empty()) {
    request.supersede |= source == CacheSource::user;
    if (entry.kind == EntryKind::crash) request.crashes = entry.attempts;
    request.missed = again;
    return std::nullopt;
  }
  if (entry.kind == EntryKind::failure) {
    answer.end = CompilationEnd::failed;
    count(&CacheCounts::remembered_failures);
  } else if (entry.kind == EntryKind::crash) {
    answer.end = CompilationEnd::died;
    const auto log = std::make_shared<const std::string>(
        std::string(entry.log) + (entry.log.empty() || entry.log.ends_with('\n') ? "" : "\n") +
        "not compiled again, since the compiler ended by itself " + std::to_string(entry.attempts) +
        " times on this input; `kiln cache clear` makes it try again\n");
    answer.log = *log;
    answer.owner = log;
    answer.facts = answer.payload = {};
    count(&CacheCounts::remembered_failures);
  }
  count(source == CacheSource::memory      ? &CacheCounts::memory_hits
        : source == CacheSource::read_only ? &CacheCounts::read_only_hits
        : source == CacheSource::remote    ? &CacheCounts::remote_hits
                                           : &CacheCounts::user_hits);
  return answer;
}

CacheAnswer Store::compile(Request& request) {
  count(&CacheCounts::compilations);
  const auto begin = std::chrono::steady_clock::now();
  Compilation made = request.compile();
  request.took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return keep_result(request, std::move(made));
}

CacheAnswer Store::keep_result(Request& request, Compilation made) {
  const auto result = std::make_shared<const Compilation>(std::move(made));
  CacheAnswer answer{CacheSource::compiled,
                     result->end,
                     result->code,
                     result->log,
                     result->facts,
                     result->payload,
                     result,
                     request.missed.empty() ? "not there" : request.missed};
  if (!result->not_kept.empty())
    say_once("the result of " + request.key.hex() + " is not stored: " + result->not_kept);
  request.own = !is_kept(*result);
  if (request.own) return answer;
  Entry entry{kind_of(result->end),
              static_cast<std::uint32_t>(result->code),
              result->end == CompilationEnd::died ? request.crashes + 1 : 1,
              static_cast<std::uint64_t>(request.now.time_since_epoch().count()),
              request.manifest,
              result->log,
              result->facts,
              result->payload};
  const FileBytes file = own(encode_entry(entry));
  hand_on(request, file);  // first: other machines wait for it, and a disk may be slow
  keep(request, file);
  keep_inputs(*result);
  return answer;
}

/// For who compiles them again, for another driver.
void Store::keep_inputs(const Compilation& made) {
  if (options_.keep_inputs == 0 || made.end != CompilationEnd::built || !user_ ||
      user_->access() != Access::write)
    return;
  for (const std::span<const std::byte> each : made.inputs)
    if (const int error = keep_input(*user_, each, options_.keep_inputs))
      say_once("what is compiled is not kept in " + path_.string() + ": " +
               (error == EFBIG ? "it takes more than KILN_CACHE_KEEP_INPUTS" : error_text(error)));
}

/// To the other machines. A failure stays here, where it is forgotten after a while.
void Store::hand_on(Request& request, const FileBytes& file) {
  if (remote_ && file.entry.kind == EntryKind::binary)
    remote_->offer(request.key, inputs_of(request.fields), file.bytes, std::move(request.lease), request.took,
                   request.distrust);
}

CacheAnswer Store::compile_unstored(const Compile& compile, std::string missed) {
  count(&CacheCounts::compilations);
  const auto result = std::make_shared<const Compilation>(compile());
  return {CacheSource::compiled, result->end,     result->code, result->log,
          result->facts,         result->payload, result,       std::move(missed)};
}

void Store::keep(Request& request, const FileBytes& file) {
  memory_.put(request.key, file, request.now);
  publish(request.key, request.now, request.supersede, file);
}

/// In the folder behind the back of who asks, who has the bytes already; other processes wait for it.
void Store::keep_later(Request& request, const FileBytes& file) {
  if (options_.verify > 0) return keep(request, file);  // may be replaced at once
  memory_.put(request.key, file, request.now);
  const auto turn = std::make_shared<KeyLocks::Hold>(std::move(request.turn));
  writes_.follow(
      [this, turn, file, key = request.key, now = request.now, supersede = request.supersede] {
        publish(key, now, supersede, file);
        *turn = {};
        prune_when_full();
      },
      file.bytes.size());
}

void Store::publish(const CacheKey& key, std::chrono::sys_seconds now, bool supersede,
                    const FileBytes& file) {
  if (!user_ || user_->access() != Access::write || file.bytes.size() > options_.max_size) return;
  const int error = publish_bytes(*user_, key, file.bytes, supersede);
  storing_ = error == 0 || error == EEXIST;
  if (error == 0) {
    count(&CacheCounts::stored);
    add_usage(*user_, file.bytes.size());
    mark_used(*user_, key, now);
  } else if (error != EEXIST) {
    count(&CacheCounts::store_failures);
    say_once("cannot store in " + path_.string() + ": " + error_text(error));
  }
}

/// What the compiler makes of it now, where that is something else: the compiler is right.
std::optional<CacheAnswer> Store::verify(Request& request, const FileBytes& file, CacheSource source) {
  Compilation again = request.compile();
  if (again.code == ZE_RESULT_NOT_READY) return keep_result(request, std::move(again));  // cancelled
  if (!is_kept(again)) return std::nullopt;
  count(&CacheCounts::verified);
  if (again.end == CompilationEnd::built && std::ranges::equal(again.payload, file.entry.payload))
    return std::nullopt;
  count(&CacheCounts::verify_differences);
  log(LogLevel::warning,
      "kernel cache: compiled again, entry " + request.key.hex() + " differs and is replaced");
  request.missed = "the compiler makes something else of it";
  request.supersede |= source == CacheSource::user || source == CacheSource::remote;
  request.distrust |= source == CacheSource::remote;
  if (source == CacheSource::read_only) {
    const std::lock_guard lock(mutex_);
    distrusted_.insert(request.key);
  }
  return keep_result(request, std::move(again));
}

void Store::prune_when_full() {
  if (!user_ || user_->access() != Access::write || !storing_) return;
  const auto usage = estimated_usage(*user_);
  if (usage && *usage <= options_.max_size && edge_.chance() >= recounts(*usage)) return;
  const auto now = edge_.now();
  if (edge_.prune_here)
    prune(now);
  else
    prunes_.start([this, now] { prune(now); });
}

void Store::prune(std::chrono::sys_seconds now) {
  const KeyLocks::Hold turn = locks_.try_lock_pruning();
  if (turn.answer() == KeyLocks::Answer::busy) return;
  (void)shrink(*user_, {options_.max_size, options_.max_size - options_.max_size / 5, {}}, now);
}

CacheCounts Store::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Store::count(std::uint64_t CacheCounts::*number) {
  const std::lock_guard lock(mutex_);
  ++(counts_.*number);
}

void Store::say_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!said_.insert(text).second) return;
  }
  log(LogLevel::warning, "kernel cache: " + text);
}

}  // namespace kiln::cache
