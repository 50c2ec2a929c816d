/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/stream_info.c - writes the description of a stream into its region.
 */
#include "observe/stream_info.h"

#include <string.h>

#include "base/io.h"

/* The text is padded with zeros, so that boot ids can be compared as bytes. */
void ptx_stream_info_boot(char boot[40])
{
	/* At most 39 bytes and a NUL; n is 0 without /proc. */
	size_t n = ptx_io_read_text("/proc/sys/kernel/random/boot_id", boot, 40);

	memset(boot + n, 0, 40 - n);
}

/* `magic` is stored last: the description is valid only when all of it is there. */
void ptx_stream_info_write(const struct ptx_rings *rings, const struct ptx_attr *attr, uint32_t pid)
{
	struct ptx_stream_info *info = ptx_stream_info_of(rings);

	/* The attributes include the defaults that posix_trace_create() has filled in. */
	info->attr = *attr;
	info->pid = pid;
	/* A recovery must know which clock has stamped the events (observe/snapshot_clock.c). */
	info->counter = ptx_clock_is_counter;
	/* The region was zeroed, so the text has its NUL. */
	strncpy(info->clock, ptx_clock_name(), sizeof info->clock - 1);
	ptx_stream_info_boot(info->boot);
	info->magic = PTX_STREAM_INFO_MAGIC;
}
