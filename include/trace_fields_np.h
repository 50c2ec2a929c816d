/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_fields_np.h - records events with typed fields, as the schema of their type describes them.
 * Included by <trace_np.h>.
 *
 *	posix_trace_fields_np(id, POSIX_TRACE_S32_NP(fd), POSIX_TRACE_STR_NP(path));
 *
 * Threads  everything may be used from any thread at the same time.
 * Signals  everything is async-signal-safe.
 * errno    does not change.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_eventid_describe_np(3).
 */
#ifndef _TRACE_FIELDS_NP_H
#define _TRACE_FIELDS_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>
#include "trace.h"
#include "trace_point_np.h"
#include "trace_schema_np.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a field to be recorded. Make it with one of the macros below. */
struct posix_trace_arg_np {
	unsigned type; /* enum posix_trace_type_np */
	unsigned room; /* N of str[N] and bytes[N], else 0 */
	uint64_t u64;
	double f64;
	const void *data;
	size_t len;
};

#define POSIX_TRACE_U8_NP(v)    { POSIX_TRACE_TYPE_U8_NP, 0, (uint8_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_U16_NP(v)   { POSIX_TRACE_TYPE_U16_NP, 0, (uint16_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_U32_NP(v)   { POSIX_TRACE_TYPE_U32_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_U64_NP(v)   { POSIX_TRACE_TYPE_U64_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_S8_NP(v)    { POSIX_TRACE_TYPE_S8_NP, 0, (uint8_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_S16_NP(v)   { POSIX_TRACE_TYPE_S16_NP, 0, (uint16_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_S32_NP(v)   { POSIX_TRACE_TYPE_S32_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_S64_NP(v)   { POSIX_TRACE_TYPE_S64_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_X8_NP(v)    { POSIX_TRACE_TYPE_X8_NP, 0, (uint8_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_X16_NP(v)   { POSIX_TRACE_TYPE_X16_NP, 0, (uint16_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_X32_NP(v)   { POSIX_TRACE_TYPE_X32_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_X64_NP(v)   { POSIX_TRACE_TYPE_X64_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_F32_NP(v)   { POSIX_TRACE_TYPE_F32_NP, 0, 0, (double)(v), NULL, 0 }
#define POSIX_TRACE_F64_NP(v)   { POSIX_TRACE_TYPE_F64_NP, 0, 0, (double)(v), NULL, 0 }
#define POSIX_TRACE_BOOL_NP(v)  { POSIX_TRACE_TYPE_BOOL_NP, 0, (v) ? 1u : 0u, 0, NULL, 0 }
#define POSIX_TRACE_CHAR_NP(v)  { POSIX_TRACE_TYPE_CHAR_NP, 0, (uint8_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_PTR_NP(v)   { POSIX_TRACE_TYPE_PTR_NP, 0, (uint64_t)(uintptr_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_NS_NP(v)    { POSIX_TRACE_TYPE_NS_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_TIME_NP(v)  { POSIX_TRACE_TYPE_TIME_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_ERRNO_NP(v) { POSIX_TRACE_TYPE_ERRNO_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_O8_NP(v)    { POSIX_TRACE_TYPE_O8_NP, 0, (uint8_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_O16_NP(v)   { POSIX_TRACE_TYPE_O16_NP, 0, (uint16_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_O32_NP(v)   { POSIX_TRACE_TYPE_O32_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_O64_NP(v)   { POSIX_TRACE_TYPE_O64_NP, 0, (uint64_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_FD_NP(v)    { POSIX_TRACE_TYPE_FD_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_SIGNAL_NP(v) { POSIX_TRACE_TYPE_SIGNAL_NP, 0, (uint32_t)(v), 0, NULL, 0 }
#define POSIX_TRACE_WAIT_NP(v)  { POSIX_TRACE_TYPE_WAIT_NP, 0, (uint32_t)(v), 0, NULL, 0 }
/* A string; a null pointer is an empty string. */
#define POSIX_TRACE_STR_NP(s)        { POSIX_TRACE_TYPE_STR_NP, 0, 0, 0, (s), 0 }
#define POSIX_TRACE_BYTES_NP(p, n)   { POSIX_TRACE_TYPE_BYTES_NP, 0, 0, 0, (p), (size_t)(n) }
/*
 * For str[N]: a string, shortened or filled with NULs to n bytes. For bytes[N] or an array of any
 * other type: n bytes as they are.
 */
