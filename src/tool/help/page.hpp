// SPDX-License-Identifier: MIT
// What there is to know of a command's words, as a value that help, man pages and completions are made of.
#pragma once

#include <string>
#include <vector>

namespace kiln::tool {

/// An option, or an argument without a name.
struct Parameter {
  std::vector<std::string> names;  ///< "-o", "--output"; none: an argument
  std::string value;               ///< "FILE", the kind of value it takes; empty: none
  std::string summary;
  bool required = false, several = false;
};

struct Page {
  std::string name;  ///< "kiln cache warm"
  std::string summary;
  std::string notes;  ///< paragraphs, and lists of indented "NAME  text", as in the sources
  std::vector<Parameter> arguments, options;
  std::vector<Page> commands;
};

/// A paragraph, or, with a label, an entry of a list.
struct Block {
  std::string label, text;
};

/// The notes with the line ends of the sources gone. Pure.
[[nodiscard]] std::vector<Block> blocks_of(const std::string& notes);

/// "usage: kiln bake [OPTIONS] FILE... " without "usage:". Pure.
[[nodiscard]] std::string synopsis_of(const Page& page);

/// "-o, --output FILE". Pure.
[[nodiscard]] std::string title_of(const Parameter& parameter);

/// What `--help` and `kiln help` show, in lines of at most `width` columns. Pure.
[[nodiscard]] std::string help_text(const Page& page, std::size_t width);

/// The commands with a line each, and how to learn more: for who gives none. Pure.
[[nodiscard]] std::string command_list(const Page& page, std::size_t width);

/// The words that a kind of value can be: "PRODUCT" has those that are completed. Files: is it a file, a
/// folder, or neither.
struct ValueWords {
  std::string value;
  std::vector<std::string> words;
  bool files = false, folders = false, comma_list = false;
};

/// Everything below `page`, for man, and for the shells. Pure.
[[nodiscard]] std::string man_page(const Page& page, const std::string& version);
[[nodiscard]] std::string bash_completion(const Page& page, const std::vector<ValueWords>& values);
[[nodiscard]] std::string zsh_completion(const Page& page, const std::vector<ValueWords>& values);
[[nodiscard]] std::string fish_completion(const Page& page, const std::vector<ValueWords>& values);

}  // namespace kiln::tool
