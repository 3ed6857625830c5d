// SPDX-License-Identifier: MIT
// JUnit's XML, as Jenkins, GitLab and others read it.
#include "tool/run/junit.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tool/report/html.hpp"

namespace kiln::tool {
namespace {

/// XML has no place for control characters but tab and newline, nor for U+FFFE and U+FFFF, and takes what
/// HTML escapes.
std::string xml_text(std::string_view text) {
  std::string safe = escaped(text);
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (auto at = safe.find(none); at != safe.npos; at = safe.find(none, at))
      safe.replace(at, none.size(), "\xef\xbf\xbd");
  return safe;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

}  // namespace

const char* to_string(CaseVerdict verdict) {
  switch (verdict) {
    case CaseVerdict::right:
      return "right";
    case CaseVerdict::not_compared:
      return "not compared";
    case CaseVerdict::wrong:
      return "WRONG";
    case CaseVerdict::error:
      break;
  }
  return "ERROR";
}

std::string junit_xml(const std::vector<CaseResult>& results) {
  const auto count = [&](CaseVerdict verdict) {
    return std::to_string(std::ranges::count(results, verdict, &CaseResult::verdict));
  };
  double seconds = 0;
  for (const CaseResult& each : results) seconds += each.seconds;
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kiln\" tests=\"" +
                    std::to_string(results.size()) + "\" failures=\"" + count(CaseVerdict::wrong) +
                    "\" errors=\"" + count(CaseVerdict::error) + "\" time=\"" + seconds_text(seconds) +
                    "\">\n";
  for (const CaseResult& each : results) {
    const std::filesystem::path path(each.path);
    xml += "  <testcase classname=\"" + xml_text(path.parent_path().string()) + "\" name=\"" +
           xml_text(path.stem().string()) + "\" time=\"" + seconds_text(each.seconds) + "\"";
    if (each.is_good() && each.said.empty()) {
      xml += "/>\n";
      continue;
    }
    xml += ">\n";
    if (!each.is_good()) {
      const char* kind = each.verdict == CaseVerdict::wrong ? "failure" : "error";
      xml += std::string("    <") + kind + " message=\"" + xml_text(each.reason) + "\"/>\n";
    }
    if (!each.said.empty()) xml += "    <system-err>" + xml_text(each.said) + "</system-err>\n";
    xml += "  </testcase>\n";
  }
  return xml + "</testsuite>\n";
}

}  // namespace kiln::tool
