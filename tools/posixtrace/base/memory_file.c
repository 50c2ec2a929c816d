/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory_file.c - files in memory that cannot be executed. */
#include <errno.h>
#include <sys/mman.h>

#include "base/memory_file.h"

/* Older headers lack this flag. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/*
 * If the sysctl vm.memfd_noexec is 2, the kernel refuses a file without MFD_NOEXEC_SEAL. Before
 * Linux 6.3 it does not know this flag (EINVAL).
 */
int memory_file(const char *name)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}
