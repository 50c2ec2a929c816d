/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/start.h - the shim in the life of its process, as far as families are concerned. */
#ifndef PTX_PRELOAD_START_H
#define PTX_PRELOAD_START_H

/*
 * In a child of fork(), which has this process's memory and only one of its threads: resets the
 * turns of signal.c and the memory of threads that were about to start.
 */
void shim_in_child(void);
void shim_threads_in_child(void);

/* Records the first and the last event of a program. */
void shim_process_begins(void);
void shim_process_ends(void);

#endif
