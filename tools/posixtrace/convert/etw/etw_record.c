/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_record.c - reads one record: its kind of header, and the fields of that header.
 *
 * Byte 3 of a record is the marker. Byte 2 is the header type (evntrace.h: TRACE_HEADER_TYPE_*),
 * except in a WPP message. The offset of the size depends on the header type. etw_record() checks
 * that a record has the least size of its header. The functions that read further fields check the
 * size themselves.
 */
#include <string.h>

#include "convert/etw/etw.h"
#include "convert/octets.h"

#define MARKER 0xc0
#define EVENT_HAS_ITEMS 1
#define EVENT_IS_PRIVATE 2
#define EVENT_NO_CPU 0x10
#define ITEM_TRACELOGGING 11
#define ITEM_TRAITS 12

#define MESSAGE_SEQUENCE 1
#define MESSAGE_GUID 2
#define MESSAGE_COMPONENT 4
#define MESSAGE_TIME 8
#define MESSAGE_PERFORMANCE_TIME 0x10
#define MESSAGE_SYSTEM_INFO 0x20

struct kind {
	enum etw_kind kind;
	unsigned char size_at;
	unsigned char header; /* least size */
};

/* Indexed by the header type. The member "header" of an unknown type is 0. */
static const struct kind kinds[] = {
	[1] = { ETW_SYSTEM, 4, 32 },     [2] = { ETW_SYSTEM, 4, 32 },
	[3] = { ETW_COMPACT, 4, 24 },    [4] = { ETW_COMPACT, 4, 24 },
	[10] = { ETW_FULL, 0, 48 },      [11] = { ETW_INSTANCE, 0, 56 },
	[12] = { ETW_SKIPPED, 0, 8 },    [13] = { ETW_SKIPPED, 0, 8 },
	[14] = { ETW_SKIPPED, 0, 8 },    [15] = { ETW_SKIPPED, 0, 8 },
	[16] = { ETW_PERFINFO, 4, 16 },  [17] = { ETW_PERFINFO, 4, 16 },
	[18] = { ETW_EVENT, 0, 80 },     [19] = { ETW_EVENT, 0, 80 },
	[20] = { ETW_FULL, 0, 48 },      [21] = { ETW_INSTANCE, 0, 56 },
};

/* Returns the number of the fault and sets its reason. */
static int etw_record_fault(const char **why, int code, const char *text)
{
	*why = text;
	return code;
}

/*
 * If a record has no thread or no process, the kernel writes -1 in place of the number. This
 * function stores 0 instead.
 */
static void read_ids(struct etw_record *r, size_t tid_at, size_t pid_at)
{
	r->has_ids = true;
	r->tid = octets_u32(r->bytes + tid_at);
	r->pid = octets_u32(r->bytes + pid_at);
	if (r->tid == UINT32_MAX)
		r->tid = 0;
	if (r->pid == UINT32_MAX)
		r->pid = 0;
}

static void read_stamp(struct etw_record *r, size_t at)
{
	r->has_stamp = true;
	r->stamp = (int64_t)octets_u64(r->bytes + at);
}

/*
 * The CPU times count units of the log's timer resolution. In a private session the two fields are
 * the halves of one number, which counts cycles of the processor.
 */
static void read_cpu(struct etw_record *r, size_t at)
{
	r->has_cpu = true;
	r->kernel = octets_u32(r->bytes + at);
	r->user = octets_u32(r->bytes + at + 4);
}

static void read_guid(struct etw_record *r, size_t at)
{
	r->has_guid = true;
	memcpy(r->guid, r->bytes + at, ETW_GUID_BYTES);
}

/* SYSTEM and COMPACT headers have the same fields, but only SYSTEM headers have CPU times. */
static void read_system(struct etw_record *r)
{
	r->version = r->bytes[0];
	r->type = r->bytes[6];
	r->group = r->bytes[7];
	read_ids(r, 8, 12);
	read_stamp(r, 16);
	if (r->kind == ETW_SYSTEM)
		read_cpu(r, 24);
}

/*
 * Extended items of 8 bytes follow a PERFINFO header. Bits 8 to 10 of the version are the number of
 * these items, and bit 15 means one item more. Returns false if the record is too short for them.
 */
static bool read_perfinfo(struct etw_record *r)
{
	unsigned version = octets_u16(r->bytes);

	r->version = version & 0xff;
	r->type = r->bytes[6];
	r->group = r->bytes[7];
	read_stamp(r, 8);
	r->header += (version & 0x8000 ? 8 : 0) + (version >> 8 & 7) * 8;
	return r->header <= r->size;
}

/* FULL and INSTANCE headers identify the class by a GUID. */
static void read_full(struct etw_record *r)
{
	r->type = r->bytes[4];
	r->level = r->bytes[5];
	r->version = octets_u16(r->bytes + 6);
	read_ids(r, 8, 12);
	read_stamp(r, 16);
	read_guid(r, 24);
	read_cpu(r, 40);
	/* An INSTANCE header of a 64-bit system has a second GUID. */
	if (r->kind == ETW_INSTANCE && r->size >= 72)
		r->header = 72;
}

/*
 * Reads the extended items. Each item has its size, and a bit that is set if another item follows.
 * Returns false if an item is not complete, because the beginning of the payload is unknown in this
 * case.
 */
