/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex.h - reads the event trace buffer of ThreadX, which TraceX opens, from bytes in memory.
 *
 * Memory    the caller owns the bytes; allocations are in proportion to the bytes or their text.
 * Input     is hostile: every offset is checked against the size before it is used.
 * Errors    0 or an error number; a finding has the code of a fault (T01 to T21), a text and an
 *           offset.
 * Units     offsets and sizes in bytes; times in ticks. The file lacks the length of a tick.
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
#define TRACEX_SLOT_BYTES 16 /* without the name */
#define TRACEX_NAME_BYTES_MAX 1024
/* The largest sizes, which occur in the layout with a ULONG of 8 bytes. */
#define TRACEX_ENTRY_BYTES_MAX 64
#define TRACEX_SLOT_BYTES_MAX (32 + TRACEX_NAME_BYTES_MAX)

#define TRACEX_TYPES 29 /* number of types of objects */
#define TRACEX_THREAD 1
#define TRACEX_TIMER 2

/*
 * The pointer of a special slot, in which an export of posixtrace has the time of the first event
 * and the length of a tick.
 */
#define TRACEX_CLOCK_POINTER 0x7ffffff0u

struct tracex_options {
	uint64_t tick_modulus;  /* 0: the default of the timer mask */
	/* number of the dump in a file with several dumps, from 1; 0 means 1 */
	unsigned part;
	bool user_ids_1025;     /* legacy numbering of user events */
};

struct tracex {
	/* the bytes of this dump; all offsets below count from the first of them */
	const unsigned char *bytes;
	size_t size;
	uint64_t at;                /* offset of the dump in the file */
	bool big_endian;
	bool wide;                  /* ULONG of 8 bytes */

	/* the control header */
	uint64_t mask;
	uint64_t base, registry_start, registry_end, buffer_start, buffer_end, current;
	unsigned name_bytes;

	/* sizes and offsets of the parts; every slot and entry is inside the bytes */
	size_t header_bytes, slot_bytes, entry_bytes;
	size_t registry_at, slots;
	size_t entries_at, entries;
	/* number of entries according to the header; the file may have fewer */
	size_t entries_wanted;
	size_t oldest;              /* index of the oldest entry, which is read first */

	/* facts from the first pass */
	uint64_t events;
	uint64_t unused;
	uint64_t invalid;           /* entries marked as invalid */
	/* the dump is from a system with USBX, so ids 1025 to 1033 are its events */
	bool usb;
	bool user_ids_1025;
	bool down;                  /* the timer counts down */
	uint64_t modulus;           /* modulus of the timer; 0: the timer does not advance */
};

struct tracex_slot {
	size_t index;
	bool available;             /* the slot is free: the object was deleted */
	unsigned type;              /* 0: never used */
	uint64_t pointer, parameter[2];
	const unsigned char *name;
	size_t name_len;
};

struct tracex_entry {
	size_t index;
	size_t at;                  /* offset of the entry in the dump */
	uint64_t context;
	uint64_t priority;
	uint32_t raw_id;
	uint32_t stamp;
	uint64_t info[4];
	uint64_t ticks;             /* ticks since the first event */
};

struct tracex_walk {
	const struct tracex *dump;
	size_t step;                /* entries examined */
	uint64_t ticks;
	uint64_t last;              /* masked stamp of the previous event */
	bool begun;
};

/*
 * tracex_is() returns whether a file with these first bytes is a dump. tracex_is_text() returns
 * whether such a file is a text that describes a dump.
 */
bool tracex_is(const unsigned char *bytes, size_t size);
bool tracex_is_text(const unsigned char *bytes, size_t size);

/*
 * Converts Intel HEX, S-records or hexadecimal text to allocated bytes. The result never has more
 * bytes than the text. Returns 0, or EINVAL after a finding T16, or ENOMEM.
 */
int tracex_text(const unsigned char *text, size_t text_size, unsigned char **bytes, size_t *size,
		struct findings *findings);

/* Checks the dump and finds its parts. Returns 0, or EINVAL if the dump is refused, or ENOMEM. */
int tracex_open(struct tracex *dump, const unsigned char *bytes, size_t size,
		const struct tracex_options *options, struct findings *findings);

/* Reads a slot of the registry. "index" must be less than dump->slots. */
void tracex_slot(const struct tracex *dump, size_t index, struct tracex_slot *slot);
/* Returns the name of a type, or NULL if there is no such type. */
const char *tracex_type_name(unsigned type);

/*
 * A reference to a slot that was used at some time. tracex_refs() sorts the references by pointer.
 * If several slots have the same pointer, the most credible slot is first.
 */
struct tracex_ref {
	uint64_t pointer;
	size_t slot;
	bool freed;
};

/*
 * Makes the sorted references to all slots that were used. Returns 0 or ENOMEM. The caller frees
 * *refs.
 */
int tracex_refs(const struct tracex *dump, struct tracex_ref **refs, size_t *count);
/* Returns the first reference with this pointer, or NULL if no slot has the pointer. */
const struct tracex_ref *tracex_find(const struct tracex_ref *refs, size_t count, uint64_t pointer);

/* Reads an entry. "index" must be less than dump->entries. entry->ticks becomes 0. */
void tracex_entry(const struct tracex *dump, size_t index, struct tracex_entry *entry);

/*
 * tracex_walk() begins a walk at the oldest entry. tracex_next() gets the next event. It skips
 * entries that were never used or are marked invalid, and returns false at the end.
 */
void tracex_walk(const struct tracex *dump, struct tracex_walk *walk);
bool tracex_next(struct tracex_walk *walk, struct tracex_entry *entry);

/*
 * These functions copy a part of the dump. The copy has the layout of the dump, but little-endian
 * words. They return the number of bytes.
 */
size_t tracex_put_header(const struct tracex *dump, unsigned char *to);
size_t tracex_put_slot(const struct tracex *dump, size_t index, unsigned char *to);
size_t tracex_put_entry(const struct tracex *dump, size_t index, unsigned char *to);

/* The meaning of an event id. */
struct tracex_event {
	uint16_t id;
	const char *name;
	const char *info[4];        /* "" for a field without a meaning */
};

extern const struct tracex_event tracex_events[];
extern const size_t tracex_events_count;

/* Returns the meaning of the id, or NULL if the table does not have the id. */
const struct tracex_event *tracex_event_of(unsigned id);
/* Returns whether the id belongs to an event of the user and not of ThreadX. */
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
