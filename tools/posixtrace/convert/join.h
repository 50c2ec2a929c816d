/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* join.h - several logs as one temporary log, for commands that read one log. */
#ifndef POSIXTRACE_CONVERT_JOIN_H
#define POSIXTRACE_CONVERT_JOIN_H

#include <stddef.h>

/* The function for at_join of choose/at.h. Owner: the thread of the tool. */
int convert_join(char **path, size_t paths, int *fd);

#endif
