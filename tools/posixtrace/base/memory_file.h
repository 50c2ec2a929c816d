/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memory_file.h - files in memory, for data that another process maps or reads.
 */
#ifndef POSIXTRACE_BASE_MEMORY_FILE_H
#define POSIXTRACE_BASE_MEMORY_FILE_H

#include "../../../lib/base/memory_file.h"

/*
 * Makes an empty file in memory, to which seals can be added. The file is close-on-exec and cannot
 * be executed. Returns its descriptor, or -1 with errno.
 */
static inline int memory_file(const char *name)
{
	return ptx_memory_file(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

#endif
