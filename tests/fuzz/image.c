/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * image.c - backing files and core dumps as posixtrace recover reads them.
 *
 * An input begins with raw, backing or core. After raw the input is the file itself. After backing
 * or core it has changes to a good file, each AREA PLACE.2 BYTES VALUE.4; cut truncates the file at
 * the value.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace_np.h>
#include <unistd.h>

#include "arena/arena.h"
#include "fuzz/fuzz.h"
#include "live/core.h"

enum kind { RAW, BACKING, CORE, KINDS };
enum area { CONTROL, ATTACHMENTS, NAMES, REGION, RINGS, CHUNKS, ELF, CUT, AREAS };

const struct fuzz_word fuzz_words[] = {
	{ "raw", RAW }, { "backing", BACKING }, { "core", CORE },
	{ "control", CONTROL }, { "attachments", ATTACHMENTS }, { "names", NAMES },
	{ "region", REGION }, { "rings", RINGS }, { "chunks", CHUNKS },
	{ "elf", ELF }, { "cut", CUT },
	{ 0 }
};

#define ELF_BYTES   4096 /* header, segments and notes; the arena follows */
#define CHANGES_MAX 64
#define EVENTS_MAX  10000

static unsigned char *good; /* a backing file */
static size_t good_bytes;

static void trace_into(const char *path)
{
	trace_event_id_t type;
	trace_attr_t attr;
	trace_id_t trid;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, 8192);
	posix_trace_attr_setbacking_np(&attr, path);
	FUZZ_MUST(posix_trace_eventid_open("u", &type) == 0, "no type");
	posix_trace_eventid_describe_np(type, "u32 a");
	posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &type, "thing");
	FUZZ_MUST(posix_trace_create(0, &attr, &trid) == 0, "no stream");
	posix_trace_attr_destroy(&attr);
	posix_trace_start(trid);
	for (int i = 0; i < 300; i++)
		posix_trace_event(type, &i, sizeof(i));
}

/* Does not shut down the stream: its file is read as if its process had been killed. */
static void make_good(void)
{
	char folder[] = "/tmp/fuzz-image-XXXXXX", path[64];
	struct stat st;
	FILE *file;

	FUZZ_MUST(mkdtemp(folder), "no folder");
	snprintf(path, sizeof(path), "%s/backing", folder);
	trace_into(path);
	file = fopen(path, "re");
	FUZZ_MUST(file && fstat(fileno(file), &st) == 0, "no backing file");
	good = malloc((size_t)st.st_size);
	good_bytes = fread(good, 1, (size_t)st.st_size, file);
	fclose(file);
	unlink(path);
	rmdir(folder);
}

static void put_elf(unsigned char *to)
{
	static const char name[] = "/memfd:posix-trace (deleted)";
	const uint64_t address = UINT64_C(0x7f0000000000), page = 4096;
	const uint64_t files[] = { 1, page, address, address + good_bytes, 0 };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_version = EV_CURRENT, .e_phoff = sizeof(header),
		.e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3,
	};
	Elf64_Nhdr note = { .n_namesz = 5, .n_descsz = sizeof(files) + sizeof(name),
			    .n_type = NT_FILE };
	Elf64_Phdr segment[] = {
		{ .p_type = PT_NOTE, .p_offset = 512,
		  .p_filesz = sizeof(note) + 8 + note.n_descsz },
		{ .p_type = PT_LOAD, .p_offset = ELF_BYTES, .p_vaddr = address,
		  .p_filesz = PTX_REGIONS_AT },
		{ .p_type = PT_LOAD, .p_offset = ELF_BYTES + PTX_REGIONS_AT,
		  .p_vaddr = address + PTX_REGIONS_AT, .p_filesz = good_bytes - PTX_REGIONS_AT },
	};

	memset(to, 0, ELF_BYTES);
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), segment, sizeof(segment));
	memcpy(to + 512, &note, sizeof(note));
	memcpy(to + 512 + sizeof(note), "CORE", 5);
	memcpy(to + 512 + sizeof(note) + 8, files, sizeof(files));
	memcpy(to + 512 + sizeof(note) + 8 + sizeof(files), name, sizeof(name));
}

