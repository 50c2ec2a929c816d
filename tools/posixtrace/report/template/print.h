/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * print.h - values as the text of a field.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_PRINT_H
#define POSIXTRACE_REPORT_TEMPLATE_PRINT_H

#include "report/template/event.h"
#include "report/template/macros.h"

#define PRINT_BYTES 80 /* enough for 64 digits, and for a date with time */

/* Each of these functions writes at most PRINT_BYTES bytes and returns their number. */

/*
 * Prints in the form of the code of this letter and length; letters other than X, D, U, o, B, E, F,
 * T, P count as X.
 */
size_t print_number(char *text, uint64_t value, char letter, unsigned m);

/* Prints a macro without a format. */
size_t print_macro(char *text, uint64_t value, enum macro_print print);

/* Prints at least three upper-case hexadecimal digits. */
size_t print_id(char *text, uint64_t id);

/* Prints two hexadecimal digits for each byte. "count" is at most 16. */
size_t print_bytes(char *text, const unsigned char *bytes, size_t count);

#endif
