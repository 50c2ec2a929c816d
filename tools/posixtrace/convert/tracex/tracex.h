/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex.h - the event trace buffer of ThreadX, which TraceX opens: bytes in memory to events.
 *
 * Memory    the caller owns the bytes; what is allocated is no more than they are, or their text.
 * Input     is hostile: every offset is checked against the size before it is used.
 * Errors    0 or an error number; findings say what and where, by the codes T01 to T21.
 * Units     offsets and sizes in bytes; times in ticks of a source that the file does not tell.
 */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/finding.h"

#define TRACEX_ID 0x54585442u
#define TRACEX_CONTEXT_NONE 0u
#define TRACEX_CONTEXT_ISR 0xffffffffu
#define TRACEX_CONTEXT_INITIALIZE 0xf0f0f0f0u
#define TRACEX_RUNNING 6u
#define TRACEX_USER_FIRST 4096u
#define TRACEX_ID_INVALID 0xffffffffu

#define TRACEX_HEADER_BYTES 48
#define TRACEX_ENTRY_BYTES 32
#define TRACEX_SLOT_BYTES 16 /* and a name */
#define TRACEX_NAME_BYTES_MAX 1024
/* The largest sizes, those of the layout with a ULONG of 8 bytes. */
#define TRACEX_HEADER_BYTES_MAX 96
#define TRACEX_ENTRY_BYTES_MAX 64
#define TRACEX_SLOT_BYTES_MAX (32 + TRACEX_NAME_BYTES_MAX)

#define TRACEX_TYPES 29 /* of objects */
#define TRACEX_THREAD 1
#define TRACEX_TIMER 2

/* Our own logs, exported: the slot that keeps when they began and what a tick is. */
#define TRACEX_CLOCK_POINTER 0x7ffffff0u

struct tracex_options {
	uint64_t tick_modulus;  /* 0: that of the timer mask */
	unsigned part;          /* of a file with several dumps, from 1; 0 is 1 */
	bool user_ids_1025;     /* legacy numbering of user events */
};

struct tracex {
	const unsigned char *bytes; /* of this dump: all offsets below count from here */
	size_t size;
	uint64_t at;                /* where the dump begins in the file */
	bool big_endian;
	bool wide;                  /* ULONG of 8 bytes */

	/* the control header */
	uint64_t mask;
	uint64_t base, registry_start, registry_end, buffer_start, buffer_end, current;
	unsigned name_bytes;

	/* where things are; every slot and entry is inside the bytes */
	size_t header_bytes, slot_bytes, entry_bytes;
	size_t registry_at, slots;
	size_t entries_at, entries;
	size_t entries_wanted;      /* by the header; the file may be cut */
	size_t oldest;              /* reading begins with this entry */

	/* what reading it once has shown */
	uint64_t events;
	uint64_t unused;
	uint64_t invalid;           /* marked so */
	bool usb;                   /* decides what ids 1025 to 1033 mean */
	bool user_ids_1025;
	bool down;                  /* the timer counts down */
	uint64_t modulus;           /* of the timer, 0: it stands still */
};

struct tracex_slot {
	size_t index;
	bool available;             /* freed: the object is no more */
	unsigned type;              /* 0: never used */
	unsigned reserved1, reserved2;
	uint64_t pointer, parameter[2];
	const unsigned char *name;
	size_t name_len;
};

struct tracex_entry {
	size_t index;
	size_t at;                  /* offset */
	uint64_t context;
	uint64_t priority;
	uint32_t raw_id;
	uint32_t stamp;
	uint64_t info[4];
	uint64_t ticks;             /* since the first event */
};

struct tracex_walk {
	const struct tracex *dump;
	size_t step;                /* entries looked at */
	uint64_t ticks;
	uint64_t last;              /* masked stamp of the event before */
	bool begun;
};

/*
 * Whether these bytes, the file's first, are a dump or one of its text containers.
 */
bool tracex_is(const unsigned char *bytes, size_t size);
bool tracex_is_text(const unsigned char *bytes, size_t size);

/*
 * The bytes of Intel HEX, S-records or hexadecimal text, allocated; they are never more than the
 * text is long. EINVAL (T16), ENOMEM.
 */
int tracex_text(const unsigned char *text, size_t text_size, unsigned char **bytes, size_t *size,
		struct findings *findings);

/* Checks the dump and finds its parts. EINVAL when it is refused, ENOMEM. */
int tracex_open(struct tracex *dump, const unsigned char *bytes, size_t size,
		const struct tracex_options *options, struct findings *findings);

/* index < slots */
void tracex_slot(const struct tracex *dump, size_t index, struct tracex_slot *slot);
/* Returns the priority of a thread, -1 if the slot has none. */
int tracex_slot_priority(const struct tracex_slot *slot);
/* NULL past the last type. */
const char *tracex_type_name(unsigned type);

/*
 * Slots by pointer: those that were ever used, sorted; of one pointer the one to believe is first.
 */
struct tracex_ref {
	uint64_t pointer;
	size_t slot;
	bool freed;
};

/* ENOMEM; else refs is the caller's to free. */
int tracex_refs(const struct tracex *dump, struct tracex_ref **refs, size_t *count);
/* NULL: in no slot. */
const struct tracex_ref *tracex_find(const struct tracex_ref *refs, size_t count, uint64_t pointer);

/* index < entries; ticks is 0 */
void tracex_entry(const struct tracex *dump, size_t index, struct tracex_entry *entry);

/* Events from the oldest, without what was never used or is marked invalid. False at the end. */
void tracex_walk(const struct tracex *dump, struct tracex_walk *walk);
bool tracex_next(struct tracex_walk *walk, struct tracex_entry *entry);

/* The same words in little endian, in the dump's own layout; they return how many bytes. */
size_t tracex_put_header(const struct tracex *dump, unsigned char *to);
size_t tracex_put_slot(const struct tracex *dump, size_t index, unsigned char *to);
size_t tracex_put_entry(const struct tracex *dump, size_t index, unsigned char *to);

/* The meaning of an event id. */
struct tracex_event {
	uint16_t id;
	const char *name;
	const char *info[4];        /* "" for a field without meaning */
};

extern const struct tracex_event tracex_events[];
extern const size_t tracex_events_count;

/* NULL when the table does not have it. */
const struct tracex_event *tracex_event_of(unsigned id);
bool tracex_is_user(const struct tracex *dump, uint32_t raw_id);

static inline unsigned tracex_id(uint32_t raw_id)
{
	return raw_id & 0xffff;
}

static inline unsigned tracex_cpu(uint32_t raw_id)
{
	return raw_id >> 24;
}

#endif
