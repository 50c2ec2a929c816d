/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_frames.c - the parts of functions as unwinders know them: .eh_frame_hdr and .eh_frame.
 *
 * Compilers make an entry in a table for each part of each function, also in a file without
 * symbols. The entries of the table are distances from the begin of the table. An entry leads to
 * the description of the part (FDE). The FDE leads to the description that it has in common with
 * other FDEs (CIE). The functions read only the encoding that linkers of x86-64 write, which is
 * distances of 4 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"

#define DISTANCE_OF_TABLE 0x3b     /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define DISTANCE_OF_PLACE 0x1b     /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define NUMBER            0x03     /* DW_EH_PE_udata4 */
#define OMITTED           0xff     /* DW_EH_PE_omit */
#define FRAMES_MAX        (1u << 22)

/* A position in the file's data, and the bytes that follow it. */
struct cursor {
	const uint8_t *at;
	size_t bytes;
	bool good;             /* no read went beyond the end */
};

static struct cursor cursor_at(const struct binary_file *file, uint64_t address)
{
	struct cursor cursor = { .good = true };

	cursor.at = binary_data_at(file, address, &cursor.bytes);
	cursor.good = cursor.at != NULL;
	return cursor;
}

/* Reads a number of this many bytes. Returns 0 if fewer bytes are left. */
static uint64_t next_number(struct cursor *cursor, size_t bytes)
{
	uint64_t value = 0;

	cursor->good &= bytes <= cursor->bytes;
	if (!cursor->good)
		return 0;
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	cursor->bytes -= bytes;
	return value;
}

/*
 * Reads a number of variable length (LEB128). The function reads signed numbers like unsigned ones,
 * because no caller needs the sign.
 */
static uint64_t next_leb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; cursor->good; shift += 7) {
		uint64_t byte = next_number(cursor, 1);

		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/*
 * Reads a CIE. Returns whether its FDEs encode addresses in the only form that is supported here.
 * Stores in *pads how they encode the tables of landing pads.
 */
static bool read_common(struct cursor cursor, uint8_t *pads)
{
	const char *letters;
	uint8_t places = 0;
	unsigned version;

	*pads = OMITTED;
	next_number(&cursor, 4); /* its length */
	if (next_number(&cursor, 4) != 0)
		return false;
	version = (unsigned)next_number(&cursor, 1);
	letters = (const char *)cursor.at;
	while (cursor.good && next_number(&cursor, 1))
		;
	if (!cursor.good || *letters != 'z')
		return false;
	next_leb(&cursor);
	next_leb(&cursor);
	if (version == 1)
		next_number(&cursor, 1);
	else
		next_leb(&cursor);
	next_leb(&cursor); /* the length of what follows */
	for (const char *letter = letters + 1; *letter && cursor.good; letter++)
		switch (*letter) {
		case 'R':
			places = (uint8_t)next_number(&cursor, 1);
			break;
		case 'L':
			*pads = (uint8_t)next_number(&cursor, 1);
			break;
		case 'P':
			/*
			 * The encoding of the pointer to the personality function, and the pointer,
			 * which has 8 bytes if it is absolute, otherwise 4.
			 */
			next_number(&cursor, next_number(&cursor, 1) & 0x0f ? 4 : 8);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	return cursor.good && places == DISTANCE_OF_PLACE;
}

/* Reads the FDE at an address. Returns false if the FDE has an unknown form. */
static bool read_frame(const struct binary_file *file, uint64_t address,
		       struct binary_frame *frame)
{
	struct cursor cursor = cursor_at(file, address);
	uint32_t len = (uint32_t)next_number(&cursor, 4), common;
	uint8_t pads;

	common = (uint32_t)next_number(&cursor, 4);
	if (!cursor.good || len == UINT32_MAX ||
	    !read_common(cursor_at(file, address + 4 - common), &pads))
		return false;
	frame->begin = address + 8 + (uint64_t)(int64_t)(int32_t)next_number(&cursor, 4);
	frame->end = frame->begin + next_number(&cursor, 4);
	next_leb(&cursor);
	/*
	 * The address of an absent table of landing pads is 0. The function always reads 4 bytes of
	 * this address, even if its encoding is longer.
	 */
	frame->has_pads = pads != OMITTED && next_number(&cursor, 4) != 0;
	return cursor.good;
}

static int by_begin(const void *a, const void *b)
{
	const struct binary_frame *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * Collects all frames. An entry that cannot be read is left out. Returns false if memory is
 * lacking.
 */
static bool binary_frames_collect(struct binary_file *file)
{
	struct cursor cursor = cursor_at(file, file->frame_table);
	uint32_t count;

	if (!file->frame_table || !cursor.good)
		return true;
	/*
	 * The table begins with the version and three encodings. The address of .eh_frame and the
	 * number of entries follow.
	 */
	if (next_number(&cursor, 4) !=
	    ((uint32_t)DISTANCE_OF_TABLE << 24 | NUMBER << 16 | DISTANCE_OF_PLACE << 8 | 1))
		return true;
	next_number(&cursor, 4);
	count = (uint32_t)next_number(&cursor, 4);
	for (uint32_t i = 0; i < count && i < FRAMES_MAX && cursor.good; i++) {
		struct binary_frame frame;

		/* skips the begin of the function, which the FDE has, too */
		next_number(&cursor, 4);
		if (!read_frame(file, file->frame_table +
				(uint64_t)(int64_t)(int32_t)next_number(&cursor, 4), &frame))
			continue;
		if (!vec_grow(&file->frame, file->frames, 1))
			return false;
		file->frame[file->frames++] = frame;
	}
	if (file->frames)
		qsort(file->frame, file->frames, sizeof(*file->frame), by_begin);
	return true;
}

const struct binary_frame *binary_frames(struct binary_file *file, size_t *count)
{
	if (!file->has_frames && !binary_frames_collect(file))
		file->frames = 0;
	file->has_frames = true;
	*count = file->frames;
	return file->frame;
}

const struct binary_frame *binary_frame_at(struct binary_file *file, uint64_t address)
{
	size_t from = 0, until;
	const struct binary_frame *frame = binary_frames(file, &until);

	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (frame[middle].begin <= address)
			from = middle + 1;
		else
			until = middle;
	}
	return from && address < frame[from - 1].end ? &frame[from - 1] : NULL;
}
