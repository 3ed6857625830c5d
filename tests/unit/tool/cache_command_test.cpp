// SPDX-License-Identifier: MIT
// The pure parts of `kiln cache`: sizes and ages, the nearest entry, archives and what of them is refused.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/format/facts.hpp"
#include "offline/cache/archive.hpp"
#include "tool/cache/compare.hpp"
#include "tool/cache/entries.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::offline;
using namespace kiln::tool;
using namespace kiln::test;

namespace {

Manifest manifest_of(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Manifest manifest;
  for (const auto& [name, value] : fields) manifest.set(name, value);
  return manifest;
}

/// An entry as bytes, and its key.
struct Made {
  explicit Made(const Manifest& manifest, cache::EntryKind kind = cache::EntryKind::binary,
                std::string_view code = "CTNI machine code", Bytes facts = cache::encode_facts({})) {
    const std::string encoded = encode(manifest);
    const Bytes payload = bytes_of(code);
    key = key_of(encoded);
    bytes = cache::encode_entry({kind, 0, 1, 0, encoded, {}, facts, payload});
  }
  CacheKey key;
  Bytes bytes;
};

std::string refusal(const std::string& name, const Bytes& bytes) {
  const auto checked = check_member({name, bytes});
  return checked ? "" : checked.error();
}

}  // namespace

TEST_CASE("sizes are shown in the largest unit of which there is one") {
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(std::uint64_t{1} << 30) == "1.0 GiB");
  CHECK(size_text(UINT64_MAX) == "16.0 EiB");
}

