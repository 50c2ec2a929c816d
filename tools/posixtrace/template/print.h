/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * template/print.h - values as the text of a field.
 */
#ifndef POSIXTRACE_TEMPLATE_PRINT_H
#define POSIXTRACE_TEMPLATE_PRINT_H

#include "template/event.h"
#include "template/macros.h"

#define PRINT_BYTES 80 /* 64 digits, and more than a date and time take */

/* Each writes at most PRINT_BYTES and returns how many. */

/*
 * As the code of this letter and length prints it; of what is not X, D, U, o, B, E, F, T, P: as X.
 */
size_t print_number(char *text, uint64_t value, char letter, unsigned m);

/* A macro without a format. */
size_t print_macro(char *text, uint64_t value, enum macro_print print);

/* At least three upper-case hexadecimal digits. */
size_t print_id(char *text, uint64_t id);

size_t print_bytes(char *text, const unsigned char *bytes, size_t count);

/* The name of an error number; NULL: none. */
const char *errno_name(int64_t number);

#endif
