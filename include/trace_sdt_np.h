/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_sdt_np.h - USDT probes of trace points in one line. <trace_point_np.h> includes it if
 * POSIX_TRACE_SDT_NP is defined.
 *
 * A probe is an instruction without effect, and a note in the program's file with the places of the
 * probe's arguments. The arguments are the first 12 values of the line; a field of type bytes has
 * two values, a pointer and a length. Each pass through the line evaluates the values, whether or
 * not the process is traced. A probe has no semaphore.
 *
 * The notes are those of <sys/sdt.h> of SystemTap, but this header does not include it. With
 * <sys/sdt.h>, all probes of a source file have semaphores, or none has one. A program may want
 * them for its own probes.
 */
#ifndef _TRACE_SDT_NP_H
#define _TRACE_SDT_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include "trace_words_np.h"

#if defined POSIX_TRACE_SDT_NP && defined __GNUC__ && \
	(defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 201112L)
#if (defined __x86_64__ || defined __aarch64__) && __SIZEOF_POINTER__ == 8

#define POSIX_TRACE_EARLY_(declare) declare
#define POSIX_TRACE_LATE_(declare)

/*
 * The instruction and its note: the sizes of name and content, the type 3, the addresses of the
 * instruction, of the section .stapsdt.base and of the semaphore, the provider, the name, the
 * arguments. The last lines define the base once for each file that the linker writes.
 */
#define POSIX_TRACE_SDT_NOTE_(name, arguments, ...) \
	__asm__ __volatile__( \
		"990:\tnop\n" \
		"\t.pushsection .note.stapsdt,\"?\",\"note\"\n" \
		"\t.balign 4\n" \
		"\t.4byte 992f-991f, 994f-993f, 3\n" \
		"991:\t.asciz \"stapsdt\"\n" \
		"992:\t.balign 4\n" \
		"993:\t.8byte 990b\n" \
		"\t.8byte _.stapsdt.base\n" \
		"\t.8byte 0\n" \
		"\t.asciz \"posixtrace\"\n" \
		"\t" POSIX_TRACE_TEXT_(.asciz name) "\n" \
		"\t.asciz \"" arguments "\"\n" \
		"994:\t.balign 4\n" \
		"\t.popsection\n" \
		"\t.ifndef _.stapsdt.base\n" \
		"\t.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		"\t.weak _.stapsdt.base\n" \
		"\t.hidden _.stapsdt.base\n" \
		"_.stapsdt.base:\t.space 1\n" \
		"\t.size _.stapsdt.base, 1\n" \
		"\t.popsection\n" \
		"\t.endif" \
		: : __VA_ARGS__);

/* The probe has no arguments for the values after the twelfth. */
#define POSIX_TRACE_SDT_(...) \
	POSIX_TRACE_CAT_(POSIX_TRACE_SDT, POSIX_TRACE_SDT_COUNT_(__VA_ARGS__))(__VA_ARGS__, 0)
#define POSIX_TRACE_SDT_COUNT_(...) POSIX_TRACE_SDT_COUNTED_(__VA_ARGS__, \
	12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, \
	12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, \
	12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, \
	0, 0)
#define POSIX_TRACE_SDT_COUNTED_( \
	p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, \
	p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, \
	p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47, p48, p49, p50, p51, p52, \
	p53, p54, p55, p56, p57, p58, p59, p60, p61, p62, p63, p64, p65, p66, \
	n, ...) n
/* The text and the operand of an argument (SIZE, VALUE): a constant, memory or a register. */
#define POSIX_TRACE_SDT_TEXT_(size, value) size
#define POSIX_TRACE_SDT_IN_(size, value)   "nor"(value)
#define POSIX_TRACE_SDT0(n, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, "", )
#define POSIX_TRACE_SDT1(n, a1, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0", \
		POSIX_TRACE_SDT_IN_ a1)
