/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfetto_annotate.c - adds debug annotations to events (perfetto.dev, debug_annotation.proto). */
#include "convert/viewer/perfetto.h"

#include "base/text.h"
#include "convert/explained.h"
#include "convert/plain.h"

size_t perfetto_begin_event(struct perfetto *perfetto, uint64_t type, uint64_t track)
{
	struct proto *p = &perfetto->packet;
	uint8_t *to = proto_room(p, PERFETTO_PIECE);
	size_t event;

	if (!to)
		return 0;
	to = proto_put_tag(to, PACKET_TRACK_EVENT << 3 | 2) + 4;
	event = (size_t)(to - p->bytes);
	to = proto_put_varint(proto_put_tag(to, EVENT_TYPE << 3), type);
	to = proto_put_varint(proto_put_tag(to, EVENT_TRACK_UUID << 3), track);
	p->used = (size_t)(to - p->bytes);
	return event;
}

void perfetto_annotate_text(struct proto *p, const char *name, const char *text)
{
	size_t annotation;

	if (!text || !*text)
		return;
	annotation = proto_begin(p, EVENT_ANNOTATION);
	proto_text(p, ANNOTATION_NAME, name);
	proto_text(p, ANNOTATION_STRING, text);
	proto_end(p, annotation);
}

void perfetto_annotate_number(struct proto *p, const char *name, unsigned field, uint64_t number)
{
	size_t annotation = proto_begin(p, EVENT_ANNOTATION);

	proto_text(p, ANNOTATION_NAME, name);
	proto_number(p, field, number);
	proto_end(p, annotation);
}

/*
 * Writes the data in hexadecimal digits. The function writes the digits directly into the message,
 * since data may be large. In protobuf a string consists of its field number with type 2, its
 * length and its bytes.
 */
static void annotate_hex(struct proto *p, const struct fmt_event *event)
{
	size_t annotation = proto_begin(p, EVENT_ANNOTATION), len = event->data_len;
	const uint8_t *from = event->data;
	uint8_t *to;

	proto_number(p, ANNOTATION_NAME_IID, NAME_HEX);
	/* Room for the digits, and at most 16 bytes for the field number and the length. */
	to = proto_room(p, 2 * len + 16);
	if (!to)
		return;
	to = proto_put_varint(to, ANNOTATION_STRING << 3 | 2);
	to = proto_put_varint(to, 2 * len);
	for (size_t i = 0; i < len; i++) {
		*to++ = (uint8_t)"0123456789abcdef"[from[i] >> 4];
		*to++ = (uint8_t)"0123456789abcdef"[from[i] & 15];
	}
	p->used = (size_t)(to - p->bytes);
	proto_end(p, annotation);
}

/* Writes the data as text if it is text, otherwise in hexadecimal digits. */
static void annotate_data(struct proto *p, const struct fmt_event *event)
{
	size_t annotation;

	/*
	 * Data with a NUL is written in hexadecimal digits, because some readers end a string at a
	 * NUL.
	 */
	if (!text_is_text(event->data, event->data_len, true) ||
	    memchr(event->data, 0, event->data_len)) {
		annotate_hex(p, event);
		return;
	}
	annotation = proto_begin(p, EVENT_ANNOTATION);
	proto_number(p, ANNOTATION_NAME_IID, NAME_DATA);
	proto_bytes(p, ANNOTATION_STRING, event->data, event->data_len);
	proto_end(p, annotation);
}

/*
 * Returns whether the fields describe all of the data, so that an annotation with the data would be
 * redundant.
 */
static bool is_explained(const struct perfetto_kind *kind, const struct fmt_event *event)
{
	bool add_nul;

	if (kind->integer)
		return event->data_len == kind->integers;
	return event->type->fields &&
	       explained(event->type->fields, event->data, event->data_len, &add_nul);
}

void perfetto_annotations(struct proto *p, const struct perfetto_kind *kind,
			  const struct fmt_event *event)
{
	if (event->data_len && !is_explained(kind, event))
		annotate_data(p, event);
	if (event->address)
		perfetto_annotate(p, NAME_ADDRESS, ANNOTATION_POINTER, event->address);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		perfetto_annotate(p, NAME_TRUNCATED, ANNOTATION_BOOL, 1);
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		perfetto_annotate(p, NAME_LATE, ANNOTATION_BOOL, 1);
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		perfetto_annotate(p, NAME_AFTER_DAMAGE, ANNOTATION_BOOL, 1);
	if (event->cpu >= 0)
		perfetto_annotate(p, NAME_CPU, ANNOTATION_UINT, (uint64_t)event->cpu);
	/*
	 * The track of a span with a key belongs to the process and does not show the thread. So an
	 * annotation has the number of the thread.
	 */
	if (event->span && event->span->keyed && event->tid)
		perfetto_annotate(p, NAME_TID, ANNOTATION_UINT, event->tid);
}
