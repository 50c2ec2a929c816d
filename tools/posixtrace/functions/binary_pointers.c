/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_pointers.c - collects addresses of code that data or other functions contain. These are
 * entries of tables of jumps, labels whose address a program uses, and targets of branches from the
 * cold part of a function back into the function.
 *
 * A jump to such an address would arrive in the middle of the bytes that a patch replaces. The
 * collection is made once for each file, when the first function is examined. It may contain
 * numbers that are not addresses, but it contains all addresses of the kinds above.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"
#include "functions/insn.h"

bool binary_add_pointer(struct binary_file *file, uint64_t address)
{
	if (!vec_grow(&file->pointer, file->pointers, 1))
		return false;
	file->pointer[file->pointers++] = address;
	return true;
}

/* Adds an address if a segment with code has it. Returns false if memory is lacking. */
static bool add_pointer(void *arg, uint64_t address)
{
	struct binary_file *file = arg;
	size_t bytes;

	return !binary_at(file, address, &bytes) || binary_add_pointer(file, address);
}

/*
 * Adds the targets of a function's branches and jumps, up to the first bytes that cannot be
 * decoded. Targets of calls are not added, because the target of a call is the beginning of a
 * function. Returns false if memory is lacking.
 */
static bool add_targets(struct binary_file *file, const struct binary_function *function)
{
	size_t bytes, at = 0;
	const uint8_t *code = binary_at(file, function->address, &bytes);
	struct insn insn;

	while (code && at < function->size &&
	       insn_decode(&insn, code + at, bytes - at, function->address + at)) {
		if (insn.target && insn.kind != INSN_CALL && !add_pointer(file, insn.target))
			return false;
		at += insn.len;
	}
	return true;
}

/*
 * The hooks save vector registers of this length around an event. If the length is too great, the
 * hooks only need more time. If the length were too small, the hooks could change values of the
 * program.
 */
unsigned binary_vectors(const struct binary_file *file)
{
	unsigned most = INSN_SSE;

	for (unsigned i = 0; i < file->segments; i++) {
		const struct binary_segment *segment = &file->segment[i];
		unsigned here = segment->is_code ? insn_vectors(segment->bytes, segment->size) :
						   INSN_SSE;

		most = here > most ? here : most;
	}
	return most;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Collects and sorts the addresses. Compilers name the cold part of a function f "f.cold". Returns
 * false if memory is lacking. The next call then collects again, and may store some addresses
 * twice.
 */
static bool binary_pointers_collect(struct binary_file *file)
{
	if (!binary_each_pointer(file, add_pointer, file))
		return false;
	for (size_t i = 0; i < file->functions; i++)
		if (strstr(file->function[i].name, ".cold") &&
		    !add_targets(file, &file->function[i]))
			return false;
	if (file->pointers)
		qsort(file->pointer, file->pointers, sizeof(*file->pointer), by_value);
	return true;
}

/*
 * If memory is lacking, the function returns true, so that nothing is patched. An address equal to
 * "from" is harmless, because a thread that jumps to this address executes the jump that the patch
 * has written.
 */
bool binary_is_pointed_into(struct binary_file *file, uint64_t from, uint64_t until)
{
	size_t low = 0, high;

	if (!file->has_pointers && !binary_pointers_collect(file))
		return true;
	file->has_pointers = true;
	high = file->pointers;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->pointer[middle] <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->pointers && file->pointer[low] < until;
}
