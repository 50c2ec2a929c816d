/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * types.c - the event types of a conversion, found by name, id and variant in a hash table. Types
 * exist as long as the flow, and sinks use their indexes. The input determines the number of types,
 * so both limits below are needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/flow.h"

#define TYPES_MAX   65535
#define SCHEMAS_MAX 4096 /* parsed schemas; each has six kilobytes */

static const struct {
	unsigned id;
	const char *name;
} predefined[] = {
	{ POSIX_TRACE_ERROR, "posix_trace_error" },
	{ POSIX_TRACE_START, "posix_trace_start" },
	{ POSIX_TRACE_STOP, "posix_trace_stop" },
	{ POSIX_TRACE_FILTER, "posix_trace_filter" },
	{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
	{ POSIX_TRACE_RESUME, "posix_trace_resume" },
	{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
	{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
	{ POSIX_TRACE_UNNAMED_USER_EVENT, "posix_trace_unnamed_userevent" },
};

/*
 * The result of fmt_type() if memory is lacking. The flow has then stopped, but the source may
 * still use this type.
 */
static struct fmt_type no_memory = { .name = "", .level = -1 };

/*
 * Returns the id of the predefined type with this name, or 0. Most names differ from all predefined
 * names in the first bytes, so they need no search.
 */
static unsigned predefined_id(const char *name, size_t len)
{
	if (len < 12 || memcmp(name, "posix_trace_", 12) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(predefined) / sizeof(predefined[0]); i++)
		if (strlen(predefined[i].name) == len && !memcmp(predefined[i].name, name, len))
			return predefined[i].id;
	return 0;
}

struct wanted_type {
	const char *name;
	size_t len;
	unsigned id, variant;
	bool any; /* any id and variant */
};

/* Compares a type with the wanted type, for table_find(). */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct fmt_type *type = ((struct fmt_type *const *)array)[index];
	const struct wanted_type *wanted = key;

	return (wanted->any || (type->id == wanted->id && type->variant == wanted->variant)) &&
	       type->name_len == wanted->len && !memcmp(type->name, wanted->name, wanted->len);
}

/* Finds the wanted type. Returns NULL if it does not exist. */
static struct fmt_type *find_type(const struct fmt_flow *flow, const struct wanted_type *wanted)
{
	uint32_t index = table_find(&flow->table, hash_bytes(HASH_BEGIN, wanted->name, wanted->len),
				    is_at, flow->type, wanted);

	return index == TABLE_NONE ? NULL : flow->type[index];
}

struct fmt_type *flow_find(const struct fmt_flow *flow, const char *name, size_t len)
{
	return find_type(flow, &(struct wanted_type){ .name = name, .len = len, .any = true });
}

/*
 * Makes a copy of the type with its name, schema and span name in one piece of memory. Behind these
 * texts it leaves len + 1 bytes free. pair.c stores a span's name there, which is never longer than
 * the type's name.
 */
static struct fmt_type *copy_of(const struct fmt_type *what, size_t len)
{
	size_t schema = what->schema ? strlen(what->schema) + 1 : 0;
	size_t span = what->span ? strlen(what->span) + 1 : 0;
	struct fmt_type *type = malloc(sizeof(*type) + 2 * (len + 1) + schema + span);
	char *text = (char *)(type + 1);

	if (!type)
		return NULL;
	*type = *what;
	type->name = memcpy(text, what->name, len);
	text[len] = '\0';
	type->name_len = len;
	text += len + 1;
	if (schema)
		type->schema = memcpy(text, what->schema, schema);
	text += schema;
	if (span)
		type->span = memcpy(text, what->span, span);
	return type;
}

/*
 * Parses the schema. The level and the span from the source have priority over those from the
 * schema. If the text is not a schema, the type keeps the text but has no fields. If memory is
 * lacking, the flow stops.
 */
static void read_schema(struct fmt_flow *flow, struct fmt_type *type)
{
	struct posix_trace_schema_np *schema;

	type->fields = NULL;
	if (!type->schema || flow->schemas == SCHEMAS_MAX)
		return;
	schema = malloc(sizeof(*schema));
	if (!schema) {
		/* The fields would be missing in the output. */
		flow_answer(flow, ENOMEM);
		return;
	}
	if (posix_trace_schema_parse_np(type->schema, schema)) {
		free(schema);
		return;
	}
	flow->schemas++;
	type->fields = schema;
	if (type->level < 0 && schema->level)
		type->level = schema->level;
	if (!type->span && schema->span && schema->role != POSIX_TRACE_POINT_NP) {
		type->span = schema->span;
		type->phase = schema->role == POSIX_TRACE_BEGIN_NP ? FMT_BEGIN : FMT_END;
	}
}

/*
 * Adds a type, which must not exist yet. If memory is lacking, the flow stops, and the result is a
 * valid type without a name.
 */
static const struct fmt_type *add_type(struct fmt_flow *flow, const struct fmt_type *what,
				       size_t len, unsigned id)
{
	struct fmt_type *type = vec_grow(&flow->type, flow->types, 1) ? copy_of(what, len) : NULL;

	if (!type || !table_add(&flow->table, hash_bytes(HASH_BEGIN, type->name, len),
				(uint32_t)flow->types)) {
		free(type);
		flow_answer(flow, ENOMEM);
		return &no_memory;
	}
	type->id = id;
	type->index = flow->types;
	flow->type[flow->types++] = type;
	read_schema(flow, type);
	if (!type->span)
		flow_pair(flow, type);
	/*
	 * Before fmt_begin() the sink accepts no types. fmt_begin() will pass the types that exist
	 * already.
	 */
	if (flow->to->type && flow->begun && !flow->stopped)
		flow_answer(flow, flow->to->type(flow->context, type));
	return type;
}

const struct fmt_type *fmt_type(struct fmt_flow *flow, const struct fmt_type *what)
{
	size_t len = what->name_len ? what->name_len : strlen(what->name);
	unsigned id = what->id ? what->id : predefined_id(what->name, len);
	const struct fmt_type *known =
		find_type(flow, &(struct wanted_type){ what->name, len, id, what->variant, false });

	if (known)
		return known;
	/* The last index is reserved for the unnamed type. */
	if (flow->types + 1 < TYPES_MAX || id == POSIX_TRACE_UNNAMED_USER_EVENT)
		return add_type(flow, what, len, id);
	if (!flow->too_many_types)
		fmt_fault(flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "more than %d event types: the rest have no name", TYPES_MAX - 1);
	flow->too_many_types = true;
	return fmt_type_named(flow, "posix_trace_unnamed_userevent");
}

/* Returns whether the type has this schema. "schema" is NULL for a type without a schema. */
static bool is_described_as(const struct fmt_type *type, const char *schema)
{
	return type->schema && schema ? !strcmp(type->schema, schema) : type->schema == schema;
}

const struct fmt_type *flow_type_described(struct fmt_flow *flow, const struct fmt_type *what)
{
	struct fmt_type wanted = *what;
	size_t len = strlen(what->name);

	wanted.id = predefined_id(what->name, len);
	/* Variants are numbered from 0, one for each description, in the order of appearance. */
	for (;; wanted.variant++) {
		const struct fmt_type *known = find_type(flow, &(struct wanted_type){
			what->name, len, wanted.id, wanted.variant, false });

		if (!known)
			break;
		if (is_described_as(known, what->schema))
			return known;
	}
	return fmt_type(flow, &wanted);
}

const struct fmt_type *fmt_type_named(struct fmt_flow *flow, const char *name)
{
	struct fmt_type what = { .name = name, .level = -1 };

	return fmt_type(flow, &what);
}

size_t fmt_types(const struct fmt_flow *flow)
{
	return flow->types;
}

const struct fmt_type *fmt_type_at(const struct fmt_flow *flow, size_t index)
{
	return flow->type[index];
}
