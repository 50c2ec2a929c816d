/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_layout.c - reads the control header and finds the registry and the entries.
 *
 * The pointers are addresses of the target. The offset in the file is the pointer minus the base.
 * The header is hostile: before a pointer is used, this file checks that the part at the pointer is
 * within the bytes. Functions that return int return 0, or EINVAL if they refuse the dump.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "convert/octets.h"
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_part.h"

/*
 * The offsets of the header's fields, in the layout of 32 bits and in the wide layout of 64 bits.
 */
struct fields {
	unsigned word;
	unsigned header_bytes, slot_bytes, entry_bytes;
	unsigned mask, base, registry_start, reserved1, name_bytes;
	unsigned registry_end, buffer_start, buffer_end, current, marker;
};

static const struct fields narrow = {
	4, TRACEX_HEADER_BYTES, TRACEX_SLOT_BYTES, TRACEX_ENTRY_BYTES, 4, 8, 12, 16, 18, 20, 24, 28,
	32, 36,
};

static const struct fields wide = {
	8, 96, 32, 64, 8, 16, 24, 32, 34, 40, 48, 56, 64, 72,
};

static const struct fields *fields_of(const struct tracex *d)
{
	return d->wide ? &wide : &narrow;
}

/*
 * Reads a word of the header. The header is complete, because tracex_layout_detect() has checked
 * its size.
 */
static uint64_t tracex_layout_word(const struct tracex *d, unsigned at)
{
	return octets_get(d->bytes + at, fields_of(d)->word, d->big_endian);
}

/* Returns whether the three reserved words at p have their fixed values, in little endian. */
static bool markers_at(const unsigned char *p, unsigned bytes)
{
	return octets_get(p, bytes, false) == 0xaaaaaaaa &&
	       octets_get(p + bytes, bytes, false) == 0xbbbbbbbb &&
	       octets_get(p + 2 * bytes, bytes, false) == 0xcccccccc;
}

/*
 * Decides whether the layout is wide. "BTXT" and four zero bytes may be a wide id, or a narrow id
 * and a timer mask of 0. If the reserved words have their fixed values in one of the two layouts,
 * the dump has this layout. Otherwise the distance from base to registry decides, because this
 * distance is the size of the header.
 */
static int decide_width(struct tracex *d, struct findings *f)
{
	if (d->size >= wide.header_bytes && markers_at(d->bytes + wide.marker, 8)) {
		d->wide = true;
		return 0;
	}
	if (d->size >= narrow.header_bytes && markers_at(d->bytes + narrow.marker, 4))
		return 0;
	if (d->size >= 16 && octets_u32(d->bytes + 12) - octets_u32(d->bytes + 8) == 48)
		return 0;
	if (d->size >= 32 && octets_u64(d->bytes + 24) - octets_u64(d->bytes + 16) == 96) {
		d->wide = true;
		return 0;
	}
	return finding(f, FINDING_REFUSAL, "T02", d->at,
		       "its header has neither 32-bit nor 64-bit words: the dump has %zu bytes, a "
		       "header needs %d", d->size, TRACEX_HEADER_BYTES);
}

/*
 * Finds the byte order and the size of words by the place and the order of the id's four letters.
 * In one case, decide_width() must decide the size. The function reads a byte only after it has
 * checked that the dump has it.
 */
static int tracex_layout_detect(struct tracex *d, struct findings *f)
{
	const unsigned char *p = d->bytes;

	if (d->size < 4)
		return finding(f, FINDING_REFUSAL, "T02", d->at,
			       "the dump has %zu byte%s, its header needs %d", d->size,
			       text_plural(d->size), TRACEX_HEADER_BYTES);
	if (!memcmp(p, "TXTB", 4)) {
		d->big_endian = true;
	} else if (!memcmp(p, "BTXT", 4)) {
		if (d->size >= 8 && octets_u32(p + 4) == 0 && decide_width(d, f))
			return EINVAL;
	} else if (d->size >= 8 && !memcmp(p, "\0\0\0\0TXTB", 8)) {
		d->big_endian = d->wide = true;
	} else {
		return finding(f, FINDING_REFUSAL, "T01", d->at,
			       "not a ThreadX trace: id %02X %02X %02X %02X", p[0], p[1], p[2],
			       p[3]);
	}
	if (d->size < fields_of(d)->header_bytes)
		return finding(f, FINDING_REFUSAL, "T02", d->at,
			       "the dump has %zu bytes, its header needs %u", d->size,
			       fields_of(d)->header_bytes);
	return 0;
}

