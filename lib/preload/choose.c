/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/choose.h"

#include <fnmatch.h>
#include <string.h>

#define BIT(family) (1u << FAMILY_##family)

/* What is seldom called, or waits: at most some percent of what a server does. */
#define DEFAULT \
	(BIT(SHIM) | BIT(LOCK) | BIT(IO) | BIT(NET) | BIT(THREAD) | BIT(PROCESS) | BIT(TIME) | \
	 BIT(DL))

static const struct {
	const char *name;
	unsigned bits;
} names[] = {
	{ "alloc", BIT(ALLOC) },
	{ "lock", BIT(LOCK) },
	{ "lock-hold", BIT(LOCK) | BIT(HOLD) },
	{ "io", BIT(IO) },
	{ "stdio", BIT(STDIO) },
	{ "net", BIT(NET) },
	{ "thread", BIT(THREAD) },
	{ "process", BIT(PROCESS) },
	{ "signal", BIT(SIGNAL) },
	{ "time", BIT(TIME) },
	{ "dl", BIT(DL) },
	{ "func", BIT(FUNC) },
	{ "all", ~0u },
	{ "default", DEFAULT },
};

static const struct {
	const char *name;
	enum shim_family family;
} types[SHIM_TYPE_COUNT] = {
#define TYPE(type, family, name, schema) [type] = { name, FAMILY_##family },
	SHIM_TYPES(TYPE)
#undef TYPE
};

enum shim_family shim_family_of(enum shim_type type)
{
	return types[type].family;
}

static unsigned bits_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
			return names[i].bits;
	return 0;
}

static unsigned without(unsigned bits, const char *name, size_t len)
{
	if (len == 9 && memcmp(name, "lock-hold", len) == 0)
		return bits & ~BIT(HOLD);
	if (len == 4 && memcmp(name, "lock", len) == 0)
		bits &= ~BIT(HOLD);
	return bits & ~bits_of(name, len);
}

unsigned shim_families(const char *list)
{
	unsigned bits = !list || *list == '-' ? DEFAULT : 0;

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == 4 && memcmp(list, "none", len) == 0)
			bits = 0;
		else if (*list == '-')
			bits = without(bits, list + 1, len - 1);
		else
			bits |= bits_of(list, len);
		list += len;
		list += *list == ',';
	}
	return bits | BIT(SHIM);
}

bool shim_is_chosen(enum shim_type type, unsigned families, const char *const *glob, unsigned globs)
{
	if (!(families >> types[type].family & 1))
		return false;
	if (globs == 0 || types[type].family == FAMILY_SHIM)
		return true;
	for (unsigned i = 0; i < globs; i++)
		if (fnmatch(glob[i], types[type].name, 0) == 0)
			return true;
	return false;
}
