// SPDX-License-Identifier: MIT
// Where memory went: the files of the kernel, and each rule with the numbers of a public thread.
#include "kiln/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/context.hpp"
#include "kiln/memory_account.hpp"
#include "kiln/open.hpp"
#include "memory/parse.hpp"
#include "support/json.hpp"
#include "support/stub_driver.hpp"
#include "unit/golden.hpp"
#include "unit/memory_fixture.hpp"

namespace {
thread_local std::size_t largest_allocation = SIZE_MAX;  // bytes; beyond it memory is used up
}

// Not inlined: GCC 12 takes free() for the wrong counterpart.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (size <= largest_allocation)
    if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return size <= largest_allocation ? std::malloc(size ? size : 1) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024;

std::filesystem::path machine(const std::string& name) {
  return std::filesystem::path(KILN_TEST_DATA) / "memory" / (name + ".txt");
}

MemoryAccount account_of(const std::string& name) {
  const Machine files(machine(name));
  MemoryAccountOptions options;
  options.root = files.root();
  return memory_account(options);
}

MemoryRequest asking(std::uint64_t size, MemoryKind kind = MemoryKind::device) {
  MemoryRequest request;
  request.size = size;
  request.kind = kind;
  return request;
}

const Diagnostic* find(const std::vector<Diagnostic>& causes, std::string_view code) {
  const auto found = std::ranges::find(causes, code, &Diagnostic::code);
  return found == causes.end() ? nullptr : &*found;
}

/// The cause of that code, which must be the first, with its golden text.
void check_first(const char* code, const std::string& name, const MemoryRequest& request,
                 const std::string& variant = "") {
  CAPTURE(code);
  CAPTURE(name);
  const std::vector<Diagnostic> causes = memory_causes(account_of(name), request);
  REQUIRE_FALSE(causes.empty());
  check_diagnostic(code, causes.front(), variant);
}

}  // namespace

TEST_CASE("fdinfo: the document of xe") {
  // docs.kernel.org/gpu/xe/xe-drm-usage-stats.html
  const auto client = detail::parse_fdinfo(
      "pos:    0\nflags:  0100002\nmnt_id: 26\nino:    685\ndrm-driver:     xe\ndrm-client-id:  3\n"
      "drm-pdev:       0000:03:00.0\ndrm-total-system:       0\ndrm-shared-system:      0\n"
      "drm-resident-system:    0\ndrm-purgeable-system:   0\ndrm-total-gtt:  192 KiB\n"
      "drm-resident-gtt:       192 KiB\ndrm-total-vram0:        23992 KiB\ndrm-shared-vram0:       16 MiB\n"
      "drm-active-vram0:       0\ndrm-resident-vram0:     23992 KiB\ndrm-total-stolen:       0\n"
      "drm-cycles-rcs: 28257900\ndrm-total-cycles-rcs:   7655183225\ndrm-engine-capacity-vcs:        2\n");
  REQUIRE(client);
  CHECK(client->driver == "xe");
  CHECK(client->card == "0000:03:00.0");
  CHECK(client->id == 3);
  REQUIRE(client->regions.size() == 4);  // and none of cycles
  CHECK(client->regions[2].name == "vram0");
  CHECK(client->regions[2].total == 23992 * kKiB);
  CHECK(client->regions[2].shared == 16 * kMiB);
  CHECK(client->device_memory() == 23992 * kKiB);
  CHECK(client->host_memory() == 192 * kKiB);
}

TEST_CASE("fdinfo: units, names of old, and what is none") {
  const auto client = detail::parse_fdinfo(
      "drm-driver: i915\ndrm-client-id: 18446744073709551615\ndrm-total-local0:12\ndrm-resident-local0:\t2 "
      "MiB\n"
      "drm-memory-system0: 3 KiB\ndrm-resident-stolen-system0: 4 KiB\ndrm-total-a: 1 GiB\ndrm-total-b: -1\n"
      "drm-total-c: 18446744073709551615 KiB\ndrm-total-: 5\ndrm-total-d: 1 KiB x\n");
  REQUIRE(client);
  REQUIRE(client->regions.size() == 3);
  CHECK(client->regions[0].total == 12);
  CHECK(client->regions[0].resident == 2 * kMiB);
  CHECK(client->host_memory() == 3 * kKiB);  // what is stolen is neither
  for (const char* none : {"", "pos: 0\n", "drm-driver: xe\n", "drm-client-id: 1\n",
                           "drm-driver: xe\ndrm-client-id: x\n", "drm-driver:\ndrm-client-id: 1\n"})
    CHECK_FALSE(detail::parse_fdinfo(none));
}