/*
 * Reports unexpected values of reserved words. They are no reason to refuse the dump, because some
 * firmware writes such values.
 */
static void check_reserved(const struct tracex *d, struct findings *f)
{
	const struct fields *at = fields_of(d);
	unsigned reserved = (unsigned)octets_get(d->bytes + at->reserved1, 2, d->big_endian);
	uint64_t m[3];

	for (unsigned i = 0; i < 3; i++)
		m[i] = tracex_layout_word(d, at->marker + i * at->word);
	if (reserved || m[0] != 0xaaaaaaaa || m[1] != 0xbbbbbbbb || m[2] != 0xcccccccc)
		finding(f, FINDING_WARNING, "T13", d->at + at->reserved1,
			"reserved words %#x, %#llx, %#llx, %#llx; wanted 0, 0xaaaaaaaa, "
			"0xbbbbbbbb, 0xcccccccc",
			reserved, (unsigned long long)m[0], (unsigned long long)m[1],
			(unsigned long long)m[2]);
}

/*
 * The function checks that each end is not below its start, that the buffer is large enough for an
 * entry, and that names are not too long. Later subtractions and divisions rely on these checks.
 */
static int read_header(struct tracex *d, struct findings *f)
{
	const struct fields *at = fields_of(d);

	d->mask = tracex_layout_word(d, at->mask);
	d->base = tracex_layout_word(d, at->base);
	d->registry_start = tracex_layout_word(d, at->registry_start);
	d->registry_end = tracex_layout_word(d, at->registry_end);
	d->buffer_start = tracex_layout_word(d, at->buffer_start);
	d->buffer_end = tracex_layout_word(d, at->buffer_end);
	d->current = tracex_layout_word(d, at->current);
	d->name_bytes = (unsigned)octets_get(d->bytes + at->name_bytes, 2, d->big_endian);
	d->header_bytes = at->header_bytes;
	d->entry_bytes = at->entry_bytes;
	d->slot_bytes = at->slot_bytes + d->name_bytes;
	if (d->name_bytes == 0 || d->name_bytes > TRACEX_NAME_BYTES_MAX)
		return finding(f, FINDING_REFUSAL, "T05", d->at + at->name_bytes,
			       "name size %u; wanted 1 to %d", d->name_bytes,
			       TRACEX_NAME_BYTES_MAX);
	if (d->name_bytes >= 64)
		finding(f, FINDING_WARNING, "T05", d->at + at->name_bytes,
			"name size %u: TraceX refuses 64 and more", d->name_bytes);
	if (d->registry_end < d->registry_start)
		return finding(f, FINDING_REFUSAL, "T03", d->at + at->registry_end,
			       "the registry ends at %#llx, before its start at %#llx",
			       (unsigned long long)d->registry_end,
			       (unsigned long long)d->registry_start);
	if (d->buffer_end < d->buffer_start ||
	    d->buffer_end - d->buffer_start < d->entry_bytes)
		return finding(f, FINDING_REFUSAL, "T06", d->at + at->buffer_end,
			       "the buffer ends at %#llx and starts at %#llx: no room for an event",
			       (unsigned long long)d->buffer_end,
			       (unsigned long long)d->buffer_start);
	check_reserved(d, f);
	return 0;
}

static bool tracex_layout_overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	return a < b_end && b < a_end;
}

static int refuse_overlap(const struct tracex *d, const char *what, uint64_t a, uint64_t a_end,
			  uint64_t b, uint64_t b_end, struct findings *f)
{
	return finding(f, FINDING_REFUSAL, "T09", d->at + fields_of(d)->registry_start,
		       "%s overlap: %#llx to %#llx and %#llx to %#llx", what, (unsigned long long)a,
		       (unsigned long long)a_end, (unsigned long long)b, (unsigned long long)b_end);
}

