// SPDX-License-Identifier: MIT
// All that libkiln-offline has: what is done where kernels are made and looked after, not where they run.
#pragma once

#include "kiln/bake.hpp"
#include "kiln/cache_folder.hpp"
#include "kiln/counters.hpp"
#include "kiln/fit.hpp"
#include "kiln/long_work.hpp"
