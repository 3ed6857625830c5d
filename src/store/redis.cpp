// SPDX-License-Identifier: MIT
// A store in Redis or Valkey: hiredis writes and reads the protocol, libcurl connects, with TLS or without.
#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "cache/remote/message.hpp"
#include "store/connection.hpp"
#include "store/curl.hpp"
#include "support/digits.hpp"
#include "support/printable.hpp"

namespace kiln::store {
namespace {

using namespace std::chrono_literals;
using Answer = std::shared_ptr<redisReply>;
using Words = std::vector<std::string_view>;

// All keys of one entry lie in one slot of a cluster, by the braces.
// A lease is its token, who asked for it, and its life in milliseconds: who did not hear the answer asks
// again, and has it. Until a store that started anew is told of older leases, their tokens are used again.
// Who asks no more says so, and what he asked and comes late gets none.
// KEYS: entry, lease, token, gone. ARGV: milliseconds of a lease, seconds of a token, who asks.
constexpr std::string_view kLead = R"(
local entry = redis.call('GET', KEYS[1])
if entry then return {1, entry} end
if redis.call('EXISTS', KEYS[4]) == 1 then return {2, 0} end
local lease = redis.call('GET', KEYS[2])
if lease then
  local token, who, life = string.match(lease, '^(%d+) ?(%S*) ?(%d*)')
  if who ~= ARGV[3] then return {2, tonumber(life or '') or 0} end
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
  return {3, tonumber(token)}
end
local token = redis.call('INCR', KEYS[3])
redis.call('EXPIRE', KEYS[3], ARGV[2])
redis.call('SET', KEYS[2], token .. ' ' .. ARGV[3] .. ' ' .. ARGV[1], 'PX', ARGV[1])
return {3, token})";

// KEYS: entry, lease, token. ARGV: token or 0, 1 to replace, seconds to keep or 0, the entry, who led.
// Whoever led before somebody else did is too late: that one's entry stands.
constexpr std::string_view kPut = R"(
local mine = tonumber(ARGV[1])
if mine > 0 then
  local last = tonumber(redis.call('GET', KEYS[3]) or '0')
  local lease = redis.call('GET', KEYS[2])
  local token, who = string.match(lease or '', '^(%d+) ?(%S*)')
  local held = token == ARGV[1] and who == ARGV[5]
  if last > mine or lease and not held then return 0 end
  if held then
    redis.call('DEL', KEYS[2])
    redis.call('INCR', KEYS[3])
  end
end
if ARGV[2] == '0' and redis.call('EXISTS', KEYS[1]) == 1 then return 2 end
if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[4])
else redis.call('SET', KEYS[1], ARGV[4], 'EX', ARGV[3]) end
return 1)";

// KEYS: lease, token. ARGV: token, milliseconds, who leads. A store that started anew without its leases gets
// this one back.
constexpr std::string_view kExtend = R"(
local now = redis.call('GET', KEYS[1])
if now then
  local token, who = string.match(now, '^(%d+) ?(%S*)')
  if token ~= ARGV[1] or who ~= ARGV[3] then return 0 end
else
  local last = tonumber(redis.call('GET', KEYS[2]) or '0')
  if last > tonumber(ARGV[1]) then return 0 end
  redis.call('SET', KEYS[2], ARGV[1], 'EX', 86400)
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. ARGV[2], 'PX', ARGV[2])
return 1)";

// KEYS: lease, token, gone. ARGV: token or 0, who led, milliseconds. The next token is used up, so that no
// extension under way brings it back.
constexpr std::string_view kRelease = R"(
local token, who = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) ?(%S*)')
local unheard = ARGV[1] == '0'
if who == ARGV[2] and (token == ARGV[1] or unheard) then
  redis.call('DEL', KEYS[1])
  redis.call('INCR', KEYS[2])
end
if unheard then redis.call('SET', KEYS[3], '1', 'PX', ARGV[3]) end
return 1)";

// Of one input, what it took last; of all, the longest of ten minutes.
constexpr std::string_view kRemember = R"(
if tonumber(ARGV[1]) >= tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', 600)
end
return 1)";

