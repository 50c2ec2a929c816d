/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* function_names.h - the spans of functions have the functions' names. */
#ifndef POSIXTRACE_CHOOSE_FUNCTION_NAMES_H
#define POSIXTRACE_CHOOSE_FUNCTION_NAMES_H

#include "log/logfile.h"
#include "spans/pairing.h"

/* Names the pairing's spans of functions by the files of the log's mappings. log must remain. */
void function_names(struct pairing *pairing, struct logfile *log);

#endif
