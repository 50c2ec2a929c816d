/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/proc_number.h - reads a number of a file in /proc.
 *
 * Threads   any thread.
 * Signals   async-signal-safe.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PROC_NUMBER_H
#define PTX_PRELOAD_PROC_NUMBER_H

/*
 * Returns the number behind the first place of `field` in the file, or -1 if the file cannot be
 * read or has no digit there. The first character of `field` is a newline, and no other is. The
 * field must not be in the first line of the file. Not called in a quiet process, because the
 * function opens, reads and closes the file.
 */
long shim_proc_number(const char *path, const char *field);

#endif
