/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/memory_file.h - a file in memory, also for programs that do not link the other code of
 * support.
 */
#ifndef SUPPORT_MEMORY_FILE_H
#define SUPPORT_MEMORY_FILE_H

#include <errno.h>
#include <sys/mman.h>

/* Older headers lack this flag. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/*
 * Calls memfd_create() with a flag that the kernel requires if the sysctl vm.memfd_noexec is 2, and
 * does not know before Linux 6.3.
 */
static inline int memory_file(const char *name, unsigned flags)
{
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

#endif
