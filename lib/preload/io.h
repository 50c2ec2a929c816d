/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io.h - records the event io.open for calls whose wrappers are in other files, and forgets
 * functions of liburing that are unloaded.
 *
 * Threads   any, as for shim.h.
 */
#ifndef PTX_PRELOAD_IO_H
#define PTX_PRELOAD_IO_H

#include <stddef.h>
#include <stdint.h>

#include "preload/text.h"

/*
 * A call that has returned. `began` is shim_now() before it; fd is -1 after an error. `text` has
 * the `len` bytes of the path that shim_text_unsure() has copied before the call.
 */
struct shim_opened {
	uint64_t began;
	int fd, folder;
	uint32_t flags, mode;
	const char *path; /* any pointer */
	size_t len;
	char text[SHIM_TEXT];
};

/* Records the call. errno is that of the call. Threads and signals as shim.h. */
void shim_put_open(const struct shim_opened *opened, const void *caller);

/*
 * Forgets the functions of liburing that were found for callers. The wrapper of dlclose() calls
 * this function before and after the call. The shim also calls it when objects may have been
 * unloaded without a call of the wrapper. Any thread may call it at any time.
 */
void shim_uring_unloaded(void);

#endif
