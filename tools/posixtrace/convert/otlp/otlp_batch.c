/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_batch.c - reads the entries and bodies, and makes requests. The records of one request are
 * grouped by resource and scope, and keep their order in each group.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "base/vec.h"
#include "base/whole.h"
#include "convert/otlp/otlp.h"
#include "log/logfile.h"

/*
 * A request has at most BATCH_RECORDS records. When it has BATCH_BYTES bytes, it gets no further
 * record.
 */
#define BATCH_RECORDS 1024
#define BATCH_BYTES   (1u << 20)

struct batch_record {
	uint32_t resource, scope;
	size_t place;            /* position of the record in the batch */
	size_t at, len;          /* place in "records" */
};

struct batch {
	enum otlp_signal signal;
	struct batch_record record[BATCH_RECORDS];
	size_t count;
	struct proto records;    /* the messages of the records, one behind the other */
	struct proto request;
};

struct writing {
	struct otlp *otlp;
	struct batch batch[OTLP_SIGNALS];
	uint8_t *bytes;          /* bodies that were read ahead */
	size_t room, used;
	uint64_t from;           /* the place of these bytes in the file */
	uint64_t records;        /* the number of the current record */
};

/* ------------------------------------------------------------------ requests */

static int compare_records(const void *left, const void *right)
{
	const struct batch_record *a = left, *b = right;

	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

/*
 * Writes the record with the index "first", and the records behind it that have the same resource
 * and scope. Returns the index behind these records.
 */
static size_t put_scope(struct writing *writing, struct batch *batch, size_t first)
{
	const struct batch_record *record = batch->record;
	struct proto *p = &batch->request;
	size_t scopes = proto_begin(p, RESOURCES_SCOPES), scope = proto_begin(p, SCOPES_SCOPE);
	size_t i = first;

	otlp_scope_put(writing->otlp, p, record[first].scope);
	proto_end(p, scope);
	for (; i < batch->count && record[i].resource == record[first].resource &&
	       record[i].scope == record[first].scope; i++)
		proto_bytes(p, SCOPES_RECORDS, batch->records.bytes + record[i].at, record[i].len);
	proto_end(p, scopes);
	return i;
}

static size_t put_resource(struct writing *writing, struct batch *batch, size_t first)
{
	const struct batch_record *record = batch->record;
	struct proto *p = &batch->request;
	size_t resources = proto_begin(p, DATA_RESOURCES);
	size_t resource = proto_begin(p, RESOURCES_RESOURCE), i = first;

	otlp_resource_put(writing->otlp, p, record[first].resource);
	proto_end(p, resource);
	while (i < batch->count && record[i].resource == record[first].resource)
		i = put_scope(writing, batch, i);
	proto_end(p, resources);
	return i;
}

/* Passes the request with the records of the batch to emit(), and empties the batch. */
static int emit_batch(struct writing *writing, struct batch *batch)
{
	size_t count = batch->count;
	int err;

	if (!count)
		return 0;
	batch->request.used = 0;
	qsort(batch->record, count, sizeof(batch->record[0]), compare_records);
	for (size_t i = 0; i < count;)
		i = put_resource(writing, batch, i);
	if (batch->request.failed || batch->records.failed)
		return ENOMEM;
	err = writing->otlp->emit(writing->otlp->arg, batch->signal, &batch->request, count);
	batch->count = 0;
	batch->records.used = 0;
	return err;
}

/* ------------------------------------------------------------------ records */

/* Reads the piece of the file of bodies that begins at the offset "at". */
static int read_ahead(struct writing *writing, uint64_t at, size_t len)
{
	const struct otlp *otlp = writing->otlp;
	size_t piece = len > BATCH_BYTES ? len : BATCH_BYTES;
	int err;

	if (piece > otlp->bodies_used - at)
		piece = (size_t)(otlp->bodies_used - at);
	if (!vec_reserve(&writing->bytes, &writing->room, 0, piece))
		return ENOMEM;
	writing->used = 0;
	err = whole_pread(otlp->bodies->fd, writing->bytes, piece, at);
	writing->from = at;
	writing->used = err ? 0 : piece;
	return err;
}

/*
 * Appends a part of the file of bodies to the record. Bodies are read in the order in which they
 * were written, so a large piece is read ahead. The attributes of a span's beginning may be far
 * from this piece. In this case they are read separately.
 */
static int append_body(struct writing *writing, struct proto *p, uint64_t at, size_t len,
		       bool is_begin)
{
	uint8_t *to = proto_room(p, len);
	int err = 0;

	if (!len)
		return 0;
	if (!to)
		return ENOMEM;
	p->used += len;
	if (at >= writing->from && at + len <= writing->from + writing->used)
		memcpy(to, writing->bytes + (at - writing->from), len);
	else if (is_begin)
		err = whole_pread(writing->otlp->bodies->fd, to, len, at);
	else if (!(err = read_ahead(writing, at, len)))
		memcpy(to, writing->bytes, len);
	return err;
}

static void put_id(struct proto *p, unsigned field, const uint8_t *id, size_t bytes)
{
	if (otlp_has(id, bytes))
		proto_bytes(p, field, id, bytes);
}

/*
 * Appends the members that were not known when the body was written. This is possible because the
 * members of a message may have any order.
 */
static void put_context(struct proto *p, const struct otlp_entry *entry)
{
	const struct otlp_context *context = &entry->context;
	size_t link;

	if (entry->signal == OTLP_LOGS) {
		/*
		 * A LogRecord with the identifier of a span but without an identifier of a trace
		 * would be invalid.
		 */
		if (!otlp_has(context->trace, TRACE_ID_BYTES))
			return;
		put_id(p, LOG_TRACE_ID, context->trace, TRACE_ID_BYTES);
		put_id(p, LOG_SPAN_ID, context->span, SPAN_ID_BYTES);
		if (context->flags & 0xff)
			proto_fixed32(p, LOG_FLAGS, context->flags & 0xff);
		return;
	}
	put_id(p, SPAN_TRACE_ID, context->trace, TRACE_ID_BYTES);
	put_id(p, SPAN_SPAN_ID, context->span, SPAN_ID_BYTES);
	put_id(p, SPAN_PARENT_ID, context->parent, SPAN_ID_BYTES);
	if (context->flags)
		proto_fixed32(p, SPAN_FLAGS, context->flags);
	if (!otlp_has(entry->link_span, SPAN_ID_BYTES))
		return;
	link = proto_begin(p, SPAN_LINKS);
	put_id(p, LINK_TRACE_ID, entry->link_trace, TRACE_ID_BYTES);
	put_id(p, LINK_SPAN_ID, entry->link_span, SPAN_ID_BYTES);
	proto_end(p, link);
}

/*
 * Adds the attribute log.record.uid of the semantic conventions. A receiver may drop a second
 * record with an equal attribute. The attribute has the identity of the log and the number of the
 * record in the log. If the command ship gives another name of the host, the attribute also has the
 * seed, which depends on this name.
 */
static void put_uid(const struct writing *writing, struct proto *p)
{
	const struct posix_trace_loginfo_np *info = &writing->otlp->flow->logs[0]->info;
	char uid[2 * sizeof(info->uuid) + 64];
	char *end = put_hex_bytes(uid, info->uuid, sizeof(info->uuid));
	size_t room = sizeof(uid) - (size_t)(end - uid);

	if (writing->otlp->host)
		snprintf(end, room, "-%" PRIx64 "-%" PRIx64 "-%" PRIu64, info->log_id,
			 writing->otlp->seed[0], writing->records);
	else
		snprintf(end, room, "-%" PRIx64 "-%" PRIu64, info->log_id, writing->records);
	otlp_string(p, LOG_ATTRIBUTES, "log.record.uid", uid);
}

/* Adds the record of an entry to the batch of its signal. */
static int add_record(void *arg, struct otlp_entry *entry)
{
	struct writing *writing = arg;
	struct batch *batch = &writing->batch[entry->signal];
	struct batch_record *record = &batch->record[batch->count];
	struct proto *p = &batch->records;
	int err;

	writing->records++;
	if (writing->otlp->seen[entry->signal]++ < writing->otlp->skip[entry->signal])
		return 0;
	*record = (struct batch_record){ entry->resource, entry->scope, batch->count, p->used, 0 };
	put_context(p, entry);
	if (entry->signal == OTLP_LOGS && writing->otlp->has_uids)
		put_uid(writing, p);
	err = append_body(writing, p, entry->first_at, entry->first_len, true);
	if (!err)
		err = append_body(writing, p, entry->body_at, entry->body_len, false);
	if (err)
		return err;
	record->len = p->used - record->at;
	batch->count++;
	return batch->count < BATCH_RECORDS && p->used < BATCH_BYTES ? 0
								     : emit_batch(writing, batch);
}

int otlp_write(struct otlp *otlp)
{
	struct writing *writing = calloc(1, sizeof(*writing));
	int err;

	if (!writing)
		return ENOMEM;
	writing->otlp = otlp;
	for (unsigned i = 0; i < OTLP_SIGNALS; i++)
		writing->batch[i].signal = (enum otlp_signal)i;
	err = out_flush(otlp->bodies);
	if (!err)
		err = otlp_visit(otlp, false, add_record, writing);
	for (unsigned i = 0; !err && i < OTLP_SIGNALS; i++)
		err = emit_batch(writing, &writing->batch[i]);
	for (unsigned i = 0; i < OTLP_SIGNALS; i++) {
		free(writing->batch[i].records.bytes);
		free(writing->batch[i].request.bytes);
	}
	free(writing->bytes);
	free(writing);
	return err;
}

int otlp_end(struct otlp *otlp, const struct fmt_end *end)
{
	int err = otlp_account(otlp, end);

	if (!err)
		err = otlp_tree(otlp);
	return err ? err : otlp_write(otlp);
}
