/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapped.c - reads the records of mappings from the memory of each CPU.
 *
 * The event itself is a dummy that never occurs. The kernel adds a record to the event's memory for
 * each file that a process on this CPU maps with the right to execute it.
 */
#include "uprobes/mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/perf.h"
#include "base/vec.h"

#define DATA_PAGES 64 /* enough for about 2000 mappings between two looks */

/* The beginning of a record PERF_RECORD_MMAP2. The path, which ends with a NUL, follows. */
struct record_of_map {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t device[2];
	uint64_t inode, generation;
	uint32_t protection, flags;
};

/* The attribute sample_id_all adds this to the end of each record. */
struct record_end {
	uint64_t time;
};

/* Opens the event of a CPU, and maps its memory. Returns 0 or an error number. */
static int open_cpu(struct mapped *mapped, int number)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1, .mmap = 1, .mmap2 = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* Each record makes the descriptor readable. */
		.watermark = 1, .wakeup_watermark = 1,
	};
	struct mapped_cpu cpu = { .fd = perf_open(&attr, -1, number) };
	struct epoll_event event = { .events = EPOLLIN };

	/* A CPU that is off has no device. */
	if (cpu.fd < 0)
		return errno == ENODEV ? 0 : errno;
	cpu.memory = perf_map(cpu.fd, DATA_PAGES);
	if (!cpu.memory || !vec_grow(&mapped->cpu, mapped->cpus, 1)) {
		int err = cpu.memory ? ENOMEM : errno;

		if (cpu.memory)
			perf_unmap(cpu.memory);
		close(cpu.fd);
		return err;
	}
	mapped->cpu[mapped->cpus++] = cpu;
	return epoll_ctl(mapped->wake, EPOLL_CTL_ADD, cpu.fd, &event) ? errno : 0;
}

int mapped_begin(struct mapped *mapped)
{
	const int configured = (int)sysconf(_SC_NPROCESSORS_CONF);
	int err = 0;

	*mapped = (struct mapped){ .wake = epoll_create1(EPOLL_CLOEXEC) };
	if (mapped->wake < 0)
		return errno;
	for (int number = 0; number < configured && !err; number++)
		err = open_cpu(mapped, number);
	return err;
}

/* The state of one reading of the records of all CPUs. */
struct look {
	void (*take)(void *arg, const struct mapped_file *file);
	void *arg;
	bool is_complete; /* no record was dropped */
};

/* Passes a mapping of a file to take(). */
static void take_mapping(const struct look *look, const struct perf_event_header *header)
{
	const char *const text = (const char *)header;
	const size_t bytes = header->size, path_at = sizeof(struct record_of_map);
	struct record_of_map record;
	struct record_end end;
	struct mapped_file file;

	if (bytes <= path_at + sizeof(end))
		return;
	memcpy(&record, text, sizeof(record));
	memcpy(&end, text + bytes - sizeof(end), sizeof(end));
	file = (struct mapped_file){ .pid = (pid_t)record.pid, .time_ns = end.time,
				     .inode = record.inode, .path = text + path_at };
	/* A mapping without a file has a name that is not a path, such as "[vdso]". */
	if (*file.path == '/' && file.path[1] != '/' &&
	    memchr(file.path, '\0', bytes - path_at - sizeof(end)))
		look->take(look->arg, &file);
}

static void take_record(void *arg, const struct perf_event_header *header)
{
	struct look *look = arg;

	if (header->type == PERF_RECORD_MMAP2)
		take_mapping(look, header);
	look->is_complete &= header->type != PERF_RECORD_LOST;
}

bool mapped_look(struct mapped *mapped, void (*take)(void *arg, const struct mapped_file *file),
		 void *arg)
{
	struct look look = { .take = take, .arg = arg, .is_complete = true };

	for (size_t i = 0; i < mapped->cpus; i++)
		perf_read(mapped->cpu[i].memory, perf_head(mapped->cpu[i].memory), take_record,
			  &look);
	return look.is_complete;
}

void mapped_end(struct mapped *mapped)
{
	for (size_t i = 0; i < mapped->cpus; i++) {
		perf_unmap(mapped->cpu[i].memory);
		close(mapped->cpu[i].fd);
	}
	free(mapped->cpu);
	if (mapped->wake >= 0)
		close(mapped->wake);
	*mapped = (struct mapped){ .wake = -1 };
}
