/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_schema_np.h - schemas, which describe the data of an event type, and the values that a
 * reader finds in the data by a schema. Included by <trace_np.h>.
 *
 * A schema is a text that belongs to an event type. It lists the fields of the event's data in
 * their order, and it has attributes of the type. The data has no padding, and has the byte order
 * of the machine that recorded the event. Semicolons separate items; blanks have no meaning:
 *
 *	TYPE NAME                   a field; NAME: a letter or _, then letters, digits, _; at most
 *	                            63 bytes
 *	TYPE NAME{0=read,1=write}   with names for values; numbers as in C
 *	TYPE NAME{|1=read,2=write}  with names for bits
 *	TYPE NAME{|3:0=r,3:1=w}     MASK:VALUE=NAME names a value of the bits in MASK
 *	TYPE NAME{LIST}             with the names of a list that precedes the field
 *	@names LIST{...}            a list of names as above, for any number of fields
 *	@level N                    1 critical, 2 error, 3 warning, 4 information, 5 verbose
 *	@begin SPAN, @end SPAN      the event begins or ends a span of time with that name
 *	@span SPAN                  the event is a whole span with that name. The span ends at the
 *	                            time of the event; its duration is the first field of type ns.
 *	                            If SPAN is the name of a field of type ptr, the field has the
 *	                            address of a function, and the span is a call of this function.
 *	                            A field "depth" then has the number of calls around this call
 *	@key NAME[,NAME]            a begin and an end match if these fields are equal in both;
 *	                            without @key, they match if they belong to one thread
 *	@counter NAME[,NAME]        fields with values over time, such as the length of a queue
 *	@format "TEXT"              the message of an event: a format of printf(), to which the
 *	                            fields are passed in their order; \" \\ \n \xHH are escapes
 *
 * Types: u8 u16 u32 u64 s8 s16 s32 s64; x8 x16 x32 x64, printed in hexadecimal; o8 o16 o32 o64,
 * printed in octal; f32 f64; bool (1 byte); char (1 byte); ptr (8 bytes) and ptr32 (4 bytes), which
 * may have a name, see <trace_object_np.h>; ns (u64, a duration); time (s64, CLOCK_REALTIME in
 * nanoseconds); errno (s32); fd (s32, a file descriptor of the process); signal (s32, a signal's
 * number); wait (s32, a status as wait(2) stores it); str (bytes up to a NUL or to the end of the
 * data); bytes (a u32 length, then the bytes).
 * TYPE[N] is an array of a type of constant size. str[N] is text in N bytes, with a NUL if the text
 * is shorter. bytes[N] is N bytes.
 *
 * Data that is shorter than its schema lacks the last fields. Data that is longer has bytes without
 * a description. Neither case is an error.
 *
 * Threads  every function may be called from any thread at the same time, with different objects of
 *          the caller.
 * Signals  every function is async-signal-safe, except posix_trace_eventid_describe_np(),
 *          posix_trace_eventid_get_schema_np() and the functions named print.
 * Errors   a function that can fail returns the error number, unless its comment says otherwise.
 *          errno does not change.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_eventid_describe_np(3).
 */
#ifndef _TRACE_SCHEMA_NP_H
#define _TRACE_SCHEMA_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_TRACE_SCHEMA_MAX_NP      1023 /* bytes of the text without its NUL */
#define POSIX_TRACE_FIELDS_MAX_NP      32
#define POSIX_TRACE_FIELD_NAME_MAX_NP  63   /* bytes of the name of a field, a value or a span */
#define POSIX_TRACE_ELEMENTS_MAX_NP    65535 /* elements of an array */
#define POSIX_TRACE_VALUE_NAMES_MAX_NP 128  /* of all fields of a schema */
#define POSIX_TRACE_KEYS_MAX_NP        4
#define POSIX_TRACE_NAME_LISTS_MAX_NP  8    /* @names in a schema */
#define POSIX_TRACE_LABEL_MAX_NP       1063 /* bytes of the label of a value without its NUL */
#define POSIX_TRACE_FIELDS_BYTES_NP    1024 /* of a payload that macros make on the stack */

/*
 * Describes an event type of the calling process for all its streams and their logs, including
 * existing ones. A later call cannot replace the description; a later call with the same text
 * succeeds. The function may be called before main().
 *
 * EINVAL: the process did not open the event type by a name, or the text is not a schema. EEXIST:
 * the type has another schema. ENOSPC: the schemas of the process fill their memory (400 KiB).
 * ENOMEM: the process has no memory for schemas.
 */
