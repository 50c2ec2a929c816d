/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/choose.c - evaluates POSIXTRACE_TRACE, or --trace of POSIXTRACE_OPTIONS.
 *
 * The shim calls these functions when it starts, which may be before the constructors of other
 * libraries have run, and again when a tracer changes the families. The tool calls them, too.
 */
#ifndef PTX_PRELOAD_CHOOSE_H
/*
 * The tool does not have lib/ in its include path. It includes the header by a relative path
 * before this file.
 */
# include "preload/choose.h"
#endif

#include <fnmatch.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Each family is a bit of one word, so that a list of families is a set of bits. */
#define BIT(family) (1u << FAMILY_##family)

/*
 * The default families. Programs call the functions of these families seldom, or wait in them. A
 * few percent of a server's calls belong to these families.
 */
#define DEFAULT \
	(BIT(SHIM) | BIT(LOCK) | BIT(IO) | BIT(FILE) | BIT(NET) | BIT(THREAD) | BIT(PROCESS) | \
	 BIT(TIME) | BIT(IPC) | BIT(DL))

/*
 * Internally, lock-hold is a family of its own (HOLD), because it needs an event for each lock that
 * is released. A user who chooses lock-hold also chooses lock.
 */
static const struct {
	char name[12];
	unsigned bits;
} names[] = {
	{ "alloc", BIT(ALLOC) },
	{ "lock", BIT(LOCK) },
	{ "lock-hold", BIT(LOCK) | BIT(HOLD) },
	{ "io", BIT(IO) },
	{ "file", BIT(FILE) },
	{ "stdio", BIT(STDIO) },
	{ "net", BIT(NET) },
	{ "thread", BIT(THREAD) },
	{ "process", BIT(PROCESS) },
	{ "signal", BIT(SIGNAL) },
	{ "time", BIT(TIME) },
	{ "ipc", BIT(IPC) },
	{ "dl", BIT(DL) },
	{ "func", BIT(FUNC) },
	{ "all", ~0u },
	{ "default", DEFAULT },
};

/*
 * The names and the schemas of all types, from the table in types.h. Users see the names in logs,
 * and patterns match them. The table of types has offsets into this struct instead of pointers,
 * because the dynamic linker would have to relocate each pointer at the start of each program.
 */
static const struct texts {
#define TYPE(type, family, name, schema) char type##_name[sizeof(name)], \
	type##_schema[sizeof(schema)];
	SHIM_TYPES(TYPE)
#undef TYPE
} texts = {
#define TYPE(type, family, name, schema) name, schema,
	SHIM_TYPES(TYPE)
#undef TYPE
};
_Static_assert(sizeof(texts) <= UINT16_MAX, "the offsets have 16 bits");

static const struct {
	uint16_t name, schema;
	unsigned char family;
} types[SHIM_TYPE_COUNT] = {
#define TYPE(type, family, name, schema) [type] = { offsetof(struct texts, type##_name), \
						    offsetof(struct texts, type##_schema), \
						    FAMILY_##family },
	SHIM_TYPES(TYPE)
#undef TYPE
};

/* start.c counts calls before the shim has started by family, and uses this function for that. */
enum shim_family shim_family_of(enum shim_type type)
{
	return types[type].family;
}

const char *shim_name_of(enum shim_type type)
{
	return (const char *)&texts + types[type].name;
}

const char *shim_schema_of(enum shim_type type)
{
	return (const char *)&texts + types[type].schema;
}

/* Unknown names are ignored, so that a list for a newer version works with this version. */
static unsigned bits_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
			return names[i].bits;
	return 0;
}

/*
 * Removes a family. "-lock" also removes lock-hold, which is useless without lock. "-lock-hold"
 * removes only the events of holds, not lock.
 */
static unsigned remove_family(unsigned bits, const char *name, size_t len)
{
	if (len == 9 && memcmp(name, "lock-hold", len) == 0)
		return bits & ~BIT(HOLD);
	if (len == 4 && memcmp(name, "lock", len) == 0)
		bits &= ~BIT(HOLD);
	return bits & ~bits_of(name, len);
}

/*
 * A user may write any text in the list. The function never fails, because a wrong list must not
 * make a program fail.
 */
unsigned shim_families(const char *list)
{
	/* A list that begins with a minus removes from the default. */
	unsigned bits = !list || *list == '-' ? DEFAULT : 0;

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == 4 && memcmp(list, "none", len) == 0)
			bits = 0;
		else if (*list == '-')
			bits = remove_family(bits, list + 1, len - 1);
		else
			bits |= bits_of(list, len);
		list += len;
		list += *list == ',';
	}
	/* The shim's own events are always on: they report losses. */
	return bits | BIT(SHIM);
}

/* Returns `most` for a greater number, even if that number is too large for an unsigned. */
unsigned shim_number_of(const char *list, const char *name, unsigned most)
{
	const size_t len = strlen(name);
	unsigned number = 0;

	for (; list && *list; list += *list == ',') {
		if (!strncmp(list, name, len)) {
			number = 0;
			for (list += len; *list >= '0' && *list <= '9'; list++)
				if (number <= most)
					number = number * 10 + (unsigned)(*list - '0');
		}
		list += strcspn(list, ",");
	}
	return number < most ? number : most;
}

unsigned shim_content_of(const char *list)
{
	return shim_number_of(list, SHIM_CONTENT_NAME, SHIM_CONTENT_MAX);
}

/* Patterns restrict the chosen families, but not the shim's own events. */
bool shim_is_chosen(enum shim_type type, unsigned families, const char *const *glob, unsigned globs)
{
	/* If the family of a type is not chosen, no pattern can choose the type. */
	if (!(families >> types[type].family & 1))
		return false;
	if (globs == 0 || types[type].family == FAMILY_SHIM)
		return true;
	for (unsigned i = 0; i < globs; i++)
		if (fnmatch(glob[i], shim_name_of(type), 0) == 0)
			return true;
	return false;
}
