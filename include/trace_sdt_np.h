/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_sdt_np.h - USDT probes of trace points in one line, by <sys/sdt.h>. <trace_point_np.h>
 * includes it if POSIX_TRACE_SDT_NP is defined.
 *
 * A probe is an instruction without effect, and a note in the program's file with the places of the
 * probe's arguments. The arguments are the first 12 values of the line; a field of type bytes has
 * two values, a pointer and a length. Each pass through the line evaluates the values, whether or
 * not the process is traced.
 */
#ifndef _TRACE_SDT_NP_H
#define _TRACE_SDT_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include "trace_words_np.h"

#if defined POSIX_TRACE_SDT_NP && defined __GNUC__ && \
	(defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 201112L)
#include <sys/sdt.h>

#define POSIX_TRACE_EARLY_(declare) declare
#define POSIX_TRACE_LATE_(declare)
/* The probe has no arguments for the values after the twelfth. */
#define POSIX_TRACE_SDT_(...) \
	POSIX_TRACE_SDT_BEGIN_() \
	POSIX_TRACE_CAT_(POSIX_TRACE_SDT, POSIX_TRACE_SDT_COUNT_(__VA_ARGS__))(__VA_ARGS__, 0); \
	POSIX_TRACE_SDT_END_()
/* With -Wpedantic, clang warns about the macros of some versions of <sys/sdt.h>. */
#ifdef __clang__
#define POSIX_TRACE_SDT_BEGIN_() \
	_Pragma("clang diagnostic push") \
	_Pragma("clang diagnostic ignored \"-Wpedantic\"")
#define POSIX_TRACE_SDT_END_() _Pragma("clang diagnostic pop")
#else
/* The macros of <sys/sdt.h> pass each value to __builtin_classify_type(), as if promoted. */
#define POSIX_TRACE_SDT_BEGIN_() \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wdouble-promotion\"")
#define POSIX_TRACE_SDT_END_() _Pragma("GCC diagnostic pop")
#endif
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
#define POSIX_TRACE_SDT0(n, ...) \
	STAP_PROBE(posixtrace, n)
#define POSIX_TRACE_SDT1(n, a1, ...) \
	STAP_PROBE1(posixtrace, n, a1)
#define POSIX_TRACE_SDT2(n, a1, a2, ...) \
	STAP_PROBE2(posixtrace, n, a1, a2)
#define POSIX_TRACE_SDT3(n, a1, a2, a3, ...) \
	STAP_PROBE3(posixtrace, n, a1, a2, a3)
#define POSIX_TRACE_SDT4(n, a1, a2, a3, a4, ...) \
	STAP_PROBE4(posixtrace, n, a1, a2, a3, a4)
#define POSIX_TRACE_SDT5(n, a1, a2, a3, a4, a5, ...) \
	STAP_PROBE5(posixtrace, n, a1, a2, a3, a4, a5)
#define POSIX_TRACE_SDT6(n, a1, a2, a3, a4, a5, a6, ...) \
	STAP_PROBE6(posixtrace, n, a1, a2, a3, a4, a5, a6)
#define POSIX_TRACE_SDT7(n, a1, a2, a3, a4, a5, a6, a7, ...) \
	STAP_PROBE7(posixtrace, n, a1, a2, a3, a4, a5, a6, a7)
#define POSIX_TRACE_SDT8(n, a1, a2, a3, a4, a5, a6, a7, a8, ...) \
	STAP_PROBE8(posixtrace, n, a1, a2, a3, a4, a5, a6, a7, a8)
#define POSIX_TRACE_SDT9(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, ...) \
	STAP_PROBE9(posixtrace, n, a1, a2, a3, a4, a5, a6, a7, a8, a9)
#define POSIX_TRACE_SDT10(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, ...) \
	STAP_PROBE10(posixtrace, n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
#define POSIX_TRACE_SDT11(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, ...) \
	STAP_PROBE11(posixtrace, n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
#define POSIX_TRACE_SDT12(n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, ...) \
	STAP_PROBE12(posixtrace, n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
#endif

#endif
