/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/memory_file.h - files in memory, which cannot be executed since Linux 6.3. The tool and the
 * tests include this header, too.
 */
#ifndef PTX_BASE_MEMORY_FILE_H
#define PTX_BASE_MEMORY_FILE_H

#include <errno.h>
#include <sys/mman.h>

/* Older headers lack this flag. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/*
 * Calls memfd_create(). If the sysctl vm.memfd_noexec is 2, the kernel refuses a file without
 * MFD_NOEXEC_SEAL. Before Linux 6.3 the kernel does not know this flag (EINVAL). Returns the
 * descriptor, or -1 with errno. Any thread may call this function.
 */
static inline int ptx_memory_file(const char *name, unsigned flags)
{
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

#endif
