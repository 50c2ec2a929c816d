/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_nameless.c - the functions of a stripped file that have no symbol.
 *
 * A frame is a part of a function as unwinders know it. Each frame counts as a function, unless a
 * fact shows that it is not the beginning of a function. A patch at the beginning of any other part
 * would harm the program if code branches to one of the replaced bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"
#include "functions/insn.h"

#define NAME_BYTES   20         /* "+0x", 16 digits and a NUL */
#define ENTRIES_MOST (1u << 24) /* greatest number of entries of all tables of jumps of a file */

static bool is_in_plt(const struct binary_file *file, uint64_t address)
{
	for (unsigned i = 0; i < file->plts; i++)
		if (address >= file->plt[i].begin && address < file->plt[i].end)
			return true;
	return false;
}

/* Returns the frame that begins at an address, or NULL. The caller may change it. */
static struct binary_frame *frame_from(struct binary_file *file, uint64_t address)
{
	const struct binary_frame *frame = binary_frame_at(file, address);

	return frame && frame->begin == address ? &file->frame[frame - file->frame] : NULL;
}

/*
 * Notes a branch to another frame. If the target is not the beginning of that frame, the target
 * must not be among the bytes that a patch replaces. Returns false if memory is lacking.
 */
static bool note_branch(struct binary_file *file, const struct insn *insn)
{
	const struct binary_frame *frame = binary_frame_at(file, insn->target);
	struct binary_frame *to;

	if (!frame)
		return true;
	to = &file->frame[frame - file->frame];
	if (insn->target == to->begin && insn->kind == INSN_JUMP)
		to->is_called = true;
	else
		to->is_entered = true;
	return insn->target == to->begin || binary_add_pointer(file, insn->target);
}

/* Notes how an instruction refers to other frames. Returns false if memory is lacking. */
static bool note_insn(struct binary_file *file, const struct binary_frame *from,
		      const struct insn *insn)
{
	struct binary_frame *called = NULL;

	if (insn->kind == INSN_CALL && insn->target)
		called = frame_from(file, insn->target);
	else if (!insn->target && insn->has_address)
		called = frame_from(file, insn->address);
	if (called)
		called->is_called = true;
	return insn->kind == INSN_CALL || !insn->target ||
	       (insn->target >= from->begin && insn->target < from->end) || note_branch(file, insn);
}

/*
 * Notes the entries of a table of jumps that lead to other frames. The entries of a table are
 * distances of 4 bytes from its beginning. The end of the table is unknown. If the function
 * mistakes bytes behind the end for an entry, the only effect is a needless refusal. "left" limits
 * the entries of a hostile file. Returns false if memory is lacking.
 */
static bool note_table(struct binary_file *file, const struct binary_frame *from, uint64_t table,
		       size_t *left)
{
	struct insn jump = { .kind = INSN_BRANCH };
	size_t bytes;
	const uint8_t *at = binary_data_at(file, table, &bytes);

	for (; at && bytes >= 4 && *left; at += 4, bytes -= 4, --*left) {
		int32_t distance;

		memcpy(&distance, at, sizeof(distance));
		jump.target = table + (uint64_t)(int64_t)distance;
		if (jump.target >= from->begin && jump.target < from->end)
			continue;
		if (!binary_frame_at(file, jump.target))
			return true;
		if (!note_branch(file, &jump))
			return false;
	}
	return true;
}

/*
 * Notes the tables to which a frame with an indirect jump refers. Returns false if memory is
 * lacking.
 */
static bool note_tables(struct binary_file *file, const struct binary_frame *frame, uint64_t at,
			size_t *left)
{
	const uint8_t *code;
	struct insn insn;
	size_t bytes;

	while (at < frame->end && (code = binary_at(file, at, &bytes)) != NULL) {
		const bool is_code = insn_decode(&insn, code, bytes, at);

		if (is_code && insn.has_address && !note_table(file, frame, insn.address, left))
			return false;
		at += is_code ? insn.len : 1;
	}
	return true;
}