TEST_CASE("control groups: both versions, paths in containers, and no limit") {
  const auto place = [](const char* text) { return detail::parse_cgroup(text); };
  CHECK(place("0::/user.slice/x\n")->version == 2);
  CHECK(place("0::/a:b\n")->path == "/a:b");
  CHECK(place("5:cpu,memory:/d\n0::/\n")->version == 1);
  CHECK(place("5:cpu,memory:/d\n0::/\n")->path == "/d");
  CHECK(detail::parse_unified_group("5:cpu,memory:/d\n0::/e\n")->path == "/e");
  CHECK_FALSE(detail::parse_unified_group("5:cpu,memory:/d\n1:name=systemd:/\n"));
  CHECK_FALSE(place("5:memory_not:/d\n"));
  CHECK_FALSE(place("nonsense\n"));
  const auto mount = detail::parse_mountinfo(
      "31 23 0:27 /docker/abc /sys/fs/cg\\040roup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw\n", 2,
      "/x");
  REQUIRE(mount);
  CHECK(mount->root == "/docker/abc");
  CHECK(mount->point == "/sys/fs/cg roup");
  CHECK_FALSE(detail::parse_mountinfo("31 23 0:27 / /x rw - cgroup cgroup rw,cpu\n", 1, "/"));
  using Groups = std::vector<std::string>;
  CHECK(detail::groups_up({"/", "/x"}, "/a/b") == Groups{"/a/b", "/a", ""});
  CHECK(detail::groups_up({"/", "/x"}, "/") == Groups{""});
  CHECK(detail::groups_up({"/docker/abc", "/x"}, "/docker/abc/in") == Groups{"/in", ""});
  CHECK(detail::groups_up({"/docker/abc", "/x"}, "/docker/abcd") == Groups{""});
  CHECK(detail::groups_up({"/", "/x"}, "/../../etc") == Groups{});  // another namespace's
  const auto best = [](std::string_view path) {
    return detail::parse_mountinfo(
               "29 23 0:26 /hidden /g rw - cgroup2 c rw\n30 23 0:26 /a /g rw - cgroup2 c rw\n"
               "31 23 0:26 / /all rw - cgroup2 c rw\n32 23 0:26 /b /part rw - cgroup2 c rw\n"
               "33 23 0:27 / /t rw - cgroup2 c rw\n34 23 0:27 / /t rw - tmpfs t rw\n",
               2, path)
        ->point;
  };
  CHECK(best("/b/c") == "/all");
  CHECK(best("/hidden") == "/all");
  CHECK(detail::parse_mountinfo("30 1 0:1 /a /g rw - cgroup2 c rw\n31 1 0:1 /b /h rw - cgroup2 c rw\n", 2,
                                "/a/x")
            ->point == "/g");
  CHECK(detail::parse_amount("max\n") == std::nullopt);
  CHECK(detail::parse_amount("9223372036854771712\n") == std::nullopt);
  CHECK(detail::parse_amount("4096\n") == 4096);
}

TEST_CASE("clients are counted once, whoever shares them") {
  const MemoryAccount account = account_of("once");
  REQUIRE(account.clients.size() == 2);
  CHECK(account.clients[0].program == "firefox");
  CHECK(account.clients[0].process == 5000500);
  CHECK(account.clients[0].device_memory() + account.clients[1].device_memory() == 3642 * kMiB);
  REQUIRE(account.cards.size() == 1);
  CHECK(account.cards[0].total == 16288 * kMiB);
  CHECK(account.cards[0].window == 16 * kGiB);
  CHECK(account.unread_processes == 0);
}

