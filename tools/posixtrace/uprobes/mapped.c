/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapped.c - reads the records of mappings from the memory of each CPU.
 *
 * The event itself is a dummy that never happens. The kernel adds a record to it for each file that
 * a process on this CPU maps with the right to execute it.
 */
#include "uprobes/mapped.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

#define DATA_PAGES 64 /* some 2000 mappings between two looks */

/* The begin of a record PERF_RECORD_MMAP2. Its path, which ends with a NUL, follows. */
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
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1, .mmap = 1, .mmap2 = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* Each record makes the descriptor readable. */
		.watermark = 1, .wakeup_watermark = 1,
	};
	struct mapped_cpu cpu = { .bytes = (DATA_PAGES + 1) * page };
	struct epoll_event event = { .events = EPOLLIN };

	cpu.fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1, PERF_FLAG_FD_CLOEXEC);
	/* A CPU that is off has no device. */
	if (cpu.fd < 0)
		return errno == ENODEV ? 0 : errno;
	cpu.memory = mmap(NULL, cpu.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cpu.fd, 0);
	if (cpu.memory == MAP_FAILED || !vec_grow(&mapped->cpu, mapped->cpus, 1)) {
		int err = cpu.memory == MAP_FAILED ? errno : ENOMEM;

		if (cpu.memory != MAP_FAILED)
			munmap(cpu.memory, cpu.bytes);
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

/* Copies bytes out of the ring, whose size is a power of two. */
static void copy_out(const struct mapped_cpu *cpu, uint64_t at, void *to, size_t bytes)
{
	const struct perf_event_mmap_page *control = cpu->memory;
	const char *data = (const char *)cpu->memory + control->data_offset;
	const size_t place = at & (control->data_size - 1);
	const size_t first = control->data_size - place < bytes ? control->data_size - place :
								  bytes;

	memcpy(to, data + place, first);
	memcpy((char *)to + first, data, bytes - first);
}

/* Passes one record, which has this number of bytes. */
static void take_record(const char *text, size_t bytes,
			void (*take)(void *arg, const struct mapped_file *file), void *arg)
{
	const size_t path_at = sizeof(struct record_of_map);
	struct record_of_map record;
	struct record_end end;
	struct mapped_file file;

	if (bytes <= path_at + sizeof(end))
		return;
	memcpy(&record, text, sizeof(record));
	memcpy(&end, text + bytes - sizeof(end), sizeof(end));
	file = (struct mapped_file){ .pid = (pid_t)record.pid, .time_ns = end.time,
				     .inode = record.inode, .path = text + path_at };
	/* Memory without a file has a name that is not a path, such as "[vdso]". */
	if (*file.path == '/' && file.path[1] != '/' &&
	    memchr(file.path, '\0', bytes - path_at - sizeof(end)))
		take(arg, &file);
}

/* Passes the records of a CPU. Returns false if some were dropped. */
static bool look_at_cpu(const struct mapped_cpu *cpu,
			void (*take)(void *arg, const struct mapped_file *file), void *arg)
{
	struct perf_event_mmap_page *control = cpu->memory;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = control->data_tail;
	bool is_complete = true;

	while (at < head) {
		struct perf_event_header header;
		static char text[UINT16_MAX];

		copy_out(cpu, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at)
			break;
		copy_out(cpu, at, text, header.size);
		if (header.type == PERF_RECORD_MMAP2)
			take_record(text, header.size, take, arg);
		is_complete &= header.type != PERF_RECORD_LOST;
		at += header.size;
	}
	__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
	return is_complete;
}

bool mapped_look(struct mapped *mapped, void (*take)(void *arg, const struct mapped_file *file),
		 void *arg)
{
	bool is_complete = true;

	for (size_t i = 0; i < mapped->cpus; i++)
		is_complete &= look_at_cpu(&mapped->cpu[i], take, arg);
	return is_complete;
}

void mapped_end(struct mapped *mapped)
{
	for (size_t i = 0; i < mapped->cpus; i++) {
		munmap(mapped->cpu[i].memory, mapped->cpu[i].bytes);
		close(mapped->cpu[i].fd);
	}
	free(mapped->cpu);
	if (mapped->wake >= 0)
		close(mapped->wake);
	*mapped = (struct mapped){ .wake = -1 };
}
