// SPDX-License-Identifier: MIT
// check_fit(): every kernel against every target, from files and from memory.
#include "kiln/fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "offline/ocloc_script.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

const std::string kMatmul = KILN_TEST_SPIRV "/matmul.spv";

Error refused(const FitOptions& options) {
  const auto report = check_fit(options);
  REQUIRE_FALSE(report);
  REQUIRE(report.error().diagnostic());
  return report.error();
}

}  // namespace

TEST_CASE("fit: SPIR-V against targets, without ocloc") {
  const FitReport report =
      check_fit({.files = {kMatmul}, .targets = {"pvc", "dg2-g10"}, .compile = false}).value();
  CHECK(report.targets == std::vector<std::string>{"pvc", "dg2-g10"});
  CHECK(report.all_fit());
  REQUIRE_FALSE(report.rows.empty());
  for (const FitRow& row : report.rows) {
    CHECK(row.family == "matmul");
    REQUIRE(row.targets.size() == 2);
    CHECK(row.targets[1].target == "dg2-g10");
    CHECK(row.targets[1].basis == FitBasis::spirv);
    CHECK(row.targets[1].file == kMatmul);
    CHECK_FALSE(row.targets[1].occupancy);
  }
}

TEST_CASE("fit: a launch that one product has room for and the other has not") {
  // 96 KiB: more than the 64 of Gen12 and Xe-HPG, less than the 128 of Xe-HPC.
  FitOptions options{.files = {kMatmul}, .targets = {"pvc", "dg2-g10"}, .compile = false};
  options.launch.locals = {{"a_tile", 48 << 10}, {"b_tile", 48 << 10}};
  const FitReport report = check_fit(options).value();
  CHECK_FALSE(report.all_fit());
  const auto tiled = std::ranges::find(report.rows, "tiled", &FitRow::kernel);
  REQUIRE(tiled != report.rows.end());
  CHECK(tiled->targets[0].fits);
  CHECK_FALSE(tiled->targets[1].fits);
  REQUIRE(tiled->targets[1].findings.size() == 1);
  CHECK(tiled->targets[1].findings[0].code == "K0101");
}

TEST_CASE("fit: what is in memory, and what cannot be read") {
  const FitReport report =
      check_fit({.files = {"nowhere.spv"},
                 .sources = {{"m.spv", read_file(kMatmul)}, {"bad.spv", bytes_of("bad")}},
                 .targets = {"tgllp"},
                 .compile = false})
          .value();
  REQUIRE(report.rows.size() >= 1);
  CHECK(report.rows[0].family == "m");
  CHECK(report.rows[0].targets[0].fits);
  REQUIRE(report.errors.size() == 2);
  CHECK(report.errors[0].diagnostic()->code == "K0201");
  CHECK(report.errors[1].text().find("bad.spv") != std::string::npos);
  CHECK_FALSE(report.all_fit());  // one file was left out
}

TEST_CASE("fit: nothing to look at does not fit") {
  CHECK_FALSE(FitReport{}.all_fit());
  const FitReport report =
      check_fit({.sources = {{"k.cl", bytes_of("kernel void k() {}")}}, .targets = {"pvc"}, .compile = false})
          .value();
  CHECK_FALSE(report.all_fit());
  CHECK(report.rows.empty());
  REQUIRE(report.errors.size() == 1);
  CHECK(report.errors[0].diagnostic()->code == "K0406");
  CHECK(report.errors[0].text().find("k.cl") != std::string::npos);

  // SPIR-V of the same family speaks for it.
  const FitReport both = check_fit({.files = {kMatmul},
                                    .sources = {{"matmul.cl", bytes_of("kernel void tiled() {}")}},
                                    .targets = {"pvc"},
                                    .compile = false})
                             .value();
  CHECK(both.all_fit());
}

TEST_CASE("fit: without ocloc, and with one that refuses") {
  const FitOptions options{.files = {kMatmul}, .targets = {"pvc"}};
  {
    const Ocloc none;
    const FitReport report = check_fit(options).value();
    CHECK(report.rows.at(0).targets[0].basis == FitBasis::spirv);
    CHECK(report.rows[0].targets[0].note == "ocloc is not installed");
    CHECK(report.rows[0].targets[0].fits);
  }
  const Ocloc ocloc("echo 'error: no'; exit 11");
  const FitReport report = check_fit(options).value();
  CHECK(report.rows.at(0).targets[0].basis == FitBasis::none);
  CHECK_FALSE(report.rows[0].targets[0].fits);
  REQUIRE_FALSE(report.rows[0].targets[0].findings.empty());
  CHECK(report.rows[0].targets[0].findings[0].code == "K0406");
}

TEST_CASE("fit: what cannot be meant, and a request to stop") {
  CHECK(refused({.files = {kMatmul}, .targets = {"pvd"}, .compile = false}).diagnostic()->code == "K0404");
  CHECK(
      refused({.files = {kMatmul}, .targets = {"pvc"}, .launch = {.locals = {{"tile", 4}}}, .compile = false})
          .diagnostic()
          ->code == "K0404");
  std::stop_source source;
  source.request_stop();
  const Error stopped = refused({.files = {kMatmul}, .targets = {"pvc"}, .work = {{}, source.get_token()}});
  CHECK(stopped.diagnostic()->code == "K0423");
  CHECK(stopped.code() == ZE_RESULT_NOT_READY);
}
