/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * select.c - the options of a report by templates that select events. The lists come from the
 * command line, so they are short and are searched linearly.
 */
#include "report/template/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"

void select_fini(struct select *select)
{
	free(select->only.type);
	free(select->but.type);
	free(select->pids.number);
	free(select->tids.number);
}

/*
 * Reads a number, which must be the whole text. strtoull(3) by itself would also accept signs,
 * blanks and 0x.
 */
static bool number_of(const char *text, size_t len, int base, uint64_t *number)
{
	char digits[24], *end;

	if (!len || len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (strspn(digits, "0123456789abcdefABCDEF") != len)
		return false;
	errno = 0;
	*number = strtoull(digits, &end, base);
	return !errno && !*end;
}

/* The name points into the command line, which exists as long as the process. */
static bool add_type(struct select_types *types, const char *text, size_t len)
{
	struct select_type type = { .name = NULL };

	if (len && *text == '@') {
		type.name = text + 1;
		type.name_len = len - 1;
	} else if (!number_of(text, len, 16, &type.number)) {
		return false;
	}
	if (!vec_grow(&types->type, types->count, 1))
		return false;
	types->type[types->count++] = type;
	return true;
}

/*
 * An empty element is an error, so that a shell variable that is unset does not select everything.
 */
bool select_add_types(struct select_types *types, const char *option, const char *list)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");

		if (!add_type(types, p, len)) {
			say("%s %s: not a list of hexadecimal numbers and @names", option, list);
			return false;
		}
		p += len;
		if (!*p)
			return true;
	}
}

bool select_add_numbers(struct select_numbers *numbers, const char *option, const char *list)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		uint64_t number;

		if (!number_of(p, len, 10, &number) ||
		    !vec_grow(&numbers->number, numbers->count, 1)) {
			say("%s %s: not a list of numbers", option, list);
			return false;
		}
		numbers->number[numbers->count++] = number;
		p += len;
		if (!*p)
			return true;
	}
}

/*
 * The value is computed in integers, because a double is not exact to the nanosecond for long
 * traces. Digits of the fraction behind the ninth are ignored.
 */
bool select_seconds(const char *text, int64_t *ns)
{
	int64_t unit = 100000000;

	if (*text < '0' || *text > '9')
		return false;
	for (*ns = 0; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*ns, 10, ns) ||
		    __builtin_add_overflow(*ns, *text - '0', ns))
			return false;
	if (__builtin_mul_overflow(*ns, INT64_C(1000000000), ns))
		return false;
	if (*text == '.' && text[1]) {
		int64_t fraction = 0;

		for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
			fraction += unit * (*text - '0');
		if (__builtin_add_overflow(*ns, fraction, ns))
			return false;
	}
	return !*text;
}

/* Returns whether the list has a type with this name or this number. */
static bool has_type(const struct select_types *types, const char *name, uint64_t number)
{
	for (size_t i = 0; i < types->count; i++) {
		const struct select_type *type = &types->type[i];

		if (type->name ? strlen(name) == type->name_len &&
					 !memcmp(name, type->name, type->name_len)
			       : number == type->number)
			return true;
	}
	return false;
}

/* Returns whether the list has this number or is empty. An empty list selects everything. */
static bool has_number(const struct select_numbers *numbers, uint64_t number)
{
	for (size_t i = 0; i < numbers->count; i++)
		if (numbers->number[i] == number)
			return true;
	return !numbers->count;
}

/*
 * An excluded type is never selected, even if it is in the other list, too. The caller asks once
 * for each type.
 */
bool select_type(const struct select *select, const char *name, uint64_t number)
{
	return (!select->only.count || has_type(&select->only, name, number)) &&
	       !has_type(&select->but, name, number);
}

/* elapsed_ns is a difference of two times of a log, which may need 65 bits. */
bool select_event(const struct select *select, uint64_t pid, uint64_t tid, __int128 elapsed_ns)
{
	return (!select->has_start || elapsed_ns >= select->start_ns) &&
	       (!select->has_end || elapsed_ns <= select->end_ns) &&
	       has_number(&select->pids, pid) && has_number(&select->tids, tid);
}