TEST_CASE("the files of a machine, each where it belongs") {
  const MemoryAccount v2 = account_of("group_v2");
  REQUIRE(v2.groups.size() == 3);
  CHECK(v2.groups[0].path == "/system.slice/docker-abc.scope");
  CHECK(v2.groups[0].limit == 9448927232);
  CHECK(v2.groups[0].left() == 9448927232 - kGiB);  // half of the 2 GiB in use are pages of files
  CHECK_FALSE(v2.groups[1].limit);
  CHECK(v2.groups[2].path == "/");
  CHECK(v2.host.total == 16357785 * kKiB);
  CHECK(v2.cards[0].total == 0x300000000);

  const MemoryAccount v1 = account_of("group_v1");
  REQUIRE(v1.groups.size() == 3);
  CHECK(v1.groups[0].version == 1);
  CHECK(v1.groups[0].limit == 209715200);
  CHECK_FALSE(v1.groups[0].swap_limit);
  CHECK_FALSE(v1.groups[2].limit);

  const MemoryAccount bound = account_of("device_bound");
  REQUIRE(bound.groups.size() == 3);
  REQUIRE(bound.groups[1].device_bounds.size() == 1);
  CHECK(bound.groups[1].device_bounds[0].used == 12550144);
  CHECK(bound.cards[0].total == 8514437120);
  const MemoryAccount both = account_of("both_versions");  // three of version 1, one of 2 that bounds a card
  REQUIRE(both.groups.size() == 4);
  CHECK(both.groups[0].version == 1);
  CHECK_FALSE(both.groups[0].limit);
  CHECK(both.groups[3].version == 2);
  CHECK(both.groups[3].path == "/a");
  REQUIRE(both.groups[3].device_bounds.size() == 1);
  CHECK(both.groups[3].device_bounds[0].limit == 1073741824);
  CHECK(both.cards[0].total == 8514437120);

  CHECK(account_of("locked").limits.locked == 8 * kMiB);
  CHECK_FALSE(account_of("locked").limits.address_space);
  CHECK(account_of("addresses").limits.addresses_used == 4 * kGiB);
  CHECK(account_of("graphics_limit").host.graphics_limit == 16469033 * 4096ull);
  CHECK(account_of("host_behind").cards[0].free == 33718870016);
}

TEST_CASE("/proc that hides the processes of others") {
  MemoryAccount account = account_of("container");
  CHECK_FALSE(account.hides_processes);
  CHECK(nlohmann::json::parse(to_json(account))["hides_processes"] == false);
  const auto hides = [](const char* text) { return detail::parse_hidepid(text); };
  CHECK(hides("22 28 0:20 / /proc rw,relatime shared:5 - proc proc rw,hidepid=invisible\n"));
  CHECK(hides("22 28 0:20 / /proc rw - proc proc rw,gid=4,hidepid=2\n"));
  CHECK(hides("22 28 0:20 / /proc rw - proc proc rw,hidepid=ptraceable\n"));
  CHECK_FALSE(hides("22 28 0:20 / /proc rw - proc proc rw,hidepid=noaccess\n"));  // counted as not read
  CHECK_FALSE(hides("22 28 0:20 / /mnt/proc rw - proc proc rw,hidepid=2\n"));
  CHECK_FALSE(
      hides("22 28 0:20 / /proc rw - proc proc rw,hidepid=2\n90 22 0:44 / /proc rw - proc proc rw\n"));
}

TEST_CASE("a process in a container: its groups where the reader has them mounted") {
  const Machine files(machine("container"));
  MemoryAccountOptions options;
  options.root = files.root();
  const MemoryAccount reader = memory_account(options);
  REQUIRE(reader.groups.size() == 2);
  CHECK_FALSE(reader.groups[0].limit);
  options.process = 5001234;
  const MemoryAccount contained = memory_account(options);
  REQUIRE(contained.groups.size() == 3);
  CHECK(contained.groups[0].path == "/system.slice/docker-abc.scope");
  CHECK(contained.groups[0].limit == 9448927232);
  options.process = 5005678;  // outside of what the reader's control groups show
  CHECK(memory_account(options).groups.empty());
}

TEST_CASE("nothing there is nothing known, and no cause") {
  MemoryAccountOptions nowhere;
  nowhere.root = "/nonexistent";
  const MemoryAccount account = memory_account(nowhere);
  CHECK(account.cards.empty());
  CHECK(account.host.total == 0);
  CHECK_FALSE(account.process_found);
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host, MemoryKind::shared}) {
    CHECK(memory_causes(account, asking(kGiB << 10, kind)).empty());
    CHECK(memory_rows(account, asking(kGiB, kind)).empty());
  }
}

