// SPDX-License-Identifier: MIT
// What all pages have: head, style, policy, headline; and findings as they are shown.
#include <algorithm>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"
#include "tool/report/style.hpp"

namespace kiln::tool {

std::string as_sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string shown_text(const std::string& text) {
  std::string html;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('`', at), text.size());
    html += escaped(std::string_view(text).substr(at, end - at));
    const auto close = end < text.size() ? text.find('`', end + 1) : text.npos;
    if (close == text.npos) {
      html += escaped(std::string_view(text).substr(end));
      break;
    }
    html += code(std::string_view(text).substr(end + 1, close - end - 1));
    end = close;
  }
  return html;
}

std::string whole_page(const PageFrame& frame, const std::string& main) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'; "
         "base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped(frame.title) + " – Kiln</title>\n<style>" + kReportStyle + "</style>\n</head>\n<body>\n" +
         kReportPatterns + "<header><p class=\"over\">Kiln " KILN_VERSION " · " + frame.over + "</p><h1>" +
         frame.headline + "</h1>" + frame.lead +
         (frame.summary.empty() ? "" : "<p class=\"summary\">" + frame.summary + "</p>") +
         "</header>\n<main>\n" + main + "</main>\n</body>\n</html>\n";
}

std::string finding_article(const Diagnostic& is, const std::string& figure) {
  const bool error = is.severity == Severity::error;
  std::string html = "<article class=\"finding\"><div class=\"said\"><h3><b class=\"tag " +
                     std::string(error ? "bad" : "warn") + "\">" + escaped(is.code) + "</b> " +
                     shown_text(as_sentence(is.message)) + "</h3>\n";
  for (const std::string& help : is.help) html += "<p class=\"help\">" + shown_text(help) + "</p>\n";
  html += "<dl class=\"facts\">";
  for (const DiagnosticRow& row : is.rows) {
    const bool source = row.label.starts_with("line ");
    html += std::string(source ? "<div class=\"whole\">" : "<div>") + "<dt>" + escaped(row.label) +
            "</dt><dd>" +
            (source             ? code(row.text)
             : row.text.empty() ? number(row.value) + (row.unit.empty() ? "" : " " + escaped(row.unit))
                                : escaped(row.text)) +
            "</dd></div>\n";
  }
  return html + "</dl></div>\n" + figure + "</article>\n";
}

std::string glance_tile(const char* name, const std::string& value, const std::string& more) {
  return "<div><dt>" + std::string(name) + "</dt><dd>" + value + "<small>" + more + "</small></dd></div>\n";
}

}  // namespace kiln::tool