/// Reads as hiredis does, but arrays of no more elements in all than an answer to a question of this program
/// has: each takes room when it is announced, before any of its elements has come.
class Reader {
 public:
  Reader() : reader_(redisReaderCreate(), &redisReaderFree) {
    if (!reader_) return;
    functions_ = *reader_->fn;
    make_any_ = functions_.createArray;
    functions_.createArray = &Reader::make;
    reader_->fn = &functions_;
    reader_->privdata = this;
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  [[nodiscard]] redisReader* get() const { return reader_.get(); }
  /// The next answer is one to so many questions.
  void expect(std::size_t questions) { left_ = kMostElements + questions; }

 private:
  static constexpr std::size_t kMostElements = 1 << 18;  // keys of one SCAN, which asks for a thousand
  /// `Count` is another type in each release.
  template <class Count>
  static void* make(const redisReadTask* task, Count count) {
    auto& self = *static_cast<Reader*>(task->privdata);
    const auto elements = static_cast<std::size_t>(count);
    if (elements > self.left_) return nullptr;
    self.left_ -= elements;
    return self.make_any_(task, count);
  }

  redisReplyObjectFunctions functions_{};
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  decltype(redisReplyObjectFunctions::createArray) make_any_ = nullptr;
  std::size_t left_ = 0;
};

class Redis : public Connection {
 public:
  explicit Redis(const cache::RemoteUrl& url) : url_(url), who_(credentials_of(url)) {}

  Reply get(const CacheKey& key, Moment deadline) override {
    return asked({"GET", name(key, "entry")}, deadline, [](const Answer& answer) -> Reply {
      if (answer->type == REDIS_REPLY_NIL) return {Reply::End::absent, {}};
      return found(answer, *answer);
    });
  }

  Reply has(const CacheKey& key, Moment deadline) override {
    return asked({"EXISTS", name(key, "entry")}, deadline, [](const Answer& answer) -> Reply {
      return {answer->integer == 1 ? Reply::End::found : Reply::End::absent, {}};
    });
  }

