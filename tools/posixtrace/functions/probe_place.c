/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_place.c - proves that a probe can be patched, and makes the plan of its patch.
 *
 * choose_move() moves the instructions at each place. Then the code of the whole file is decoded,
 * because a branch from any function could lead to one of these instructions. If these instructions
 * cannot be moved, look_before() tries to move the instructions before the place. If this fails,
 * too, take_byte() tries to replace the NOP by the first byte of a jump.
 */
#include "functions/probe_place.h"

#include <string.h>

#include "functions/insn.h"
#include "functions/move.h"

static const uint8_t long_nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

/* Returns whether the instruction at the place is a NOP that is long enough for a jump. */
static bool is_long_nop(const struct binary_file *file, uint64_t address)
{
	size_t bytes;
	const uint8_t *code = binary_at(file, address, &bytes);

	return code && bytes >= sizeof(long_nop) && !memcmp(code, long_nop, sizeof(long_nop));
}

/* greatest number of instructions that may be needed for the bytes of a jump */
#define BEFORE_MAX 5

/*
 * Decodes the function from its beginning to the place. Returns whether an instruction begins at
 * the place. If none begins there, the place is in the middle of an instruction. Stores the
 * addresses of the last instructions before the place, the nearest first. If there are fewer than
 * BEFORE_MAX instructions, the rest of the array is 0.
 */
static bool begins_insn(const struct binary_file *file, const struct binary_frame *frame,
			uint64_t address, uint64_t before[BEFORE_MAX])
{
	uint64_t at = frame->begin;
	struct insn insn;
	size_t bytes;

	memset(before, 0, BEFORE_MAX * sizeof(*before));
	while (at < address) {
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at))
			return false;
		memmove(before + 1, before, (BEFORE_MAX - 1) * sizeof(*before));
		before[0] = at;
		at += insn.len;
	}
	return at == address;
}

/*
 * Moves the instructions of the site up to the address "end". Returns false if this is impossible,
 * for example because one of them is a call, which would return into the jump.
 */
static bool move_before(const struct binary_file *file, struct shim_plan_site *site, uint64_t end)
{
	uint64_t at = site->site;

	while (at < end) {
		struct insn insn;
		size_t bytes;
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at) || insn.kind == INSN_CALL ||
		    insn.kind == INSN_RETURN || insn.kind == INSN_JUMP ||
		    insn.kind == INSN_INDIRECT || site->replaced + insn.len > SHIM_PLAN_ORIGINAL ||
		    move_insn(site, &insn, code, at))
			return false;
		memcpy(site->original + site->replaced, code, insn.len);
		site->replaced = (uint8_t)(site->replaced + insn.len);
		at += insn.len;
	}
	return true;
}

/*
 * Moves the instructions just before a place: as many as are needed so that a jump fits into their
 * bytes and the NOP at the place. Returns whether these instructions can be moved. check_moved()
 * later examines the code and data that may lead to them.
 */
static bool choose_before(const struct binary_file *file, struct probe_place *place)
{
	uint64_t address = place->probe.address, before[BEFORE_MAX];
	const struct binary_frame *frame = binary_frame_at((struct binary_file *)file, address);
	unsigned i = 0;

	if (!frame || frame->has_pads || !begins_insn(file, frame, address, before))
		return false;
	while (i < BEFORE_MAX && address + 1 - before[i] < SHIM_PLAN_JUMP)
		i++;
	if (i == BEFORE_MAX || !before[i])
		return false;
	place->before = (struct shim_plan_site){ .function = before[i], .site = before[i],
						 .kind = SHIM_SITE_BEFORE, .continues = true };
	return move_before(file, &place->before, address);
}

/*
 * Moves the NOP of one byte at a place and the instructions behind it. Returns whether these
 * instructions can be moved. check_moved() later examines the code and data that may lead to them.
 */
static bool choose_move(struct binary_file *file, struct shim_plan_site *site)
{
	const struct binary_frame *frame = binary_frame_at(file, site->site);
	uint64_t at = site->site, before[BEFORE_MAX];

	if (!frame || frame->has_pads || !begins_insn(file, frame, at, before))
		return false;
	while (site->replaced < SHIM_PLAN_JUMP) {
		struct insn insn;
		size_t bytes;
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at) || at + insn.len > frame->end ||
		    site->replaced + insn.len > SHIM_PLAN_ORIGINAL ||
		    move_insn(site, &insn, code, at))
			return false;
		memcpy(site->original + site->replaced, code, insn.len);
		site->replaced = (uint8_t)(site->replaced + insn.len);
		at += insn.len;
		/*
		 * Code behind a return or a jump is reached only from other places, so its bytes
		 * must not be replaced.
		 */
		if ((insn.kind == INSN_RETURN || insn.kind == INSN_JUMP ||
		     insn.kind == INSN_INDIRECT) && site->replaced < SHIM_PLAN_JUMP)
			return false;
	}
	return true;
}

