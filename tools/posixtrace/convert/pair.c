/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pair.c - for sinks that show spans: finds event types that begin and end a span by their names,
 * such as read_begin and read_end. spans/by_name.h describes the rule.
 */
#include <string.h>

#include "convert/flow.h"
#include "spans/by_name.h"

/*
 * A function of the type by_name_find. Returns whether the flow has a type with this name, and the
 * rule applies to this type.
 */
static bool find_pairable(void *arg, const char *name, size_t len)
{
	const struct fmt_type *type = flow_find(arg, name, len);

	return type && by_name_applies(type->id, type->fields);
}

/*
 * Marks the type as begin or end if its name and the name of a partner make a span. copy_of() in
 * types.c leaves room for a second copy of the type's name behind each type. The function stores
 * the name of the span in this room, since this name is a part of the type's name.
 */
static void set_span(struct fmt_flow *flow, struct fmt_type *type)
{
	size_t schema = type->schema ? strlen(type->schema) + 1 : 0, stem;
	char *span = (char *)(type + 1) + type->name_len + 1 + schema;
	enum posix_trace_role_np role;

	if (type->span || !by_name_applies(type->id, type->fields))
		return;
	role = by_name(type->name, type->name_len, find_pairable, flow, &stem);
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
		set_span(arg, type);
}

void flow_pair(struct fmt_flow *flow, struct fmt_type *type)
{
	/* The new type may also be the partner that earlier types lacked. */
	set_span(flow, type);
	by_name_partners(type->name, type->name_len, set_partner, flow);
}
