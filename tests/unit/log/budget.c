/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/log/budget.h"

#include <errno.h>

size_t budget = SIZE_MAX;

int __real_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done, int wait_ms);
int __real_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);
int __wrap_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done, int wait_ms);
int __wrap_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);

int __wrap_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done, int wait_ms)
{
	size_t part = len - *done < budget ? len - *done : budget;
	int err = __real_ptx_io_write(fd, bytes, *done + part, done, wait_ms);

	if (budget != SIZE_MAX)
		budget -= part;
	return err ? err : *done < len ? ENOSPC : 0;
}

int __wrap_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done)
{
	size_t part = len - *done < budget ? len - *done : budget;
	int err = __real_ptx_io_write_at(fd, bytes, *done + part, offset, done);

	if (budget != SIZE_MAX)
		budget -= part;
	return err ? err : *done < len ? ENOSPC : 0;
}
