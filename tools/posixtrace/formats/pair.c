/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * formats/pair.c - event types that begin and end something, by their names: X_begin and X_end
 * and the like are a span called X, where both are there.
 */
#include <string.h>

#include "formats/flow.h"

static const struct {
	const char *begin, *end;
} endings[] = {
	{ "_start", "_stop" }, { "_start", "_end" }, { "_begin", "_end" },
	{ "_enter", "_exit" }, { "_enter", "_leave" }, { "_entry", "_exit" },
};

#define ENDINGS (sizeof(endings) / sizeof(endings[0]))
#define NAME_MAX_BYTES 256

/* The bytes before that ending; 0: the name does not end so. */
static size_t stem(const struct fmt_type *type, const char *ending)
{
	size_t len = strlen(ending);

	if (type->name_len <= len || memcmp(type->name + type->name_len - len, ending, len) != 0)
		return 0;
	return type->name_len - len;
}

static struct fmt_type *partner(struct fmt_flow *flow, const struct fmt_type *type, size_t len,
				const char *ending)
{
	char name[NAME_MAX_BYTES];
	size_t end = strlen(ending);

	if (len + end > sizeof(name))
		return NULL;
	memcpy(name, type->name, len);
	memcpy(name + len, ending, end);
	return flow_find(flow, name, len + end);
}

/* The room for a name's copy behind every type is for the span's name. */
static void set(struct fmt_type *type, enum fmt_phase phase, size_t len)
{
	size_t schema = type->schema ? strlen(type->schema) + 1 : 0;
	char *span = (char *)(type + 1) + type->name_len + 1 + schema;

	if (type->span)
		return;
	memcpy(span, type->name, len);
	span[len] = '\0';
	type->span = span;
	type->phase = phase;
}

void flow_pair(struct fmt_flow *flow, struct fmt_type *type)
{
	/* What a stream does itself is no span of any thread. */
	if (type->id && type->id <= POSIX_TRACE_UNNAMED_USER_EVENT)
		return;
	for (size_t i = 0; i < ENDINGS; i++) {
		size_t len = stem(type, endings[i].begin);
		struct fmt_type *other = len ? partner(flow, type, len, endings[i].end) : NULL;

		if (other) {
			set(type, FMT_BEGIN, len);
			set(other, FMT_END, len);
		}
		len = stem(type, endings[i].end);
		other = len ? partner(flow, type, len, endings[i].begin) : NULL;
		if (other) {
			set(other, FMT_BEGIN, len);
			set(type, FMT_END, len);
		}
	}
}