TEST_CASE("K0240: the host's promise behind device memory") {
  check_first("K0240", "host_behind", asking(static_cast<std::uint64_t>(19.4 * kGiB)));
  const MemoryAccount account = account_of("host_behind");
  const auto fits = memory_causes(account, asking(static_cast<std::uint64_t>(19.3 * kGiB)));
  CHECK_FALSE(find(fits, "K0240"));
  MemoryAccount other = account;
  other.host.overcommit = 1;
  CHECK_FALSE(find(memory_causes(other, asking(30 * kGiB)), "K0240"));
  other.host.overcommit = 2;
  other.host.commit_limit = 12 * kGiB;
  other.host.committed = 9 * kGiB;
  const auto counted = memory_causes(other, asking(4 * kGiB));
  REQUIRE(find(counted, "K0240"));
  check_diagnostic("K0240", *find(counted, "K0240"), "counted");
  other = account;
  other.cards[0].driver = "i915";  // which has no host memory behind
  CHECK_FALSE(find(memory_causes(other, asking(30 * kGiB)), "K0240"));
}

TEST_CASE("K0241: the host has no memory left") {
  check_first("K0241", "host", asking(static_cast<std::uint64_t>(5.6 * kGiB), MemoryKind::host));
  CHECK(memory_causes(account_of("host"), asking(4 * kGiB, MemoryKind::host)).empty());
  CHECK(memory_causes(account_of("host"), asking(6 * kGiB)).empty());  // of the card, on i915
}

TEST_CASE("K0242: a control group") {
  check_first("K0242", "group_v1", asking(256 * kMiB, MemoryKind::host), "v1");
  CHECK(memory_causes(account_of("group_v1"), asking(128 * kMiB, MemoryKind::host)).empty());
  check_first("K0242", "group_v2", asking(12 * kGiB));  // 12 GiB are free, the group has 7.8 left
  CHECK_FALSE(find(memory_causes(account_of("group_v2"), asking(7 * kGiB)), "K0242"));
  check_first("K0242", "device_bound", asking(2 * kGiB), "device");
  check_first("K0242", "both_versions", asking(2 * kGiB), "device");
}

TEST_CASE("K0242: a group that may swap is in the way, and no certain reason") {
  const auto of = [](const MemoryAccount& account, std::uint64_t size) {
    const auto causes = memory_causes(account, asking(size, MemoryKind::host));
    const Diagnostic* found = find(causes, "K0242");
    return found ? std::optional(*found) : std::nullopt;
  };
  const MemoryAccount v2 = account_of("group_v2");  // 7.8 GiB left, and 8 GiB of swap free
  REQUIRE(of(v2, 12 * kGiB));
  check_diagnostic("K0242", *of(v2, 12 * kGiB), "swap");
  CHECK(of(v2, 12 * kGiB)->severity == Severity::warning);
  CHECK(of(v2, 17 * kGiB)->severity == Severity::error);  // more than both
  MemoryAccount other = v2;
  other.host.swap_free = 0;
  CHECK(of(other, 12 * kGiB)->severity == Severity::error);
  other = v2;
  other.groups[0].swap_limit = 5 * kGiB;
  other.groups[0].swap_used = 2 * kGiB;
  CHECK(of(other, 10 * kGiB)->severity == Severity::warning);
  CHECK(of(other, 12 * kGiB)->severity == Severity::error);
  other = v2;
  other.groups[1].swap_limit = 0;  // a group above counts as well
  CHECK(of(other, 12 * kGiB)->severity == Severity::error);

  MemoryAccount v1 = account_of("group_v1");               // 200 MiB, no limit of memory and swap together
  CHECK(of(v1, 256 * kMiB)->severity == Severity::error);  // the host has no swap
  v1.host.swap_total = v1.host.swap_free = kGiB;
  CHECK(of(v1, 256 * kMiB)->severity == Severity::warning);
  v1.groups[0].swap_limit = 209715200;  // `docker run --memory-swap` with the same number: no swap
  CHECK(of(v1, 256 * kMiB)->severity == Severity::error);
}

