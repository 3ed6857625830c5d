// SPDX-License-Identifier: MIT
// Compares diagnostics with the golden text of their code, and with their JSON form.
// `KILN_UPDATE_GOLDEN=1 diagnose_tests` writes the texts anew; read the difference before committing it.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "kiln/diagnostic.hpp"
#include "kiln/result.hpp"
#include "unit/test_file.hpp"

namespace kiln::test {

std::filesystem::path golden_path(const std::string& name);
void check_golden(const std::string& name, const std::string& text);
/// `variant` tells several texts of one code apart.
void check_diagnostic(const char* code, const Diagnostic& diagnostic, const std::string& variant = "");

template <class T>
void check_diagnostic(const char* code, ze_result_t result, const Result<T>& failed,
                      const std::string& variant = "") {
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == result);
  REQUIRE(failed.error().diagnostic());
  REQUIRE(failed.error().diagnostic()->answer);
  CHECK(failed.error().diagnostic()->answer->code == static_cast<std::uint32_t>(result));
  check_diagnostic(code, *failed.error().diagnostic(), variant);
  CHECK(failed.error().text() == to_text(*failed.error().diagnostic()));
}

}  // namespace kiln::test
