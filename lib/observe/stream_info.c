/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe/stream_info.h"

#include <string.h>

#include "base/io.h"

void ptx_facts_boot(char boot[40])
{
	size_t n = ptx_io_read_text("/proc/sys/kernel/random/boot_id", boot, 40);

	memset(boot + n, 0, 40 - n);
}

void ptx_facts_write(const struct ptx_rings *rings, const struct ptx_attr *attr, uint32_t pid)
{
	struct ptx_facts *facts = ptx_facts_of(rings);

	facts->attr = *attr;
	facts->pid = pid;
	facts->counter = ptx_clock_is_counter;
	strncpy(facts->clock, ptx_clock_name(), sizeof facts->clock - 1);
	ptx_facts_boot(facts->boot);
	facts->magic = PTX_FACTS_MAGIC;
}