/*
 * Decodes all frames. Each byte is decoded twice at most, even if the frames of a hostile file
 * overlap. Returns false if memory is lacking.
 */
static bool note_frames(struct binary_file *file)
{
	size_t bytes, left = ENTRIES_MOST;
	struct insn insn;
	uint64_t at = 0;

	for (size_t i = 0; i < file->frames; i++) {
		const struct binary_frame *frame = &file->frame[i];
		const uint64_t begin = at < frame->begin ? frame->begin : at;
		bool has_indirect = false;
		const uint8_t *code;

		at = begin;
		while (at < frame->end && (code = binary_at(file, at, &bytes)) != NULL) {
			const bool is_code = insn_decode(&insn, code, bytes, at);

			if (is_code && !note_insn(file, frame, &insn))
				return false;
			has_indirect |= is_code && insn.kind == INSN_INDIRECT;
			at += is_code ? insn.len : 1;
		}
		if (has_indirect && !note_tables(file, frame, begin, &left))
			return false;
	}
	return true;
}

/*
 * Returns whether a frame is a part of another function. Compilers put code that is rarely executed
 * into a separate part. The function branches to this part, mostly on a condition, and the part may
 * branch back into the function. Other code calls only the function, and contains only the
 * function's address.
 */
static bool is_part(struct binary_file *file, const struct binary_frame *frame)
{
	return frame->is_entered && !frame->is_called &&
	       !binary_is_pointed_into(file, frame->begin - 1, frame->begin + 1);
}

/*
 * Returns whether a frame belongs to a function without a symbol. If a symbol begins in a frame,
 * the frame has a name already, or has the code of more than one function.
 */
static bool is_nameless(struct binary_file *file, const struct binary_frame *frame, size_t known,
			size_t *next)
{
	size_t bytes;

	while (*next < known && file->function[*next].address < frame->begin)
		++*next;
	return frame->is_begin && frame->begin < frame->end && frame->begin != file->entry &&
	       (*next == known || file->function[*next].address >= frame->end) &&
	       !is_in_plt(file, frame->begin) && binary_at(file, frame->begin, &bytes) &&
	       frame->end - frame->begin <= bytes && !is_part(file, frame);
}

/*
 * Returns the beginning of a frame's function. In code written in assembler, the frame may begin
 * with NOPs that fill the memory up to the function. The address of such a function is a multiple
 * of 16.
 */
static uint64_t begin_of(const struct binary_file *file, const struct binary_frame *frame)
{
	uint64_t at = frame->begin;
	struct insn insn;
	size_t bytes;

	while (at & 15 && at - frame->begin < 16) {
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at) || insn.kind != INSN_NOP)
			return frame->begin;
		at += insn.len;
	}
	return at & 15 || at >= frame->end ? frame->begin : at;
}

bool binary_add_nameless(struct binary_file *file)
{
	const size_t known = file->functions;
	size_t frames, next = 0;
	const struct binary_frame *frame;
	char *name;

	if (!file->is_stripped || file->has_nameless)
		return true;
	file->has_nameless = true;
	frame = binary_frames(file, &frames);
	file->names = malloc(frames * NAME_BYTES + 1);
	if (!file->names || !note_frames(file) || !vec_grow(&file->function, known, frames))
		return false;
	name = file->names;
	for (size_t i = 0; i < frames; i++) {
		uint64_t begin;

		if (!is_nameless(file, &frame[i], known, &next))
			continue;
		begin = begin_of(file, &frame[i]);
		snprintf(name, NAME_BYTES, "+0x%llx", (unsigned long long)begin);
		file->function[file->functions++] = (struct binary_function){
			.name = name, .address = begin, .size = frame[i].end - begin,
		};
		name += NAME_BYTES;
	}
	binary_sort(file);
	/* The only reason in file->lack so far was that the stripped file has no symbols. */
	file->lack = file->functions ? NULL : "it has neither symbols nor tables for unwinders, "
					      "and no debug file of it was found";
	return true;
}
