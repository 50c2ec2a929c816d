/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* function_names.h - gives the spans of functions the names of the functions. */
#ifndef POSIXTRACE_CHOOSE_FUNCTION_NAMES_H
#define POSIXTRACE_CHOOSE_FUNCTION_NAMES_H

#include "log/logfile.h"
#include "spans/pairing.h"

/*
 * Makes the pairing name its spans of functions. The names come from the files of the log's
 * mappings. log must exist as long as the pairing is used.
 */
void function_names(struct pairing *pairing, struct logfile *log);

#endif