/*
 * The greatest number of instructions and of entries of tables that are examined. In a hostile
 * file, parts of functions may overlap, and each instruction may refer to the same table. Without
 * the limit the time would be quadratic. Even 256 MiB of code need fewer steps.
 */
#define STEPS_MAX (1u << 27)

/* The places whose instructions are moved, in the order of their addresses. */
struct moved {
	struct probe_place *place;
	size_t count;
	uint32_t steps;        /* steps that are left */
};

/* Returns the address of the first byte that a jump replaces. */
static uint64_t begin_of(const struct probe_place *place)
{
	return place->has_before ? place->before.site : place->site.site;
}

/*
 * Notes that some instruction or pointer leads to an address. A place with this address among its
 * replaced bytes cannot be moved. The first replaced byte is harmless, because the jump begins
 * there.
 */
static void note_target(struct moved *moved, uint64_t address)
{
	size_t from = 0, until = moved->count;

	/*
	 * A place replaces at most SHIM_PLAN_ORIGINAL bytes before or behind it, so only places
	 * that are near the address are examined.
	 */
	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (moved->place[middle].site.site + SHIM_PLAN_ORIGINAL < address)
			from = middle + 1;
		else
			until = middle;
	}
	for (size_t i = from; i < moved->count &&
			      moved->place[i].site.site < address + SHIM_PLAN_ORIGINAL; i++) {
		struct probe_place *place = &moved->place[i];

		if (place->method == PATCH_MOVE && address > begin_of(place) &&
		    address < place->site.site + place->site.replaced)
			place->method = PATCH_REFUSED;
	}
}

/*
 * Checks bytes that may be a table of jumps: distances of 4 bytes from the beginning of the table.
 * The table ends at the first distance that does not lead to code.
 */
static void note_table(struct binary_file *file, struct moved *moved, uint64_t table)
{
	size_t bytes, code;
	const uint8_t *at = binary_data_at(file, table, &bytes);

	for (size_t i = 0; at && i + 4 <= bytes && moved->steps; i += 4) {
		int32_t distance;

		moved->steps--;
		memcpy(&distance, at + i, sizeof(distance));
		if (!binary_at(file, table + (uint64_t)(int64_t)distance, &code))
			return;
		note_target(moved, table + (uint64_t)(int64_t)distance);
	}
}

/*
 * Decodes a frame. If an instruction refers to an address, the program may later call or jump to
 * this address, or a table of jumps may be at this address. Returns false if some bytes cannot be
 * decoded, because they may lead anywhere.
 */
static bool note_frame(struct binary_file *file, struct moved *moved,
		       const struct binary_frame *frame)
{
	struct insn insn;
	size_t bytes;

	for (uint64_t at = frame->begin; at < frame->end; at += insn.len) {
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!moved->steps || !code || !insn_decode(&insn, code, bytes, at))
			return false;
		moved->steps--;
		if (insn.target && insn.kind != INSN_CALL)
			note_target(moved, insn.target);
		if (insn.has_address) {
			note_target(moved, insn.address);
			if (insn.kind == INSN_PLAIN)
				note_table(file, moved, insn.address);
		}
	}
	return moved->steps > 0;
}

/*
 * Searches the whole file for instructions, tables and pointers that lead to the moved
 * instructions.
 */
static void check_moved(struct binary_file *file, struct moved *moved)
{
	size_t count;
	const struct binary_frame *frame = binary_frames(file, &count);
	bool good = true;

	moved->steps = STEPS_MAX;
	for (size_t i = 0; i < count && good; i++)
		good = note_frame(file, moved, &frame[i]);
	for (size_t i = 0; i < moved->count; i++) {
		struct shim_plan_site *site = &moved->place[i].site;
		uint64_t begin = begin_of(&moved->place[i]), end = site->site + site->replaced;

		if (moved->place[i].method != PATCH_MOVE)
			continue;
		if (!good || binary_next(file, begin) < end ||
		    binary_is_pointed_into(file, begin, end))
			moved->place[i].method = PATCH_REFUSED;
	}
}

/* Returns whether a segment of the file has the address, even if the file has no data for it. */
static bool is_in_file(const struct binary_file *file, uint64_t address)
{
	uint64_t begin, end;

	binary_range(file, &begin, &end);
	return address >= begin && address < end;
}

