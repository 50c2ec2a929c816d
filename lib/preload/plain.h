/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/plain.h - included before everything else in each file of the shim (-include).
 *
 * The shim defines open() beside open64(), and read() beside __read_chk(). The macros below would
 * make the headers of the C library rename or replace these functions. Distributions set the macros
 * by -D in CPPFLAGS or CFLAGS. The macros are undefined here because a -U in the Makefile would
 * precede that -D.
 */
#ifndef PTX_PRELOAD_PLAIN_H
#define PTX_PRELOAD_PLAIN_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS

/*
 * With this macro <stdio.h> has no inline definitions of functions that the shim defines, such as
 * getchar().
 */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif

/*
 * For variables that the shim uses at the start of each program. In a section of their own they
 * are in few pages. Among the other variables they would be in many pages, and the kernel must make
 * each page that a program uses (tests/bench/CURVES).
 */
#define shim_start_data __attribute__((section("shim_start")))
/* The same for large variables of zeros. A start uses only the first bytes of each. */
#define shim_start_zeros __attribute__((section(".bss.start")))
/*
 * For a variable that is a whole page of zeros. If it was in .bss, .bss would begin at a page of
 * its own, and not behind other data that the start uses. Compilers know by the name .sbss that
 * the section is not in the file, and the linker puts it behind .bss.
 */
#define shim_whole_page __attribute__((section(".sbss.page"), aligned(4096)))

#endif
