/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_entries.c - the events, in the order in which they were written.
 *
 * The order is the order of the entries in the circular buffer, beginning with the oldest entry,
 * and not the order of the time stamps. An entry with the context 0 was never used. Its other words
 * may have any old contents of the memory.
 */
#include <errno.h>
#include <string.h>

#include "convert/octets.h"
#include "convert/tracex/tracex_part.h"

/*
 * The caller has checked "index". tracex_layout() has checked that every entry is within the bytes.
 * Entries are read again at each use, so they need no memory.
 */
void tracex_entry(const struct tracex *d, size_t index, struct tracex_entry *entry)
{
	size_t at = d->entries_at + index * d->entry_bytes;
	const unsigned char *p = d->bytes + at;
	unsigned word = d->wide ? 8 : 4;

	entry->index = index;
	entry->at = at;
	entry->context = octets_get(p, word, d->big_endian);
	entry->priority = octets_get(p + word, word, d->big_endian);
	entry->raw_id = (uint32_t)octets_get(p + 2 * word, word, d->big_endian);
	entry->stamp = (uint32_t)octets_get(p + 3 * word, word, d->big_endian);
	for (unsigned i = 0; i < 4; i++)
		entry->info[i] = octets_get(p + (4 + i) * word, word, d->big_endian);
	entry->ticks = 0;
}

void tracex_walk(const struct tracex *d, struct tracex_walk *walk)
{
	memset(walk, 0, sizeof(*walk));
	walk->dump = d;
}

/*
 * Returns the time between two stamps. The difference is computed with 128 bits, since the user may
 * give any modulus.
 */
static uint64_t tracex_entries_passed(const struct tracex *d, uint64_t from, uint64_t to)
{
	__int128 delta = d->down ? (__int128)from - to : (__int128)to - from;

	if (!d->modulus)
		return 0;
	delta %= d->modulus;
	return (uint64_t)(delta < 0 ? delta + d->modulus : delta);
}

/*
 * Times are sums of differences of stamps, since a stamp wraps and its absolute value has no
 * meaning. A difference of more than one period of the timer cannot be detected.
 */
bool tracex_next(struct tracex_walk *walk, struct tracex_entry *entry)
{
	const struct tracex *d = walk->dump;

	while (walk->step < d->entries) {
		size_t index = d->oldest + walk->step++;
		uint64_t stamp;

		tracex_entry(d, index < d->entries ? index : index - d->entries, entry);
		if (entry->context == TRACEX_CONTEXT_NONE || entry->raw_id == TRACEX_ID_INVALID)
			continue;
		stamp = entry->stamp & d->mask;
		if (walk->begun)
			walk->ticks += tracex_entries_passed(d, walk->last, stamp);
		walk->begun = true;
		walk->last = stamp;
		entry->ticks = walk->ticks;
		return true;
	}
	return false;
}

/*
 * The ids 1025 to 1033 are events of USBX or, in old firmware, events of the user. The id does not
 * show which of the two they are, so the option and d->usb decide.
 */
bool tracex_is_user(const struct tracex *d, uint32_t raw_id)
{
	unsigned id = tracex_id(raw_id);

	if (id >= TRACEX_USER_FIRST || (id >= 1025 && d->user_ids_1025))
		return true;
	/* events of USBX, if the dump has any other sign of USBX */
	if (id >= 1025 && id <= 1033)
		return !d->usb;
	return id > 1033;
}

/*
 * The function uses a binary search, because the rows of tracex-events.csv and of the table are in
 * the order of the ids.
 */
const struct tracex_event *tracex_event_of(unsigned id)
{
	size_t low = 0, high = tracex_events_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tracex_events[middle].id == id)
			return &tracex_events[middle];
		if (tracex_events[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Returns whether the registry has an object of USBX, or an event has an id that only USBX uses. */
static bool find_usb(const struct tracex *d)
{
	struct tracex_slot slot;

	for (size_t i = 0; i < d->slots; i++) {
		tracex_slot(d, i, &slot);
		if (slot.type >= 21 && slot.type < TRACEX_TYPES)
			return true;
	}
	for (size_t i = 0; i < d->entries; i++) {
		struct tracex_entry entry;
		unsigned id;

		tracex_entry(d, i, &entry);
		id = tracex_id(entry.raw_id);
		if (entry.context && entry.raw_id != TRACEX_ID_INVALID && id >= 600 && id <= 1024)
			return true;
	}
	return false;
}

/*
 * Reports each unknown id once. The array has a bit for each id, which is set when the id is
 * reported.
 */
static void check_id(const struct tracex *d, const struct tracex_entry *entry, uint8_t *seen,
		     struct findings *f)
{
	unsigned id = tracex_id(entry->raw_id);

	if (tracex_is_user(d, entry->raw_id) || tracex_event_of(id) || seen[id / 8] & 1u << id % 8)
		return;
	seen[id / 8] |= (uint8_t)(1u << id % 8);
	finding(f, FINDING_WARNING, "T15", d->at + entry->at, "event id %u is not known", id);
}

/*
 * Reads the whole buffer before the conversion, and counts events, unused entries and invalid
 * entries. The number of events is a fact of the trace, so it must be known before the first event.
 * Unused entries at the end are normal in a buffer that was never full. Therefore only unused
 * entries between used entries are reported.
 */
void tracex_check_entries(struct tracex *d, const struct tracex_options *options,
			  struct findings *f)
{
	uint8_t seen[65536 / 8] = { 0 };
	uint64_t holes = 0, pending = 0, hole_at = 0, invalid_at = 0;

	d->user_ids_1025 = options->user_ids_1025;
	d->usb = find_usb(d);
	for (size_t step = 0; step < d->entries; step++) {
		size_t index = d->oldest + step;
		struct tracex_entry entry;

		tracex_entry(d, index < d->entries ? index : index - d->entries, &entry);
		if (entry.context == TRACEX_CONTEXT_NONE) {
			d->unused++;
			if (d->events && !pending++ && !holes)
				hole_at = d->at + entry.at;
			continue;
		}
		holes += pending;
		pending = 0;
		if (entry.raw_id == TRACEX_ID_INVALID) {
			if (!d->invalid++)
				invalid_at = d->at + entry.at;
			continue;
		}
		d->events++;
		check_id(d, &entry, seen, f);
	}
	if (holes)
		finding(f, FINDING_WARNING, "T14", hole_at,
			"unused entries between used ones: %llu", (unsigned long long)holes);
	if (d->invalid)
		finding(f, FINDING_WARNING, "T15", invalid_at,
			"events that the id 0xffffffff marks as invalid, which are left out: %llu",
			(unsigned long long)d->invalid);
}
