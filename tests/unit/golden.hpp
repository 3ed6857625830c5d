// SPDX-License-Identifier: MIT
// Compares diagnostics with the golden text of their code, and with their JSON form.
// `KILN_UPDATE_GOLDEN=1 diagnose_tests` writes the texts anew; read the difference before committing it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "kiln/diagnostic.hpp"
#include "kiln/result.hpp"
#include "unit/test_file.hpp"

namespace kiln::test {

inline std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(KILN_TEST_DATA) / "golden" / (name + ".txt");
}

inline void check_golden(const std::string& name, const std::string& text) {
  CAPTURE(name);
  if (std::getenv("KILN_UPDATE_GOLDEN")) std::ofstream(golden_path(name), std::ios::binary) << text;
  const Bytes wanted = read_file(golden_path(name));
  CHECK(text == std::string(reinterpret_cast<const char*>(wanted.data()), wanted.size()));
}

/// `variant` tells several texts of one code apart.
inline void check_diagnostic(const char* code, const Diagnostic& diagnostic,
                             const std::string& variant = "") {
  CHECK(diagnostic.code == code);
  check_golden(code + (variant.empty() ? "" : "-" + variant), to_text(diagnostic));

  const std::string text = to_text(diagnostic);
  const auto json = nlohmann::json::parse(to_json(diagnostic));
  if (diagnostic.answer) {
    const auto result = static_cast<ze_result_t>(diagnostic.answer->code);
    if (!diagnostic.code.starts_with("K04")) {
      CHECK(text.find(result_text(result)) != std::string::npos);
      CHECK(text.find(to_text(*diagnostic.answer)) != std::string::npos);
    }
    CHECK(json["result"] == result_name(result));
    CHECK(json["result_value"] == diagnostic.answer->code);
    CHECK(json["call"] == diagnostic.answer->call);
    CHECK(json["answered_by"] == to_string(diagnostic.answer->by));
  }
  CHECK(json["code"] == diagnostic.code);
  CHECK(json["message"] == diagnostic.message);
  CHECK(json["help"] == diagnostic.help);
  REQUIRE(json["rows"].size() == diagnostic.rows.size());
  for (std::size_t i = 0; i < diagnostic.rows.size(); ++i) {
    const DiagnosticRow& row = diagnostic.rows[i];
    CHECK(json["rows"][i]["label"] == row.label);
    if (row.text.empty())
      CHECK(json["rows"][i]["value"] == row.value);
    else
      CHECK(json["rows"][i]["text"] == row.text);
  }
}

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
