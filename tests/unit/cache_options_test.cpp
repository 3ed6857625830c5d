// SPDX-License-Identifier: MIT
// Settings of the cache from the environment.
#include <doctest/doctest.h>

#include <cstdlib>

#include "cache/options.hpp"
#include "kiln/cache.hpp"
#include "unit/golden.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(Variable&&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("sizes with and without a unit") {
  CHECK(cache::parse_size("0") == 0);
  CHECK(cache::parse_size("1048577") == 1048577);
  CHECK(cache::parse_size("3K") == 3072);
  CHECK(cache::parse_size("512M") == std::uint64_t{512} << 20);
  CHECK(cache::parse_size("17179869183G") == 17179869183u * (std::uint64_t{1} << 30));
  for (const char* bad : {"", "K", "-1", "1k", "1.5G", "1 M", "17179869184G", "18446744073709551616", "1GB"})
    CHECK_MESSAGE(!cache::parse_size(bad), bad);
}

TEST_CASE("the environment overrides the defaults, and nothing else does") {
  CacheOptions defaults;
  defaults.folder = "/srv/engine";
  defaults.max_size = 7;
  const auto untouched = cache_options(defaults);
  REQUIRE(untouched);
  CHECK(untouched->mode == CacheMode::on);
  CHECK(untouched->folder == "/srv/engine");
  CHECK(untouched->max_size == 7);
  const Variable mode("KILN_CACHE", "read"), folder("KILN_CACHE_DIR", "/srv/other"),
      size("KILN_CACHE_MAX_SIZE", "2G"), verify("KILN_CACHE_VERIFY", "0.25"),
      read_only("KILN_CACHE_READ_ONLY", ":/usr/share/a::/usr/share/b:");
  const auto options = cache_options(defaults);
  REQUIRE(options);
  CHECK(options->mode == CacheMode::read);
  CHECK(options->folder == "/srv/other");
  CHECK(options->max_size == std::uint64_t{2} << 30);
  CHECK(options->verify == 0.25);
  CHECK(options->read_only == std::vector<std::filesystem::path>{"/usr/share/a", "/usr/share/b"});
}

TEST_CASE("K0701: settings that cannot be") {
  const auto refused = [](const char* name, const char* value) {
    const Variable variable(name, value);
    const auto options = cache_options();
    CHECK_MESSAGE(!options, name << "=" << value);
    return !options ? options.error().diagnostic()->code : std::string();
  };
  for (const char* mode : {"yes", "ON", "0", " on"}) CHECK(refused("KILN_CACHE", mode) == "K0701");
  for (const char* share : {"-0.1", "1.01", "nan", "0,5", "1%", "half"})
    CHECK(refused("KILN_CACHE_VERIFY", share) == "K0701");
  CHECK(refused("KILN_CACHE_MAX_SIZE", "much") == "K0701");
  const Variable variable("KILN_CACHE_MAX_SIZE", "1 GB");
  check_diagnostic("K0701", ZE_RESULT_ERROR_INVALID_ARGUMENT, cache_options());
}