TEST_CASE("K0243: cards that mirror each other in the host") {
  check_first("K0243", "mirror", {});
  CHECK(memory_causes(account_of("single_card"), {}).empty());
  MemoryAccount account = account_of("mirror");
  account.host.total = 64 * kGiB;
  account.host.available = kGiB;
  const auto full = memory_causes(account, {});
  REQUIRE(find(full, "K0243"));
  CHECK(find(full, "K0243")->severity == Severity::warning);  // it stands there; it is not what was asked for
  account.own.host.bytes = 3 * kGiB;
  account.own.shared.bytes = 2 * kGiB;
  CHECK_FALSE(find(memory_causes(account, {}), "K0243"));  // what is left of it mirrors no half
}

TEST_CASE("K0244, K0247: who holds the card") {
  // What no client holds is no more than a guess of what is free: the kernel holds some too.
  check_first("K0244", "others", asking(4 * kGiB), "derived");
  MemoryRequest request = asking(4 * kGiB);
  request.free = 1937768448;
  check_first("K0244", "others", request);
  CHECK_FALSE(find(memory_causes(account_of("others"), asking(kGiB)), "K0244"));
  CHECK_FALSE(find(memory_causes(account_of("others"), asking(33 * kGiB)), "K0244"));  // would not fit alone
  check_first("K0247", "own", asking(4 * kGiB), "derived");
  request.free = 3 * kGiB;
  check_first("K0247", "own", request);
  CHECK_FALSE(find(memory_causes(account_of("own"), asking(3 * kGiB)), "K0247"));
}

TEST_CASE("what clients share is held once") {
  MemoryAccount account = account_of("others");  // 30 GiB and 200 MiB of 32
  account.clients[0].regions[0].resident = account.clients[0].regions[0].shared = 30 * kGiB;
  account.clients[1].regions[0].shared = 30 * kGiB;
  CHECK_FALSE(find(memory_causes(account, asking(kGiB)), "K0247"));
  CHECK(memory_causes(account, asking(kGiB)).empty());  // 2 GiB are nobody's
}

TEST_CASE("a tile of a card: what the whole card's clients hold is no number of the tile's") {
  MemoryAccount account = account_of("others");  // a card of 32 GiB
  MemoryRequest tile = asking(4 * kGiB);
  tile.total = 16 * kGiB;
  tile.free = 2 * kGiB;
  const auto causes = memory_causes(account, tile);
  REQUIRE(find(causes, "K0244"));
  CHECK(find(causes, "K0244")->severity == Severity::warning);
  tile.free.reset();  // and nothing is taken away from 16 GiB
  CHECK_FALSE(find(memory_causes(account, tile), "K0244"));
  account.cards[0].total.reset();  // i915 does not tell: the regions of a client do
  tile.free = 2 * kGiB;
  CHECK(find(memory_causes(account, tile), "K0244")->severity == Severity::error);
  account.clients[1].regions.push_back({"vram1", kGiB, 0, kGiB, 0, 0});
  CHECK(find(memory_causes(account, tile), "K0244")->severity == Severity::warning);
}

TEST_CASE("a card is integrated where its driver says so, wherever it stands") {
  MemoryAccount account = account_of("host");  // 4.5 GiB available, no swap; i915
  MemoryRequest request = asking(6 * kGiB);
  CHECK_FALSE(find(memory_causes(account, request), "K0241"));
  request.integrated = true;
  REQUIRE(find(memory_causes(account, request), "K0241"));
  CHECK(find(memory_causes(account, request), "K0241")->severity == Severity::error);
  REQUIRE(account.cards.size() == 1);
  account.cards[0].address = "0000:00:02.0";  // as a virtual machine may put a card of its own memory
  request.integrated = false;
  CHECK_FALSE(find(memory_causes(account, request), "K0241"));
  request.integrated.reset();
  account.cards[0].total.reset();
  CHECK(find(memory_causes(account, request), "K0241"));
  account.cards[0].total = 12 * kGiB;
  CHECK_FALSE(find(memory_causes(account, request), "K0241"));
}

TEST_CASE("K0245: the host reaches only part of the card") {
  check_first("K0245", "window", {});
  MemoryAccount account = account_of("window");
  account.cards[0].driver = "i915";
  const auto causes = memory_causes(account, {});
  REQUIRE(find(causes, "K0245"));
  check_diagnostic("K0245", *find(causes, "K0245"), "i915");
  account.cards[0].window = 16 * kGiB;
  CHECK_FALSE(find(memory_causes(account, {}), "K0245"));
}

