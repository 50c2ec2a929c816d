/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/payload.c - payloads field by field, for languages that cannot use the macros.
 *
 * Threads  one thread uses a payload. Async-signal-safe.
 */
#include <stddef.h>

#include <trace_np.h>

#include "base/export.h"
#include "record/schema.h"

PTX_EXPORT int posix_trace_is_active_np(void)
{
	return *posix_trace_active_np != 0;
}

PTX_EXPORT void posix_trace_payload_begin_np(struct posix_trace_payload_np *payload, size_t size)
{
	const size_t head = offsetof(struct posix_trace_payload_np, bytes);

	payload->len = 0;
	payload->full = 0;
	payload->size = size > head ? (unsigned)(size - head) : 0;
}

/* A field that does not fit even when cut is left out, and so are those after it. */
static void add(struct posix_trace_payload_np *payload, const struct posix_trace_arg_np *arg)
{
	size_t len = 0;

	if (!payload->full)
		len = posix_trace_fields_pack_np(payload->bytes + payload->len,
						 payload->size - payload->len, arg, 1);
	payload->full |= len == 0;
	payload->len += len;
}

PTX_EXPORT void posix_trace_payload_number_np(struct posix_trace_payload_np *payload,
					      enum posix_trace_type_np type, uint64_t value)
{
	const struct ptx_schema_type *known = ptx_schema_type(type);
	const struct posix_trace_arg_np arg = {
		.type = type,
		.u64 = type == POSIX_TRACE_TYPE_BOOL_NP ? value != 0 : value,
	};

	if (known && (known->form == POSIX_TRACE_FORM_UNSIGNED_NP ||
		      known->form == POSIX_TRACE_FORM_SIGNED_NP))
		add(payload, &arg);
	else
		payload->full = 1;
}

PTX_EXPORT void posix_trace_payload_real_np(struct posix_trace_payload_np *payload,
					    enum posix_trace_type_np type, double value)
{
	const struct ptx_schema_type *known = ptx_schema_type(type);
	const struct posix_trace_arg_np arg = { .type = type, .f64 = value };

	if (known && known->form == POSIX_TRACE_FORM_FLOAT_NP)
		add(payload, &arg);
	else
		payload->full = 1;
}

PTX_EXPORT void posix_trace_payload_str_np(struct posix_trace_payload_np *payload,
					   const char *string, unsigned room)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_STR_N_NP(string, room);

	add(payload, &arg);
}

PTX_EXPORT void posix_trace_payload_bytes_np(struct posix_trace_payload_np *payload,
					     const void *bytes, size_t len)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_BYTES_NP(bytes, len);

	add(payload, &arg);
}

PTX_EXPORT void posix_trace_payload_array_np(struct posix_trace_payload_np *payload,
					     const void *bytes, unsigned len)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_BYTES_N_NP(bytes, len);

	if (len)
		add(payload, &arg);
}

PTX_EXPORT void posix_trace_payload_event_np(const struct posix_trace_payload_np *payload,
					     trace_event_id_t event_id)
{
	posix_trace_event_at_np(event_id, payload->bytes, payload->len,
				__builtin_return_address(0));
}
