/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/start.h - the shim in the life of its process, where families take part in it. */
#ifndef PTX_PRELOAD_START_H
#define PTX_PRELOAD_START_H

/* In a child of fork(), which has this process's memory and none of its threads. */
void shim_in_child(void);
void shim_threads_in_child(void);

/* The first and the last event of a program. */
void shim_process_begins(void);
void shim_process_ends(void);

#endif