#define POSIX_TRACE_STR_N_NP(s, n)   { POSIX_TRACE_TYPE_STR_NP, (unsigned)(n), 0, 0, (s), 0 }
#define POSIX_TRACE_BYTES_N_NP(p, n) { POSIX_TRACE_TYPE_BYTES_NP, (unsigned)(n), 0, 0, (p), 0 }

/*
 * This statement makes a payload of its arguments, one for each field of the type's schema, and
 * records the payload with one posix_trace_event(). It evaluates no argument while the process is
 * not traced. It uses a kilobyte of the stack for the payload, and 40 bytes for each argument. It
 * shortens strings and bytes to the room that the other fields leave; the fields after them are
 * complete.
 */
#if defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 199901L
#define posix_trace_fields_np(event_id, ...) \
	do { \
		if (*posix_trace_active_np) { \
			const struct posix_trace_arg_np posix_trace_arg_[] = { __VA_ARGS__ }; \
			unsigned char posix_trace_payload_[POSIX_TRACE_FIELDS_BYTES_NP]; \
			posix_trace_event((event_id), posix_trace_payload_, \
				posix_trace_fields_pack_np(posix_trace_payload_, \
					sizeof posix_trace_payload_, posix_trace_arg_, \
					sizeof posix_trace_arg_ / sizeof posix_trace_arg_[0])); \
		} \
	} while (0)
#endif

/*
 * Makes a payload of `args` values in `room` bytes, and returns the length of the payload in bytes.
 * If a field does not fit even when it is shortened, the function omits this field and all fields
 * after it.
 */
size_t posix_trace_fields_pack_sized_np(void *payload, size_t room,
					const struct posix_trace_arg_np *arg, size_t args,
					size_t arg_size);
static __inline size_t posix_trace_fields_pack_np(void *payload, size_t room,
						  const struct posix_trace_arg_np *arg,
						  size_t args)
{
	return posix_trace_fields_pack_sized_np(payload, room, arg, args, sizeof(*arg));
}

/*
 * A payload that is built field by field, for languages that cannot use the macros above. Only one
 * thread at a time may use a payload. All functions are async-signal-safe. If a field does not fit,
 * or its value does not have the type, the function stores 1 in the member `full`, and omits this
 * field and all fields after it.
 */
struct posix_trace_payload_np {
	size_t len;    /* bytes of the fields so far */
	int full;      /* not 0: a field was omitted */
	unsigned size; /* of the array bytes, from posix_trace_payload_begin_np() */
	unsigned char bytes[POSIX_TRACE_FIELDS_BYTES_NP];
};

/*
 * Begins a payload without fields. `size` is the size of *payload in bytes. The array `bytes` of
 * the caller's *payload may be longer than in the struct above.
 */
void posix_trace_payload_begin_np(struct posix_trace_payload_np *payload, size_t size);

/* Appends an integer of any type of constant size. Pass a negative number as two's complement. */
void posix_trace_payload_number_np(struct posix_trace_payload_np *payload,
				   enum posix_trace_type_np type, uint64_t value);

/* Appends a field of type f32 or f64. */
void posix_trace_payload_real_np(struct posix_trace_payload_np *payload,
				 enum posix_trace_type_np type, double value);

/* Appends a str, or str[room] if `room` is not 0. A null pointer is an empty string. */
void posix_trace_payload_str_np(struct posix_trace_payload_np *payload, const char *string,
				unsigned room);

/*
 * Appends a field of type bytes: the number `len`, then `len` bytes. The function shortens the
 * field to the room that is left.
 */
void posix_trace_payload_bytes_np(struct posix_trace_payload_np *payload, const void *bytes,
				  size_t len);

/* Appends `len` bytes as they are: a field bytes[len], or an array of any type. */
void posix_trace_payload_array_np(struct posix_trace_payload_np *payload, const void *bytes,
				  unsigned len);

/* Records the payload as the data of one event. The event's address is that of the caller. */
void posix_trace_payload_event_np(const struct posix_trace_payload_np *payload,
				  trace_event_id_t event_id);

#ifdef __cplusplus
}
#endif

#endif