/*
 * Refuses parts that overlap, because the header must be wrong about one of them. The function
 * compares addresses, so the result does not depend on the places of the parts in the file.
 */
static int check_overlaps(const struct tracex *d, struct findings *f)
{
	uint64_t header_end;

	if (tracex_layout_overlap(d->registry_start, d->registry_end, d->buffer_start,
				  d->buffer_end))
		return refuse_overlap(d, "registry and buffer", d->registry_start, d->registry_end,
				      d->buffer_start, d->buffer_end, f);
	if (__builtin_add_overflow(d->base, d->header_bytes, &header_end))
		return 0; /* The base is wrong, which is reported as the fault T08. */
	if (tracex_layout_overlap(d->base, header_end, d->registry_start, d->registry_end))
		return refuse_overlap(d, "header and registry", d->base, header_end,
				      d->registry_start, d->registry_end, f);
	if (tracex_layout_overlap(d->base, header_end, d->buffer_start, d->buffer_end))
		return refuse_overlap(d, "header and buffer", d->base, header_end, d->buffer_start,
				      d->buffer_end, f);
	return 0;
}

/*
 * Finds the parts by their pointers. If the base is implausible, the function assumes that the
 * parts follow one another, as in many dumps that were made by hand. It compares only these assumed
 * offsets with the size of the file. find_parts() checks all other offsets.
 */
static int tracex_layout_place(struct tracex *d, uint64_t *registry_at, uint64_t *entries_at,
			       struct findings *f)
{
	uint64_t registry_bytes = d->registry_end - d->registry_start;

	*registry_at = d->registry_start - d->base;
	*entries_at = d->buffer_start - d->base;
	if (d->base <= d->registry_start && *registry_at == d->header_bytes &&
	    d->buffer_start >= d->base)
		return 0;
	*registry_at = d->header_bytes;
	if (registry_bytes > d->size - d->header_bytes ||
	    d->size - d->header_bytes - registry_bytes < d->entry_bytes)
		return finding(f, FINDING_REFUSAL, "T08", d->at + fields_of(d)->base,
			       "base %#llx and registry at %#llx; wanted %zu bytes between them, "
			       "and the parts do not fit one after the other",
			       (unsigned long long)d->base, (unsigned long long)d->registry_start,
			       d->header_bytes);
	*entries_at = d->header_bytes + registry_bytes;
	finding(f, FINDING_WARNING, "T08", d->at + fields_of(d)->base,
		"base %#llx and registry at %#llx; wanted %zu bytes between them: registry and "
		"events are assumed to follow one another",
		(unsigned long long)d->base, (unsigned long long)d->registry_start,
		d->header_bytes);
	return 0;
}

/*
 * After this function, registry_at, slots, entries_at and entries describe ranges within the bytes.
 * The file may end within the entries. If more bytes are missing than the file has, the function
 * refuses the file.
 */
static int find_parts(struct tracex *d, struct findings *f)
{
	uint64_t registry_bytes = d->registry_end - d->registry_start;
	uint64_t buffer_bytes = d->buffer_end - d->buffer_start;
	uint64_t registry_at, entries_at, there;

	if (check_overlaps(d, f) || tracex_layout_place(d, &registry_at, &entries_at, f))
		return EINVAL;
	if (registry_at > d->size || registry_bytes > d->size - registry_at)
		return finding(f, FINDING_REFUSAL, "T10", d->at + registry_at,
			       "the registry has %llu byte%s; the file ends after %zu",
			       (unsigned long long)registry_bytes, text_plural(registry_bytes),
			       d->size);
	if (entries_at > d->size || d->entry_bytes > d->size - entries_at)
		return finding(f, FINDING_REFUSAL, "T10", d->at + entries_at,
			       "no whole event: the file has %zu bytes, wanted %llu", d->size,
			       (unsigned long long)entries_at + d->entry_bytes);
	d->registry_at = registry_at;
	d->slots = registry_bytes / d->slot_bytes;
	if (registry_bytes % d->slot_bytes)
		finding(f, FINDING_WARNING, "T04", d->at + fields_of(d)->registry_end,
			"the registry has %llu byte%s, no multiple of %zu: %zu slot%s read",
			(unsigned long long)registry_bytes, text_plural(registry_bytes),
			d->slot_bytes, d->slots, d->slots == 1 ? " is" : "s are");
	d->entries_at = entries_at;
	if (buffer_bytes % d->entry_bytes)
		finding(f, FINDING_WARNING, "T07", d->at + fields_of(d)->buffer_end,
			"the buffer has %llu byte%s, no multiple of %zu",
			(unsigned long long)buffer_bytes, text_plural(buffer_bytes),
			d->entry_bytes);
	d->entries_wanted = buffer_bytes / d->entry_bytes;
	buffer_bytes -= buffer_bytes % d->entry_bytes;
	there = d->size - entries_at;
	d->entries = (buffer_bytes < there ? buffer_bytes : there) / d->entry_bytes;
	if (buffer_bytes > there)
		return finding(f, buffer_bytes - there > d->size ? FINDING_REFUSAL : FINDING_DAMAGE,
			       "T11", d->at + d->size,
			       "the file has %zu of %zu events, %llu byte%s missing", d->entries,
			       d->entries_wanted, (unsigned long long)(buffer_bytes - there),
			       buffer_bytes - there == 1 ? " is" : "s are");
	return 0;
}

