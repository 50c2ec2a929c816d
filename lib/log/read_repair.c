/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_repair.c - from a header whose checksum is wrong, as much as can be believed.
 *
 * Nobody knows which of its bytes are damaged. What cannot be so becomes what it is by default;
 * what can be so stays, true or not.
 */
#include <pthread.h>
#include <string.h>

#include <trace.h>

#include "log/read_decode.h"

#define SIZE_MOST (UINT64_C(1) << 48)
#define NS_PER_S  INT64_C(1000000000)

static void mend_text(char *text, size_t room)
{
	text[room - 1] = '\0';
}

static void mend_size(uint64_t *size, uint64_t usual)
{
	if (*size > SIZE_MOST)
		*size = usual;
}

/* Each a value of <trace.h>. */
static void mend_choices(struct ptx_log_header *h, const struct ptx_attr *usual)
{
	if (h->inheritance != POSIX_TRACE_CLOSE_FOR_CHILD &&
	    h->inheritance != POSIX_TRACE_INHERITED)
		h->inheritance = usual->inheritance;
	if (h->stream_policy != POSIX_TRACE_LOOP && h->stream_policy != POSIX_TRACE_UNTIL_FULL &&
	    h->stream_policy != POSIX_TRACE_FLUSH)
		h->stream_policy = POSIX_TRACE_FLUSH; /* what a stream with log has by default */
	if (h->arrangement == PTX_LOG_SLOTS)
		h->log_policy = POSIX_TRACE_LOOP;
	else if (h->log_policy != POSIX_TRACE_UNTIL_FULL)
		h->log_policy = POSIX_TRACE_APPEND;
}

void ptx_log_repair_header(struct ptx_log_header *h)
{
	struct ptx_attr usual;

	h->byte_order = PTX_LOG_BYTE_ORDER;
	h->header_bytes = PTX_LOG_HEADER_BYTES;
	h->flags_incompatible = 0;
	h->flags_compatible = 0;
	h->word_bytes = sizeof(void *);
	h->pthread_bytes = sizeof(pthread_t);
	h->event_set_bytes = PTX_EVENT_SET_BYTES;
	h->record_bytes = sizeof(struct ptx_record);
	h->block_bytes = sizeof(struct ptx_log_block);

	memset(&usual, 0, sizeof(usual));
	ptx_attr_init(&usual);
	mend_choices(h, &usual);
	mend_size(&h->stream_size, usual.stream_size);
	mend_size(&h->max_data_size, usual.max_data_size);
	mend_size(&h->log_size, usual.log_size);
	if (h->clock_resolution < 1 || h->clock_resolution > NS_PER_S)
		h->clock_resolution = 1;
	mend_text(h->clock, sizeof(h->clock));
	mend_text(h->host, sizeof(h->host));
	mend_text(h->name, sizeof(h->name));
	mend_text(h->generation, sizeof(h->generation));
}
