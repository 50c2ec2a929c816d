/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * brief.h - durations in few digits, for tables and pictures.
 */
#ifndef POSIXTRACE_BASE_BRIEF_H
#define POSIXTRACE_BASE_BRIEF_H

#define BRIEF_BYTES 24

/*
 * Writes a duration of ns nanoseconds with four digits and a unit, such as 12.34us, into "text",
 * which has BRIEF_BYTES bytes. Below one microsecond it writes whole nanoseconds, and from 1000 s
 * on one decimal. Returns text.
 */
const char *brief_ns(char *text, double ns);

#endif
