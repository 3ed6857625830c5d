// SPDX-License-Identifier: MIT
// Help for a terminal.
#include <algorithm>

#include "tool/common/wrap.hpp"
#include "tool/help/page.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kWidestLabel = 28;  // columns; a longer one has a line of its own

/// One line, cut to the width, with what follows at `indent`.
std::string lines_of(const std::string& line, std::size_t width, std::size_t indent) {
  std::string text;
  for (const Piece& piece : wrap(line, width, indent))
    text += std::string(piece.indent, ' ') + line.substr(piece.begin, piece.end - piece.begin) + "\n";
  return text;
}

std::string list_of(const std::vector<Block>& entries, std::size_t width) {
  std::size_t widest = 0;
  for (const Block& entry : entries)
    if (const std::size_t label = columns(entry.label); label <= kWidestLabel)
      widest = std::max(widest, label);
  std::string text;
  for (const Block& entry : entries) {
    const std::size_t label = columns(entry.label), begin = widest + 4;
    std::string line = "  " + entry.label;
    if (label > widest && !entry.text.empty()) {
      text += lines_of(line, width, 4);
      line.clear();
    }
    line.resize(line.size() + (line.empty() ? begin : begin - 2 - label), ' ');
    text += lines_of(line + entry.text, width, begin);
  }
  return text;
}

std::vector<Block> entries_of(const std::vector<Parameter>& parameters) {
  std::vector<Block> entries;
  for (const Parameter& parameter : parameters) entries.push_back({title_of(parameter), parameter.summary});
  return entries;
}

std::string commands_of(const Page& page, std::size_t width) {
  std::vector<Block> entries;
  for (const Page& command : page.commands)
    entries.push_back({command.name.substr(page.name.size() + 1), command.summary});
  return "Commands:\n" + list_of(entries, width);
}

std::string notes_of(const std::string& notes, std::size_t width) {
  std::string text;
  std::vector<Block> list;
  const auto end_list = [&] {
    if (text.empty() && !list.empty()) text = "\n";
    text += list_of(list, width);
    list.clear();
  };
  for (const Block& block : blocks_of(notes)) {
    if (!block.label.empty()) {
      list.push_back(block);
      continue;
    }
    end_list();
    text += "\n" + lines_of(block.text, width, 0);
  }
  end_list();
  return text;
}

}  // namespace

std::string synopsis_of(const Page& page) {
  std::string text = page.name + (page.options.empty() ? "" : " [OPTIONS]");
  if (!page.commands.empty()) text += " COMMAND";
  for (const Parameter& argument : page.arguments) {
    const std::string title = title_of(argument);
    text += argument.required ? " " + title : " [" + title + "]";
  }
  return text;
}

std::string title_of(const Parameter& parameter) {
  std::string text;
  for (const std::string& name : parameter.names) text += (text.empty() ? "" : ", ") + name;
  if (!parameter.value.empty()) text += (text.empty() ? "" : " ") + parameter.value;
  return parameter.names.empty() && parameter.several ? text + "..." : text;
}

std::vector<Block> blocks_of(const std::string& notes) {
  std::vector<Block> blocks;
  bool ended = true;
  for (std::size_t begin = 0; begin < notes.size();) {
    const std::size_t end = std::min(notes.find('\n', begin), notes.size());
    const std::string line = notes.substr(begin, end - begin);
    begin = end + 1;
    const auto start = line.find_first_not_of(' ');
    const auto gap = start == line.npos ? line.npos : line.find("  ", start);
    if (start == line.npos)
      ended = true;
    else if (start == 2 && gap != line.npos)
      blocks.push_back({line.substr(start, gap - start), line.substr(line.find_first_not_of(' ', gap))});
    else if (ended || (start == 0 && !blocks.back().label.empty()))
      blocks.push_back({"", line.substr(start)});
    else
      blocks.back().text += " " + line.substr(start);
    if (start != line.npos) ended = false;
  }
  return blocks;
}

std::string help_text(const Page& page, std::size_t width) {
  std::string text = lines_of(page.summary, width, 0);
  text += lines_of("Usage: " + synopsis_of(page), width, 7);
  if (!page.commands.empty()) text += "\n" + commands_of(page, width);
  if (!page.arguments.empty()) text += "\nArguments:\n" + list_of(entries_of(page.arguments), width);
  if (!page.options.empty()) text += "\nOptions:\n" + list_of(entries_of(page.options), width);
  return text + notes_of(page.notes, width);
}

std::string command_list(const Page& page, std::size_t width) {
  const auto space = page.name.find(' ');
  const std::string below = space == page.name.npos ? "" : page.name.substr(space + 1) + " ";
  return lines_of("Usage: " + synopsis_of(page), width, 7) + "\n" + commands_of(page, width) + "\n" +
         lines_of("`kiln help " + below + "COMMAND` says more of one", width, 0);
}

}  // namespace kiln::tool
