/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probes.c - selects probes by patterns, and makes the schemas of their event types.
 *
 * The type of a field comes from the pattern. If the pattern has no type for the field, or has -,
 * the type of the field comes from probe_known.c. If the probe is not known there, the type comes
 * from the notes of <sys/sdt.h> in the files (binary_probes.c). The field then has the largest size
 * in the notes, and is signed if one of the notes has a signed number. An unsigned number of 8
 * bytes is shown in hexadecimal, because most such numbers are pointers.
 */
#include "functions/probes.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "base/path.h"
#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"
#include "functions/probe_known.h"

/* The types that a user may write, and their sizes in bytes; 0: a text. */
static const struct {
	const char *name;
	uint8_t bytes;
} types[] = {
	{ "str", 0 }, { "u8", 1 }, { "u16", 2 }, { "u32", 4 }, { "u64", 8 }, { "s8", 1 },
	{ "s16", 2 }, { "s32", 4 }, { "s64", 8 }, { "x8", 1 }, { "x16", 2 }, { "x32", 4 },
	{ "x64", 8 }, { "f32", 4 }, { "f64", 8 }, { "bool", 1 }, { "char", 1 }, { "ptr", 8 },
	{ "ns", 8 }, { "errno", 4 }, { "fd", 4 }, { "signal", 4 },
};

/*
 * Returns the number of bytes that a type has in an event, or -1 if there is no type of this name.
 */
static int bytes_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, name, len))
			return types[i].bytes;
	return -1;
}

/* Checks a list of types. Returns false after it printed an error. */
static bool are_types(const char *option, const char *list)
{
	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");

		if (!len) {
			say("--probe %s: a type is missing; write - for the type that the file "
			    "gives", option);
			return false;
		}
		if (bytes_of(at, len) < 0 && !(len == 1 && *at == '-')) {
			say("--probe %s: %.*s: no such type; there are str, numbers such as u32, "
			    "s64 and x8, f32, f64, bool, char, ptr, ns, errno, fd and signal, and "
			    "- for the type that the file gives",
			    option, (int)len, at);
			return false;
		}
		at += len;
		if (!*at)
			return true;
	}
}

static void free_pattern(struct probes_pattern *pattern)
{
	free(pattern->provider);
	free(pattern->name);
	free(pattern->types);
}

