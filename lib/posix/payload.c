/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/payload.c - payloads field by field, for languages that cannot use the macros.
 *
 * Each function that adds a field makes one argument, as the macros do, and passes this argument to
 * the packer. So macros and functions make the same payload.
 *
 * Threads  one thread uses a payload. Async-signal-safe.
 */
#include <stddef.h>

#include <trace_np.h>

#include "base/export.h"
#include "record/schema.h"

/*
 * Other threads and processes change this byte when they attach or detach streams. The function
 * loads it once, without a barrier: a caller that sees a change late only misses one event, or
 * makes one useless call.
 */
PTX_EXPORT int posix_trace_is_active_np(void)
{
	return *posix_trace_active_np != 0;
}

/*
 * All memory that the program provides behind the head is room for fields. `size` may differ from
 * sizeof(*payload) in this version.
 */
PTX_EXPORT void posix_trace_payload_begin_np(struct posix_trace_payload_np *payload, size_t size)
{
	const size_t head = offsetof(struct posix_trace_payload_np, bytes);

	payload->len = 0;
	payload->full = 0;
	payload->size = size > head ? (unsigned)(size - head) : 0;
}

/*
 * If a field does not fit even when it is truncated, this field and all later fields are omitted.
 */
static void payload_add(struct posix_trace_payload_np *payload,
			const struct posix_trace_arg_np *arg)
{
	size_t len = 0;

	if (!payload->full)
		len = posix_trace_fields_pack_np(payload->bytes + payload->len,
						 payload->size - payload->len, arg, 1);
	payload->full |= len == 0;
	payload->len += len;
}

/*
 * The packer accepts integers of all sizes as 64 bits and keeps the low bytes. A bool is 0 or 1 in
 * a payload, whatever the program passes. If the type is not an integer type, this field and all
 * later fields are omitted.
 */
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
		payload_add(payload, &arg);
	else
		payload->full = 1;
}

/*
 * Only f32 and f64 are accepted, because the packer would read the bits of another type as an
 * integer. If the type is another one, this field and all later fields are omitted.
 */
PTX_EXPORT void posix_trace_payload_real_np(struct posix_trace_payload_np *payload,
					    enum posix_trace_type_np type, double value)
{
	const struct ptx_schema_type *known = ptx_schema_type(type);
	const struct posix_trace_arg_np arg = { .type = type, .f64 = value };

	if (known && known->form == POSIX_TRACE_FORM_FLOAT_NP)
		payload_add(payload, &arg);
	else
		payload->full = 1;
}

/*
 * The string is truncated to the room that is left, and always ends in a NUL unless `room` gives it
 * a fixed size.
 */
PTX_EXPORT void posix_trace_payload_str_np(struct posix_trace_payload_np *payload,
					   const char *string, unsigned room)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_STR_N_NP(string, room);

	payload_add(payload, &arg);
}

/*
 * If bytes are omitted because there is no room, the recorded length counts only the bytes that
 * were kept.
 */
PTX_EXPORT void posix_trace_payload_bytes_np(struct posix_trace_payload_np *payload,
					     const void *bytes, size_t len)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_BYTES_NP(bytes, len);

	payload_add(payload, &arg);
}

/*
 * An array without bytes adds nothing to the payload. It is not passed to the packer, for which the
 * size 0 means a field of varying length.
 */
PTX_EXPORT void posix_trace_payload_array_np(struct posix_trace_payload_np *payload,
					     const void *bytes, unsigned len)
{
	const struct posix_trace_arg_np arg = POSIX_TRACE_BYTES_N_NP(bytes, len);

	if (len)
		payload_add(payload, &arg);
}

/*
 * The event has the address of the caller, like an event that a macro records.
 */
PTX_EXPORT void posix_trace_payload_event_np(const struct posix_trace_payload_np *payload,
					     trace_event_id_t event_id)
{
	posix_trace_event_at_np(event_id, payload->bytes, payload->len,
				__builtin_return_address(0));
}
