// SPDX-License-Identifier: MIT
// The manual page: one for all commands. Source: groff_man(7).
#include <cstdint>
#include <cstdio>

#include "tool/help/page.hpp"

namespace kiln::tool {
namespace {

/// Text as roff: nothing in it is a request, and what is not ASCII has its number.
std::string roff(const std::string& text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\\') {
      safe += "\\e";
    } else if (byte == '-') {
      safe += "\\-";
    } else if ((byte == '.' || byte == '\'') && safe.empty()) {
      safe += "\\&" + std::string(1, text[i]);
    } else if (byte == '`') {
      safe += "\\(ga";
    } else if (byte < 0x80) {
      safe += text[i];
    } else {  // UTF-8
      const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      std::uint32_t code = byte & (0x3fu >> more);
      for (int k = 0; k < more && i + 1 < text.size(); ++k)
        code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fu);
      char name[16];
      std::snprintf(name, sizeof name, "\\[u%04X]", code);
      safe += name;
    }
  }
  return safe;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }

void add_entry(std::string& man, const std::string& title, const std::string& text) {
  man += ".TP\n" + title + "\n" + roff(text) + "\n";
}

void add_parameters(std::string& man, const std::vector<Parameter>& parameters) {
  for (const Parameter& each : parameters) {
    std::string title;
    for (const std::string& name : each.names) title += (title.empty() ? "" : ", ") + bold(name);
    if (!each.value.empty()) title += (title.empty() ? "" : " ") + ("\\fI" + roff(each.value) + "\\fR");
    add_entry(man, title, each.summary);
  }
}

void add_notes(std::string& man, const std::string& notes) {
  for (const Block& block : blocks_of(notes))
    if (block.label.empty())
      man += ".PP\n" + roff(block.text) + "\n";
    else
      add_entry(man, bold(block.label), block.text);
}

void add_command(std::string& man, const Page& page) {
  man += ".SS " + roff(synopsis_of(page)) + "\n" + roff(page.summary) + "\n";
  add_parameters(man, page.arguments);
  add_parameters(man, page.options);
  add_notes(man, page.notes);
  for (const Page& command : page.commands) add_command(man, command);
}

}  // namespace

std::string man_page(const Page& page, const std::string& version) {
  std::string man = ".\\\" Made from the options of the command itself.\n.TH KILN 1 \"\" \"kiln " +
                    roff(version) + "\" \"User Commands\"\n.SH NAME\nkiln \\- " + roff(page.summary) +
                    "\n.SH SYNOPSIS\n" + bold(page.name) + roff(synopsis_of(page).substr(page.name.size())) +
                    "\n.SH OPTIONS\n";
  add_parameters(man, page.options);
  man += ".SH COMMANDS\n";
  for (const Page& command : page.commands) add_command(man, command);
  man += ".SH STATUS AND ENVIRONMENT\n";
  add_notes(man, page.notes);
  return man;
}

}  // namespace kiln::tool
