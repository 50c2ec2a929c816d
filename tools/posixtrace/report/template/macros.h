/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * macros.h - the macros that a template does not define itself.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_MACROS_H
#define POSIXTRACE_REPORT_TEMPLATE_MACROS_H

#include <stdbool.h>
#include <stddef.h>

enum macro_id {
	MACRO_DATAPOINTER,
	MACRO_BASEPOINTER,
	MACRO_BITS,       /* $HOOKENV and $TRACEENV */
	MACRO_WORDSIZE,
	MACRO_ZERO,       /* $GENERIC and $HD */
	MACRO_HL,
	MACRO_HT,
	MACRO_D1, MACRO_D2, MACRO_D3, MACRO_D4, MACRO_D5,
	MACRO_TRACEID,
	MACRO_PID,
	MACRO_TID,
	MACRO_PROGADDR,
	MACRO_TRUNC,
	MACRO_SEC,
	MACRO_NSEC,
	MACRO_RELLINENO,
	MACRO_EVENT,
	MACRO_EXECPATH,
	MACRO_LOGFILE,
	MACRO_NOPRINT,
	MACRO_SKIP,
	MACRO_BREAK,
	MACRO_STOP,
	MACRO_ERROR,
	MACRO_DEFAULT,
	MACRO_AIX_ONLY
};

enum macro_type {
	MACRO_INTEGER,
	MACRO_STRING,
	MACRO_ACTION,
	MACRO_NONE
};

/* The form in which an integer is printed without a format. */
enum macro_print {
	PRINT_SHORTEST,  /* 2, 4 or 8 bytes in hexadecimal */
	PRINT_DECIMAL,
	PRINT_UNSIGNED,
	PRINT_ID,        /* at least three hexadecimal digits */
	PRINT_ADDRESS
};

struct macro {
	const char *name;
	enum macro_id id;
	enum macro_type type;
	enum macro_print print;
	bool writable;
};

/* Finds a macro by its name. Returns NULL if no macro has that name. */
const struct macro *macro_find(const char *name, size_t len);

#endif
