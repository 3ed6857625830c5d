// SPDX-License-Identifier: MIT
// Stores of several machines, the pure parts: their URLs, the messages of kiln-store, seals, lists of keys,
// and what of a store is used.
#include <doctest/doctest.h>

#include "cache/fixture.hpp"
#include "cache/format/facts.hpp"
#include "cache/remote/frame.hpp"
#include "cache/remote/message.hpp"
#include "cache/remote/tier.hpp"
#include "store/signing.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

const std::chrono::sys_seconds kNow{std::chrono::seconds(1'800'000'000)};

Bytes entry_of(int number, cache::EntryKind kind = cache::EntryKind::binary) {
  const std::string fields = encode(manifest(number));
  const Bytes facts = cache::encode_facts({}), code = payload(number, 200);
  return cache::encode_entry({kind, 0, 1, 1'700'000'000, fields, "fine", facts, code});
}

Bytes sealed(const Bytes& entry, const store::SigningKey& by, std::chrono::sys_seconds when = kNow) {
  const auto seal = by.sign(entry, when);
  REQUIRE(seal);
  const auto encoded = cache::encode_seal(*seal);
  Bytes bytes = entry;
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  return bytes;
}

store::SigningKey new_key() {
  auto key = store::SigningKey::make();
  REQUIRE(key);
  return *key;
}

/// A list of keys in a file, and whether it lets an entry in.
struct Gate {
  TestFolder folder;
  cache::TrustFiles trust{folder / "keys"};
  void write(const std::string& text) const {
    const fs::path path = folder / "keys";
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms(0600));
  }
  std::string refuses(const Bytes& bytes, int number = 1, bool accepts_unsigned = false) {
    cache::FileBytes file{nullptr, bytes, {}, {}};
    std::string why = cache::why_refused(file, key(number), accepts_unsigned, trust, kNow);
    if (why.empty()) CHECK(same(file.entry.payload, payload(number, 200)));
    return why;
  }
};

}  // namespace

TEST_CASE("memory for messages that was moved from has none") {
  cache::FrameBytes from;
  from.resize(100);
  const std::byte* const bytes = from.get().data();
  cache::FrameBytes to = std::move(from);
  CHECK(to.get().data() == bytes);
  CHECK(from.get().empty());
  from.resize(50);  // less than it had
  REQUIRE(from.get().data() != nullptr);
  CHECK(from.get().size() == 50);
  to = std::move(from);
  CHECK(to.get().size() == 50);
  to.expect(4096);
  CHECK(to.get().empty());
  const std::byte* const room = to.get().data();
  to.resize(4000);
  CHECK(to.get().data() == room);
  to.resize(100);  // who keeps it keeps little more
  CHECK(to.get().size() == 100);
}

TEST_CASE("URLs of stores") {
  const auto plain = cache::parse_remote("redis://cache.example");
  REQUIRE(plain);
  CHECK(plain->name() == "redis://cache.example:6379/0");
  CHECK(!plain->read_only);
  CHECK(!plain->accepts_unsigned);
  const auto all = cache::parse_remote(
      "rediss://me:a%2Fb@[::1]:7000/3,read-only,unsigned,prefix=x,ttl=60,credentials=/etc/who");
  REQUIRE(all);
  CHECK(all->name() == "rediss://[::1]:7000/3");
  CHECK(all->password == "a/b");
  CHECK(all->read_only);
  CHECK(all->accepts_unsigned);
  CHECK(all->ttl == 60);
  CHECK(all->is_encrypted());
  CHECK(cache::parse_remote("https://cache.example/a/b/")->name() == "https://cache.example:443/a/b");
  CHECK(cache::parse_remote("http://a/bucket,s3=eu-west-1")->s3_region == "eu-west-1");
  for (const std::string bad :
       {"http://a,s3=",      "http://a,s3=a:b", "redis://a,s3=eu",   "",
        "redis://",          "ftp://a",         "http://a:0",        "http://a:65536",
        "http://a b",        "redis://a/x",     "http://a,ttl=3",    "redis://a,ttl=0",
        "http://a,readonly", "http://a?b",      "http://%zz@a",      "http://a,credentials=who",
        "redis://a,prefix=", "http://a/\x01",   "http://me:12/34@b", "http://a\"b",
        "http://[::1"})
    CHECK_MESSAGE(!cache::parse_remote(bad), bad);
  // Whatever is refused, its password is not told.
  CHECK(cache::parse_remote("http://me:secret@").error().find("secret") == std::string::npos);
  CHECK(cache::split_remotes("  a  b ") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("messages of kiln-store: what is written is read, and no part of it is a message") {
  const Bytes entry = payload(3);
  cache::StoreRequest request;
  request.verb = cache::StoreVerb::put;
  request.key = key(1);
  request.inputs = key(2);
  request.lease = 7;
  request.until = 123;
  request.replace = true;
  request.entry = entry;
  const Bytes message = encode(request);
  const auto read = cache::decode_store_request(message);
  REQUIRE(read);
  CHECK(read->key == key(1));
  CHECK(read->lease == 7);
  CHECK(read->replace);
  CHECK(encode(*read) == message);
  cache::StoreAnswer answer;
  answer.result = cache::StoreResult::found;
  answer.note = "a note";
  answer.entry = entry;
  const Bytes said = encode(answer);
  CHECK(encode(*cache::decode_store_answer(said)) == said);
  const Bytes settings = encode(cache::StoreSettings{{"redis://a", "http://b"}, "/key"});
  CHECK(encode(*cache::decode_store_settings(settings)) == settings);
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK(!cache::decode_store_request(std::span(message).first(size)));
  for (std::size_t size = 0; size < said.size(); ++size)
    CHECK(!cache::decode_store_answer(std::span(said).first(size)));
  for (std::size_t size = 0; size < settings.size(); ++size)
    CHECK(!cache::decode_store_settings(std::span(settings).first(size)));
}

TEST_CASE("lists of keys") {
  const std::string one(64, 'a'), other(64, 'b');
  const auto lines =
      cache::parse_trust("# ours\n\ntrust " + one + " build farm\r\nrevoke " + other + "\nrevoke " + one +
                         " before 2026-11-24 old compiler\n\trevoke " + one + " since 2027-01-02T03:04:05Z");
  REQUIRE(lines);
  REQUIRE(lines->size() == 4);
  CHECK(to_string((*lines)[0]) == "trust " + one + " build farm");
  CHECK(to_string((*lines)[1]) == "revoke " + other);
  CHECK(to_string((*lines)[2]) == "revoke " + one + " before 2026-11-24T00:00:00Z old compiler");
  CHECK(to_string((*lines)[3]) == "revoke " + one + " since 2027-01-02T03:04:05Z");
  for (const char* bad : {"trusts x", "trust", "trust abc", "revoke x before"})
    CHECK_MESSAGE(!cache::parse_trust(bad), bad);
  CHECK(cache::parse_trust("\n\ntrust z").error().starts_with("line 3: "));
  for (const std::string date :
       {"2026-13-01", "2026-02-30", "2026-1-1", "2026-11-24T24:00:00Z", "2026-11-24T00:00:00"})
    CHECK_MESSAGE(!cache::parse_trust("revoke " + one + " before " + date), date);
}

TEST_CASE("an entry of a store counts when a trusted key signed it") {
  Gate gate;
  const auto ours = new_key(), theirs = new_key();
  const std::string name = cache::to_string(ours.public_key());
  const Bytes good = sealed(entry_of(1), ours);
  CHECK(gate.refuses(good).starts_with("its signer is not trusted"));  // nobody is
  gate.write("trust " + name + " ours\n");
  CHECK(gate.refuses(good).empty());
  CHECK(gate.refuses(entry_of(1)) == "it is not signed");
  CHECK(gate.refuses(sealed(entry_of(1), theirs)).starts_with("its signer is not trusted"));
  CHECK(gate.refuses(good, 2) == "it is the entry of another key");
  CHECK(gate.refuses(sealed(entry_of(1, cache::EntryKind::failure), ours)) == "it is no native binary");
  CHECK(gate.refuses(sealed(entry_of(1), ours, kNow + std::chrono::hours(48))) ==
        "it says that it was signed tomorrow or later");
  // The seal of another entry, and of the same in another's name.
  Bytes swapped = entry_of(2);
  swapped.insert(swapped.end(), good.end() - std::ptrdiff_t(cache::kSealSize), good.end());
  CHECK(gate.refuses(swapped, 2) == "its signature is wrong");
  const auto seal = theirs.sign(entry_of(1), kNow);
  cache::Seal stolen = *seal;
  stolen.signer = ours.public_key();
  const auto encoded = cache::encode_seal(stolen);
  Bytes forged = entry_of(1);
  forged.insert(forged.end(), encoded.begin(), encoded.end());
  CHECK(gate.refuses(forged) == "its signature is wrong");
  // Where unsigned entries count, only the wrong ones do not.
  CHECK(gate.refuses(entry_of(1), 1, true).empty());
  CHECK(gate.refuses(forged, 1, true).empty());
  CHECK(gate.refuses(entry_of(2), 1, true) == "it is the entry of another key");
}

TEST_CASE("every flipped bit and every cut of a signed entry is a miss") {
  Gate gate;
  const auto ours = new_key();
  gate.write("trust " + cache::to_string(ours.public_key()) + "\n");
  Bytes bytes = sealed(entry_of(1), ours);
  REQUIRE(gate.refuses(bytes).empty());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; bit += i < 64 || i + cache::kSealSize > bytes.size() ? 1 : 5) {
      bytes[i] ^= std::byte(1 << bit);
      CHECK_MESSAGE(!gate.refuses(bytes).empty(), "byte " << i << " bit " << bit);
      bytes[i] ^= std::byte(1 << bit);
    }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    CHECK_MESSAGE(!gate.refuses(cut).empty(), size);
  }
  CHECK(gate.refuses(bytes).empty());
}

TEST_CASE("revocations by key and by date, and old entries again") {
  Gate gate;
  const auto ours = new_key();
  const std::string name = cache::to_string(ours.public_key());
  const Bytes old = sealed(entry_of(1), ours, *cache::parse_date("2026-05-01")),
              late = sealed(entry_of(1), ours, *cache::parse_date("2026-07-01"));
  gate.write("trust " + name + "\nrevoke " + name + " before 2026-06-01\n");
  CHECK(gate.refuses(old).starts_with("what its signer signed before 2026-06-01"));
  CHECK(gate.refuses(late).empty());
  CHECK(!gate.refuses(old, 1, true).empty());  // also from where unsigned ones count
  gate.write("trust " + name + "\nrevoke " + name + " since 2026-06-01 stolen\n");
  CHECK(gate.refuses(old).empty());
  CHECK(gate.refuses(late).starts_with("what its signer signed since 2026-06-01"));
  gate.write("revoke " + name + "\ntrust " + name + " in whatever order they stand\n");
  CHECK(gate.refuses(old).starts_with("its signer is revoked"));
  // A list that is not understood lets nobody in.
  gate.write("trust " + name + "\nrevok " + name + "\n");
  CHECK(gate.refuses(late).find("line 2") != std::string::npos);
  gate.write("trust " + name + "\n");
  CHECK(gate.refuses(late).empty());
  fs::permissions(gate.folder / "keys", fs::perms(0620));
  CHECK(gate.refuses(late).find("others may write to it") != std::string::npos);
}

TEST_CASE("what came signed is kept with its seal, and a revocation reaches it") {
  const TestFolder folder;
  Gate gate;
  const auto ours = new_key();
  gate.write("");
  const auto opened = cache::open_folder(folder.path(), cache::Access::write);
  REQUIRE(opened);
  const Bytes bytes = sealed(entry_of(1), ours);
  REQUIRE(cache::publish_bytes(*opened, key(1), bytes, false) == 0);
  CacheOptions options = options_in(folder.path());
  options.trust_file = gate.folder / "keys";
  {
    cache::Store store(options);
    CHECK(store.get(manifest(1), true, Compiler{}.function()).source == CacheSource::user);
  }
  gate.write("revoke " + cache::to_string(ours.public_key()) + "\n");
  cache::Store store(options);
  Compiler compiler{built(1, 200)};
  const CacheAnswer answer = store.get(manifest(1), true, compiler.function());
  CHECK(compiler.calls == 1);
  CHECK(answer.missed.starts_with("its signer is revoked"));
  // Compiled here now, without a seal.
  CHECK(store.get(manifest(1), true, compiler.function()).source == CacheSource::user);
  CHECK(compiler.calls == 1);
}

TEST_CASE("private keys lie in files that nobody else reads") {
  const TestFolder folder;
  const auto made = new_key();
  const fs::path path = folder / "key.pem";
  std::ofstream(path) << made.pem();
  fs::permissions(path, fs::perms(0600));
  const auto read = store::SigningKey::read(path);
  REQUIRE(read);
  CHECK(read->public_key() == made.public_key());
  fs::permissions(path, fs::perms(0640));
  CHECK(store::SigningKey::read(path).error().find("others may read it") != std::string::npos);
  std::ofstream(folder / "no") << "nothing";
  fs::permissions(folder / "no", fs::perms(0600));
  CHECK(!store::SigningKey::read(folder / "no"));
  CHECK(!store::SigningKey::read(folder / "not there"));
}