#define POSIX_TRACE_SDT2(n, a1, a2, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2)
#define POSIX_TRACE_SDT3(n, a1, a2, a3, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3)
#define POSIX_TRACE_SDT4(n, a1, a2, a3, a4, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4)
#define POSIX_TRACE_SDT5(n, a1, a2, a3, a4, a5, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5)
#define POSIX_TRACE_SDT6(n, a1, a2, a3, a4, a5, a6, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6)
#define POSIX_TRACE_SDT7(n, a1, a2, a3, a4, a5, a6, a7, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7)
#define POSIX_TRACE_SDT8(n, a1, a2, a3, a4, a5, a6, a7, a8, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6 " POSIX_TRACE_SDT_TEXT_ a8 "@%7", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7, POSIX_TRACE_SDT_IN_ a8)
#define POSIX_TRACE_SDT9(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6 " POSIX_TRACE_SDT_TEXT_ a8 "@%7 " \
		POSIX_TRACE_SDT_TEXT_ a9 "@%8", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7, POSIX_TRACE_SDT_IN_ a8, POSIX_TRACE_SDT_IN_ a9)
#define POSIX_TRACE_SDT10(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6 " POSIX_TRACE_SDT_TEXT_ a8 "@%7 " \
		POSIX_TRACE_SDT_TEXT_ a9 "@%8 " POSIX_TRACE_SDT_TEXT_ a10 "@%9", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7, POSIX_TRACE_SDT_IN_ a8, POSIX_TRACE_SDT_IN_ a9, \
		POSIX_TRACE_SDT_IN_ a10)
#define POSIX_TRACE_SDT11(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6 " POSIX_TRACE_SDT_TEXT_ a8 "@%7 " \
		POSIX_TRACE_SDT_TEXT_ a9 "@%8 " POSIX_TRACE_SDT_TEXT_ a10 "@%9 " \
		POSIX_TRACE_SDT_TEXT_ a11 "@%10", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7, POSIX_TRACE_SDT_IN_ a8, POSIX_TRACE_SDT_IN_ a9, \
		POSIX_TRACE_SDT_IN_ a10, POSIX_TRACE_SDT_IN_ a11)
#define POSIX_TRACE_SDT12(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, ...) \
	POSIX_TRACE_SDT_NOTE_(#n, \
		POSIX_TRACE_SDT_TEXT_ a1 "@%0 " POSIX_TRACE_SDT_TEXT_ a2 "@%1 " \
		POSIX_TRACE_SDT_TEXT_ a3 "@%2 " POSIX_TRACE_SDT_TEXT_ a4 "@%3 " \
		POSIX_TRACE_SDT_TEXT_ a5 "@%4 " POSIX_TRACE_SDT_TEXT_ a6 "@%5 " \
		POSIX_TRACE_SDT_TEXT_ a7 "@%6 " POSIX_TRACE_SDT_TEXT_ a8 "@%7 " \
		POSIX_TRACE_SDT_TEXT_ a9 "@%8 " POSIX_TRACE_SDT_TEXT_ a10 "@%9 " \
		POSIX_TRACE_SDT_TEXT_ a11 "@%10 " POSIX_TRACE_SDT_TEXT_ a12 "@%11", \
		POSIX_TRACE_SDT_IN_ a1, POSIX_TRACE_SDT_IN_ a2, POSIX_TRACE_SDT_IN_ a3, \
		POSIX_TRACE_SDT_IN_ a4, POSIX_TRACE_SDT_IN_ a5, POSIX_TRACE_SDT_IN_ a6, \
		POSIX_TRACE_SDT_IN_ a7, POSIX_TRACE_SDT_IN_ a8, POSIX_TRACE_SDT_IN_ a9, \
		POSIX_TRACE_SDT_IN_ a10, POSIX_TRACE_SDT_IN_ a11, POSIX_TRACE_SDT_IN_ a12)
#else
/* On another processor, a line is no probe. */
#define POSIX_TRACE_SDT_(...)
#define POSIX_TRACE_EARLY_(declare)
#define POSIX_TRACE_LATE_(declare) declare
#endif
#endif

#endif
