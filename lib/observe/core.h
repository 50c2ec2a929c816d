/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/core.h - the arenas in a core dump.
 *
 * What a process had mapped of an arena stands in its core file, part by part; the dump's list of
 * mapped files (NT_FILE) names the parts. Arenas are told apart by the names of their files. With
 * the usual coredump_filter arenas are dumped: they are files without a link, which count as
 * anonymous shared memory (bit 1).
 *
 * Everything in the file is checked before it is used; what reaches beyond its end is not there.
 */
#ifndef PTX_OBSERVE_CORE_H
#define PTX_OBSERVE_CORE_H

#include "observe/image.h"

struct ptx_core;

/* ENOEXEC: no core dump. EINVAL: a damaged one, or one of another kind of machine. ENOMEM, EIO. */
int ptx_core_open(int fd, struct ptx_core **core);
void ptx_core_close(struct ptx_core *core);

/* How many arenas there are, and the bytes of one; of the image, copy, fd and sizes are set. */
unsigned ptx_core_arenas(const struct ptx_core *core);
void ptx_image_of_core(struct ptx_image *image, const struct ptx_core *core, unsigned arena);

#endif
