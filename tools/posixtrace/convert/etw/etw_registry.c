/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_registry.c - writes records with facts for which ETW has no fields: attributes, names,
 * schemas, the status, and losses by cause. etw_restore.c reads these records. Other readers of ETW
 * logs show them as events of an unknown class.
 */
#include <errno.h>
#include <string.h>

#include "convert/etw/etw_export.h"
#include "convert/octets.h"

#define LAYOUT 1 /* the version of the registry's records */

/* Writes a record of the registry's class. */
static int put_record(struct etw_sink *s, unsigned type, int64_t stamp, const void *payload,
		      size_t len)
{
	struct etw_full full = {
		.type = type, .level = 4, .version = 1, .pid = s->facts.pid, .stamp = stamp,
	};
	unsigned char header[ETW_FULL_BYTES];

	etw_guid_of_name(ETW_CLASS_REGISTRY, strlen(ETW_CLASS_REGISTRY), full.guid);
	etw_put_full(header, &full, sizeof(header) + len);
	return etw_writer_add(&s->writer, stamp, header, sizeof(header), payload, len);
}

/*
 * Writes a text with a NUL, so that etw_restore.c can read several texts in a row. Returns the end.
 */
static unsigned char *put_text(unsigned char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	p[len] = 0;
	return p + len + 1;
}

/*
 * Writes the attributes of the stream. The order of the fields agrees with the offsets in
 * etw_restore.c.
 */
static int put_stream(struct etw_sink *s, int64_t stamp)
{
	unsigned char payload[64 + 2 * (TRACE_NAME_MAX + 1) + sizeof(s->facts.host) +
			      sizeof(s->facts.clock) + 8], *p = payload;
	const struct fmt_facts *f = &s->facts;
	int inherited = 0, stream_policy = 0, log_policy = 0;
	size_t stream_size = 0, data_size = 0, log_size = 0;
	int64_t seconds = f->has_creation ? f->creation_ns / 1000000000 : 0;
	int64_t ns = f->has_creation ? f->creation_ns % 1000000000 : 0;

	if (f->has_attr) {
		posix_trace_attr_getinherited(&f->attr, &inherited);
		posix_trace_attr_getstreamfullpolicy(&f->attr, &stream_policy);
		posix_trace_attr_getlogfullpolicy(&f->attr, &log_policy);
		posix_trace_attr_getstreamsize(&f->attr, &stream_size);
		posix_trace_attr_getmaxdatasize(&f->attr, &data_size);
		posix_trace_attr_getlogsize(&f->attr, &log_size);
	}
	/*
	 * The field for the nanoseconds has no sign. So the seconds of a time before 1970 are
	 * rounded down.
	 */
	if (ns < 0) {
		seconds--;
		ns += 1000000000;
	}
	p = octets_put(p, LAYOUT, 4);
	p = octets_put(p, f->pid, 4);
	p = octets_put(p, (uint64_t)seconds, 8);
	p = octets_put(p, (uint64_t)ns, 4);
	p = octets_put(p, f->resolution_ns < UINT32_MAX ? (uint64_t)f->resolution_ns : UINT32_MAX,
		       4);
	p = octets_put(p, (uint64_t)inherited, 4);
	p = octets_put(p, (uint64_t)stream_policy, 4);
	p = octets_put(p, (uint64_t)log_policy, 4);
	p = octets_put(p, 0, 4);
	p = octets_put(p, stream_size, 8);
	p = octets_put(p, data_size, 8);
	p = octets_put(p, log_size, 8);
	p = put_text(p, s->session, strnlen(s->session, TRACE_NAME_MAX));
	p = put_text(p, f->generation, strnlen(f->generation, TRACE_NAME_MAX));
	p = put_text(p, f->host, strnlen(f->host, sizeof(f->host) - 1));
	p = put_text(p, f->clock, strnlen(f->clock, sizeof(f->clock) - 1));
	p = octets_put(p, f->clock_hz, 8);
	return put_record(s, ETW_REGISTRY_STREAM, stamp, payload, (size_t)(p - payload));
}

/*
 * Writes the stream and all types. The record of a schema precedes the record of its type. Names
 * are truncated to ETW_CLASS_NAME_MAX bytes, and longer schemas are omitted.
 */
int etw_registry_begin(struct etw_sink *s, const struct etw_class *classes, int64_t stamp)
{
	unsigned char payload[24 + ETW_CLASS_NAME_MAX + 1], *p;
	int err = put_stream(s, stamp);

	for (size_t i = 0; i < fmt_types(s->flow) && !err; i++) {
		const struct fmt_type *type = fmt_type_at(s->flow, i);
		size_t len = type->schema ? strlen(type->schema) : 0;

		if (len && len <= ETW_CLASS_NAME_MAX) {
			p = octets_put(payload, classes[i].id, 4);
			p = put_text(p, type->schema, len);
			err = put_record(s, ETW_REGISTRY_SCHEMA, stamp, payload,
					 (size_t)(p - payload));
		}
		if (err)
			break;
		p = octets_put(payload, classes[i].id, 4);
		memcpy(p, classes[i].guid, ETW_GUID_BYTES);
		p = octets_put(p + ETW_GUID_BYTES, classes[i].type, 4);
		len = type->name_len < ETW_CLASS_NAME_MAX ? type->name_len : ETW_CLASS_NAME_MAX;
		p = put_text(p, type->name, len);
		err = put_record(s, ETW_REGISTRY_TYPE, stamp, payload, (size_t)(p - payload));
	}
	return err;
}

/* Writes the losses and the status. Only a cause that has lost events gets a record. */
int etw_registry_end(struct etw_sink *s, const struct fmt_end *end, int64_t stamp)
{
	const struct posix_trace_status_info *status = &end->status;
	unsigned char payload[28], *p = payload;
	int err = 0;

	for (unsigned cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP && !err; cause++) {
		if (!s->lost[cause])
			continue;
		p = octets_put(payload, cause, 4);
		p = octets_put(p, s->lost[cause], 8);
		err = put_record(s, ETW_REGISTRY_LOST, stamp, payload, (size_t)(p - payload));
	}
	if (err || !end->has_status)
		return err;
	p = octets_put(payload, (uint64_t)status->posix_stream_status, 4);
	p = octets_put(p, (uint64_t)status->posix_stream_full_status, 4);
	p = octets_put(p, (uint64_t)status->posix_stream_overrun_status, 4);
	p = octets_put(p, (uint64_t)status->posix_log_full_status, 4);
	p = octets_put(p, (uint64_t)status->posix_log_overrun_status, 4);
	p = octets_put(p, (uint64_t)status->posix_stream_flush_status, 4);
	p = octets_put(p, (uint64_t)status->posix_stream_flush_error, 4);
	return put_record(s, ETW_REGISTRY_STATUS, stamp, payload, (size_t)(p - payload));
}
