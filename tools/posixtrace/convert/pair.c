/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pair.c - event types that begin and end something by their names, for sinks that say so.
 */
#include <string.h>

#include "convert/flow.h"
#include "spans/by_name.h"

static bool find(void *arg, const char *name, size_t len)
{
	const struct fmt_type *type = flow_find(arg, name, len);

	return type && by_name_applies(type->id, type->fields);
}

/* The room for a name's copy behind every type is for the span's name. */
static void set(struct fmt_flow *flow, struct fmt_type *type)
{
	size_t schema = type->schema ? strlen(type->schema) + 1 : 0, stem;
	char *span = (char *)(type + 1) + type->name_len + 1 + schema;
	enum posix_trace_role_np role;

	if (type->span || !by_name_applies(type->id, type->fields))
		return;
	role = by_name(type->name, type->name_len, find, flow, &stem);
	if (role == POSIX_TRACE_POINT_NP)
		return;
	memcpy(span, type->name, stem);
	span[stem] = '\0';
	type->span = span;
	type->phase = role == POSIX_TRACE_BEGIN_NP ? FMT_BEGIN : FMT_END;
}

static void set_partner(void *arg, const char *name, size_t len)
{
	struct fmt_type *type = flow_find(arg, name, len);

	if (type)
		set(arg, type);
}

void flow_pair(struct fmt_flow *flow, struct fmt_type *type)
{
	set(flow, type);
	by_name_partners(type->name, type->name_len, set_partner, flow);
}
