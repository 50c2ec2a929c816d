/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_argument.c - reads the notation of <sys/sdt.h> on x86-64: N@OPERAND, where N is the size in
 * bytes, and OPERAND is an operand as the assembler writes it. N is negative for signed numbers.
 * For floating point, an f follows it.
 *
 * 	$5            a constant
 * 	%eax          a register
 * 	8(%rax)       memory; also 8(%rax,%rcx,4)
 * 	name(%rip)    an object of the file; also 8+name(%rip)
 */
#include "functions/probe_argument.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * The names of the general registers, by number. The first eight elements are only the part that
 * all forms of the name have in common. register_of() recognizes the forms.
 */
static const char *const registers[16] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"8", "9", "10", "11", "12", "13", "14", "15",
};

/*
 * Finds the number of a general register by one of its names, such as rax, eax, ax, al or r8, r8d,
 * r8w, r8b. *shift becomes 8 for a name such as ah, which means bits 8 to 15. Returns
 * SHIM_PLAN_NO_REGISTER if no register has this name.
 */
static uint8_t register_of(const char *name, size_t len, uint8_t *shift)
{
	*shift = 0;
	for (uint8_t i = 0; i < 16; i++) {
		const char *is = registers[i];
		size_t known = strlen(is);

		if (i >= 8) {
			bool has_tail = len == known + 2 && strchr("dwb", name[len - 1]);

			if (*name == 'r' && (len == known + 1 || has_tail) &&
			    !memcmp(name + 1, is, known))
				return i;
			continue;
		}
		if ((len == 3 && (*name == 'r' || *name == 'e') && !memcmp(name + 1, is, 2)) ||
		    (len == 2 && !memcmp(name, is, 2)) ||
		    (len == 3 && name[2] == 'l' && !memcmp(name, is, 2)) ||
		    (i < 4 && len == 2 && name[0] == is[0] && name[1] == 'l'))
			return i;
		if (i < 4 && len == 2 && name[0] == is[0] && name[1] == 'h') {
			*shift = 8;
			return i;
		}
	}
	return SHIM_PLAN_NO_REGISTER;
}

/* Returns the length of a name of a register. */
static size_t name_length(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]))
		len++;
	return len;
}

/*
 * Reads "%name" of a general register. Returns false if the text is not a general register, or if
 * it is a register such as ah.
 */
static bool take_register(const char **text, uint8_t *number)
{
	size_t len;
	uint8_t shift;

	if (**text != '%')
		return false;
	len = name_length(*text + 1);
	*number = register_of(*text + 1, len, &shift);
	*text += 1 + len;
	return *number != SHIM_PLAN_NO_REGISTER && !shift;
}

/*
 * Reads "(%base,%index,scale)". Each of the three parts may be missing. Returns whether the text
 * has this form.
 */
static bool take_address(const char **text, struct shim_plan_argument *plan)
{
	unsigned long scale = 1;

	plan->place = SHIM_PLAN_MEMORY;
	++*text;
	if (**text == '%' && !take_register(text, &plan->base))
		return false;
	if (**text == ',') {
		char *end;

		++*text;
		if (!take_register(text, &plan->index))
			return false;
		if (**text == ',') {
			scale = strtoul(*text + 1, &end, 10);
			*text = end;
		}
	}
	plan->shift = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
	return *(*text)++ == ')';
}

/*
 * Reads the address of an object: a sum of names and numbers, and "(%rip)". A name without "(%rip)"
 * is an absolute address, as in code that is not position-independent.
 */
static bool take_object(const struct binary_file *file, const char *text, size_t len,
			struct shim_plan_argument *plan)
{
	const char *end = text + len;
	uint64_t sum = 0;
	bool has_name = false;

	if (len > 6 && !memcmp(end - 6, "(%rip)", 6))
		end -= 6;
	while (text < end) {
		size_t part = strcspn(text + 1, "+-(") + 1;
		const char *name = *text == '+' ? text + 1 : text;
		size_t name_len = part - (size_t)(name - text);
		uint64_t address;

		if (part > (size_t)(end - text))
			return false;
		if (isdigit((unsigned char)*name) || *name == '-') {
			sum += (uint64_t)strtoll(name, NULL, 0);
		} else {
			if (!binary_object(file, name, name_len, &address))
				return false;
			has_name = true;
			sum += address;
		}
		text += part;
	}
	plan->place = SHIM_PLAN_OBJECT;
	plan->value = (int64_t)sum;
	return has_name;
}

/* Reads an operand of len bytes. Returns false if its form is unknown. */
static bool take_operand(const struct binary_file *file, const char *text, size_t len,
			 struct shim_plan_argument *plan)
{
	const char *end = text + len;
	char *behind;

	plan->base = plan->index = SHIM_PLAN_NO_REGISTER;
	if (*text == '$') {
		plan->place = SHIM_PLAN_CONSTANT;
		plan->value = text[1] == '-' ? strtoll(text + 1, &behind, 0) :
					       (int64_t)strtoull(text + 1, &behind, 0);
		return behind == end;
	}
	if (*text == '%' && len > 4 && !memcmp(text, "%xmm", 4)) {
		plan->place = SHIM_PLAN_VECTOR;
		plan->base = (uint8_t)strtoul(text + 4, &behind, 10);
		return behind == end && plan->base < 16;
	}
	if (*text == '%') {
		plan->place = SHIM_PLAN_REGISTER;
		plan->base = register_of(text + 1, len - 1, &plan->shift);
		return plan->base != SHIM_PLAN_NO_REGISTER;
	}
	plan->value = strtoll(text, &behind, 0);
	if (*behind == '(' && strncmp(behind, "(%rip)", 6) != 0) {
		text = behind;
		return take_address(&text, plan) && text == end;
	}
	plan->value = 0;
	return take_object(file, text, len, plan);
}

bool probe_argument_next(const struct binary_file *file, const char **text,
			 struct probe_argument *argument)
{
	struct shim_plan_argument *plan = &argument->plan;
	const char *at = *text + strspn(*text, " \t");
	size_t len = strcspn(at, " \t");
	const char *operand = memchr(at, '@', len);
	char *end;
	long size = 8;

	memset(argument, 0, sizeof(*argument));
	*text = at + len;
	if (!len)
		return false;
	if (operand) {
		size = strtol(at, &end, 10);
		argument->is_float = *end == 'f';
		end += *end == 'f';
		if (end != operand)
			return true;
		operand++;
	} else {
		operand = at;
	}
	plan->is_signed = size < 0;
	size = size < 0 ? -size : size;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return true;
	plan->size = (uint8_t)size;
	argument->is_known = operand < at + len &&
			     take_operand(file, operand, (size_t)(at + len - operand), plan);
	return true;
}
