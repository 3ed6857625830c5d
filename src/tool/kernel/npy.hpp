// SPDX-License-Identifier: MIT
// Arrays in files of NumPy's format. Source: numpy.lib.format, versions 1.0 to 3.0. Own code, as no library
// for it is in Debian, and those elsewhere (cnpy, libnpy) trust the file.
#pragma once

#include <span>

#include "kiln/result.hpp"
#include "tool/kernel/element.hpp"

namespace kiln::tool {

/// K0432 for a file of data that cannot be taken.
[[nodiscard]] Error bad_data(const std::string& file, std::string reason, std::string help);

/// K0436 for one that cannot be written.
[[nodiscard]] Error unwritable_data(const std::string& buffer, const std::string& file, std::string reason);

/// The array in a file of NumPy. Numbers alone, the low byte first, rows as C has them; everything else is
/// refused, and so is a file that is not as long as its header says. Every read is bounded by the file's
/// size. `name` is for messages. Error: K0432. Pure.
[[nodiscard]] Result<Array> read_npy(std::span<const std::byte> file, const std::string& name);

/// The same as a file, version 1.0. Vectors are a last dimension, of four for three. Pure.
[[nodiscard]] std::vector<std::byte> write_npy(const Array& array);

}  // namespace kiln::tool
