/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload_types.c - an array with the names of the types. It is generated from the list that the
 * preload library itself uses.
 */
#include "log/preload_types.h"

#include <stddef.h>
#include <string.h>

#include "../../../lib/preload/types.h" /* the event types of the shim */

const char *const preload_types[] = {
#define NAME(type, family, name, schema) name,
	SHIM_TYPES(NAME)
#undef NAME
	NULL
};

bool preload_types_has(const char *name)
{
	for (const char *const *type = preload_types; *type; type++)
		if (!strcmp(*type, name))
			return true;
	return false;
}