/* Splits PROVIDER:NAME[(TYPES)][@MODULE]. Returns false after it printed an error. */
static bool probes_split(struct probes_pattern *pattern, const char *text)
{
	const char *colon = strchr(text, ':'), *at = strrchr(text, '@');
	const char *end = at ? at : text + strlen(text);
	const char *open = colon ? memchr(colon, '(', (size_t)(end - colon)) : NULL;
	const char *behind = open ? open : end;

	if (!colon || colon == text || colon + 1 >= behind || (at && !at[1]) ||
	    (open && end[-1] != ')')) {
		say("--probe %s: expected PROVIDER:NAME, which (TYPE,...) and @MODULE may follow",
		    text_given(text));
		return false;
	}
	pattern->module = at ? at + 1 : NULL;
	pattern->provider = strndup(text, (size_t)(colon - text));
	pattern->name = strndup(colon + 1, (size_t)(behind - colon - 1));
	if (open)
		pattern->types = strndup(open + 1, (size_t)(end - open - 2));
	if (!pattern->provider || !pattern->name || (open && !pattern->types)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	return !open || are_types(text, pattern->types);
}

bool probes_add(struct probes *probes, const char *text)
{
	struct probes_pattern pattern = { NULL };

	if (!probes_split(&pattern, text)) {
		free_pattern(&pattern);
		return false;
	}
	if (!vec_grow(&probes->pattern, probes->patterns, 1)) {
		say("%s", strerror(ENOMEM));
		free_pattern(&pattern);
		return false;
	}
	probes->pattern[probes->patterns++] = pattern;
	return true;
}

void probes_fini(struct probes *probes)
{
	for (size_t i = 0; i < probes->patterns; i++)
		free_pattern(&probes->pattern[i]);
	for (size_t i = 0; i < probes->types; i++) {
		free(probes->type[i].name);
		free(probes->type[i].schema);
	}
	free(probes->pattern);
	free(probes->type);
	free(probes->value);
	memset(probes, 0, sizeof(*probes));
}

/*
 * If the name of a probe has two underscores, its documentation may have a hyphen in their place.
 * The function accepts both forms.
 */
static bool probes_matches(const char *glob, const char *name)
{
	char other[TRACE_EVENT_NAME_MAX + 1], *to = other;

	if (!fnmatch(glob, name, 0))
		return true;
	for (const char *from = name; *from && to < other + sizeof(other) - 1; from++)
		if (from[0] == '_' && from[1] == '_') {
			*to++ = '-';
			from++;
		} else {
			*to++ = *from;
		}
	*to = '\0';
	return !fnmatch(glob, other, 0);
}

const struct probes_pattern *probes_match(struct probes *probes, const char *path,
					  const struct binary_probe *probe)
{
	const struct probes_pattern *first = NULL;

	for (size_t i = 0; i < probes->patterns; i++) {
		struct probes_pattern *pattern = &probes->pattern[i];

		if ((first && pattern->is_matched) ||
		    fnmatch(pattern->provider, probe->provider, 0) ||
		    !probes_matches(pattern->name, probe->name) ||
		    (pattern->module && fnmatch(pattern->module, path, 0) &&
		     fnmatch(pattern->module, path_last(path), 0)))
			continue;
		pattern->is_matched = true;
		first = first ? first : pattern;
	}
	return first;
}

/*
 * Returns the event type of a probe, and makes the type if necessary. After a failure, stores the
 * reason and returns NULL.
 */
static struct probes_type *type_of(struct probes *probes, const struct probes_pattern *pattern,
				   const struct binary_probe *probe, const char **why)
{
	struct probes_type *type;
	char *name;

	if (strlen(probe->provider) + 1 + strlen(probe->name) > TRACE_EVENT_NAME_MAX) {
		*why = "its name is too long for an event type";
		return NULL;
	}
	*why = "there is no memory";
	if (asprintf(&name, "%s:%s", probe->provider, probe->name) < 0)
		return NULL;
	for (size_t i = 0; i < probes->types; i++)
		if (!strcmp(probes->type[i].name, name)) {
			free(name);
			return &probes->type[i];
		}
	if (probes->types == SHIM_PLAN_TYPES)
		*why = "a process has no more event types";
	if (probes->types == SHIM_PLAN_TYPES || !vec_grow(&probes->type, probes->types, 1)) {
		free(name);
		return NULL;
	}
	type = &probes->type[probes->types++];
	*type = (struct probes_type){ .name = name, .types = pattern->types,
				      .known = probe_known(probe->provider, probe->name) };
	return type;
}

const char *probes_take(struct probes *probes, const struct binary_file *file,
			const struct probes_pattern *pattern, const struct binary_probe *probe,
			struct shim_plan_site *site)
{
	const char *why, *text = probe->arguments;
	struct probes_type *type = type_of(probes, pattern, probe, &why);
	struct probe_argument argument;
	unsigned number = 0;

	if (!type)
		return why;
	site->type = (uint32_t)(type - probes->type);
	site->first = (uint32_t)probes->values;
	for (; number < SHIM_PLAN_OF_SITE && probe_argument_next(file, &text, &argument);
	     number++) {
		struct probes_field *field = &type->field[number];

		/*
		 * If an argument is unknown at one place, it is missing in all events of the type.
		 */
		field->is_missing |= !argument.is_known;
		if (argument.plan.size > field->size)
			field->size = argument.plan.size;
		field->is_signed |= argument.plan.is_signed;
		field->is_float |= argument.is_float;
		if (probes->values == SHIM_PLAN_ARGUMENTS ||
		    !vec_grow(&probes->value, probes->values, 1))
			return "there is no memory";
		probes->value[probes->values++] = (struct probes_value){ argument.plan,
									 (uint8_t)number };
		site->arguments++;
	}
	if (number > type->fields)
		type->fields = number;
	return NULL;
}

/* Returns the type that a field has according to the notes of its probe. */
static const char *plain_type(const struct probes_field *field)
{
	static const char *const names[3][4] = {
		{ "u8", "u16", "u32", "x64" }, { "s8", "s16", "s32", "s64" },
		{ "u8", "u16", "f32", "f64" },
	};
	unsigned size = field->size == 8 ? 3 : field->size == 4 ? 2 : field->size == 2 ? 1 : 0;

	return names[field->is_float ? 2 : field->is_signed ? 1 : 0][size];
}

/*
 * Finds the first element of a list and returns its length. *list becomes the rest of the list
 * behind the element, or NULL if there is no rest.
 */
static size_t next_of(const char **list, char separator, const char **element)
{
	const char *end;

	*element = *list + strspn(*list, " ");
	end = strchr(*element, separator);
	*list = end ? end + 1 : NULL;
	return end ? (size_t)(end - *element) : strlen(*element);
}

/*
 * Makes the schema of a type, and sets the number of bytes of each field. Returns false if memory
 * is lacking.
 */
static bool make_schema(struct probes_type *type)
{
	const char *known = type->known, *given = type->types;
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1] = "";
	size_t len = 0;

	for (unsigned i = 0; i < type->fields; i++) {
		const char *is = plain_type(&type->field[i]), *name = NULL, *part;
		size_t is_len = strlen(is), name_len = 0, part_len;
		char number[16];

		if (known) {
			part_len = next_of(&known, ';', &part);
			is = part;
			is_len = strcspn(part, " ");
			name = part + is_len + 1;
			name_len = part_len - is_len - 1;
		}
		if (given) {
			part_len = next_of(&given, ',', &part);
			if (part_len != 1 || *part != '-') {
				is = part;
				is_len = part_len;
			}
		}
		if (!name) {
			name = number;
			name_len = (size_t)snprintf(number, sizeof(number), "arg%u", i + 1);
		}
		type->bytes[i] = type->field[i].is_missing ? -1 : bytes_of(is, is_len);
		if (type->bytes[i] >= 0)
			len += (size_t)snprintf(schema + len, sizeof(schema) - len, "%s%.*s %.*s",
						len ? "; " : "", (int)is_len, is, (int)name_len,
						name);
	}
	type->schema = strdup(schema);
	return type->schema;
}

bool probes_finish(struct probes *probes)
{
	for (size_t i = 0; i < probes->types; i++)
		if (!make_schema(&probes->type[i])) {
			say("%s", strerror(ENOMEM));
			return false;
		}
	return true;
}

/* The list to which add_place(), the callback of binary_probes(), appends each probe. */
struct list {
	struct probe_place *place;
	size_t count;
};

static bool add_place(void *arg, const struct binary_probe *probe)
{
	struct list *list = arg;

	if (!vec_grow(&list->place, list->count, 1))
		return false;
	list->place[list->count++].probe = *probe;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct probe_place *x = a, *y = b;

	return x->probe.address < y->probe.address ? -1 : x->probe.address > y->probe.address;
}

bool probes_of(struct binary_file *file, struct probe_place **place, size_t *count)
{
	struct list list = { NULL, 0 };
	bool good = binary_probes(file, add_place, &list);

	*place = list.place;
	*count = list.count;
	if (!good)
		return false;
	if (list.count)
		qsort(list.place, list.count, sizeof(*list.place), by_address);
	return true;
}
