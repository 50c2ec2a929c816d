/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_value.c - reads values of the program from registers and memory.
 *
 * For each value, the plan has the place of the value: in a register, in memory, or in the plan
 * itself if it is a constant. The tool posixtrace has read the places from debugging information,
 * and from the notes that describe probes.
 */
#include "preload/patch_value.h"

#include <string.h>

#include "preload/self.h"
#include "preload/known.h"
#include "preload/text.h"

#if defined __x86_64__

#define REGISTERS 16
#define RSP       4
#define PAGE      4096

/* Where the assembly has saved the registers, in words from the frame pointer. */
static const signed char saved_at[REGISTERS] = {
	-1, -2, -3, -10, 0, 0, -4, -5, -6, -7, -8, -9, -11, -12, -13, -14,
};

/* Returns the value of a register of the program, or 0 if there is no register with this number. */
static uint64_t register_of(const struct shim_registers *registers, unsigned number)
{
	if (number >= REGISTERS)
		return 0;
	return number == RSP ? registers->stack : registers->frame[saved_at[number]];
}

/*
 * Copies a value that may cross a page; shim_copy() checks one page only. If any byte cannot be
 * read, *value stays as it is.
 */
static void copy_value(uint64_t *value, uintptr_t from, unsigned bytes)
{
	unsigned first = (unsigned)(PAGE - from % PAGE);
	uint64_t copy = 0;

	first = first < bytes ? first : bytes;
	if (shim_copy(&copy, (const void *)from, first) &&
	    (first == bytes || shim_copy((char *)&copy + first, (const void *)(from + first),
					 bytes - first)))
		*value = copy;
}

/*
 * Returns a value of the program, extended to 64 bits: with its sign if it is signed, and else with
 * zeros. A value that is shorter than 8 bytes is shifted up and down again. The shifts remove the
 * other bits that a register has above the value.
 */
static uint64_t value_of(const struct shim_plan_argument *argument,
			 const struct shim_registers *registers, uintptr_t base)
{
	unsigned unused_bits = 64 - 8 * argument->size;
	uint64_t value = 0;
	uintptr_t at;

	/* If the place is unknown, the value stays 0. */
	switch (argument->place) {
	case SHIM_PLAN_CONSTANT:
		value = (uint64_t)argument->value;
		break;
	case SHIM_PLAN_REGISTER:
		value = register_of(registers, argument->base) >> argument->shift;
		break;
	case SHIM_PLAN_VECTOR:
		memcpy(&value, registers->vectors + 64 * (argument->base % REGISTERS),
		       sizeof value);
		break;
	case SHIM_PLAN_MEMORY:
		/* register_of() returns 0 for a register that is not used. */
		at = register_of(registers, argument->base) +
		     (register_of(registers, argument->index) << argument->shift) +
		     (uint64_t)argument->value;
		copy_value(&value, at, argument->size);
		break;
	case SHIM_PLAN_OBJECT:
		copy_value(&value, base + (uint64_t)argument->value, argument->size);
		break;
	}
	value <<= unused_bits;
	return argument->is_signed ? (uint64_t)((int64_t)value >> unused_bits) :
				     value >> unused_bits;
}

/*
 * Copies a text. If is_passed_on is true, the pointer may be invalid, because the traced function
 * perhaps does not read the text and only passes the pointer on. The text ends only at a NUL or at
 * the limit. A quiet process trusts only memory that is known to exist.
 */
static size_t put_pointed(char *to, size_t bytes, const char *text, bool is_passed_on)
{
	if (is_passed_on && shim_is_quiet() &&
	    !(shim_is_known(text) && shim_is_known(text + bytes - 1)))
		text = NULL;
	return shim_text_before(to, bytes, text);
}

/*
 * Each number is copied with all its 8 bytes, and the next value overwrites the unused bytes. The
 * last copy fits, too, because `data` has room for 8 bytes of each value. The room that is left is
 * divided equally among the texts that are not copied yet.
 */
size_t shim_values_put(unsigned char *data, size_t texts, const struct shim_plan_argument *argument,
		       unsigned count, const struct shim_registers *registers, uintptr_t base,
		       bool is_passed_on)
{
	unsigned rest = 0;
	size_t len = 0;

	for (unsigned i = 0; i < count; i++)
		rest += !argument[i].bytes;
	for (unsigned i = 0; i < count; i++) {
		uint64_t value = value_of(&argument[i], registers, base);
		size_t used;

		if (argument[i].bytes) {
			memcpy(data + len, &value, sizeof value);
			len += argument[i].bytes;
			continue;
		}
		used = put_pointed((char *)data + len, texts / rest--,
				   (const char *)(uintptr_t)value, is_passed_on);
		texts -= used;
		len += used;
	}
	return len;
}

#endif
