/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_repair.c - uses a header whose checksum is wrong, as far as possible (FORMAT R8).
 *
 * It is unknown which bytes of the header are damaged. An impossible value is replaced by the
 * default. A possible value stays, although it may be wrong: the events do not depend on it.
 */
#include <pthread.h>
#include <string.h>

#include <trace.h>

#include "log/read_decode.h"

#define SIZE_MOST (UINT64_C(1) << 48)
#define NS_PER_S  INT64_C(1000000000)

/* The last byte becomes NUL, so that the text ends inside its field (FORMAT H6). */
static void repair_text(char *text, size_t room)
{
	text[room - 1] = '\0';
}

/*
 * No stream has sizes of 2^48 bytes. If a smaller size is wrong, the only effect is that users see
 * it.
 */
static void repair_size(uint64_t *size, uint64_t usual)
{
	if (*size > SIZE_MOST)
		*size = usual;
}

/*
 * Each field must have a value of <trace.h>. The policy of the log follows from the arrangement,
 * which the salvage has derived from the blocks themselves, so it overrides the field.
 */
static void repair_choices(struct ptx_log_header *h, const struct ptx_attr *usual)
{
	if (h->inheritance != POSIX_TRACE_CLOSE_FOR_CHILD &&
	    h->inheritance != POSIX_TRACE_INHERITED)
		h->inheritance = usual->inheritance;
	if (h->stream_policy != POSIX_TRACE_LOOP && h->stream_policy != POSIX_TRACE_UNTIL_FULL &&
	    h->stream_policy != POSIX_TRACE_FLUSH)
		h->stream_policy = POSIX_TRACE_FLUSH; /* the default of a stream with log */
	/* Only LOOP logs have slots (FORMAT 2.1). */
	if (h->arrangement == PTX_LOG_SLOTS)
		h->log_policy = POSIX_TRACE_LOOP;
	else if (h->log_policy != POSIX_TRACE_UNTIL_FULL)
		h->log_policy = POSIX_TRACE_APPEND;
}

void ptx_log_repair_header(struct ptx_log_header *h)
{
	struct ptx_attr usual;

	/*
	 * A log of another version or machine is not repaired, so the values of this version and
	 * machine are right.
	 */
	h->byte_order = PTX_LOG_BYTE_ORDER;
	/* Fields with the same value in every log of this version and machine (FORMAT H2). */
	h->header_bytes = PTX_LOG_HEADER_BYTES;
	/* With damaged flags, a reader would refuse a log that this version can read. */
	h->flags_incompatible = 0;
	h->flags_compatible = 0;
	h->word_bytes = sizeof(void *);
	h->pthread_bytes = sizeof(pthread_t);
	h->event_set_bytes = PTX_EVENT_SET_BYTES;
	h->record_bytes = sizeof(struct ptx_record);
	h->block_bytes = sizeof(struct ptx_log_block);

	/* The defaults are those of a new attributes object. */
	memset(&usual, 0, sizeof(usual));
	/* ptx_attr_init() sets every field that a program can get. */
	ptx_attr_init(&usual);
	repair_choices(h, &usual);
	repair_size(&h->stream_size, usual.stream_size);
	repair_size(&h->max_data_size, usual.max_data_size);
	repair_size(&h->log_size, usual.log_size);
	/* Programs divide by the resolution, so it must not be zero. */
	if (h->clock_resolution < 1 || h->clock_resolution > NS_PER_S)
		h->clock_resolution = 1;
	/* Texts are used as strings, so each needs its NUL (FORMAT H6). */
	repair_text(h->clock, sizeof(h->clock));
	repair_text(h->host, sizeof(h->host));
	repair_text(h->name, sizeof(h->name));
	repair_text(h->generation, sizeof(h->generation));
}
