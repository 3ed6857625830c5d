// SPDX-License-Identifier: MIT
// Escapes text and formats numbers and tables for HTML.
#include "tool/report/html.hpp"

#include <algorithm>
#include <cstdio>

#include "support/json.hpp"
#include "support/printable.hpp"

namespace kiln::tool {

std::string escaped(std::string_view text) {
  const std::string quoted = detail::Json(text).dump();
  std::string safe;
  for (const char c : detail::printable(detail::Json::parse(quoted)->get<std::string>(), "\t\n")) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  return safe;
}

std::string code(std::string_view text) { return "<code>" + escaped(text) + "</code>"; }

std::string number(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && digits.size() > 4 && (digits.size() - i) % 3 == 0) grouped += "\u202f";
    grouped += digits[i];
  }
  return "<data value=\"" + digits + "\">" + grouped + "</data>";
}

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text,
                value != 0 && value < 0.01 ? "%.2g"
                : value < 100              ? "%.3g"
                                           : "%.0f",
                value);
  return "<data value=\"" + detail::Json(value).dump() + "\">" + text + "</data>";
}

std::string count(std::uint64_t value, std::string_view one, std::string_view many) {
  return number(value) + " " + std::string(value == 1 ? one : many);
}

double percent(double part, double whole) { return whole > 0 ? part * 100 / whole : 0; }

std::string bar(double share, std::string_view kind) {
  char width[32];
  std::snprintf(width, sizeof width, "%.2f", std::clamp(share, 0.0, 100.0));
  return "<svg class=\"bar " + std::string(kind) +
         "\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
         "<rect class=\"rest\" width=\"100\" height=\"8\"/><rect class=\"part\" width=\"" +
         width + "\" height=\"8\"/></svg>";
}

std::string table(std::string_view caption, const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows, std::size_t numbers) {
  const auto side = [&](std::size_t column) { return column >= numbers ? " class=\"number\"" : ""; };
  std::string html = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                     std::string(caption) + "\"><table><caption>" + std::string(caption) +
                     "</caption><thead><tr>";
  for (std::size_t i = 0; i < heads.size(); ++i)
    html += std::string("<th scope=\"col\"") + side(i) + ">" + heads[i] + "</th>";
  html += "</tr></thead>\n<tbody>";
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += i == 0 ? std::string("<th scope=\"row\"") + side(i) + ">" + row[i] + "</th>"
                     : std::string("<td") + side(i) + ">" + row[i] + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace kiln::tool
