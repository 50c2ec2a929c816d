/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf.c - reads the records that the kernel writes into the memory of an event.
 *
 * Each record is checked against the memory's size before it is used, although only the kernel can
 * write there.
 */
#include "base/perf.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_PAGES  8 /* the fewest pages of records that perf_map() maps */
#define RECORD_BYTES (UINT16_MAX + 1) /* the size of a record has 16 bits */

int perf_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_try(const struct perf_event_attr *attr, pid_t pid)
{
	int fd = perf_open(attr, pid, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

void *perf_map(int fd, size_t pages)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = MAP_FAILED;

	for (; pages >= LEAST_PAGES && memory == MAP_FAILED; pages /= 2)
		memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* The size of the memory is data_offset + data_size: the control page and the records. */
void perf_unmap(void *memory)
{
	const struct perf_event_mmap_page *control = memory;

	munmap(memory, control->data_offset + control->data_size);
}

/* The kernel publishes the records by storing data_head, so it is loaded with acquire. */
uint64_t perf_head(void *memory)
{
	struct perf_event_mmap_page *control = memory;

	return atomic_load_explicit((_Atomic uint64_t *)(void *)&control->data_head,
				    memory_order_acquire);
}

/*
 * A record may begin at the end of the memory and continue at its beginning. So the function copies
 * each record into one piece. Behind a record with an impossible size no record can be read, so the
 * rest is skipped.
 */
void perf_read(void *memory, uint64_t head,
	       void (*take)(void *arg, const struct perf_event_header *record), void *arg)
{
	struct perf_event_mmap_page *control = memory;
	const unsigned char *data = (const unsigned char *)memory + control->data_offset;
	const uint64_t size = control->data_size;
	uint64_t tail = control->data_tail;
	_Alignas(8) unsigned char copy[RECORD_BYTES];
	struct perf_event_header header;

	while (size && head - tail >= sizeof(header) && head - tail <= size) {
		uint64_t at = tail % size, first;

		/*
		 * The sizes of the records and of the memory are multiples of 8 bytes, so the 8
		 * bytes of a header are in one piece.
		 */
		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		first = size - at < header.size ? size - at : header.size;
		memcpy(copy, data + at, first);
		memcpy(copy + first, data, header.size - first);
		take(arg, (const struct perf_event_header *)(const void *)copy);
		tail += header.size;
	}
	/*
	 * The new tail permits the kernel to overwrite the records, so it is stored after they were
	 * copied.
	 */
	atomic_store_explicit((_Atomic uint64_t *)(void *)&control->data_tail, head,
			      memory_order_release);
}
