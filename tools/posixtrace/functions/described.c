/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* described.c - makes the event types of functions whose arguments are recorded. */
#include "functions/described.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/preload/types.h"
#include "base/vec.h"
#include "symbols/demangle.h"

/*
 * Stores the name of the event type, which contains the name of the function in the source, without
 * parameters. If the source's name does not fit, or contains parentheses, the event type contains
 * the linker's name of the function instead. Returns false if both names are too long.
 */
static bool name_type(const char *function, char name[TRACE_EVENT_NAME_MAX + 1])
{
	const size_t room = TRACE_EVENT_NAME_MAX + 1;
	char *source = demangle(function);
	bool fits = source && *source != '(' && !strstr(source, "::(") &&
		    (size_t)snprintf(name, room, SHIM_CALL_PREFIX "%.*s",
				     (int)strcspn(source, "("), source) < room;

	free(source);
	return fits || (size_t)snprintf(name, room, SHIM_CALL_PREFIX "%s", function) < room;
}

/* Stores the schema of the event type. Returns false if the library would not accept it. */
static bool make_schema(const struct arguments *arguments,
			char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1])
{
	struct posix_trace_schema_np *parsed = malloc(sizeof(*parsed));
	const int len = snprintf(schema, POSIX_TRACE_SCHEMA_MAX_NP + 1,
				 SHIM_CALL_FIELDS "; %s; @span function", arguments->schema);
	const bool fits = parsed && len <= POSIX_TRACE_SCHEMA_MAX_NP &&
			  !posix_trace_schema_parse_np(schema, parsed);

	free(parsed);
	return fits;
}

/*
 * Finds or makes an event type. Returns the index of the type. Returns described->types if the type
 * does not exist and cannot be made, because there are too many types or a type of this name has
 * other fields.
 */
static size_t type_index(struct described *described, const char *name, const char *schema)
{
	struct described_type type;

	for (size_t i = 0; i < described->types; i++)
		if (!strcmp(described->type[i].name, name))
			return strcmp(described->type[i].schema, schema) ? described->types : i;
	if (described->types == DESCRIBED_TYPES ||
	    !vec_grow(&described->type, described->types, 1))
		return described->types;
	type = (struct described_type){ strdup(name), strdup(schema) };
	if (!type.name || !type.schema) {
		free(type.name);
		free(type.schema);
		return described->types;
	}
	described->type[described->types] = type;
	return described->types++;
}

/* Returns whether there is room for this number of values. */
static bool has_room(struct described *described, size_t values)
{
	return described->arguments + values <= SHIM_PLAN_ARGUMENTS / 2 &&
	       vec_grow(&described->argument, described->arguments, values);
}

bool described_take(struct described *described, struct prototypes *prototypes,
		    const struct binary_function *function, enum arguments_way way,
		    struct shim_plan_site *site)
{
	char name[TRACE_EVENT_NAME_MAX + 1], schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct arguments *arguments = malloc(sizeof(*arguments));
	size_t values, type;

	if (!arguments)
		return false;
	if (!arguments_of(prototypes, function->address, function->name, way, arguments)) {
		free(arguments);
		return true;
	}
	values = arguments->count + arguments->has_result;
	type = described->types;
	if (name_type(function->name, name) && make_schema(arguments, schema) &&
	    has_room(described, values))
		type = type_index(described, name, schema);
	if (type < described->types) {
		memcpy(described->argument + described->arguments, arguments->plan,
		       values * sizeof(*arguments->plan));
		site->type = (uint32_t)type;
		site->first = (uint32_t)described->arguments;
		site->arguments = (uint8_t)arguments->count;
		site->has_type = true;
		site->has_result = arguments->has_result;
		described->arguments += values;
		described->functions++;
	} else {
		described->left_out++;
	}
	free(arguments);
	return true;
}

void described_fini(struct described *described)
{
	for (size_t i = 0; i < described->types; i++) {
		free(described->type[i].name);
		free(described->type[i].schema);
	}
	free(described->type);
	free(described->argument);
	memset(described, 0, sizeof(*described));
}
