// SPDX-License-Identifier: MIT
// Messages of one connection, from its first byte to its end.
#pragma once

#include <string>

#include "drivers/simulator/engine.hpp"

namespace kiln::simulator {

/// Serves the socket until the other end closes it. Error: what the other end sent that no driver sends.
[[nodiscard]] tl::expected<void, std::string> serve(int socket, Engine& engine);

}  // namespace kiln::simulator