int posix_trace_eventid_describe_np(trace_event_id_t event_id, const char *schema);

/*
 * Stores the schema of an event type of an active stream or an opened log, with its NUL, in the
 * `size` bytes at `schema`. The text of a log or of another process may be invalid:
 * posix_trace_schema_parse_np() checks it.
 *
 * EINVAL: trid is not a stream of this process, the event type has no name, or a pointer is null.
 * ENOENT: the type has no schema. ERANGE: `size` is too small; POSIX_TRACE_SCHEMA_MAX_NP + 1 is
 * always enough.
 */
int posix_trace_eventid_get_schema_np(trace_id_t trid, trace_event_id_t event_id, char *schema,
				      size_t size);

enum posix_trace_type_np {
	POSIX_TRACE_TYPE_U8_NP = 1,
	POSIX_TRACE_TYPE_U16_NP,
	POSIX_TRACE_TYPE_U32_NP,
	POSIX_TRACE_TYPE_U64_NP,
	POSIX_TRACE_TYPE_S8_NP,
	POSIX_TRACE_TYPE_S16_NP,
	POSIX_TRACE_TYPE_S32_NP,
	POSIX_TRACE_TYPE_S64_NP,
	POSIX_TRACE_TYPE_X8_NP,
	POSIX_TRACE_TYPE_X16_NP,
	POSIX_TRACE_TYPE_X32_NP,
	POSIX_TRACE_TYPE_X64_NP,
	POSIX_TRACE_TYPE_F32_NP,
	POSIX_TRACE_TYPE_F64_NP,
	POSIX_TRACE_TYPE_BOOL_NP,
	POSIX_TRACE_TYPE_CHAR_NP,
	POSIX_TRACE_TYPE_PTR_NP,
	POSIX_TRACE_TYPE_NS_NP,
	POSIX_TRACE_TYPE_TIME_NP,
	POSIX_TRACE_TYPE_ERRNO_NP,
	POSIX_TRACE_TYPE_STR_NP,
	POSIX_TRACE_TYPE_BYTES_NP,
	POSIX_TRACE_TYPE_PTR32_NP,
	POSIX_TRACE_TYPE_O8_NP,
	POSIX_TRACE_TYPE_O16_NP,
	POSIX_TRACE_TYPE_O32_NP,
	POSIX_TRACE_TYPE_O64_NP,
	POSIX_TRACE_TYPE_FD_NP,
	POSIX_TRACE_TYPE_SIGNAL_NP,
	POSIX_TRACE_TYPE_WAIT_NP
};

/* The member of struct posix_trace_value_np that has the value. */
enum posix_trace_form_np {
	POSIX_TRACE_FORM_UNSIGNED_NP = 1, /* u64 */
	POSIX_TRACE_FORM_SIGNED_NP,       /* s64 */
	POSIX_TRACE_FORM_FLOAT_NP,        /* f64 */
	POSIX_TRACE_FORM_BYTES_NP         /* data and len */
};

enum posix_trace_role_np { POSIX_TRACE_POINT_NP, POSIX_TRACE_BEGIN_NP, POSIX_TRACE_END_NP };

/* A name for a value or for bits. This structure never grows. */
struct posix_trace_value_name_np {
	uint64_t value; /* of a signed type: two's complement in 64 bits */
	const char *name;
};

#define POSIX_TRACE_OFFSET_VARIES_NP ((size_t)-1)

/* A field of a schema. */
struct posix_trace_field_np {
	const char *name;
	enum posix_trace_type_np type;
	enum posix_trace_form_np form;
	unsigned size;        /* bytes of an element; 4 for type bytes, 0 for type str */
	unsigned count;       /* number of values: elements of an array, else 1 */
	int is_array;         /* 1 for TYPE[N], also if N is 1; 0 for str[N] and bytes[N] */
	unsigned room;        /* N of str[N] and bytes[N], else 0 */
	size_t offset;        /* in the data; POSIX_TRACE_OFFSET_VARIES_NP behind a str or bytes */
	int is_key;
	int has_bits;         /* the entries of value_name are names of bits */
	unsigned value_names; /* number of entries of value_name */
	int is_counter;       /* a value over time, see @counter */
	const struct posix_trace_value_name_np *value_name;
	/*
	 * For each entry of value_name, the MASK of MASK:VALUE=NAME, or 0 if the entry has no mask.
	 * Null if the caller's structure has no room for masks.
	 */
	const uint64_t *value_mask;
	uint64_t reserved[7]; /* 0; for later versions: this structure keeps its size */
};

