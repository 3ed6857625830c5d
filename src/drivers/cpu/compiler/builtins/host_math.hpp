// SPDX-License-Identifier: MIT
// OpenCL's math functions that the host's libm lacks or defines otherwise; compiled code calls them by these
// names.
#pragma once

#include <cstdint>

extern "C" {
float kiln_acospif(float x);
double kiln_acospi(double x);
float kiln_asinpif(float x);
double kiln_asinpi(double x);
float kiln_atanpif(float x);
double kiln_atanpi(double x);
float kiln_atan2pif(float y, float x);
double kiln_atan2pi(double y, double x);
float kiln_cbrtf(float x);
double kiln_cbrt(double x);
float kiln_cospif(float x);
double kiln_cospi(double x);
float kiln_sinpif(float x);
double kiln_sinpi(double x);
float kiln_tanpif(float x);
double kiln_tanpi(double x);
float kiln_lgammaf(float x);
double kiln_lgamma(double x);
float kiln_pownf(float x, std::int32_t n);
double kiln_pown(double x, std::int32_t n);
float kiln_powrf(float x, float y);
double kiln_powr(double x, double y);
float kiln_rootnf(float x, std::int32_t n);
double kiln_rootn(double x, std::int32_t n);
std::int32_t kiln_ilogbf(float x);
std::int32_t kiln_ilogb(double x);
float kiln_frexpf(float x, std::int32_t* exponent);
double kiln_frexp(double x, std::int32_t* exponent);
float kiln_remquof(float x, float y, std::int32_t* quotient);
double kiln_remquo(double x, double y, std::int32_t* quotient);
}
