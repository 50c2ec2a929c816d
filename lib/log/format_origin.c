/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/io.h"
#include "base/life.h"
#include "base/proc.h"
#include "log/format_origin.h"

#define NS_PER_MS INT64_C(1000000)
#define NAP_NS    NS_PER_MS

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * PTX_NS_PER_S + now.tv_nsec;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_boot_id(uint8_t id[16])
{
	char text[64];
	unsigned digits = 0;

	memset(id, 0, 16);
	ptx_io_read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *c = text; *c && digits < 32; c++) {
		int digit = hex_digit(*c);

		if (digit < 0)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | digit);
		digits++;
	}
}

static void writer_here(struct ptx_log_writer *writer)
{
	struct stat st;

	writer->pid = (uint32_t)getpid();
	writer->start = ptx_identity_start(PTX_PROC_SELF);
	writer->pid_space = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	read_boot_id(writer->boot_id);
}

/* Random enough without entropy: no two logs of a machine begin at one time in one thread. */
static void make_ids(struct ptx_log_origin *origin)
{
	struct {
		uint8_t uuid[16];
		uint64_t log_id;
	} random;

	memset(&random, 0, sizeof(random));
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
		uint64_t mix = (uint64_t)origin->begin_ns ^ (uint64_t)origin->writer.pid << 32 ^
			       (uint64_t)(uintptr_t)origin;

		memcpy(random.uuid, &mix, sizeof(mix));
		random.log_id = mix * UINT64_C(0x9e3779b97f4a7c15);
	}
	memcpy(origin->uuid, random.uuid, sizeof(origin->uuid));
	origin->uuid[6] = (uint8_t)((origin->uuid[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
	origin->uuid[8] = (uint8_t)((origin->uuid[8] & 0x3f) | 0x80);
	origin->log_id = random.log_id;
}

void ptx_log_origin_here(int fd, struct ptx_log_origin *origin)
{
	struct utsname machine;
	struct stat st;
	int saved = errno;

	memset(origin, 0, sizeof(*origin));
	origin->begin_ns = ptx_clock_realtime();
	writer_here(&origin->writer);
	make_ids(origin);
	if (!fstat(fd, &st)) {
		origin->file.device = st.st_dev;
		origin->file.inode = st.st_ino;
	}
	if (!uname(&machine))
		memcpy(origin->host, machine.nodename,
		       strnlen(machine.nodename, sizeof(origin->host) - 1));
	errno = saved;
}

static bool is_zero(const uint8_t id[16])
{
	static const uint8_t zero[16];

	return !memcmp(id, zero, sizeof(zero));
}

bool ptx_log_writer_may_run(const struct ptx_log_writer *writer)
{
	const struct ptx_identity then = { .start = writer->start };
	struct ptx_log_writer here;
	int saved = errno;

	memset(&here, 0, sizeof(here));
	writer_here(&here);
	errno = saved;
	/* Another machine, or this one before it was started anew. */
	if (!is_zero(here.boot_id) && memcmp(here.boot_id, writer->boot_id, sizeof(here.boot_id)))
		return false;
	if (here.pid_space == 0)
		return true;
	return here.pid_space == writer->pid_space &&
	       ptx_life_of_one(writer->pid, &then) != PTX_DEAD;
}

/* By naps where the system has no descriptors of processes, or none to spare. */
bool ptx_log_writer_ends(const struct ptx_log_writer *writer, int64_t ns)
{
	const int64_t until = now_ns() + ns;
	int saved = errno, process = (int)syscall(SYS_pidfd_open, writer->pid, 0);
	_Atomic uint32_t never = 0;
	bool runs;

	/* The descriptor was made first: while the process runs it is the one that is meant. */
	while ((runs = ptx_log_writer_may_run(writer)) && now_ns() < until) {
		struct pollfd end = { .fd = process, .events = POLLIN };
		const int64_t left = until - now_ns();

		if (process >= 0)
			poll(&end, 1, (int)(left / NS_PER_MS) + 1);
		else
			ptx_futex_nap(&never, 0, NAP_NS);
	}
	if (process >= 0)
		ptx_io_close(process);
	errno = saved;
	return !runs;
}

bool ptx_log_is_file(int fd, const struct ptx_log_file_id *file)
{
	struct stat st;
	int saved = errno;
	bool is = !fstat(fd, &st) && st.st_dev == file->device && st.st_ino == file->inode;

	errno = saved;
	return is;
}
