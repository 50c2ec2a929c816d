/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_origin.c - the writer's identity, and whether it runs.
 *
 * A process id alone does not identify a process: the kernel assigns ids again, and each pid
 * namespace and each machine has its own ids. So the header has the id with the start time, the
 * inode of the namespace and the boot id. The start time comes from /proc (base/proc.h,
 * base/life.h).
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/life.h"
#include "base/proc.h"
#include "log/format_origin.h"

/* Returns the value of a hexadecimal digit, or -1. The kernel prints these digits in lower case. */
static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text is a UUID with dashes. Without /proc the id stays zero, which means unknown. */
static void read_boot_id(uint8_t id[16])
{
	char text[64];
	unsigned digits = 0;

	memset(id, 0, 16);
	ptx_io_read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	/* Dashes are skipped; 32 digits fill the id, and further text is ignored. */
	for (const char *c = text; *c && digits < 32; c++) {
		int digit = hex_digit(*c);

		if (digit < 0)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | digit);
		digits++;
	}
}

/*
 * Describes this process. If a fact cannot be read, its field becomes 0, which means unknown
 * (FORMAT R4).
 */
static void writer_here(struct ptx_log_writer *writer)
{
	writer->pid = ptx_proc_own();
	/*
	 * The start time is converted to that of the initial time namespace, so that the processes
	 * of all time namespaces get the same value.
	 */
	writer->start = ptx_identity_start(PTX_PROC_SELF);
	writer->pid_space = ptx_proc_space(PTX_PROC_SELF);
	read_boot_id(writer->boot_id);
}

/*
 * Makes the UUID of the log and its log_id. Early after boot getrandom() would wait for entropy,
 * and the traced program must not block. So the flag GRND_NONBLOCK is set. If the call fails, the
 * ids are made of the time, the process id and the address of *origin. These differ between the
 * logs of a machine, and they need not be secret.
 */
static void make_ids(struct ptx_log_origin *origin)
{
	struct {
		uint8_t uuid[16];
		uint64_t log_id;
	} random;

	/* A shorter result of getrandom() leaves zeros in the rest; the length check rejects it. */
	memset(&random, 0, sizeof(random));
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
		uint64_t mix = (uint64_t)origin->begin_ns ^ (uint64_t)origin->writer.pid << 32 ^
			       (uint64_t)(uintptr_t)origin;

		memcpy(random.uuid, &mix, sizeof(mix));
		random.log_id = mix * UINT64_C(0x9e3779b97f4a7c15);
	}
	/* The UUID identifies the log. Each block of the log has log_id. */
	memcpy(origin->uuid, random.uuid, sizeof(origin->uuid));
	/* The fixed bits of RFC 4122: version 4, variant 1. */
	origin->uuid[6] = (uint8_t)((origin->uuid[6] & 0x0f) | 0x40);
	origin->uuid[8] = (uint8_t)((origin->uuid[8] & 0x3f) | 0x80);
	origin->log_id = random.log_id;
}

/* If a fact cannot be found, the log is begun nevertheless. */
void ptx_log_origin_here(int fd, struct ptx_log_origin *origin)
{
	struct utsname machine;
	struct stat st;
	int saved = errno;

	/* Facts that cannot be found stay 0 or empty. */
	memset(origin, 0, sizeof(*origin));
	origin->begin_ns = ptx_clock_realtime();
	writer_here(&origin->writer);
	make_ids(origin);
	/*
	 * Readers compare device and inode with those of their file (FORMAT R4), so that they do
	 * not mistake a copy of the log for the original. Readers of a pipe do not use them.
	 */
	if (!fstat(fd, &st)) {
		origin->file.device = st.st_dev;
		origin->file.inode = st.st_ino;
	}
	/* The name is shortened to fit the field with a NUL (FORMAT H6); the rest was zeroed. */
	if (!uname(&machine))
		memcpy(origin->host, machine.nodename,
		       strnlen(machine.nodename, sizeof(origin->host) - 1));
	/* errno is unchanged, as format_origin.h says. */
	errno = saved;
}

/* Returns true if the boot id is unknown. */
static bool is_zero(const uint8_t id[16])
{
	static const uint8_t zero[16];

	return !memcmp(id, zero, sizeof(zero));
}

/*
 * The function compares the boot id first, because start times and inodes of namespaces identify
 * something only within one boot of one machine. If the function cannot read the boot id, it
 * compares only the namespace and the start time.
 */
bool ptx_log_writer_may_run(const struct ptx_log_writer *writer)
{
	/*
	 * The kernel may have given the process id to a later process, so the start time decides.
	 */
	const struct ptx_identity then = { .start = writer->start };
	struct ptx_log_writer here;
	int saved = errno;

	memset(&here, 0, sizeof(here));
	writer_here(&here);
	errno = saved;
	/*
	 * If the boot ids differ, the writer ran on another machine, or on this machine before the
	 * last boot.
	 */
	if (!is_zero(here.boot_id) && memcmp(here.boot_id, writer->boot_id, sizeof(here.boot_id)))
		return false;
	/*
	 * Without /proc the namespaces of process ids cannot be compared, so the writer counts as
	 * running (FORMAT R4).
	 */
	if (here.pid_space == 0)
		return true;
	/* A process of another namespace cannot be checked: its log is treated as abandoned. */
	return here.pid_space == writer->pid_space &&
	       ptx_life_of_one(writer->pid, &then) != PTX_DEAD;
}

bool ptx_log_writer_ends(const struct ptx_log_writer *writer, int64_t ns)
{
	const struct ptx_identity then = { .start = writer->start };

	return !ptx_log_writer_may_run(writer) || ptx_life_ends(writer->pid, &then, ns);
}

/*
 * Device and inode identify a file while it exists; a copy of a log has another device or inode
 * (FORMAT R4).
 */
bool ptx_log_is_file(int fd, const struct ptx_log_file_id *file)
{
	struct stat st;
	int saved = errno;
	bool is = !fstat(fd, &st) && st.st_dev == file->device && st.st_ino == file->inode;

	errno = saved;
	return is;
}
