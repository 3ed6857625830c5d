// SPDX-License-Identifier: MIT
// Finds the files that come with the library, also where the whole tree was moved.
#pragma once

#include <filesystem>

#include "own_places.hpp"

namespace kiln::detail {

/// The folder of the program that runs; empty when the system does not say.
std::filesystem::path program_folder();

/// The folder of the library; where it is part of the program, the program's. Empty when the system does not
/// say.
std::filesystem::path library_folder();

/// Beside the library, as an engine ships it; else at its place in the installed tree that the library is in;
/// else at its place in a build tree; else, and always in a process with more rights than its user, where it
/// was to be installed. What is returned last need not exist.
std::filesystem::path own_file(const OwnFile& file);

}  // namespace kiln::detail