TEST_CASE("K0246: what all cards may have of the host") {
  check_first("K0246", "graphics_limit", asking(60 * kGiB, MemoryKind::host));
  CHECK(memory_causes(account_of("graphics_limit"), asking(50 * kGiB, MemoryKind::host)).empty());
}

TEST_CASE("K0248, K0249: limits of the process") {
  check_first("K0248", "locked", asking(16 * kMiB, MemoryKind::host));
  CHECK(memory_causes(account_of("locked"), asking(4 * kMiB, MemoryKind::host)).empty());
  check_first("K0249", "addresses", asking(4 * kGiB, MemoryKind::host));
  const auto device = memory_causes(account_of("addresses"), asking(4 * kGiB));
  REQUIRE(find(device, "K0249"));
  CHECK(find(device, "K0249")->severity == Severity::warning);  // a driver may take no addresses for it
  CHECK(memory_causes(account_of("addresses"), asking(3 * kGiB)).empty());
}

TEST_CASE("K0207: one allocation, whatever is free") {
  MemoryRequest request = asking(5 * kGiB);
  request.largest = 4294959104;
  const auto causes = memory_causes(account_of("largest"), request);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].code == "K0207");
  request.size = 4 * kGiB - 8 * kKiB;
  CHECK(memory_causes(account_of("largest"), request).empty());
}

TEST_CASE("JSON has every number") {
  const auto json = nlohmann::json::parse(to_json(account_of("others")));
  CHECK(json["cards"][0]["total"] == 32 * kGiB);
  CHECK(json["clients"].size() == 2);
  CHECK(json["clients"][1]["program"] == "llama-server");
  CHECK(json["clients"][1]["device_memory"] == 30 * kGiB);
  CHECK(json["host"]["available"] == 9751756 * kKiB);
  CHECK(json["limits"]["locked"].is_null());
  CHECK(json["own"]["device"]["bytes"].is_number());
}

TEST_CASE("sizes") {
  CHECK(memory_size_text(0) == "0 B");
  CHECK(memory_size_text(1023) == "1023 B");
  CHECK(memory_size_text(1024) == "1.0 KiB");
  CHECK(memory_size_text(kGiB - 1) == "1.0 GiB");
  CHECK(memory_size_text(12 * kGiB) == "12.0 GiB");
  CHECK(memory_size_text(UINT64_MAX).ends_with(" TiB"));
}

TEST_CASE("Buffers are counted by kind, and only while they are owned") {
  StubDriver stub;
  MemoryAccountOptions nowhere;
  nowhere.root = "/nonexistent";
  const auto own = [&] { return memory_account(nowhere).own; };
  const OwnMemory before = own();
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  const ContextRef context = opened->context.get();
  {
    auto device = context.allocate_device(opened->device, 1000);
    auto host = context.allocate_host(200);
    auto shared = context.allocate_shared(opened->device, 30);
    REQUIRE((device && host && shared));
    Buffer moved = std::move(*device);
    CHECK(own().device.bytes == before.device.bytes + 1000);
    CHECK(own().device.allocations == before.device.allocations + 1);
    CHECK(own().host.bytes == before.host.bytes + 200);
    CHECK(own().shared.bytes == before.shared.bytes + 30);
    void* const given = moved.release();
    CHECK(own().device.bytes == before.device.bytes);
    moved = Buffer::adopt(context, given, 1000, MemoryKind::device);
    CHECK(own().device.bytes == before.device.bytes + 1000);
  }
  CHECK(own().device.bytes == before.device.bytes);
  CHECK(own().host.allocations == before.host.allocations);
  CHECK(own().shared.bytes == before.shared.bytes);
}

