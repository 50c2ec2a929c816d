/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_pairs.c - makes slots for the registry of an exported buffer from the threads and objects
 * of a log.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/octets.h"
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_pairs.h"

/*
 * Tokens look like pointers to aligned memory. All tokens are less than the pointer of the clock's
 * slot.
 */
#define TOKEN_FIRST 0x1000u
#define TOKEN_STEP 16u
#define PAIRS_MAX ((TRACEX_CLOCK_POINTER - TOKEN_FIRST) / TOKEN_STEP)

/* Compares a pair with a key, for table_find(). */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct tracex_pair *pair = (const struct tracex_pair *)array + index, *wanted = key;

	return pair->pid == wanted->pid && pair->thread == wanted->thread;
}

/* The pair is found by a hash table, because the function runs for each event. */
int tracex_pairs_token(struct tracex_pairs *p, uint32_t pid, uint64_t thread, uint32_t *token)
{
	struct tracex_pair wanted = { thread, pid };
	uint64_t hash = hash_number(thread, pid);
	uint32_t index = table_find(&p->table, hash, is_at, p->pair, &wanted);

	if (index == TABLE_NONE) {
		if (p->pairs >= PAIRS_MAX)
			return ENOSPC;
		index = (uint32_t)p->pairs;
		if (!vec_grow(&p->pair, p->pairs, 1) || !table_add(&p->table, hash, index))
			return ENOMEM;
		p->pair[p->pairs++] = wanted;
	}
	*token = TOKEN_FIRST + index * TOKEN_STEP;
	return 0;
}

/*
 * Returns TraceX's type for a kind of objects, or 0 if TraceX has no type. The result for the kind
 * thread is 0, because threads get their slots by tokens.
 */
static unsigned type_of(const char *kind)
{
	for (unsigned type = TRACEX_THREAD + 1; type < TRACEX_TYPES; type++)
		if (!strcmp(tracex_type_name(type), kind))
			return type;
	return 0;
}

/*
 * Objects that cannot have a slot are only counted: TraceX lacks their type, or their pointer needs
 * more than 32 bits or is the pointer of the clock's slot. If several objects have the same
 * pointer, only the first is kept, since the registry has one name for a pointer.
 */
int tracex_pairs_object(struct tracex_pairs *p, const struct fmt_object *object)
{
	unsigned type = type_of(object->kind);
	struct tracex_thing *thing;

	if (!type || object->pointer > UINT32_MAX || object->pointer == TRACEX_CLOCK_POINTER) {
		p->unfit++;
		return 0;
	}
	for (size_t i = 0; i < p->things; i++)
		if (p->thing[i].pointer == object->pointer)
			return 0;
	if (!vec_grow(&p->thing, p->things, 1))
		return ENOMEM;
	thing = &p->thing[p->things++];
	thing->type = type;
	thing->pointer = (uint32_t)object->pointer;
	thing->parameter[0] = (uint32_t)object->parameter[0];
	thing->parameter[1] = (uint32_t)object->parameter[1];
	memcpy(thing->name, object->name,
	       object->name_len < TRACEX_NAME_BYTES ? object->name_len : TRACEX_NAME_BYTES - 1);
	return 0;
}

/*
 * Omits objects whose pointers are tokens of threads. Otherwise TraceX could show the name of such
 * an object for an event that refers to the thread.
 */
void tracex_pairs_omit_threads(struct tracex_pairs *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->things; i++) {
		uint32_t ahead = p->thing[i].pointer - TOKEN_FIRST;

		if (p->thing[i].pointer >= TOKEN_FIRST && ahead % TOKEN_STEP == 0 &&
		    ahead / TOKEN_STEP < p->pairs)
			p->unfit++;
		else
			p->thing[kept++] = p->thing[i];
	}
	p->things = kept;
}

size_t tracex_pairs_slots(const struct tracex_pairs *p)
{
	return p->pairs + p->things;
}

/* A long name is shortened, so that a null byte ends the name. */
void tracex_pairs_put_slot(struct out *out, unsigned type, uint32_t pointer, uint32_t parameter1,
			   uint32_t parameter2, const char *name)
{
	unsigned char slot[TRACEX_SLOT_BYTES + TRACEX_NAME_BYTES] = { 0, (unsigned char)type };

	octets_put(slot + 4, pointer, 4);
	octets_put(slot + 8, parameter1, 4);
	octets_put(slot + 12, parameter2, 4);
	memcpy(slot + TRACEX_SLOT_BYTES, name, strnlen(name, TRACEX_NAME_BYTES - 1));
	out_bytes(out, slot, sizeof(slot));
}

/* The names of threads have the form that tracex_source_thread() reads. */
void tracex_pairs_put(const struct tracex_pairs *p, struct out *out)
{
	for (size_t i = 0; i < p->pairs; i++) {
		char name[TRACEX_NAME_BYTES];

		snprintf(name, sizeof(name), "%u:%llx", p->pair[i].pid,
			 (unsigned long long)p->pair[i].thread);
		tracex_pairs_put_slot(out, TRACEX_THREAD, TOKEN_FIRST + (uint32_t)i * TOKEN_STEP, 0,
				      0, name);
	}
	for (size_t i = 0; i < p->things; i++)
		tracex_pairs_put_slot(out, p->thing[i].type, p->thing[i].pointer,
				      p->thing[i].parameter[0], p->thing[i].parameter[1],
				      p->thing[i].name);
}

void tracex_pairs_free(struct tracex_pairs *p)
{
	free(p->pair);
	table_fini(&p->table);
	free(p->thing);
}
