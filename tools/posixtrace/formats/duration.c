/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/duration.h"

#include <string.h>

#include "spans/pairing.h"

int duration_field(const struct fmt_type *type)
{
	static const char held[] = "_held";
	size_t len = sizeof(held) - 1;

	if (!type->fields || type->phase != FMT_MARK ||
	    (type->name_len >= len && !memcmp(type->name + type->name_len - len, held, len)))
		return -1;
	return pairing_time_field(type->fields);
}

bool duration_of(const struct fmt_event *event, int field, uint64_t *took_ns)
{
	struct posix_trace_value_np value;

	if (field < 0 || !posix_trace_field_get_np(event->type->fields, (unsigned)field, 0, event->data,
						   event->data_len, 0, &value))
		return false;
	*took_ns = value.u64;
	return true;
}
