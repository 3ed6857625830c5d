// SPDX-License-Identifier: MIT
#include "unit/golden.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace kiln::test {

std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(KILN_TEST_DATA) / "golden" / (name + ".txt");
}

void check_golden(const std::string& name, const std::string& text) {
  CAPTURE(name);
  if (std::getenv("KILN_UPDATE_GOLDEN")) std::ofstream(golden_path(name), std::ios::binary) << text;
  const Bytes wanted = read_file(golden_path(name));
  CHECK(text == std::string(reinterpret_cast<const char*>(wanted.data()), wanted.size()));
}

void check_diagnostic(const char* code, const Diagnostic& diagnostic, const std::string& variant) {
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

}  // namespace kiln::test
