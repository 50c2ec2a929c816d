/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_pointers.c - addresses of code that data or other functions contain: tables of jumps,
 * labels whose address a program takes, and the branches of a function's cold part back into it.
 *
 * A jump to such an address would arrive in the middle of the bytes that a patch replaces. The
 * collection is made once for each file, when the first function is examined, and may contain too
 * many addresses, but never too few of the kinds above.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"
#include "functions/insn.h"

/* Adds an address if it is one of code. Returns false without memory. */
static bool add_pointer(void *arg, uint64_t address)
{
	struct binary_file *file = arg;
	size_t bytes;

	if (!binary_at(file, address, &bytes))
		return true;
	if (!vec_grow(&file->pointer, file->pointers, 1))
		return false;
	file->pointer[file->pointers++] = address;
	return true;
}

/*
 * Adds the targets of a function's branches and jumps, up to the first bytes that cannot be
 * decoded. Calls are left out: they return, and their target is the begin of a function. Returns
 * false without memory.
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
 * The hooks save vector registers of this length around an event. A length that is too great costs
 * time; one that is too small would change values of the program.
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
 * false without memory; the next call then collects again, and may store addresses twice.
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
 * Without memory the answer is yes, so that nothing is patched. An address equal to from
 * is no danger: a call of the function through a pointer arrives at the jump that the patch wrote.
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
