/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_frames.c - the parts of functions as unwinders know them: .eh_frame_hdr and .eh_frame.
 *
 * Compilers make an entry in a table for each part of each function, also in a file without
 * symbols. An entry has two distances from the beginning of the table: to the part, and to the
 * description of the part (FDE). Several FDEs refer to one common description (CIE). This file
 * reads only the encoding that linkers of x86-64 write: distances of 4 bytes. Static programs
 * usually lack the table. In such a program, this file reads all descriptions of the section one
 * after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"

#define DISTANCE_OF_TABLE 0x3b     /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define DISTANCE_OF_PLACE 0x1b     /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define NUMBER            0x03     /* DW_EH_PE_udata4 */
#define OMITTED           0xff     /* DW_EH_PE_omit */
#define NO_RULE           0x00     /* DW_CFA_nop */
#define RULE_OF_FRAME     0x0c     /* DW_CFA_def_cfa, followed by a register and an offset */
#define STACK_POINTER     7
#define RULE_OF_CALLER    0x90     /* DW_CFA_offset of the return address, followed by an offset */
#define FRAMES_MAX        (1u << 22)
/*
 * The greatest number of bytes of a description that are read. The needed facts are at its
 * beginning. In a hostile file, any number of entries may lead to the same long description. The
 * limit bounds the time for them.
 */
#define DESCRIPTION_MAX   256

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
 * Reads a number of variable length (LEB128). The function reads signed numbers like unsigned
 * numbers, because no caller needs the sign.
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
 * Limits a cursor to its description. The bytes behind the description belong to other
 * descriptions.
 */
static void end_cursor(struct cursor *cursor, uint64_t len)
{
	if (len > DESCRIPTION_MAX)
		len = DESCRIPTION_MAX;
	if (cursor->bytes > len)
		cursor->bytes = len;
}

/* The facts that FDEs have in common. */
struct common {
	uint8_t pads;   /* the encoding of addresses of tables of landing pads in FDEs */
	bool is_begin;  /* at the beginning of a part, the return address is at the stack pointer */
};

/* Returns whether all bytes from the cursor on are padding. */
static bool is_padding(struct cursor cursor)
{
	bool is = true;

	while (cursor.bytes && is)
		is = next_number(&cursor, 1) == NO_RULE;
	return is;
}

/*
 * Returns whether the first rules of a CIE are exactly these: the return address is at the stack
 * pointer, and the frame of the caller is behind the return address. The first function of a
 * program, for example, has another rule: that it has no caller.
 */
static bool has_caller(struct cursor cursor)
{
	return next_number(&cursor, 1) == RULE_OF_FRAME && next_leb(&cursor) == STACK_POINTER &&
	       next_leb(&cursor) == 8 && next_number(&cursor, 1) == RULE_OF_CALLER &&
	       next_leb(&cursor) == 1 && cursor.good && is_padding(cursor);
}

/*
 * Reads a CIE. Returns whether its FDEs encode addresses in the only form that is supported here.
 */