/*
 * A parsed schema, in the caller's memory. The structure has pointers into itself: do not copy it
 * by assignment.
 */
struct posix_trace_schema_np {
	unsigned fields;
	struct posix_trace_field_np field[POSIX_TRACE_FIELDS_MAX_NP];
	int level;              /* 0: none */
	enum posix_trace_role_np role;
	/*
	 * Null: the event is a point in time. If `span` is not null and `role` is
	 * POSIX_TRACE_POINT_NP, the event is a whole span (@span).
	 */
	const char *span;
	unsigned keys;
	unsigned key[POSIX_TRACE_KEYS_MAX_NP]; /* numbers of fields */
	/* The memory to which the members above point. */
	unsigned value_names;
	struct posix_trace_value_name_np value_name[POSIX_TRACE_VALUE_NAMES_MAX_NP];
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	uint64_t value_mask[POSIX_TRACE_VALUE_NAMES_MAX_NP];
	/* The struct of a program that was compiled with an older version lacks this member. */
	const char *format;     /* null: events of this type have no message */
};

/*
 * Parses `text` into *schema. `text` may be any bytes up to a NUL. EINVAL: a pointer is null, or
 * `text` is not a schema. After an error the caller must not use *schema.
 */
int posix_trace_schema_parse_sized_np(const char *text, struct posix_trace_schema_np *schema,
				      size_t size);
static __inline int posix_trace_schema_parse_np(const char *text,
						struct posix_trace_schema_np *schema)
{
	return posix_trace_schema_parse_sized_np(text, schema, sizeof(*schema));
}

/*
 * Returns the reason, in English, why events cannot be recorded with this schema, a constant such
 * as "this is not a type". Returns null if `text` is a schema whose fields need no more than `room`
 * bytes, or is empty. If `text` is null, the reason is "there is no text". The fields need at least
 * the sum of their constant sizes, a NUL for each str without [N], and a count of 4 bytes for each
 * bytes without [N]. The function needs 12 KiB of stack, also in a signal handler.
 *
 * room  POSIX_TRACE_FIELDS_BYTES_NP if posix_trace_fields_pack_np() packs the values
 */
const char *posix_trace_schema_fault_np(const char *text, size_t room);

/* The data ends within this value, which has the type bytes, bytes[N] or str[N]. */
#define POSIX_TRACE_VALUE_CUT_NP 1u

/* A value of a payload. */
struct posix_trace_value_np {
	const struct posix_trace_field_np *field;
	unsigned index;   /* of the element in an array, else 0 */
	unsigned flags;   /* POSIX_TRACE_VALUE_*_NP */
	__extension__ union {
		uint64_t u64; /* bool is 0 or 1 */
		int64_t s64;
		double f64;
	};
	const void *data; /* the bytes in the payload; for str, without the NUL */
	size_t len;       /* number of bytes at `data` */
};

/* The position in a payload. Only the functions below change it. */
struct posix_trace_values_np {
	const struct posix_trace_schema_np *schema;
	const unsigned char *data; /* after the last value: the bytes without a description */
	size_t len;                /* number of bytes at `data` */
	unsigned field;
	unsigned index;
	unsigned flags;
	unsigned reserved[5];      /* 0; for later versions: this structure keeps its size */
};

#define POSIX_TRACE_VALUES_SWAPPED_NP 1u /* the payload has the other byte order */

/*
 * Begins to read the values of a payload of `len` bytes at `data`. The functions below read no byte
 * outside the payload.
 *
 * flags  POSIX_TRACE_VALUES_SWAPPED_NP or 0
 */
void posix_trace_values_begin_np(struct posix_trace_values_np *values,
				 const struct posix_trace_schema_np *schema, const void *data,
				 size_t len, unsigned flags);

/*
 * Stores the next value and returns 1; after the last value returns 0. An array has one value for
 * each element.
 */
int posix_trace_field_next_sized_np(struct posix_trace_values_np *values,
				    struct posix_trace_value_np *value, size_t size);
static __inline int posix_trace_field_next_np(struct posix_trace_values_np *values,
					      struct posix_trace_value_np *value)
{
	return posix_trace_field_next_sized_np(values, value, sizeof(*value));
}

/*
 * Finds one value by the number of its field and, in an array, the number of its element. Stores
 * the value and returns 1, or returns 0 if the payload does not have the value.
 */
