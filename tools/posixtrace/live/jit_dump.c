/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_dump.c - reads files jit-PID.dump. */
#include "live/jit_dump.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/whole.h"

#define MAGIC       0x4a695444u /* "JiTD"; on a machine of the other byte order it is reversed */
#define FORMAT      1
#define OTHER_CLOCK 1u          /* a flag: the times are ticks of the processor */
#define RECORDS_MAX (16u << 20) /* bounds the time for a hostile file */
#define NAME_ROOM   4096

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

struct header {
	uint32_t magic, version, bytes, machine, spare, pid;
	uint64_t time, flags;
};

/* Each record begins with this. "bytes" is the length of the record with this part. */
struct prefix {
	uint32_t id, bytes;
	uint64_t time;
};

/* The name, with a NUL, and the code follow. */
struct load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t memory, address, bytes, index;
};

struct move {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t memory, from, to, bytes, index;
};

bool jit_dump_is_path(const char *path)
{
	const char *name = path ? path_last(path) : "";
	size_t digits;

	if (*name == '\0' || *path != '/' || strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && strcmp(name + 4 + digits, ".dump") == 0;
}

/* Reads a record of a new function at an offset. Returns false if it is not valid. */
static bool read_load(int fd, uint64_t at, uint32_t bytes, unsigned name_max, char name[NAME_ROOM],
		      struct jit_dump_record *record)
{
	struct load load;
	size_t room;

	if (bytes <= sizeof(load) || whole_pread(fd, &load, sizeof(load), at))
		return false;
	room = bytes - sizeof(load) < name_max ? bytes - sizeof(load) : name_max;
	if (whole_pread(fd, name, room, at + sizeof(load)))
		return false;
	name[room] = '\0';
	record->name = name;
	record->start = load.address;
	record->index = load.index;
	return *name && load.bytes &&
	       !__builtin_add_overflow(load.address, load.bytes, &record->end);
}

/* Reads a record of a move. Returns false if it is not valid. */
static bool read_move(int fd, uint64_t at, uint32_t bytes, struct jit_dump_record *record)
{
	struct move move;

	if (bytes < sizeof(move) || whole_pread(fd, &move, sizeof(move), at))
		return false;
	record->name = NULL;
	record->start = move.to;
	record->index = move.index;
	return move.bytes && !__builtin_add_overflow(move.to, move.bytes, &record->end);
}

void jit_dump_read(int fd, unsigned name_max,
		   bool (*take)(void *arg, const struct jit_dump_record *record), void *arg)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	struct header header;
	char name[NAME_ROOM];
	uint64_t at;

	if (end < 0 || name_max >= sizeof(name) ||
	    whole_pread(fd, &header, sizeof(header), 0) || header.magic != MAGIC ||
	    header.version != FORMAT || header.bytes < sizeof(header))
		return;
	at = header.bytes;
	for (unsigned i = 0; i < RECORDS_MAX; i++) {
		struct jit_dump_record record = { .time_ns = INT64_MIN };
		struct prefix prefix;
		bool is_valid = false;

		if (at >= (uint64_t)end || whole_pread(fd, &prefix, sizeof(prefix), at) ||
		    prefix.bytes < sizeof(prefix) || prefix.bytes > (uint64_t)end - at)
			return;
		if (!(header.flags & OTHER_CLOCK) && prefix.time <= INT64_MAX)
			record.time_ns = (int64_t)prefix.time;
		if (prefix.id == CODE_LOAD)
			is_valid = read_load(fd, at, prefix.bytes, name_max, name, &record);
		else if (prefix.id == CODE_MOVE)
			is_valid = read_move(fd, at, prefix.bytes, &record);
		if (is_valid && !take(arg, &record))
			return;
		at += prefix.bytes;
	}
}