/* Returns the offset of an area in the arena. */
static size_t place_of(enum area area, unsigned place)
{
	static const struct { size_t at, bytes; } areas[] = {
		[CONTROL] = { 0, offsetof(struct ptx_control, attachment) },
		[ATTACHMENTS] = { offsetof(struct ptx_control, attachment),
				  2 * sizeof(struct ptx_attachment) },
		[NAMES] = { PTX_NAMES_AT, PTX_LISTS_BYTES },
		[REGION] = { PTX_REGIONS_AT, offsetof(struct ptx_region, lost_type) },
		[RINGS] = { PTX_REGIONS_AT + sizeof(struct ptx_region), 65536 },
		[CHUNKS] = { PTX_REGIONS_AT + sizeof(struct ptx_region) + 65536, 65536 * 8 },
	};

	return areas[area].at + 8 * ((size_t)place % (areas[area].bytes / 8));
}

static void change(unsigned char *bytes, size_t *size, size_t arena_at, const uint8_t *input)
{
	enum area area = (enum area)(input[0] % AREAS);
	unsigned place = input[1] | (unsigned)input[2] << 8, width = 1 + input[3] % 8;
	uint64_t value = 0;
	size_t at;

	memcpy(&value, input + 4, 4);
	if (width > 4) /* a value near the maximum */
		value = ~value;
	if (area == CUT) {
		*size = value < *size ? (size_t)value : *size;
		return;
	}
	at = area == ELF ? place % ELF_BYTES : arena_at + place_of(area, place);
	if (at + width <= *size)
		memcpy(bytes + at, &value, width);
}

static void read_log(int fd)
{
	struct posix_trace_event_np event;
	struct posix_trace_check_np check;
	int unavailable = 0;
	trace_id_t trid;

	FUZZ_MUST(posix_trace_check_np(fd, NULL, NULL, &check) == 0 && check.complete,
		  "the recovered log is not complete");
	FUZZ_MUST(posix_trace_open(fd, &trid) == 0, "the recovered log cannot be opened");
	for (int n = 0; n < EVENTS_MAX && !unavailable; n++)
		FUZZ_MUST(posix_trace_getnext_np(trid, &event, &unavailable) == 0, "no next event");
	posix_trace_close(trid);
}

static void visit(void *arg, const struct posix_trace_stream_np *stream)
{
	int fd = fuzz_file(NULL, 0);

	(void)arg;
	FUZZ_MUST(memchr(stream->name, 0, sizeof(stream->name)), "a name without an end");
	for (unsigned i = 0; i < stream->event_names; i++)
		FUZZ_MUST(!stream->event_name[i] ||
				  memchr(stream->event_name[i], 0, TRACE_EVENT_NAME_MAX + 1),
			  "an event's name without an end");
	if (posix_trace_snapshot_np(stream, fd) == 0)
		read_log(fd);
	close(fd);
}

static void report(void *arg, const struct posix_trace_fault_np *fault)
{
	FUZZ_MUST(fault->reason && *fault->reason, "a fault without a reason");
	++*(unsigned *)arg;
}

static int look_at(void *faults, int fd)
{
	posix_trace_observe_file_np(fd, visit, report, faults);
	return 0;
}

/* Does the same as posixtrace recover. */
static void look(const unsigned char *bytes, size_t size)
{
	int fd = fuzz_file(bytes, size);
	unsigned faults = 0, arenas;

	if (core_is_dump(fd))
		core_arenas(fd, look_at, &faults, &arenas);
	else
		look_at(&faults, fd);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t arena_at, bytes;
	unsigned char *file;
	int next;

	if (!good)
		make_good();
	next = fuzz_next_descriptor();
	if (size == 0 || data[0] % KINDS == RAW) {
		look(data + (size > 0), size - (size > 0));
		return 0;
	}
	arena_at = data[0] % KINDS == CORE ? ELF_BYTES : 0;
	bytes = arena_at + good_bytes;
	file = malloc(bytes);
	FUZZ_MUST(file, "no memory");
	if (arena_at)
		put_elf(file);
	memcpy(file + arena_at, good, good_bytes);
	for (size_t at = 1; at + 8 <= size && at < 1 + 8 * CHANGES_MAX; at += 8)
		change(file, &bytes, arena_at, data + at);
	look(file, bytes);
	free(file);
	FUZZ_MUST(fuzz_next_descriptor() == next, "a descriptor was left open");
	return 0;
}
