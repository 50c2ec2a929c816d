/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe/stream_info.h"

#include <string.h>

#include "base/io.h"

void ptx_stream_info_boot(char boot[40])
{
	size_t n = ptx_io_read_text("/proc/sys/kernel/random/boot_id", boot, 40);

	memset(boot + n, 0, 40 - n);
}

void ptx_stream_info_write(const struct ptx_rings *rings, const struct ptx_attr *attr, uint32_t pid)
{
	struct ptx_stream_info *info = ptx_stream_info_of(rings);

	info->attr = *attr;
	info->pid = pid;
	info->counter = ptx_clock_is_counter;
	strncpy(info->clock, ptx_clock_name(), sizeof info->clock - 1);
	ptx_stream_info_boot(info->boot);
	info->magic = PTX_STREAM_INFO_MAGIC;
}
