// SPDX-License-Identifier: MIT
// The matrix of kernels and targets as text and JSON.
#pragma once

#include "offline/fit/matrix.hpp"
#include "tool/check/request.hpp"

namespace kiln::tool {

using offline::Cell;
using offline::DriverAnswer;
using offline::Matrix;
using offline::Part;
using offline::Row;

/// The table, and below it what every mark in it means.
void print_text(const Matrix& matrix);
[[nodiscard]] Json to_json(const Matrix& matrix);

}  // namespace kiln::tool