/*
 * The pointer "current" of the header points to the entry that would be written next, which is the
 * oldest entry of a full buffer. If the pointer does not point to an entry, the function reports
 * this and ignores the pointer.
 */
static void find_oldest(struct tracex *d, struct findings *f)
{
	uint64_t ahead = d->current - d->buffer_start;

	if (d->current < d->buffer_start || d->current > d->buffer_end || ahead % d->entry_bytes) {
		finding(f, FINDING_WARNING, "T12", d->at + fields_of(d)->current,
			"the current event %#llx is not one of %#llx to %#llx: events are read "
			"from the start",
			(unsigned long long)d->current, (unsigned long long)d->buffer_start,
			(unsigned long long)d->buffer_end);
		ahead = 0;
	}
	d->oldest = ahead / d->entry_bytes < d->entries ? ahead / d->entry_bytes : 0;
}

int tracex_layout(struct tracex *d, struct findings *f)
{
	if (tracex_layout_detect(d, f) || read_header(d, f) || find_parts(d, f))
		return EINVAL;
	find_oldest(d, f);
	return 0;
}

/* Stores a word in little endian, also if the dump is big endian. Returns the number of bytes. */
static size_t put_word(unsigned char *to, uint64_t value, unsigned bytes)
{
	octets_put(to, value, bytes);
	return bytes;
}

size_t tracex_put_header(const struct tracex *d, unsigned char *to)
{
	const struct fields *at = fields_of(d);
	size_t done = 0;

	while (done < at->header_bytes) {
		/*
		 * At this offset are two numbers of 16 bits. In the wide layout, four bytes of
		 * padding follow them.
		 */
		unsigned bytes = done - at->reserved1 < 4 ? 2 : at->word;

		if (d->wide && done == at->reserved1 + 4)
			bytes = 4;
		done += put_word(to + done, octets_get(d->bytes + done, bytes, d->big_endian),
				 bytes);
	}
	return done;
}

/* The flags of a slot are bytes and its name is text, so only its three words are converted. */
size_t tracex_put_slot(const struct tracex *d, size_t index, unsigned char *to)
{
	const unsigned char *from = d->bytes + d->registry_at + index * d->slot_bytes;
	unsigned word = fields_of(d)->word;
	/* the flags and reserved bytes; in the wide layout, four bytes of padding follow */
	size_t done = word;

	memcpy(to, from, word);
	for (int i = 0; i < 3; i++)
		done += put_word(to + done, octets_get(from + done, word, d->big_endian), word);
	memcpy(to + done, from + done, d->name_bytes);
	return done + d->name_bytes;
}

size_t tracex_put_entry(const struct tracex *d, size_t index, unsigned char *to)
{
	const unsigned char *from = d->bytes + d->entries_at + index * d->entry_bytes;
	unsigned word = fields_of(d)->word;
	size_t done = 0;

	while (done < d->entry_bytes)
		done += put_word(to + done, octets_get(from + done, word, d->big_endian), word);
	return done;
}