/*
 * Replaces only the NOP, by the first byte of a jump, if this is possible. The bytes behind the NOP
 * then become the distance of the jump, so the jump must lead to memory outside of the file. This
 * method is impossible at the end of the code, because the bytes behind the NOP are missing.
 */
static void take_byte(const struct binary_file *file, struct probe_place *place)
{
	struct shim_plan_site *site = &place->site;
	size_t bytes;
	const uint8_t *code = binary_at(file, site->site, &bytes);
	int32_t distance;

	place->has_before = false;
	if (!code || bytes < SHIM_PLAN_JUMP) {
		place->why = "it is at the end of the code";
		return;
	}
	memcpy(&distance, code + 1, sizeof(distance));
	if (is_in_file(file, site->site + SHIM_PLAN_JUMP + (uint64_t)(int64_t)distance)) {
		place->why = "its instructions cannot be moved, and a jump that replaces only its "
			     "first byte would lead into the file itself";
		return;
	}
	site->replaced = 1;
	site->original[0] = 0x90;
	site->code_len = 0;
	site->fixes = 0;
	site->is_byte = true;
	site->is_chained = false;
	place->method = PATCH_BYTE;
}

/*
 * The first examination of a place: checks whether the place can be patched at all, and whether the
 * instructions behind it can be moved.
 */
static void look_at(struct binary_file *file, struct probe_place *place)
{
	uint64_t address = place->probe.address;
	size_t bytes;
	const uint8_t *code = binary_at(file, address, &bytes);

	place->method = PATCH_REFUSED;
	place->why = binary_probe_lack(file);
	place->site = (struct shim_plan_site){ .function = address, .site = address,
					       .kind = SHIM_SITE_PROBE,
					       .semaphore = place->probe.semaphore };
	if (place->why)
		return;
	if (!code || (*code != 0x90 && !is_long_nop(file, address))) {
		place->why = "there is no NOP at its place";
		return;
	}
	/*
	 * Tracers increment the semaphore in memory without a further check. So the address of the
	 * semaphore must not be an address of code.
	 */
	if (place->probe.semaphore && !binary_is_variable(file, place->probe.semaphore, 2)) {
		place->why = "its semaphore is not a variable";
		return;
	}
	if (*code != 0x90) {
		memcpy(place->site.original, long_nop, sizeof(long_nop));
		place->site.replaced = sizeof(long_nop);
		place->method = PATCH_SLOT;
		return;
	}
	if (insn_is_available() && choose_move(file, &place->site)) {
		place->method = PATCH_MOVE;
		return;
	}
	/* choose_move() may have moved some instructions before it failed. These are not used. */
	place->site.replaced = 0;
}

/* The second examination of a place: checks whether the instructions before it can be moved. */
static void look_before(const struct binary_file *file, struct probe_place *place)
{
	struct shim_plan_site *site = &place->site;

	site->replaced = 1;
	site->original[0] = 0x90;
	site->code_len = 0;
	site->fixes = 0;
	if (!insn_is_available() || !choose_before(file, place))
		return;
	place->has_before = true;
	site->is_chained = true;
	place->method = PATCH_MOVE;
}

/* Returns whether the place is a NOP of one byte for which no method has been found yet. */
static bool is_open(const struct probe_place *place)
{
	return place->method == PATCH_REFUSED && !place->why;
}

/*
 * There are three passes. The first pass moves the instructions behind each place, the second pass
 * moves the instructions before it, and the third pass replaces one byte. A pass handles only
 * places for which the earlier passes found no method.
 */
void probe_places(struct binary_file *file, struct probe_place *place, size_t count)
{
	struct moved moved = { place, count, 0 };
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		look_at(file, &place[i]);
		any |= place[i].method == PATCH_MOVE;
	}
	if (any)
		check_moved(file, &moved);
	any = false;
	for (size_t i = 0; i < count; i++)
		if (is_open(&place[i])) {
			look_before(file, &place[i]);
			any |= place[i].has_before;
		}
	if (any)
		check_moved(file, &moved);
	for (size_t i = 0; i < count; i++)
		if (is_open(&place[i]))
			take_byte(file, &place[i]);
}

bool probe_place_cut(const struct binary_file *file, struct shim_plan_site *site, uint64_t end)
{
	struct shim_plan_site cut = *site;
	uint64_t at = site->site;

	cut.replaced = cut.code_len = cut.fixes = 0;
	while (at < end) {
		struct insn insn;
		size_t bytes;
		const uint8_t *code = binary_at(file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at) ||
		    move_insn(&cut, &insn, code, at))
			return false;
		at += insn.len;
		cut.replaced = (uint8_t)(cut.replaced + insn.len);
	}
	if (at != end)
		return false;
	*site = cut;
	return true;
}
