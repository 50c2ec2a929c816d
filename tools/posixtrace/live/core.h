/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * live/core.h - finds the arenas, which are the library's shared memory, in a core dump, and copies
 * each of them to a file in memory.
 *
 * A core dump has the parts of an arena that its process had mapped. The dump's list of mapped
 * files (NT_FILE) has these parts with the names of their files. Each arena's file has its own
 * name. With the usual coredump_filter the kernel dumps arenas, because their files have no link
 * and so count as anonymous shared memory (bit 1).
 *
 * The dump is hostile. libelf reads it, and no more bytes are copied than the dump has. A part that
 * was not dumped is a hole in the copy. Such a copy is for posix_trace_observe_file_np().
 */
#ifndef POSIXTRACE_CORE_H
#define POSIXTRACE_CORE_H

#include <stdbool.h>

/* Returns whether the file is a core dump, by its ELF header. */
bool core_is_dump(int fd);

/*
 * Calls take() for each arena with a descriptor of its copy, and closes the descriptor afterwards.
 * *arenas receives the number of these calls. If take() returns a value other than 0, no further
 * arena follows, and that value is returned.
 *
 * Returns EINVAL if the dump is damaged or from another kind of machine, and ENOTSUP if the tool
 * was built without libelf. May also return ENOMEM, EIO, and errors of the files in memory.
 */
int core_arenas(int fd, int (*take)(void *arg, int fd), void *arg, unsigned *arenas);

#endif
