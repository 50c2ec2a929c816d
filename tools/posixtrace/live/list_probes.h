/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list_probes.h - the functions and probes of a file or process, for the command list. */
#ifndef POSIXTRACE_LIVE_LIST_PROBES_H
#define POSIXTRACE_LIVE_LIST_PROBES_H

/*
 * Prints a line for each probe and function of a file, or of all files with code that the process
 * with this number has mapped. Returns an exit status. The function prints all errors.
 */
int list_probes(const char *target);

#endif
