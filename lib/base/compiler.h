/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/compiler.h - extensions of C11 that GCC and Clang both have.
 *
 * ptx_inline is for the path of an event, where a call would cost as much as the work. ptx_cold
 * moves code out of that path. ptx_at_line lets a function of that path begin at a cache line.
 * Without ptx_at_line, a change of another function could move the function, and a trace point
 * could need one more cycle.
 *
 * ptx_start_data is for variables that each process uses at its start. Among the other variables
 * of the library, these few would be in many pages, and the kernel must make or copy each of these
 * pages at each start (tests/bench/CURVES). In a section of their own they share one page, which
 * follows the initialized data and has been written already.
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
/* For variables that each start of a program uses: they are side by side, in few pages. */
#define ptx_start_data  __attribute__((section("ptx_start")))
/* The same for large variables of zeros. A start uses only the first bytes of each. */
#define ptx_start_zeros __attribute__((section(".bss.start")))
/* For large initialized variables, which would otherwise be between the other initialized data. */
#define ptx_rare_data   __attribute__((section("ptx_rare")))
/*
 * For variables that are whole pages of zeros. If they were in .bss, .bss would begin at a page of
 * its own, and not behind the variables of ptx_start_data. Compilers know by the name .sbss that
 * the section is not in the file, and the linker puts it behind .bss.
 */
#define ptx_whole_pages __attribute__((section(".sbss.pages"), aligned(4096)))

#endif