static bool read_items(struct etw_record *r)
{
	size_t at = r->header;

	for (;;) {
		const unsigned char *item = r->bytes + at;
		size_t size, data;

		if (r->size - at < 8)
			return false;
		size = octets_u16(item);
		data = octets_u16(item + 6);
		if (size < 8 || size % 8 || size > r->size - at || data > size - 8)
			return false;
		if (octets_u16(item + 2) == ITEM_TRACELOGGING) {
			r->schema = item + 8;
			r->schema_bytes = data;
		} else if (octets_u16(item + 2) == ITEM_TRAITS) {
			r->traits = item + 8;
			r->traits_bytes = data;
		}
		at += size;
		if (!(octets_u16(item + 4) & 1))
			break;
	}
	r->header = at;
	return true;
}

/*
 * Reads the header of an event of a provider (EVENT_HEADER). One flag means that extended items
 * follow. Two other flags mean that the CPU times are not valid.
 */
static void read_event(struct etw_record *r)
{
	r->flags = octets_u16(r->bytes + 4);
	read_ids(r, 8, 12);
	read_stamp(r, 16);
	read_guid(r, 24);
	r->id = octets_u16(r->bytes + 40);
	r->version = r->bytes[42];
	r->channel = r->bytes[43];
	r->level = r->bytes[44];
	r->type = r->bytes[45];
	r->task = octets_u16(r->bytes + 46);
	read_cpu(r, 56);
	r->has_cpu = !(r->flags & (EVENT_NO_CPU | EVENT_IS_PRIVATE));
	if (r->flags & EVENT_HAS_ITEMS && !read_items(r)) {
		r->bad_items = true;
		r->schema = r->traits = NULL;
		r->header = r->size; /* the beginning of the payload is not known */
	}
}

/*
 * A WPP message has only the fields whose flags are set, in this order. With a component it has no
 * GUID. Returns false if the record is too short for its fields.
 */
static bool read_message(struct etw_record *r)
{
	size_t at = 8;

	r->id = octets_u16(r->bytes + 4);
	r->flags = octets_u16(r->bytes + 6);
	if (r->flags & MESSAGE_SEQUENCE)
		at += 4;
	if (r->flags & MESSAGE_COMPONENT) {
		if (r->size < at + 4)
			return false;
		r->component = octets_u32(r->bytes + at);
		at += 4;
	} else if (r->flags & MESSAGE_GUID) {
		if (r->size < at + ETW_GUID_BYTES)
			return false;
		read_guid(r, at);
		at += ETW_GUID_BYTES;
	}
	if (r->flags & (MESSAGE_TIME | MESSAGE_PERFORMANCE_TIME)) {
		if (r->size < at + 8)
			return false;
		read_stamp(r, at);
		at += 8;
	}
	if (r->flags & MESSAGE_SYSTEM_INFO) {
		if (r->size < at + 8)
			return false;
		read_ids(r, at, at + 4);
		at += 8;
	}
	r->header = at;
	return at <= r->size;
}

/*
 * The caller has checked that the record has the least size of its kind. So this function can
 * return false only if the kind has a header of variable size that does not fit into the record.
 */
static bool read_kind(struct etw_record *r)
{
	switch (r->kind) {
	case ETW_SYSTEM:
	case ETW_COMPACT:
		read_system(r);
		return true;
	case ETW_PERFINFO:
		return read_perfinfo(r);
	case ETW_FULL:
	case ETW_INSTANCE:
		read_full(r);
		return true;
	case ETW_EVENT:
		read_event(r);
		return true;
	case ETW_MESSAGE:
		return read_message(r);
	case ETW_SKIPPED:
		break;
	}
	return true;
}

/*
 * The function makes two checks before it reads any field. The size must not be less than the least
 * header of this kind. The record must not end behind the buffer.
 */
int etw_record(const unsigned char *p, size_t size, struct etw_record *r, const char **why)
{
	static const struct kind message = { ETW_MESSAGE, 0, 8 };
	const struct kind *kind = &message;

	memset(r, 0, sizeof(*r));
	r->bytes = p;
	r->group = ETW_NO_GROUP;
	r->level = ETW_NO_LEVEL;
	if (size < 8)
		return etw_record_fault(why, 8, "fewer than 8 bytes are left");
	if (p[3] == MARKER) {
		r->header_type = p[2];
		if (p[2] >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[p[2]].header)
			return etw_record_fault(why, 10, "unknown header type");
		kind = &kinds[p[2]];
	} else if ((p[3] & 0xf0) != 0x90) {
		return etw_record_fault(why, 9, "the marker is neither 0xc0 nor 0x90 to 0x9f");
	}
	r->kind = kind->kind;
	r->size = octets_u16(p + kind->size_at);
	r->header = kind->header;
	if (r->size < r->header)
		return etw_record_fault(why, 7, "the record is smaller than its header");
	if (r->size > size)
		return etw_record_fault(why, 8, "the record ends behind its buffer");
	if (!read_kind(r))
		return etw_record_fault(why, 7, "the record is smaller than its header");
	return 0;
}

/* Group 0 is the class eventtrace, whose records describe the session. */
bool etw_is_about_log(const struct etw_record *r)
{
	return r->group == 0;
}
