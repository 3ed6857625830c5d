// SPDX-License-Identifier: MIT
// The table of host functions for compiled kernels: libm, memory functions that LLVM writes calls of, and
// Kiln's own.
#include "drivers/cpu/compiler/backend/runtime_symbols.hpp"

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "drivers/cpu/compiler/builtins/host_math.hpp"
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/group_run.hpp"
#include "drivers/cpu/runtime/printf.hpp"

#if defined(__x86_64__)
// libgcc's conversions of half; their half is a register's low bits, which only compiled code knows how to
// pass.
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}
#endif

namespace kiln::cpu {
namespace {

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

using F1 = float(float);
using D1 = double(double);
using F2 = float(float, float);
using D2 = double(double, double);

// clang-format off
#define UNARY(name) {#name "f", address<F1>(::name##f)}, {#name, address<D1>(::name)}
#define BINARY(name) {#name "f", address<F2>(::name##f)}, {#name, address<D2>(::name)}
#define OWN(name) {#name "f", address(::name##f)}, {#name, address(::name)}
// clang-format on

const std::unordered_map<std::string_view, void*>& table() {
  static const std::unordered_map<std::string_view, void*> symbols = {
    UNARY(acos),
    UNARY(acosh),
    UNARY(asin),
    UNARY(asinh),
    UNARY(atan),
    UNARY(atanh),
    UNARY(ceil),
    UNARY(cos),
    UNARY(cosh),
    UNARY(erf),
    UNARY(erfc),
    UNARY(exp),
    UNARY(exp10),
    UNARY(exp2),
    UNARY(expm1),
    UNARY(fabs),
    UNARY(floor),
    UNARY(log),
    UNARY(log10),
    UNARY(log1p),
    UNARY(log2),
    UNARY(logb),
    UNARY(nearbyint),
    UNARY(rint),
    UNARY(round),
    UNARY(roundeven),
    UNARY(sin),
    UNARY(sinh),
    UNARY(sqrt),
    UNARY(tan),
    UNARY(tanh),
    UNARY(tgamma),
    UNARY(trunc),
    BINARY(atan2),
    BINARY(copysign),
    BINARY(fdim),
    BINARY(fmax),
    BINARY(fmin),
    BINARY(fmod),
    BINARY(hypot),
    BINARY(nextafter),
    BINARY(pow),
    BINARY(remainder),
    {"fmaf", address<float(float, float, float)>(::fmaf)},
    {"fma", address<double(double, double, double)>(::fma)},
    {"ldexpf", address<float(float, int)>(::ldexpf)},
    {"ldexp", address<double(double, int)>(::ldexp)},
    {"lgamma_rf", address<float(float, int*)>(::lgammaf_r)},
    {"lgamma_r", address<double(double, int*)>(::lgamma_r)},
    {"sincosf", address<void(float, float*, float*)>(::sincosf)},
    {"sincos", address<void(double, double*, double*)>(::sincos)},
    OWN(kiln_acospi),
    OWN(kiln_asinpi),
    OWN(kiln_atanpi),
    OWN(kiln_atan2pi),
    OWN(kiln_cbrt),
    OWN(kiln_cospi),
    OWN(kiln_sinpi),
    OWN(kiln_tanpi),
    OWN(kiln_lgamma),
    OWN(kiln_pown),
    OWN(kiln_powr),
    OWN(kiln_rootn),
    OWN(kiln_ilogb),
    OWN(kiln_frexp),
    OWN(kiln_remquo),
    {"memcpy", address<void*(void*, const void*, std::size_t)>(::memcpy)},
    {"memmove", address<void*(void*, const void*, std::size_t)>(::memmove)},
    {"memset", address<void*(void*, int, std::size_t)>(::memset)},
    {"memcmp", address<int(const void*, const void*, std::size_t)>(::memcmp)},
    {"bcmp", address<int(const void*, const void*, std::size_t)>(::memcmp)},
    {"strlen", address<std::size_t(const char*)>(::strlen)},
#if defined(__x86_64__)
    {"__extendhfsf2", address(__extendhfsf2)},
    {"__truncsfhf2", address(__truncsfhf2)},
    {"__truncdfhf2", address(__truncdfhf2)},
#endif
    {"kiln_add_deferred", address(kiln_add_deferred)},
    {"kiln_agree", address(kiln_agree)},
    {"kiln_barrier", address(kiln_barrier)},
    {"kiln_grid_barrier", address(kiln_grid_barrier)},
    {"kiln_callable", address(kiln_callable)},
    {"kiln_collective", address(kiln_collective)},
    {"kiln_exchange", address(kiln_exchange)},
    {"kiln_item_memory", address(kiln_item_memory)},
    {"kiln_printf", address(kiln_printf)},
    {"kiln_access", address(kiln_access)},
    {"kiln_write", address(kiln_write)},
    {"kiln_access_lanes", address(kiln_access_lanes)},
    {"kiln_access_even", address(kiln_access_even)},
    {"kiln_meet", address(kiln_meet)},
    {"kiln_meet_lanes", address(kiln_meet_lanes)},
    {"kiln_private_access", address(kiln_private_access)},
  };
  return symbols;
}

}  // namespace

void* runtime_symbol(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

}  // namespace kiln::cpu
