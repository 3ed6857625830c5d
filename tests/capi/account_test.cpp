// SPDX-License-Identifier: MIT
// Where the memory went, from C: the numbers of a machine that was written down, and its causes.
#include <cstring>
#include <string>

#include "capi/capi.hpp"
#include "kiln/memory_account.hpp"
#include "unit/memory_fixture.hpp"

using namespace kiln::test;

namespace {

constexpr uint64_t kGiB = 1ull << 30;

class Numbers {
 public:
  explicit Numbers(const char* machine, uint32_t process = 0)
      : files_(KILN_TEST_DATA "/memory/" + std::string(machine) + ".txt"), root_(files_.root()) {
    kiln_account_options options = KILN_INIT(kiln_account_options);
    options.root = root_.c_str();
    options.process = process;
    good(kiln_account_take(&options, account.out(), caught.out()), caught);
    good(kiln_account_get(account, &info, caught.out()), caught);
  }
  /// The codes of the causes, with "!" behind those of errors.
  std::string causes(const kiln_memory_request* request) {
    Findings findings;
    good(kiln_account_causes(account, request, findings.out(), caught.out()), caught);
    uint32_t count = 0;
    good(kiln_findings_count(findings, &count, nullptr, caught.out()), caught);
    std::string codes;
    for (uint32_t i = 0; i < count; ++i) {
      kiln_finding finding = KILN_INIT(kiln_finding);
      good(kiln_findings_get(findings, i, &finding, caught.out()), caught);
      codes += std::string(i ? " " : "") + finding.code + (finding.severity ? "" : "!");
    }
    return codes;
  }

  Caught caught;
  Account account;
  kiln_account_info info = KILN_INIT(kiln_account_info);

 private:
  Machine files_;
  std::string root_;
};

}  // namespace

TEST_CASE("an account of memory has the numbers of the machine") {
  Numbers others("others");
  CHECK(others.info.host_total == 16357785ull * 1024);
  CHECK(others.info.host_available == 9751756ull * 1024);
  CHECK(others.info.swap_free == 8388604ull * 1024);
  CHECK(others.info.has_group_limit == 0);
  CHECK(others.info.process_found == 1);
  CHECK(others.info.cards == 1);
  CHECK(std::strstr(others.info.json, "llama-server") != nullptr);
  kiln_card_info card = KILN_INIT(kiln_card_info);
  good(kiln_account_card(others.account, 0, &card, others.caught.out()), others.caught);
  CHECK(card.address == std::string("0000:03:00.0"));
  CHECK(card.driver == std::string("xe"));
  CHECK(card.known == KILN_KNOWN_TOTAL);
  CHECK(card.total == 32 * kGiB);
  CHECK(card.window == 32 * kGiB);
  CHECK(card.own == 200ull << 20);
  CHECK(card.others == 30 * kGiB);
  CHECK(card.device_id == 0xe223);
  bad(kiln_account_card(others.account, 1, &card, others.caught.out()), others.caught,
      KILN_ERROR_INVALID_ARGUMENT, "K0903");

  Numbers limited("group_v2");
  CHECK(limited.info.has_group_limit == 1);
  CHECK(limited.info.group_left == 9448927232 - kGiB);
  CHECK(Numbers("others", 5009999).info.process_found == 0);

  Caught caught;
  Account here;
  good(kiln_account_take(nullptr, here.out(), caught.out()), caught);
}

TEST_CASE("a request for memory has its causes") {
  Numbers others("others");
  CHECK(others.causes(nullptr).empty());
  kiln_memory_request request = KILN_INIT(kiln_memory_request);
  request.size = 4 * kGiB;
  CHECK(others.causes(&request) == "K0244");
  request.free = kGiB;
  request.known = KILN_KNOWN_FREE;
  CHECK(others.causes(&request) == "K0244!");
  request.card = "0000:99:00.0";
  request.known = 0;
  CHECK(others.causes(&request).empty());
  request.card = nullptr;
  request.size = 12 * kGiB;
  request.kind = KILN_MEMORY_HOST;
  CHECK(others.causes(&request).empty());
  request.size = 20 * kGiB;
  CHECK(others.causes(&request) == "K0241!");
  request.kind = KILN_MEMORY_DEVICE;
  request.integrated = KILN_INTEGRATED_YES;
  CHECK(others.causes(&request).find("K0241!") != std::string::npos);

  Findings none;
  const auto refused = [&] {
    bad(kiln_account_causes(others.account, &request, none.out(), others.caught.out()), others.caught,
        KILN_ERROR_INVALID_ENUMERATION, "K0903");
  };
  request.integrated = 3;
  refused();
  request.integrated = 0;
  request.kind = 3;
  refused();
  request.kind = 0;
  request.known = 4;
  refused();
}
