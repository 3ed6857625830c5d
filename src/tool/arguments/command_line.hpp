// SPDX-License-Identifier: MIT
// The command line, from words to what is done.
#pragma once

namespace kiln::tool {

/// Does what the words ask for; the exit status.
[[nodiscard]] int command(int argc, char** argv);

}  // namespace kiln::tool
