/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/proc.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"

#define STATUS_BYTES 4096 /* NSpid stands in the first kilobyte */

const char *ptx_proc_path(char path[PTX_PROC_PATH], uint32_t number, const char *file)
{
	char digits[PTX_IO_DIGITS];

	strcpy(path, "/proc/");
	strcat(path, number == PTX_PROC_SELF ? "self" : ptx_io_digits(number, digits));
	strcat(path, "/");
	return strncat(path, file, PTX_PROC_PATH - 1 - strlen(path));
}

/* A number of decimal digits. */
static uint64_t number_at(const char *text)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/* A read gives ESRCH when the process ends after the open. */
static int read_file(uint32_t number, const char *file, char *text, size_t room)
{
	char path[PTX_PROC_PATH];
	int err = ptx_io_read_file(ptx_proc_path(path, number, file), text, room);

	return err == ESRCH ? ENOENT : err;
}

int ptx_proc_read(uint32_t number, struct ptx_proc *proc)
{
	const char *field[23], *at;
	char text[1024];
	int err = read_file(number, "stat", text, sizeof text);

	if (err)
		return err;
	at = strrchr(text, ')'); /* the program's name may hold anything, also ")" */
	for (int n = 3; n <= 22; n++) {
		at = at ? strchr(at, ' ') : NULL;
		if (!at)
			return EIO;
		field[n] = ++at;
	}
	proc->start = number_at(field[22]);
	proc->parent = (uint32_t)number_at(field[4]);
	/* A first thread that ended leaves "Z" while the other threads go on. */
	proc->headless = *field[3] == 'Z' && number_at(field[20]) > 1;
	proc->runs = *field[3] != 'X' && (*field[3] != 'Z' || proc->headless);
	return 0;
}

/* Of a line "NSpid:\t17\t1": the ids in the name spaces from that of /proc to the innermost. */
static int take_ids(const char *text, struct ptx_proc_ids *ids)
{
	const char *at = strstr(text, "\nNSpid:\t");

	if (!at)
		return EIO; /* the kernel is older than 4.1 */
	at += strlen("\nNSpid:");
	ids->spaces = 0;
	ids->number = (uint32_t)number_at(at + 1);
	for (; *at == '\t'; at += 1 + strspn(at + 1, "0123456789")) {
		ids->inner = (uint32_t)number_at(at + 1);
		ids->spaces++;
	}
	return ids->number && ids->inner ? 0 : EIO;
}

int ptx_proc_ids(uint32_t number, struct ptx_proc_ids *ids)
{
	char text[STATUS_BYTES];
	int err = read_file(number, "status", text, sizeof text);

	return err ? err : take_ids(text, ids);
}

int ptx_proc_ids_of(int pidfd, struct ptx_proc_ids *ids)
{
	char file[16 + PTX_IO_DIGITS] = "fdinfo/", digits[PTX_IO_DIGITS], text[STATUS_BYTES];
	const char *pid;
	int err;

	strcat(file, ptx_io_digits((uint64_t)pidfd, digits));
	err = read_file(PTX_PROC_SELF, file, text, sizeof text);
	if (err)
		return err == ENOENT ? ENXIO : err;
	pid = strstr(text, "\nPid:\t");
	if (!pid)
		return EIO; /* the kernel is older than 5.3 */
	pid += strlen("\nPid:\t");
	if (*pid == '-')
		return ESRCH;
	if (*pid == '0')
		return ENXIO;
	return take_ids(text, ids);
}

int ptx_proc_is_ours(void)
{
	struct ptx_proc_ids ids;
	int err = ptx_proc_ids(PTX_PROC_SELF, &ids);

	if (err)
		return err == ENOENT ? ENXIO : err;
	return ids.spaces == 1 ? 0 : ENXIO;
}