int posix_trace_field_get_sized_np(const struct posix_trace_schema_np *schema, unsigned field,
				   unsigned index, const void *data, size_t len, unsigned flags,
				   struct posix_trace_value_np *value, size_t size);
static __inline int posix_trace_field_get_np(const struct posix_trace_schema_np *schema,
					     unsigned field, unsigned index, const void *data,
					     size_t len, unsigned flags,
					     struct posix_trace_value_np *value)
{
	return posix_trace_field_get_sized_np(schema, field, index, data, len, flags, value,
					      sizeof(*value));
}

/* Returns the name that the schema has for the whole value, or null. */
const char *posix_trace_value_name_np(const struct posix_trace_value_np *value);

/*
 * Stores the label of a value in the `size` bytes at `text`, with a NUL. The label is the name of
 * the value, the names of its bits with | between them, the name of an error or of a signal, or the
 * meaning of a wait status ("exited with 1", "killed by SIGSEGV"). Returns the length of the whole
 * label without its NUL, at most POSIX_TRACE_LABEL_MAX_NP, or 0 if the value has no label. `text`
 * may be null if `size` is 0. Async-signal-safe.
 */
size_t posix_trace_value_label_sized_np(const struct posix_trace_value_np *value,
					size_t value_size, char *text, size_t size);
static __inline size_t posix_trace_value_label_np(const struct posix_trace_value_np *value,
						  char *text, size_t size)
{
	return posix_trace_value_label_sized_np(value, sizeof(*value), text, size);
}

/*
 * Finds the value of a field by its name, such as O_CREAT or ENOENT. Stores the value in *number,
 * and in *mask the bits that the name describes. The name of a whole value describes all bits of
 * the field. Returns 1, or 0 if the field has no such name.
 */
int posix_trace_value_find_np(const struct posix_trace_field_np *field, const char *name,
			      uint64_t *number, uint64_t *mask);

/* Returns the name of a type, such as "u32", or null if there is no such type. */
const char *posix_trace_type_name_np(enum posix_trace_type_np type);

/*
 * Prints a value as posixtrace dump does, but without the name of an object, into the `size` bytes
 * at `text`, with a NUL. Returns the length of the whole text without its NUL, as snprintf() does:
 * if this length is `size` or more, the text was truncated. Bytes that are not printable ASCII
 * become escapes. Times are UTC. `text` may be null if `size` is 0. Allocates nothing. Not
 * async-signal-safe.
 */
size_t posix_trace_value_print_sized_np(const struct posix_trace_value_np *value,
					size_t value_size, char *text, size_t size);
static __inline size_t posix_trace_value_print_np(const struct posix_trace_value_np *value,
						  char *text, size_t size)
{
	return posix_trace_value_print_sized_np(value, sizeof(*value), text, size);
}

/*
 * Prints the message of an event, by the format in its schema, into the `size` bytes at `text`,
 * with a NUL. Returns the length of the whole text without its NUL, as snprintf() does, or 0 if
 * there is no format. Bytes of the format and of strings are not escaped. A question mark is
 * printed for a missing value. Widths and precisions beyond 512 count as 512. `text` may be null if
 * `size` is 0. Allocates no memory, except the memory that snprintf() of the C library allocates.
 * Not async-signal-safe.
 *
 * flags  POSIX_TRACE_VALUES_SWAPPED_NP or 0
 */
size_t posix_trace_message_print_sized_np(const struct posix_trace_schema_np *schema,
					  size_t schema_size, const void *data, size_t len,
					  unsigned flags, char *text, size_t size);
static __inline size_t posix_trace_message_print_np(const struct posix_trace_schema_np *schema,
						    const void *data, size_t len, unsigned flags,
						    char *text, size_t size)
{
	return posix_trace_message_print_sized_np(schema, sizeof(*schema), data, len, flags, text,
						  size);
}

/*
 * Prints an event of an active stream or of an opened log on one line: time, process, name of the
 * event type, and the fields that its schema describes. Data without a schema is printed as a
 * string or in hexadecimal.
 *
 * info, data, len  as posix_trace_getnext_event() stored them
 * text, size       receive the text with a NUL; `text` may be null if `size` is 0
 * length           receives the length of the whole text without its NUL
 *
 * Allocates nothing. Not async-signal-safe. EINVAL: trid is not a stream of this process, the event
 * type has no name there, or a pointer is null.
 */
int posix_trace_event_print_np(trace_id_t trid, const struct posix_trace_event_info *info,
			       const void *data, size_t len, char *text, size_t size,
			       size_t *length);

#ifdef __cplusplus
}
#endif

#endif
