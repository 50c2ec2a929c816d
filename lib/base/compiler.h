/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/compiler.h - extensions of C11 that GCC and Clang both have.
 *
 * ptx_inline is for the path of an event, where a call would cost as much as the work. ptx_cold
 * moves code out of that path. ptx_at_line lets a function of that path begin at a cache line.
 * Without ptx_at_line, a change of another function could move the function, and a trace point
 * could need one more cycle.
 */
#ifndef PTX_BASE_COMPILER_H
#define PTX_BASE_COMPILER_H

#define ptx_likely(x)   __builtin_expect(!!(x), 1)
#define ptx_unlikely(x) __builtin_expect(!!(x), 0)
#define ptx_inline      static inline __attribute__((always_inline))
#define ptx_cold        __attribute__((noinline, cold))
/*
 * Written before a loop with a constant number of at most 4 rounds: the compiler unrolls the loop.
 */
#ifdef __clang__
#define ptx_unroll_4    _Pragma("clang loop unroll(full)")
#else
#define ptx_unroll_4    _Pragma("GCC unroll 4")
#endif
#define ptx_at_line     __attribute__((aligned(64)))

#endif
