// SPDX-License-Identifier: MIT
// The bytes of the cache: what is written is read again, and whatever else there is, is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "cache/format/entry.hpp"
#include "cache/format/facts.hpp"
#include "kiln/manifest.hpp"
#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::cache;
using namespace kiln::test;

namespace {

// All fields by name, so that one that is added does not compile here until it is compared.
auto fields(const ArgumentFacts& facts) {
  const auto& [a, b, c, d] = facts;
  return std::tie(a, b, c, d);
}
auto fields(const KernelFacts& facts) {
  const auto& [a, arguments, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = facts;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u,
                  v);  // `arguments` on their own
}
auto fields(const ModuleFacts& facts) {
  const auto& [kernels, a, b, c, d, e, f, g, h] = facts;
  return std::tie(a, b, c, d, e, f, g, h);  // `kernels` on their own
}

void check_same(const ModuleFacts& left, const ModuleFacts& right) {
  CHECK(fields(left) == fields(right));
  REQUIRE(left.kernels.size() == right.kernels.size());
  for (std::size_t i = 0; i < left.kernels.size(); ++i) {
    CHECK(fields(left.kernels[i]) == fields(right.kernels[i]));
    CHECK(
        std::ranges::equal(left.kernels[i].arguments, right.kernels[i].arguments,
                           [](const auto& one, const auto& other) { return fields(one) == fields(other); }));
  }
}

/// No field has the value of the other's.
template <class Facts>
bool all_differ(const Facts& left, const Facts& right) {
  return std::apply(
      [&](const auto&... mine) {
        return std::apply([&](const auto&... theirs) { return ((mine != theirs) && ...); }, fields(right));
      },
      fields(left));
}

ModuleFacts full_facts() {
  KernelFacts kernel;
  kernel.name = "matmul_tiled";
  kernel.arguments = {{ArgumentKind::global_pointer, 8, 32, "out"},
                      {ArgumentKind::local_pointer, 4, 64, "tile"},
                      {ArgumentKind::other, 1, 1u << 31, "image"}};
  kernel.arguments_known = true;
  kernel.static_slm = std::uint64_t{1} << 40;
  kernel.slm_mode = SlmMode::runtime_adjusted;
  kernel.required_group_size = {16, 8, 2};
  kernel.required_sub_group_size = 16;
  kernel.simd_size = 32;
  kernel.grf_count = 256;
  kernel.barrier_count = 3;
  kernel.private_size = 1200;
  kernel.spill_size = 512;
  kernel.group_size_hint = {32, 4, 1};
  kernel.private_per_thread = 19'200;
  kernel.scratch_per_thread = {262'144, 64};
  kernel.has_4gb_buffers = true;
  kernel.needs_sync_buffer = true;
  kernel.has_stack_calls = true;
  kernel.has_printf = true;
  kernel.has_global_atomics = true;
  kernel.is_invalid = true;
  kernel.may_follow_pointers = false;
  kernel.malformed = "a `__local` argument has no offset";
  ModuleFacts facts;
  facts.kernels = {kernel, {}};
  facts.spirv_version = 0x10200;
  facts.capabilities = {4, 5, 6, 22};
  facts.info_version = "1.73";
  facts.global_data = std::uint64_t{5} << 32;
  facts.constant_data = 20;
  facts.has_ir = true;
  facts.ip_version = 0x030f0007;
  facts.product_family = 1270;
  return facts;
}

Manifest small_manifest() {
  Manifest manifest;
  manifest.set("library.libigc.so.1", "3d1eb51d");
  manifest.set("input.0.flags", "-cl-fast-relaxed-math");
  manifest.set("device.id", "0x56a0");
  manifest.set("empty", "");
  return manifest;
}

/// Owns what an entry has views of.
struct Example {
  std::string manifest = encode(small_manifest());
  std::string log = "warning: kernel is slow\n";
  Bytes facts = encode_facts(full_facts()), payload = bytes_of("native code");
  Entry entry{EntryKind::binary, 7, 2, 1'700'000'000, manifest, log, facts, payload};
  Bytes bytes = encode_entry(entry);
};

template <class Decoded>
void check_refused(const Decoded& decoded, std::size_t size) {
  REQUIRE_FALSE(decoded);
  CHECK_FALSE(decoded.error().message.empty());
  CHECK(decoded.error().offset <= size);
}

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void put(Bytes& bytes, std::size_t at, std::uint32_t value) {
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

TEST_CASE("an entry comes back as it was written") {
  const Example example;
  const auto read = decode_entry(example.bytes);
  REQUIRE(read);
  CHECK(read->kind == EntryKind::binary);
  CHECK(read->code == 7);
  CHECK(read->attempts == 2);
  CHECK(read->created == 1'700'000'000);
  CHECK(read->manifest == example.manifest);
  CHECK(read->log == example.log);
  CHECK(std::ranges::equal(read->facts, example.facts));
  CHECK(std::ranges::equal(read->payload, example.payload));
  CHECK(encode_entry(*read) == example.bytes);

  const Bytes empty = encode_entry({EntryKind::crash, 0, 1, 0, {}, {}, {}, {}});
  REQUIRE(decode_entry(empty));
  CHECK(decode_entry(empty)->kind == EntryKind::crash);
  CHECK(empty.size() == 64 + 16);
}

TEST_CASE("the bytes of an entry are those of this format's first version") {
  const Example example;
  const std::filesystem::path path = KILN_TEST_CACHE_DATA "/entry.v1";
  if (std::getenv("KILN_UPDATE_GOLDEN"))
    std::ofstream(path, std::ios::binary) << std::string(text_of(example.bytes));
  const Bytes golden = read_file(path);
  REQUIRE_FALSE(golden.empty());
  // Where this fails, caches on disk cannot be read any more: a new version, and a new name for its folder.
  CHECK(golden == example.bytes);
  const auto read = decode_entry(golden);
  REQUIRE(read);
  CHECK(key_of(read->manifest).hex() == "3e0901f00d0821e757ff11a91d7a18638a82327219232beabf6073a647ac0762");
  const auto facts = decode_facts(read->facts);
  REQUIRE(facts);
  check_same(*facts, full_facts());
}

TEST_CASE("no damaged entry is read: cut at any place, any bit flipped, anything behind") {
  const Example example;
  truncate_everywhere(example.bytes, [](const Bytes& cut) { check_refused(decode_entry(cut), cut.size()); });
  int read = 0;
  flip_bits(example.bytes, 100'000, [&](const Bytes& flipped) { read += decode_entry(flipped).has_value(); });
  CHECK(read == 0);
  Bytes longer = example.bytes;
  longer.push_back({});
  check_refused(decode_entry(longer), longer.size());
}

TEST_CASE("an entry of another version, of no kind, or with sizes that cannot be is refused for that") {
  const auto message = [](const Bytes& bytes) {
    const auto read = decode_entry(bytes);
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  const Example example;
  Bytes bytes = example.bytes;
  put(bytes, 8, 2);
  CHECK(message(bytes).find("version") != std::string::npos);
  CHECK(message(bytes_of(std::string(200, 'x'))) == "not a cache entry");
  bytes = example.bytes;
  put(bytes, 36, 0xffffffff);  // the upper half of the manifest's size
  CHECK(message(bytes).find("sizes") != std::string::npos);
  for (const std::uint32_t kind : {0u, 4u, 0xffffffffu}) {
    Entry entry = example.entry;
    entry.kind = static_cast<EntryKind>(kind);
    CHECK(message(encode_entry(entry)).find("kind") != std::string::npos);
  }
}

TEST_CASE("a manifest comes back as it was written, in whatever order it was filled") {
  const Manifest manifest = small_manifest();
  const std::string bytes = encode(manifest);
  const auto read = decode_manifest(bytes);
  REQUIRE(read);
  CHECK(*read == manifest);
  CHECK(*read->find("device.id") == "0x56a0");
  CHECK(read->find("device") == nullptr);
  Manifest turned;
  for (std::size_t i = manifest.fields().size(); i-- > 0;)
    turned.set(manifest.fields()[i].name, manifest.fields()[i].value);
  CHECK(encode(turned) == bytes);
  CHECK(decode_manifest(encode(Manifest()))->fields().empty());
}

TEST_CASE("no two manifests are written alike") {
  const auto with = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    Manifest manifest;
    for (const auto& [name, value] : fields) manifest.set(name, value);
    return encode(manifest);
  };
  const std::string all[] = {with({{"a", "bc"}}),           with({{"ab", "c"}}),
                             with({{"a", ""}, {"bc", ""}}), with({{"a", "b"}, {"c", ""}}),
                             with({{"", "abc"}}),           with({})};
  for (const std::string& one : all)
    CHECK(std::ranges::count_if(all,
                                [&](const std::string& other) { return key_of(one) == key_of(other); }) == 1);
}

TEST_CASE("what is no manifest is refused: cut, out of order, doubled, with bytes behind") {
  const std::string bytes = encode(small_manifest());
  const auto field = [](std::string_view name) {
    Manifest manifest;
    manifest.set(name, "1");
    return encode(manifest).substr(8);
  };
  const std::string magic = bytes.substr(0, 8);
  REQUIRE(decode_manifest(magic + field("a") + field("b")));
  for (const std::string& wrong : {magic + field("b") + field("a"), magic + field("a") + field("a"),
                                   bytes + "x", std::string("KILNMAN2"), std::string()})
    check_refused(decode_manifest(wrong), wrong.size());
  // Cut between two fields it is another, shorter manifest, which another key belongs to.
  truncate_everywhere(bytes_of(bytes), [&](const Bytes& cut) {
    const auto read = decode_manifest(text_of(cut));
    if (read)
      CHECK(encode(*read) == text_of(cut));
    else
      check_refused(read, cut.size());
  });
}

TEST_CASE("facts come back as they were, every field of them") {
  const ModuleFacts facts = full_facts();
  REQUIRE(all_differ(facts, {}));
  REQUIRE(all_differ(facts.kernels[0], {}));
  REQUIRE(all_differ(facts.kernels[0].arguments[1], {}));
  const Bytes bytes = encode_facts(facts);
  const auto read = decode_facts(bytes);
  REQUIRE(read);
  check_same(*read, facts);
  CHECK(encode_facts(*read) == bytes);
  check_same(*decode_facts(encode_facts({})), {});

  ModuleFacts many;  // as small as each can be: no count of what can be is refused
  many.kernels.resize(1000);
  check_same(*decode_facts(encode_facts(many)), many);
  many.kernels.resize(1);
  many.kernels[0].arguments.resize(1000);
  check_same(*decode_facts(encode_facts(many)), many);
}

TEST_CASE("facts of real files come back as they were") {
  for (const char* file :
       {KILN_TEST_SPIRV "/matmul.spv", KILN_TEST_SPIRV "/slm_table.spv",
        KILN_TEST_DATA "/data/memory.pvc.bin", KILN_TEST_DATA "/data/saxpy.ocloc-26.27.ar"})
    for (const BinaryPart& part : read_parts(read_file(file))) {
      CAPTURE(file);
      REQUIRE(part.facts);
      const auto read = decode_facts(encode_facts(*part.facts));
      REQUIRE(read);
      check_same(*read, *part.facts);
    }
}

TEST_CASE("what are no facts is refused") {
  const Bytes bytes = encode_facts(full_facts());
  truncate_everywhere(bytes, [](const Bytes& cut) { check_refused(decode_facts(cut), cut.size()); });
  const auto refused = [&](std::size_t at, std::uint32_t value, std::string_view why) {
    Bytes wrong = bytes;
    put(wrong, at, value);
    const auto read = decode_facts(wrong);
    check_refused(read, wrong.size());
    CHECK(read.error().message.find(why) != std::string::npos);
  };
  constexpr std::size_t kArguments = 4 + 4 + 4 + 12;  // where the first kernel has their number
  refused(0, 1, "version");
  refused(4, 0xffffffff, "count");           // kernels
  refused(4, 1 << 20, "count");              // kernels
  refused(8, 0x7fffffff, "count");           // bytes of a name
  refused(kArguments, 0x10000000, "count");  // arguments
  refused(kArguments + 4, 0xffffff06, "none of those");
  refused(kArguments + 4 + 5, 48, "power of two");
  refused(kArguments + 4 + 5, 0, "power of two");
  const auto scratch = [](std::uint64_t size) {
    ModuleFacts facts = full_facts();
    facts.kernels[1].scratch_per_thread = {0, size};
    return decode_facts(encode_facts(facts)).has_value();
  };
  CHECK(scratch((std::uint64_t{1} << 38) - 1));
  CHECK_FALSE(scratch(std::uint64_t{1} << 38));
  Bytes longer = bytes;
  longer.push_back({});
  check_refused(decode_facts(longer), longer.size());
  Bytes flag = bytes;
  flag[bytes.size() - 9] = std::byte{2};  // has_ir
  check_refused(decode_facts(flag), flag.size());
}

TEST_CASE("facts and manifests with a flipped bit are refused, or are what those bytes say") {
  flip_bits(encode_facts(full_facts()), 100'000, [](const Bytes& flipped) {
    if (const auto read = decode_facts(flipped); read && encode_facts(*read) != flipped) FAIL("facts");
  });
  flip_bits(bytes_of(encode(small_manifest())), 100'000, [](const Bytes& flipped) {
    if (const auto read = decode_manifest(text_of(flipped)); read && encode(*read) != text_of(flipped))
      FAIL("manifest");
  });
}

TEST_CASE("a key is read from 64 lower-case digits alone") {
  const CacheKey key = key_of(encode(small_manifest()));
  CHECK(CacheKey::parse(key.hex()) == key);
  std::string upper = key.hex();
  std::ranges::transform(upper, upper.begin(), [](char c) { return c >= 'a' ? char(c - 32) : c; });
  for (const std::string& wrong : {upper, key.hex() + "0", key.hex().substr(1), std::string(64, 'g'),
                                   std::string(64, '-'), std::string()})
    CHECK_FALSE(CacheKey::parse(wrong));
}