  Reply put(const CacheKey& key, std::span<const std::byte> bytes, const Put& how, Moment deadline) override {
    const std::string entry = name(key, "entry"), lease = name(key, "lease"), token = name(key, "token"),
                      mine = std::to_string(how.lease ? how.lease->token : 0), ttl = std::to_string(url_.ttl);
    const std::string_view value(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        who = how.lease ? std::string_view(how.lease->who) : std::string_view();
    return asked({"EVAL", kPut, "3", entry, lease, token, mine, how.replace ? "1" : "0", ttl, value, who},
                 deadline, [](const Answer& answer) -> Reply {
                   // 2: there is one; 0: another machine led since, and its entry counts. Neither is a
                   // failure of the store.
                   return {answer->integer == 1 ? Reply::End::found : Reply::End::absent, {}};
                 });
  }

  Reply lead(const CacheKey& key, std::string_view who, std::chrono::milliseconds lives,
             Moment deadline) override {
    const std::string entry = name(key, "entry"), lease = name(key, "lease"), token = name(key, "token"),
                      gone = name(key, "gone:") + std::string(who), life = std::to_string(lives.count());
    return asked({"EVAL", kLead, "4", entry, lease, token, gone, life, "86400", who}, deadline,
                 [](const Answer& answer) -> Reply {
                   if (answer->type != REDIS_REPLY_ARRAY || answer->elements != 2) return unexpected();
                   const long long which = answer->element[0]->integer;
                   if (which == 1) return found(answer, *answer->element[1]);
                   return {which == 2 ? Reply::End::busy : Reply::End::lead,
                           {},
                           {},
                           static_cast<std::uint64_t>(answer->element[1]->integer)};
                 });
  }

  std::vector<Reply> extend(std::span<const LeaseName> leases, std::chrono::milliseconds lives,
                            Moment deadline) override {
    const std::string life = std::to_string(lives.count());
    std::deque<std::string> texts;  // stay where they are
    std::vector<Words> questions;
    const auto kept = [&](std::string text) -> std::string_view {
      return texts.emplace_back(std::move(text));
    };
    for (const LeaseName& each : leases)
      questions.push_back({"EVAL", kExtend, "2", kept(name(each.key, "lease")), kept(name(each.key, "token")),
                           kept(std::to_string(each.token)), life, each.who});
    return asked_together(questions, deadline, [](const Answer& answer) -> Reply {
      return {answer->integer == 1 ? Reply::End::found : Reply::End::absent, {}};
    });
  }

  Reply release(const LeaseName& held, Moment deadline) override {
    const std::string lease = name(held.key, "lease"), last = name(held.key, "token"),
                      gone = name(held.key, "gone:") + held.who, mine = std::to_string(held.token),
                      longest = std::to_string(kLongestLife.count());
    return asked({"EVAL", kRelease, "3", lease, last, gone, mine, held.who, longest}, deadline,
                 [](const Answer&) -> Reply {
                   return {Reply::End::found, {}};
                 });
  }

  Reply usual(const CacheKey& inputs, Moment deadline) override {
    const std::string one = took(inputs), all = took({});
    return asked({"MGET", one, all}, deadline, [](const Answer& answer) -> Reply {
      if (answer->type != REDIS_REPLY_ARRAY) return unexpected();
      for (std::size_t i = 0; i < answer->elements; ++i)
        if (const auto* each = answer->element[i]; each->type == REDIS_REPLY_STRING)
          if (const auto known = detail::parse_digits({each->str, static_cast<std::size_t>(each->len)}))
            return {i == 0 ? Reply::End::found : Reply::End::busy, {}, {}, *known};
      return {Reply::End::absent, {}};
    });
  }

  void remember(const CacheKey& inputs, std::uint64_t milliseconds, Moment deadline) override {
    const std::string one = took(inputs), all = took({}), text = std::to_string(milliseconds);
    const auto any = [](const Answer&) -> Reply { return {Reply::End::found, {}}; };
    (void)asked({"SET", one, text, "EX", "2592000"}, deadline, any);
    (void)asked({"EVAL", kRemember, "1", all, text}, deadline, any);
  }

  Reply list(Moment deadline) override {
    Reply all{Reply::End::found, {}};
    const std::string pattern = url_.prefix + ":{*}:entry";
    std::string cursor = "0";
    do {
      const Reply part = asked(
          {"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"}, deadline, [&](const Answer& answer) -> Reply {
            if (answer->type != REDIS_REPLY_ARRAY || answer->elements != 2 ||
                answer->element[1]->type != REDIS_REPLY_ARRAY)
              return unexpected();
            cursor.assign(answer->element[0]->str, static_cast<std::size_t>(answer->element[0]->len));
            for (std::size_t i = 0; i < answer->element[1]->elements; ++i) {
              const redisReply& key = *answer->element[1]->element[i];
              const std::string_view text(key.str, static_cast<std::size_t>(key.len));
              constexpr std::size_t kDigits = 64, kEnd = 7;  // "}:entry"
              if (text.size() == url_.prefix.size() + 2 + kDigits + kEnd)
                all.reason += std::string(text.substr(url_.prefix.size() + 2, kDigits)) + '\n';
            }
            return {Reply::End::found, {}};
          });
      if (part.end == Reply::End::failed) return part;
    } while (cursor != "0");
    return all;
  }

  Reply figures(Moment deadline) override {
    return asked({"INFO"}, deadline, [](const Answer& answer) -> Reply {
      if (answer->type != REDIS_REPLY_STRING) return unexpected();
      return {Reply::End::found, std::string(answer->str, static_cast<std::size_t>(answer->len))};
    });
  }

 private:
  /// The first word of an error. Redis 6 puts what a script ran into behind words of its own: "ERR Error
  /// running script …: -READONLY …".
  static std::string_view code_of(std::string_view error) {
    if (const auto at = error.rfind(": -"); error.starts_with("ERR ") && at != error.npos)
      error.remove_prefix(at + 3);
    constexpr std::size_t kMostShown = 40;  // bytes
    return error.substr(0, std::min(error.find(' '), kMostShown));
  }
  /// Null: it may be asked for nothing either.
  static const char* why_refused(std::string_view code) {
    if (code == "READONLY") return "it is a replica, which is only read: name its primary, or add read-only";
    if (code == "NOPERM") return "its ACL does not let this user do that";
    if (code == "OOM") return "it is full, and set to forget nothing";
    if (code == "MISCONF") return "it cannot save what it has, and so takes nothing";
    return nullptr;
  }
  static constexpr std::string_view kLoading = "it answers LOADING", kNoReason = "it answers ERR";
  static std::string why_failed(std::string_view code, std::string_view error) {
    if (code == "ERR" && error.find("unknown command") != error.npos && error.find("EVAL") != error.npos)
      return "it runs no scripts (EVAL), which leases and uploads need";
    if (code == "ERR" && error.find("unknown command") != error.npos)
      return "it keeps no keys, as a Sentinel does not: name the primary";
    if (code == "MOVED" || code == "ASK" || code == "CROSSSLOT" || code == "CLUSTERDOWN")
      return "it is a node of a Redis Cluster, which needs a proxy before it (" + std::string(code) + ")";
    if (code == "NOAUTH") return "it wants a password";
    return "it answers " + detail::printable(code);
  }
  static Reply unexpected() { return {Reply::End::failed, "it gives an answer to something else"}; }
  /// `text` inside `answer`, which keeps it.
  static Reply found(const Answer& answer, const redisReply& text) {
    if (text.type != REDIS_REPLY_STRING) return unexpected();
    return {Reply::End::found, {}, {reinterpret_cast<const std::byte*>(text.str), text.len}, 0, answer};
  }
  [[nodiscard]] std::string name(const CacheKey& key, const char* what) const {
    return url_.prefix + ":{" + key.hex() + "}:" + what;
  }
  [[nodiscard]] std::string took(const CacheKey& inputs) const {
    return url_.prefix + ":took:" + (inputs == CacheKey{} ? "all" : inputs.hex().substr(0, 32));
  }

  template <class Read>
  Reply asked(const Words& words, Moment deadline, Read read) {
    return asked_together({&words, 1}, deadline, read).front();
  }

  /// Connects where that is needed, asks all at once, and asks anew as long as there is time: a store that
  /// starts again is back soon.
  template <class Read>
  std::vector<Reply> asked_together(std::span<const Words> questions, Moment deadline, Read read) {
    bool sent = false;
    for (auto pause = 5ms;; pause = std::min(2 * pause, 40ms)) {
      std::string why = who_ ? std::string() : who_.error();
      if (who_ && !connected_) why = connect(deadline);
      const bool unreached = who_ && !reached_;
      if (connected_ && why.empty()) {
        bool loading = false;
        sent = true;
        std::vector<Reply> replies;
        for (const Answer& answer : commands(questions, deadline, why)) {
          replies.push_back(answer->type == REDIS_REPLY_ERROR ? error_of(*answer) : read(answer));
          loading |= replies.back().reason == kLoading;
        }
        if (!replies.empty() && !loading) return replies;
        if (loading)
          why = kLoading;
        else
          connected_.reset();
      }
      if (!who_ || std::chrono::steady_clock::now() + pause >= deadline || refused_)
        return std::vector<Reply>(questions.size(), {Reply::End::failed, why, {}, 0, {}, unreached, sent});
      std::this_thread::sleep_for(pause);
    }
  }

  static Reply error_of(const redisReply& answer) {
    const std::string_view error(answer.str, static_cast<std::size_t>(answer.len)), code = code_of(error);
    if (const char* refused = why_refused(code)) return {Reply::End::refused, refused};
    return {Reply::End::failed, why_failed(code, error)};
  }

  /// Empty: it is.
  std::string connect(Moment deadline) {
    refused_ = reached_ = false;
    auto fresh = std::make_unique<Curl>();
    if (!*fresh) return "no memory";
    cache::RemoteUrl place = url_;
    place.scheme = url_.is_encrypted() ? "https" : "http";
    place.path.clear();
    fresh->set(CURLOPT_NOSIGNAL, 1L);
    fresh->set_text(CURLOPT_URL, place.name());
    fresh->set(CURLOPT_CONNECT_ONLY, 1L);
    fresh->set(CURLOPT_BUFFERSIZE, kPart);
    fresh->set(CURLOPT_SSL_ENABLE_ALPN, 0L);
    fresh->set(CURLOPT_PROXY, "");  // of HTTP, which this is not
    fresh->set_certificates(*who_);
    fresh->set_deadline(deadline);
    const CURLcode code = curl_easy_perform(fresh->get());
    // Asked again, it would show the same certificate.
    refused_ = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
               code == CURLE_SSL_CERTPROBLEM;
    if (code != CURLE_OK) return curl_easy_strerror(code);
    reached_ = true;
    connected_ = std::move(fresh);
    reader_ = std::make_unique<Reader>();
    if (!reader_->get()) {
      connected_.reset();
      return "no memory";
    }
    std::string why;
    const auto greeted = [&](const Words& words, const std::string& refusal) {
      const Answer answer = command(words, deadline, why);
      if (answer && answer->type == REDIS_REPLY_ERROR) {
        const Reply error = error_of(*answer);
        // ERR: as AUTH and SELECT say it of what is not there, and a SELECT of a cluster.
        why = error.reason == kNoReason || words.front() == "AUTH" ? refusal : error.reason;
        refused_ = error.reason != kLoading;
      }
      if (!why.empty()) connected_.reset();
      return why.empty();
    };
    if (!who_->password.empty()) {
      Words words{"AUTH"};
      if (!who_->user.empty()) words.push_back(who_->user);
      words.push_back(who_->password);
      if (!greeted(words, "it does not let this user in")) return why;
    }
    const std::string database = url_.path.substr(1);
    if (database != "0") (void)greeted({"SELECT", database}, "it has no database " + database);
    return why;
  }

  Answer command(const Words& words, Moment deadline, std::string& why) {
    const auto answers = commands({&words, 1}, deadline, why);
    return answers.empty() ? Answer() : answers.front();
  }

  /// An answer for each; none: `why` says why, and the connection is of no use any more.
  std::vector<Answer> commands(std::span<const Words> questions, Moment deadline, std::string& why) {
    const auto none = [&](const char* text) {
      why = text;
      return std::vector<Answer>();
    };
    std::string whole;
    for (const Words& words : questions) {
      std::vector<const char*> texts;
      std::vector<std::size_t> sizes;
      for (const std::string_view word : words) texts.push_back(word.data()), sizes.push_back(word.size());
      char* line = nullptr;
      const auto size =
          redisFormatCommandArgv(&line, static_cast<int>(words.size()), texts.data(), sizes.data());
      if (size < 0) return none("no memory");
      whole.append(line, static_cast<std::size_t>(size));
      redisFreeCommand(line);
    }
    for (std::size_t sent = 0; sent < whole.size();) {
      if (passed(deadline)) return none("it does not answer in time");
      std::size_t count = 0;
      const CURLcode code =
          curl_easy_send(connected_->get(), whole.data() + sent, whole.size() - sent, &count);
      sent += code == CURLE_OK ? count : 0;
      if (code == CURLE_AGAIN ? !wait(POLLOUT, deadline) : code != CURLE_OK)
        return none(code == CURLE_AGAIN ? "it does not answer in time" : "the connection broke");
    }
    std::vector<Answer> answers;
    reader_->expect(questions.size());
    for (std::uint64_t received = 0; answers.size() < questions.size();) {
      void* answer = nullptr;
      if (redisReaderGetReply(reader_->get(), &answer) != REDIS_OK)
        return none("it speaks no protocol of Redis");
      if (answer) {
        answers.emplace_back(static_cast<redisReply*>(answer), &freeReplyObject);
        continue;
      }
      if (passed(deadline)) return none("it does not answer in time");
      std::size_t count = 0;
      const CURLcode code = curl_easy_recv(connected_->get(), part_.data(), part_.size(), &count);
      if (code == CURLE_AGAIN) {
        if (!wait(POLLIN, deadline)) return none("it does not answer in time");
        continue;
      }
      received += count;
      if (code != CURLE_OK || count == 0) return none("the connection broke");
      if (received == count && questions.size() == 1)
        if (const std::size_t size = whole_entry(count); size != 0) {
          const char* const why_not = receive_rest(count, size, deadline);
          if (why_not) return none(why_not);
          answers.push_back(text_in_part(size));
          continue;
        }
      if (received > cache::kLargestMessage) return none("its answer is too large");
      if (redisReaderFeed(reader_->get(), part_.data(), count) != REDIS_OK) return none("no memory");
    }
    return answers;
  }

  /// An answer that is one long text, as entries are, is taken as it comes, without the copies of hiredis.
  /// Its size with the line before it and the end behind it, where its first `count` bytes are in part_; 0:
  /// it is none, or so large that the room for it would not be kept.
  [[nodiscard]] std::size_t whole_entry(std::size_t count) const {
    constexpr std::size_t kLeast = 4 << 10, kMost = 4 << 20;
    const std::string_view start(part_.data(), std::min<std::size_t>(count, 16));
    const std::size_t end = start.find("\r\n");
    if (!start.starts_with('$') || end == start.npos) return 0;
    const auto size = detail::parse_digits(start.substr(1, end - 1));
    return size && *size >= kLeast && *size <= kMost ? end + 2 + *size + 2 : 0;
  }

  /// Null, or why not.
  const char* receive_rest(std::size_t have, std::size_t size, Moment deadline) {
    if (part_.size() < size) part_.resize(size);
    while (have < size) {
      if (passed(deadline)) return "it does not answer in time";
      std::size_t count = 0;
      const CURLcode code = curl_easy_recv(connected_->get(), part_.data() + have, size - have, &count);
      if (code == CURLE_AGAIN) {
        if (!wait(POLLIN, deadline)) return "it does not answer in time";
        continue;
      }
      if (code != CURLE_OK || count == 0) return "the connection broke";
      have += count;
    }
    const bool ends = part_[size - 2] == '\r' && part_[size - 1] == '\n';
    return have == size && ends ? nullptr : "it speaks no protocol of Redis";
  }

  /// Until the next question.
  Answer text_in_part(std::size_t size) {
    const auto text = std::make_shared<redisReply>();
    const auto start = static_cast<std::size_t>(std::ranges::find(part_, '\n') - part_.begin()) + 1;
    text->type = REDIS_REPLY_STRING;
    text->str = part_.data() + start;
    text->len = size - 2 - start;
    return text;
  }

  /// Asked before each read: what comes without an end leaves nothing to wait for.
  static bool passed(Moment deadline) { return std::chrono::steady_clock::now() >= deadline; }

  [[nodiscard]] bool wait(short events, Moment deadline) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(connected_->get(), CURLINFO_ACTIVESOCKET, &socket);
    if (events == POLLIN) return for_answers_.readable(socket, deadline);
    pollfd waiting{socket, events, 0};
    const int left = cache::left_until(deadline);
    return left > 0 && poll(&waiting, 1, left) != 0;
  }

  const cache::RemoteUrl url_;
  const tl::expected<Credentials, std::string> who_;
  std::unique_ptr<Curl> connected_;
  std::unique_ptr<Reader> reader_;
  bool refused_ = false;  ///< it would be again
  bool reached_ = false;  ///< the last connection was had
  cache::ShortWait for_answers_;
  std::vector<char> part_ = std::vector<char>(kPart);  ///< of an answer, as it comes
};

}  // namespace

std::unique_ptr<Connection> make_redis(const cache::RemoteUrl& url) { return std::make_unique<Redis>(url); }

}  // namespace kiln::store