static bool read_common(struct cursor cursor, struct common *common)
{
	struct cursor rules;
	const char *letters;
	uint8_t places = 0;
	unsigned version;
	uint64_t len;

	*common = (struct common){ .pads = OMITTED };
	len = next_number(&cursor, 4);
	end_cursor(&cursor, len);
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
	len = next_leb(&cursor); /* length of the augmentation data; the first rules follow */
	rules = cursor;
	rules.good &= len <= rules.bytes;
	if (rules.good) {
		rules.at += len;
		rules.bytes -= len;
	}
	common->is_begin = rules.good && has_caller(rules);
	for (const char *letter = letters + 1; *letter && cursor.good; letter++)
		switch (*letter) {
		case 'R':
			places = (uint8_t)next_number(&cursor, 1);
			break;
		case 'L':
			common->pads = (uint8_t)next_number(&cursor, 1);
			break;
		case 'P':
			/*
			 * Skips the encoding of the pointer to the personality function, and the
			 * pointer: 8 bytes in the format absptr; other formats count as 4 bytes.
			 */
			next_number(&cursor, next_number(&cursor, 1) & 0x0f ? 4 : 8);
			break;
		case 'S': /* a signal frame: the kernel made it, without a return address */
			common->is_begin = false;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	return cursor.good && places == DISTANCE_OF_PLACE;
}

/*
 * Returns whether an FDE has no rules for the frame at the first instruction. Such rules would
 * precede the first rule that advances to a later instruction.
 */
static bool begins_plainly(struct cursor cursor)
{
	uint64_t rule = NO_RULE;

	while (cursor.good && cursor.bytes && rule == NO_RULE)
		rule = next_number(&cursor, 1);
	/* DW_CFA_advance_loc has the upper bits 01; DW_CFA_set_loc to _advance_loc4 are 1 to 4. */
	return rule <= 4 || rule >> 6 == 1;
}

/* Reads the FDE at an address. Returns false if the FDE has an unknown form. */
static bool read_frame(const struct binary_file *file, uint64_t address,
		       struct binary_frame *frame)
{
	struct cursor cursor = cursor_at(file, address);
	uint32_t len = (uint32_t)next_number(&cursor, 4), distance;
	struct common common;
	uint64_t data;

	end_cursor(&cursor, len);
	distance = (uint32_t)next_number(&cursor, 4);
	if (!cursor.good || len == UINT32_MAX ||
	    !read_common(cursor_at(file, address + 4 - distance), &common))
		return false;
	*frame = (struct binary_frame){
		.begin = address + 8 + (uint64_t)(int64_t)(int32_t)next_number(&cursor, 4),
	};
	frame->end = frame->begin + next_number(&cursor, 4);
	data = next_leb(&cursor);
	if (!cursor.good || data > cursor.bytes)
		return false;
	/*
	 * The address of an absent table of landing pads is 0. The function always reads 4 bytes of
	 * this address, even if its encoding is longer.
	 */
	if (common.pads != OMITTED && data >= 4) {
		struct cursor pads = cursor;

		frame->has_pads = next_number(&pads, 4) != 0;
	}
	cursor.at += data;
	cursor.bytes -= data;
	frame->is_begin = common.is_begin && begins_plainly(cursor);
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct binary_frame *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * Reads the FDE at an address, and adds its frame if it has the form that is supported. Returns
 * false if memory is lacking.
 */
static bool take_frame(struct binary_file *file, uint64_t address)
{
	struct binary_frame frame;

	if (!read_frame(file, address, &frame))
		return true;
	if (!vec_grow(&file->frame, file->frames, 1))
		return false;
	file->frame[file->frames++] = frame;
	return true;
}

/*
 * Collects the frames of a file without a table. A description of length 0 is the last. A
 * description whose length needs more than 32 bits does not occur in programs, so it ends the
 * search, too. Returns false if memory is lacking.
 */
static bool walk_frames(struct binary_file *file)
{
	uint64_t at = file->frames_begin;

	for (uint32_t i = 0; i < FRAMES_MAX && at < file->frames_end; i++) {
		struct cursor cursor = cursor_at(file, at);
		const uint32_t len = (uint32_t)next_number(&cursor, 4);
		const bool is_common = !next_number(&cursor, 4);

		if (!cursor.good || len < 4 || len > file->frames_end - at)
			return true;
		if (!is_common && !take_frame(file, at))
			return false;
		at += 4 + (uint64_t)len;
	}
	return true;
}

/*
 * Collects all frames of the table. An entry that cannot be read is omitted. Returns false if
 * memory is lacking.
 */
static bool read_table(struct binary_file *file)
{
	struct cursor cursor = cursor_at(file, file->frame_table);
	uint32_t count;

	if (!cursor.good)
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
		/* Skips the beginning of the part, because the FDE has it, too. */
		next_number(&cursor, 4);
		if (!take_frame(file, file->frame_table +
				(uint64_t)(int64_t)(int32_t)next_number(&cursor, 4)))
			return false;
	}
	return true;
}

/* Collects all frames in the order of their addresses. Returns false if memory is lacking. */
static bool binary_frames_collect(struct binary_file *file)
{
	if (!(file->frame_table ? read_table(file) : walk_frames(file)))
		return false;
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