TEST_CASE("ages have a unit") {
  using namespace std::chrono_literals;
  CHECK(parse_age("30d") == 720h);
  CHECK(parse_age("12h") == 12h);
  CHECK(parse_age("90m") == 90min);
  CHECK(parse_age("0s") == 0s);
  for (const char* wrong : {"", "d", "30", "-1d", "1w", "1.5h", "100001d", "99999999999999999999d"})
    CHECK_MESSAGE(!parse_age(wrong), wrong);
  CHECK(age_text(-5s) == "now");
  CHECK(age_text(59s) == "59 s ago");
  CHECK(age_text(60s) == "1 min ago");
  CHECK(age_text(47h) == "1 d ago");
  CHECK(date_text(std::chrono::sys_seconds(1'700'000'000s)) == "2023-11-14 22:13:20 UTC");
}

TEST_CASE("the nearest entry is one of the same input, and of those the one that differs least") {
  const Manifest wanted = manifest_of({{"input.0.digest", "1"}, {"a", "1"}, {"b", "1"}, {"c", "1"}});
  const Manifest far = manifest_of({{"input.0.digest", "1"}, {"a", "2"}, {"b", "2"}});
  const Manifest near = manifest_of({{"input.0.digest", "1"}, {"a", "2"}, {"b", "1"}, {"c", "2"}});
  const Manifest other = manifest_of({{"input.0.digest", "2"}, {"a", "1"}, {"b", "1"}, {"c", "1"}});
  const Manifest more =
      manifest_of({{"input.0.digest", "1"}, {"input.1.digest", "3"}, {"a", "1"}, {"b", "1"}, {"c", "1"}});
  const auto nearest = [&](std::vector<const Manifest*> among) { return nearest_entry(wanted, among); };
  CHECK_FALSE(nearest({}));
  CHECK(nearest({&other, &far, &near})->index == 2);
  CHECK(nearest({&other, &far, &near})->same_input);
  CHECK(nearest({&near, &near})->index == 0);
  REQUIRE(nearest({&other, &more}));
  CHECK(nearest({&more, &other})->index == 0);  // linked with another file: no longer the same input
  CHECK_FALSE(nearest({&more, &other})->same_input);
  const Manifest turned = manifest_of({{"input.0.digest", "3"}, {"input.1.digest", "1"}, {"a", "2"}});
  CHECK(nearest_entry(more, std::vector{&other, &wanted, &turned})->index == 2);
  CHECK(nearest_entry(more, std::vector{&turned})->same_input);
  const auto equal = nearest({&far, &wanted});
  CHECK(equal->index == 1);
  CHECK(equal->differences.empty());
}

TEST_CASE("a difference in words") {
  const auto text = [](const char* wanted, const char* found) {
    const auto optional = [](const char* value) {
      return value ? std::optional<std::string>(value) : std::nullopt;
    };
    return difference_text({"name", optional(wanted), optional(found)});
  };
  CHECK(text("9af0c1d2e3f40516", "3d1eb51dd75cf846ee0c31cdb4c4f9cc80bbbce6") ==
        "name: 3d1eb51d… became 9af0c1d2…");
  CHECK(text("16", nullptr) == "name: 16, was not set");
  CHECK(text(nullptr, "16") == "name: was 16, is not set");
  CHECK(text("", "-g") == "name: -g became ``");
  // Digests that begin alike are shown whole.
  CHECK(text("9af0c1d2e3f40516", "9af0c1d2e3f40517") == "name: 9af0c1d2e3f40517 became 9af0c1d2e3f40516");
  CHECK(brief_value("sha256:9af0c1d2e3f405160000") == "9af0c1d2…");
  CHECK(brief_value("-cl-fast-relaxed-math") == "-cl-fast-relaxed-math");
}

TEST_CASE("device, compiler and flags in brief") {
  CHECK(brief_device(manifest_of({{"device.ip", "0x30f0007"}, {"device.id", "0xbd5"}})) == "pvc");
  CHECK(brief_device(manifest_of({{"device.ip", "0xffff0007"}})).find('.') != std::string::npos);
  CHECK(brief_device(manifest_of({{"device.ip", "nonsense"}})) == "nonsense");
  CHECK(brief_device(manifest_of({{"device.id", "0x56a0"}})) == "0x56a0");
  CHECK(brief_device({}).empty());
  CHECK(brief_compiler(manifest_of({{"library.libze_intel_gpu.so.1", "1"}, {"library.libigc.so.1", "2"}})) ==
        "libigc.so.1 2");
  CHECK(brief_flags(manifest_of({{"input.0.flags", "-a"}, {"input.1.flags", ""}, {"input.2.flags", "-b"}})) ==
        "-a -b");
}

TEST_CASE("an archive is one that read_archive reads") {
  const Made odd(manifest_of({{"a", "1"}})),
      even(manifest_of({{"b", "1"}}), cache::EntryKind::binary, "CTNI even code here.");
  REQUIRE(odd.bytes.size() % 2 != even.bytes.size() % 2);
  const std::vector<CacheKey> keys{odd.key, {}, even.key};  // the second was removed meanwhile
  std::string archive = archive_start(keys);
  const auto add = [&](std::size_t index, const Bytes& bytes) {
    archive += archive_member_start(index, bytes.size());
    archive.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (bytes.size() % 2) archive += '\n';
  };
  add(0, odd.bytes);
  add(2, even.bytes);
  const Bytes file = bytes_of(archive);
  const auto members = read_archive(file);
  REQUIRE(members);
  REQUIRE(members->size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto checked = check_member((*members)[i]);
    REQUIRE(checked);
    CHECK(checked->key == (i ? even.key : odd.key));
    CHECK(cache::encode_entry(checked->entry) == (i ? even.bytes : odd.bytes));
  }
  CHECK(read_archive(bytes_of(archive_start({})))->empty());
}

TEST_CASE("no member is taken that is not what its name says") {
  const Made made(manifest_of({{"a", "1"}}));
  REQUIRE(refusal(made.key.hex(), made.bytes).empty());
  CHECK(refusal("../../" + made.key.hex(), made.bytes).find("no key") != std::string::npos);
  CHECK(refusal("64.12.60.7", made.bytes).find("no key") != std::string::npos);
  CHECK(refusal(Made(manifest_of({{"a", "2"}})).key.hex(), made.bytes).find("not the key") !=
        std::string::npos);
  flip_bits(made.bytes, 10'000, [&](const Bytes& flipped) {
    if (refusal(made.key.hex(), flipped).empty()) FAIL("a damaged entry was taken");
  });
  truncate_everywhere(made.bytes,
                      [&](const Bytes& cut) { CHECK_FALSE(refusal(made.key.hex(), cut).empty()); });
  for (const auto kind : {cache::EntryKind::failure, cache::EntryKind::crash}) {
    const Made failure(manifest_of({{"a", "1"}}), kind);
    CHECK(refusal(failure.key.hex(), failure.bytes).find("no native binary") != std::string::npos);
  }
  const Made empty(manifest_of({{"a", "1"}}), cache::EntryKind::binary, "");
  CHECK(refusal(empty.key.hex(), empty.bytes).find("no native binary") != std::string::npos);
  const Made unread(manifest_of({{"a", "1"}}), cache::EntryKind::binary, "code");
  CHECK(refusal(unread.key.hex(), unread.bytes).find("no native binary") != std::string::npos);
  const Made facts(manifest_of({{"a", "1"}}), cache::EntryKind::binary, "CTNI", bytes_of("no facts"));
  CHECK(refusal(facts.key.hex(), facts.bytes).find("facts") != std::string::npos);
  const std::string disorder = "KILNMAN1zzzz";
  const Bytes code = bytes_of("CTNI");
  const Bytes bytes = cache::encode_entry({cache::EntryKind::binary, 0, 1, 0, disorder, {}, {}, code});
  CHECK(refusal(key_of(disorder).hex(), bytes).find("manifest") != std::string::npos);
}

TEST_CASE("what `kiln cache` says of its options and archives") {
  check_diagnostic("K0407", *cache_usage("--older-than is no age: `5w`",
                                         {"give --older-than 30d, 12h, 90m or 45s, at most 100000d"})
                                 .diagnostic());
  check_diagnostic("K0408", *unreadable_archive("kernels.ar", "no ar magic number").diagnostic());
  check_diagnostic("K0408", *unwritable_archive("kernels.ar", "No space left on device").diagnostic(),
                   "written");
  check_diagnostic("K0712", *nothing_kept("it is off").diagnostic());
  check_diagnostic("K0714", *tool::no_store().diagnostic());
  check_diagnostic("K0713",
                   *tool::trust_error("there is no key to sign with: /key: No such file or directory",
                                      {"`kiln cache keygen FILE` makes one"})
                        .diagnostic());
  CHECK(exit_code(cache_usage("", {})) == kUsage);
  CHECK(exit_code(unreadable_archive("", "")) == kDriverError);
}

TEST_CASE("what may be the beginning of a key") {
  CHECK(may_be_key("0"));
  CHECK(may_be_key(std::string(64, 'f')));
  for (const std::string& wrong :
       {std::string(), std::string(65, 'f'), std::string("F"), std::string("a.ar")})
    CHECK_FALSE(may_be_key(wrong));
}

TEST_CASE("K0412: no memory") { check_golden("K0412", std::string(kOutOfMemory)); }

TEST_CASE("K0411: output that is lost") {
  check_diagnostic("K0411", *unwritable_output("No space left on device").diagnostic());
}

TEST_CASE("no file that is opened gets the number of a standard file that the caller closed") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int file : {0, 1, 2}) close(file);
    keep_standard_files();
    const bool refuses = write(1, "x", 1) == -1 && write(2, "x", 1) == -1;
    _exit(refuses && open("/dev/null", O_RDWR) > 2 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
