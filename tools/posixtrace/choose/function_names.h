/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* function_names.h - finds the names of functions for the spans of their calls. */
#ifndef POSIXTRACE_CHOOSE_FUNCTION_NAMES_H
#define POSIXTRACE_CHOOSE_FUNCTION_NAMES_H

#include "log/logfile.h"
#include "spans/pairing.h"

/*
 * Sets the callback by which the pairing gets the names of functions for its spans. The names are
 * in the files that the log lists as mapped. log must exist as long as the pairing is used.
 */
void function_names(struct pairing *pairing, struct logfile *log);

#endif