TEST_CASE("refusals that follow each other in a second look at the machine once") {
  StubDriver stub;
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  const auto refused = [&] {
    stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    const auto code = opened->context.get().allocate_host(256 * kMiB);
    REQUIRE(!code);
    return to_text(*code.error().diagnostic());
  };
  using Clock = std::chrono::steady_clock;
  std::string first, second;
  for (int tries = 0; tries < 20; ++tries) {
    const Machine files(machine("group_v1"));
    REQUIRE(setenv("KILN_MEMORY_ROOT", files.root().c_str(), 1) == 0);
    const auto begin = Clock::now();
    first = refused();
    std::filesystem::remove_all(std::filesystem::path(files.root()) / "proc");
    second = refused();
    setenv("KILN_MEMORY_ROOT", "/nonexistent", 1);
    if (Clock::now() - begin < std::chrono::seconds(1)) break;  // else this machine was too slow to tell
  }
  CHECK(first.find("group") != first.npos);
  CHECK(second == first);
  // Another machine is none of that second.
  CHECK(refused() != first);
}

TEST_CASE("a refusal behind a free or an allocation looks at the machine again") {
  StubDriver stub;
  stub.free_memory = 2 * kGiB;
  stub.pci = {0, 3, 0, 0};
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  const ContextRef context = opened->context.get();
  const auto refused = [&] {
    stub.fail(Call::zeMemAllocDevice, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    const auto code = context.allocate_device(opened->device, 256 * kMiB);
    REQUIRE(!code);
    return code.error().text();
  };
  std::optional<Result<Buffer>> held;
  const std::function<void()> changes[] = {[&] { stub.free_memory = kGiB; },
                                           [&] { held = context.allocate_host(4 * kKiB); }};
  for (const auto& change : changes) {
    const Machine files(machine("host"));
    REQUIRE(setenv("KILN_MEMORY_ROOT", files.root().c_str(), 1) == 0);
    CHECK(refused().find("host memory available") != std::string::npos);
    std::filesystem::remove_all(std::filesystem::path(files.root()) / "proc");
    change();
    CHECK(refused().find("host memory available") == std::string::npos);
    setenv("KILN_MEMORY_ROOT", "/nonexistent", 1);
  }
}

TEST_CASE("a refusal says where memory went, and the certain cause first") {
  StubDriver stub;
  stub.free_memory = 2 * kGiB;
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  const Machine files(machine("group_v1"));
  REQUIRE(setenv("KILN_MEMORY_ROOT", files.root().c_str(), 1) == 0);
  stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  const auto refused = opened->context.get().allocate_host(256 * kMiB);
  setenv("KILN_MEMORY_ROOT", "/nonexistent", 1);
  check_diagnostic("K0215", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, refused, "group");
}

TEST_CASE("a refusal of an integrated card: its driver's word for it") {
  StubDriver stub;
  stub.device_properties.flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  const Machine files(machine("host"));  // 4.5 GiB available, and one card, of its own memory by its place
  REQUIRE(setenv("KILN_MEMORY_ROOT", files.root().c_str(), 1) == 0);
  stub.pci = {0, 3, 0, 0};
  stub.fail(Call::zeMemAllocDevice, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const auto refused =
      opened->context.get().allocate_device(opened->device, 6 * kGiB, {.relaxed_limits = true});
  setenv("KILN_MEMORY_ROOT", "/nonexistent", 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("cause, K0241") != std::string::npos);
}

TEST_CASE("a refusal leaves errno alone, and stays one where there is no memory for the account") {
  StubDriver stub;
  auto opened = open_device({stub.driver, stub.device}, DeviceKind::gpu);
  REQUIRE(opened);
  stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  stub.fail(Call::zeMemAllocHost, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, 2);
  REQUIRE(setenv("KILN_MEMORY_ROOT", "/nonexistent/either", 1) == 0);  // of which nothing is kept
  errno = EDOM;
  REQUIRE_FALSE(opened->context.get().allocate_host(kMiB));
  CHECK(errno == EDOM);

  const auto folder = detail::PrivateFolder::make();
  REQUIRE(folder);
  std::filesystem::create_directory(folder->path() / "proc");
  std::ofstream(folder->path() / "proc/meminfo") << std::string(64 * kKiB, '\n');
  REQUIRE(setenv("KILN_MEMORY_ROOT", folder->path().c_str(), 1) == 0);
  largest_allocation = 16 * kKiB;
  const auto refused = opened->context.get().allocate_host(kMiB);
  largest_allocation = SIZE_MAX;
  setenv("KILN_MEMORY_ROOT", "/nonexistent", 1);
  check_diagnostic("K0215", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, refused, "no-account");
}
