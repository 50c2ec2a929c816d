/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * live/core.h - the arenas in a core dump, each copied to a file in memory.
 *
 * A core dump has the parts of an arena that its process had mapped. The dump's list of mapped
 * files (NT_FILE) names them; each arena's file has a name of its own. With the usual
 * coredump_filter arenas are dumped: they are files without a link, which count as anonymous shared
 * memory (bit 1).
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
 * EINVAL: the dump is damaged, or of another kind of machine. ENOTSUP: built without libelf.
 * ENOMEM, EIO, and errors of the files in memory.
 */
int core_arenas(int fd, int (*take)(void *arg, int fd), void *arg, unsigned *arenas);

#endif
