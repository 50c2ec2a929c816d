/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * brief.h - durations in few digits, for tables and pictures.
 */
#ifndef POSIXTRACE_BASE_BRIEF_H
#define POSIXTRACE_BASE_BRIEF_H

#define BRIEF_BYTES 24

/* Four digits and a unit, such as 12.34us; whole nanoseconds below a microsecond. Returns text. */
const char *brief_ns(char *text, double ns);

#endif
