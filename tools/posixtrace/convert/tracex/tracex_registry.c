/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_registry.c - the registry of objects, which has the names of the pointers in events.
 *
 * A freed slot keeps the name of its object, because older events still refer to this object. So
 * the same pointer can be in a freed slot and in a slot in use. In this case the name in the slot
 * in use has priority.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/octets.h"
#include "convert/tracex/tracex_part.h"

/* Types 15 to 20 have no known meaning. */
static const char *const type_names[TRACEX_TYPES] = {
	"", "thread", "timer", "queue", "semaphore", "mutex", "event flags", "block pool",
	"byte pool", "media", "file", "IP", "packet pool", "TCP socket", "UDP socket",
	"type 15", "type 16", "type 17", "type 18", "type 19", "type 20",
	"USB host device", "USB host interface", "USB host endpoint", "USB host class",
	"USB device", "USB device interface", "USB device endpoint", "USB device class",
};

const char *tracex_type_name(unsigned type)
{
	return type < TRACEX_TYPES ? type_names[type] : NULL;
}

/*
 * The caller has checked "index". tracex_layout() has checked that every slot is within the bytes.
 * If the name has no null byte at its end, name_len is the size of the whole field.
 */
void tracex_slot(const struct tracex *d, size_t index, struct tracex_slot *slot)
{
	const unsigned char *p = d->bytes + d->registry_at + index * d->slot_bytes;
	unsigned word = d->wide ? 8 : 4;

	slot->index = index;
	slot->available = p[0] != 0;
	slot->type = p[1];
	slot->pointer = octets_get(p + word, word, d->big_endian);
	slot->parameter[0] = octets_get(p + 2 * word, word, d->big_endian);
	slot->parameter[1] = octets_get(p + 3 * word, word, d->big_endian);
	slot->name = p + 4 * word;
	slot->name_len = strnlen((const char *)slot->name, d->name_bytes);
}

/*
 * Orders by pointer. If several slots have one pointer, slots in use precede freed slots; the next
 * criterion is the number of the slot.
 */
static int by_pointer(const void *a, const void *b)
{
	const struct tracex_ref *x = a, *y = b;

	if (x->pointer != y->pointer)
		return x->pointer < y->pointer ? -1 : 1;
	if (x->freed != y->freed)
		return x->freed ? 1 : -1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

int tracex_refs(const struct tracex *d, struct tracex_ref **refs, size_t *count)
{
	struct tracex_slot slot;

	*count = 0;
	*refs = malloc((d->slots ? d->slots : 1) * sizeof(**refs));
	if (!*refs)
		return ENOMEM;
	for (size_t i = 0; i < d->slots; i++) {
		tracex_slot(d, i, &slot);
		if (slot.type)
			(*refs)[(*count)++] =
				(struct tracex_ref){ slot.pointer, i, slot.available };
	}
	qsort(*refs, *count, sizeof(**refs), by_pointer);
	return 0;
}

const struct tracex_ref *tracex_find(const struct tracex_ref *refs, size_t count, uint64_t pointer)
{
	size_t low = 0, high = count;

	/* The loop finds the first reference with this pointer, which is the most credible. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (refs[middle].pointer < pointer)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && refs[low].pointer == pointer ? &refs[low] : NULL;
}

/* Returns the offset of a slot in the file, for messages. */
static uint64_t slot_at(const struct tracex *d, size_t index)
{
	return d->at + d->registry_at + index * d->slot_bytes;
}

/*
 * Reports two slots in use that have the same pointer, because firmware does not write such slots.
 */
static int check_pointers(const struct tracex *d, struct findings *f)
{
	struct tracex_ref *refs;
	size_t count;
	int err = tracex_refs(d, &refs, &count);

	if (err)
		return err;
	for (size_t i = 1; i < count; i++)
		if (refs[i].pointer == refs[i - 1].pointer && !refs[i].freed)
			finding(f, FINDING_WARNING, "T18", slot_at(d, refs[i].slot),
				"slots %zu and %zu are both in use for %#llx: "
				"the first is used",
				refs[i - 1].slot, refs[i].slot,
				(unsigned long long)refs[i].pointer);
	free(refs);
	return 0;
}

/* Reports unusual values. None of them makes the dump unreadable. Returns 0 or ENOMEM. */
int tracex_check_registry(const struct tracex *d, struct findings *f)
{
	for (size_t i = 0; i < d->slots; i++) {
		const unsigned char *p = d->bytes + d->registry_at + i * d->slot_bytes;
		struct tracex_slot slot;

		tracex_slot(d, i, &slot);
		if (slot.type >= TRACEX_TYPES)
			finding(f, FINDING_WARNING, "T18", slot_at(d, i) + 1,
				"slot %zu: object type %u; wanted 0 to %d", i, slot.type,
				TRACEX_TYPES - 1);
		if (p[0] > 1)
			finding(f, FINDING_WARNING, "T18", slot_at(d, i),
				"slot %zu: available is %u; wanted 0 or 1", i, p[0]);
		if (slot.type && slot.name_len == d->name_bytes)
			finding(f, FINDING_WARNING, "T18", slot_at(d, i) + (size_t)(slot.name - p),
				"slot %zu: no NUL ends its name of %u bytes", i, d->name_bytes);
	}
	return check_pointers(d, f);
}
