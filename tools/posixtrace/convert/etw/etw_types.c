/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_types.c - the type and the data of each event.
 *
 * Types are found by a hash of all fields on which name, layout and level depend. So each type is
 * made only once.
 */
#include <search.h>
#include <stdlib.h>

#include "base/table.h"
#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_type.h"
#include "convert/octets.h"
#include "log/etw_tail.h"

/*
 * Returns a hash of 64 bits of the fields on which name, layout and level depend. If the record
 * contains its own description, the hash includes the description.
 */
static uint64_t key_of(const struct etw_record *r)
{
	uint32_t fields[] = { (uint32_t)r->kind, (uint32_t)r->group, r->type, r->id, r->component,
			      r->flags & 0x100, r->task, r->version, (uint32_t)r->level };
	uint64_t key = hash_bytes(HASH_BEGIN, fields, sizeof(fields));

	key = hash_bytes(key, r->guid, sizeof(r->guid));
	if (r->schema)
		key = hash_bytes(key, r->schema, r->schema_bytes);
	if (r->traits)
		key = hash_bytes(key, r->traits, r->traits_bytes);
	return key;
}

/*
 * Only the hash identifies a type. Two types with the same hash would have the name of the first.
 */
static int compare_keys(const void *a, const void *b)
{
	const struct etw_type *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/*
 * Sets the layout of the type. If the payload has no description, the layout remains NULL. Returns
 * false if memory is lacking.
 */
static bool find_layout(const struct etw_types *t, const struct etw_record *r,
			struct etw_type *type)
{
	char class[ETW_GUID_TEXT];
	bool damaged = false;

	if (t->payload_only || t->raw || r->bad_items)
		return true;
	if (!etw_tracelogging(r, &type->own, &damaged))
		return false;
	if (damaged)
		fmt_fault(t->flow, FMT_WARN, r->at, "E24",
			  "the description of a TraceLogging event is not whole: its payload is "
			  "not decoded");
	type->layout = type->own;
	if (!type->layout && !r->schema && t->file->describe)
		type->layout = etw_describe_find(t->file->describe, r);
	/*
	 * pointer_bytes is 0 if the size of the kernel's pointers is unknown. In this case kernel
	 * events have no layout.
	 */
	if (!type->layout && etw_is_kernel(r) && t->file->pointer_bytes) {
		etw_class(r, class);
		if (!etw_kernel_layout(class, r->type, r->version, &type->own))
			return false;
		type->layout = type->own;
	}
	return true;
}

/*
 * Returns the type of a record. The first record of a type makes the type. If memory is lacking,
 * returns NULL or a type whose member "type" is NULL.
 */
static struct etw_type *type_of(struct etw_types *t, const struct etw_record *r)
{
	struct etw_type key = { .key = key_of(r) }, **found, *type;

	found = tfind(&key, &t->types, compare_keys);
	if (found)
		return *found;
	type = calloc(1, sizeof(*type));
	if (!type)
		return NULL;
	type->key = key.key;
	if (!tsearch(type, &t->types, compare_keys)) {
		free(type);
		return NULL;
	}
	if (find_layout(t, r, type))
		type->type = etw_type_make(t, r, type);
	return type;
}

/*
 * Returns the size of pointers in a payload. For kernel events, etw_scan() has found the size. The
 * flags or the header type of an event of a provider have the size.
 */
static unsigned pointer_bytes(const struct etw_types *t, const struct etw_record *r)
{
	if (etw_is_kernel(r))
		return (unsigned)t->file->pointer_bytes;
	if (r->flags & 0x20)
		return 4;
	return r->flags & 0x40 || r->header_type == 19 ? 8 : 4;
}

/* Appends the header's fields that etw_type.c describes in the array "behind". */
static void add_behind(const struct etw_record *r, struct etw_bytes *to)
{
	if (r->kind == ETW_EVENT) {
		etw_bytes_number(to, r->id, 2);
		etw_bytes_number(to, r->version, 1);
		etw_bytes_number(to, (uint64_t)r->level, 1);
		etw_bytes_number(to, r->type, 1);
		etw_bytes_number(to, r->task, 2);
		etw_bytes_number(to, octets_u64(r->bytes + 48), 8);
	} else {
		etw_bytes_number(to, r->type, 1);
		etw_bytes_number(to, r->version, 1);
		if (r->kind == ETW_FULL || r->kind == ETW_INSTANCE)
			etw_bytes_number(to, (uint64_t)r->level, 1);
	}
	if (r->kind == ETW_FULL || r->kind == ETW_INSTANCE || r->kind == ETW_EVENT) {
		etw_bytes_number(to, r->kernel, 4);
		etw_bytes_number(to, r->user, 4);
	}
	if (r->kind == ETW_EVENT)
		etw_bytes_add(to, r->bytes + 64, ETW_GUID_BYTES);
}

/*
 * Describes the decoding of the record's payload. Its limit "most" leaves room for the header's
 * fields and the record with its tail.
 */
static struct etw_decoding decoding_of(struct etw_types *t, const struct etw_record *r)
{
	return (struct etw_decoding){
		.payload = r->bytes + r->header,
		.size = r->size - r->header,
		.pointer_bytes = pointer_bytes(t, r),
		.most = ETW_DATA_MAX - ETW_BEHIND_BYTES - r->size - ETW_TAIL_BYTES,
		.to = &t->data,
	};
}

/* Stores in t->data the decoded payload, the fields of the header and, if wanted, the record. */
static enum etw_decoded etw_types_decode(struct etw_types *t, const struct etw_record *r,
					 const struct etw_type *type)
{
	struct etw_decoding decoding = decoding_of(t, r);
	struct etw_bytes *to = &t->data;
	unsigned char tail[ETW_TAIL_BYTES];
	enum etw_decoded decoded;

	to->len = 0;
	decoded = etw_layout_decode(type->layout, &decoding, type->columns, type->more);
	if (decoded != ETW_DECODED)
		return decoded;
	add_behind(r, to);
	if (t->records) {
		etw_bytes_add(to, r->bytes, r->size);
		octets_put(octets_put(tail, r->size, 4), ETW_TAIL_MARK, 4);
		etw_bytes_add(to, tail, sizeof(tail));
	}
	return to->no_memory ? ETW_NO_MEMORY : ETW_DECODED;
}

/*
 * Reports why the payload is not decoded. The contradiction of a payload and its layout is reported
 * only once for a log.
 */
static void etw_types_report(struct etw_types *t, const struct etw_record *r,
			     const struct etw_type *type, enum etw_decoded decoded)
{
	if (decoded == ETW_TOO_LONG)
		fmt_fault(t->flow, FMT_WARN, r->at, "E26",
			  "the payload of an event \"%s\" decodes to more than %u bytes: its "
			  "record is kept whole, and not decoded",
			  type->type->name, ETW_DATA_MAX);
	else if (!t->short_reported)
		fmt_fault(t->flow, FMT_WARN, r->at, "E24",
			  "the payload of an event \"%s\" contradicts its description: it is kept "
			  "as bytes",
			  type->type->name);
	t->short_reported |= decoded == ETW_CONTRADICTS;
}

/* Returns the type for events whose payload is described but cannot be decoded. */
static const struct fmt_type *etw_types_undecoded(struct etw_types *t, const struct etw_record *r,
						  struct etw_type *type)
{
	struct etw_type without = { .key = 0 };

	if (!type->undecoded)
		type->undecoded = etw_type_make(t, r, &without);
	return type->undecoded;
}

/*
 * A type has only one schema. So if the payload of an event cannot be decoded, the event gets a
 * second type, whose schema has no decoded fields.
 */
const struct fmt_type *etw_types_of(struct etw_types *t, const struct etw_record *r,
				    const void **data, size_t *len)
{
	struct etw_type *type = type_of(t, r);
	enum etw_decoded decoded;

	if (!type || !type->type)
		return NULL;
	*data = t->payload_only ? r->bytes + r->header : r->bytes;
	*len = t->payload_only ? r->size - r->header : r->size;
	if (!type->layout)
		return type->type;
	decoded = etw_types_decode(t, r, type);
	if (decoded == ETW_NO_MEMORY)
		return NULL;
	if (decoded != ETW_DECODED) {
		etw_types_report(t, r, type, decoded);
		return etw_types_undecoded(t, r, type);
	}
	*data = t->data.bytes;
	*len = t->data.len;
	return type->type;
}

/* Control characters become question marks, because they could end the line of a listing. */
const char *etw_types_text(struct etw_types *t, const struct etw_record *r)
{
	struct etw_type *type = type_of(t, r);
	struct etw_decoding decoding = decoding_of(t, r);
	enum etw_decoded decoded;

	t->data.len = 0;
	if (!type || !type->layout)
		return type ? "" : NULL;
	etw_bytes_add(&t->data, " ", 1);
	decoded = etw_layout_text(type->layout, &decoding);
	if (decoded != ETW_DECODED)
		return decoded == ETW_NO_MEMORY ? NULL : "";
	/* Replaces control characters, so that a line of a listing stays one line. */
	for (size_t i = 0; i < t->data.len; i++)
		if (t->data.bytes[i] < ' ' || t->data.bytes[i] == 0x7f)
			t->data.bytes[i] = '?';
	etw_bytes_add(&t->data, "", 1);
	if (t->data.no_memory)
		return NULL;
	return t->data.len < 3 ? "" : (const char *)t->data.bytes;
}

static void free_type(void *p)
{
	struct etw_type *type = p;

	etw_layout_free(type->own);
	free(type);
}

/* The function does not free the types of the flow, because they exist as long as the flow. */
void etw_types_free(struct etw_types *t)
{
	tdestroy(t->types, free_type);
	free(t->data.bytes);
}
