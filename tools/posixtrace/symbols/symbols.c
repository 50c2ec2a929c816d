/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbols/demangle.h"
#include "symbols/module.h"

#define KNOWN_FIRST 1024u         /* places of the table, a power of two */
#define KNOWN_MAX   (1u << 18)    /* then it begins anew */

/* What an address of a process was in a span of time. */
struct known {
	trace_id_t trid;
	pid_t pid;
	uint64_t address;           /* 0: the place is free */
	int64_t from_ns, until_ns;
	struct symbol symbol;
	char *own;                  /* the name, where it is made up */
};

static struct {
	struct known *place;
	size_t places, used;
} known;

static bool as_the_linker_has_it;

bool symbols_option(int option, const char *value)
{
	switch (option) {
	case SYMBOLS_DEBUG_DIR:
		return module_add_dir(value);
	case SYMBOLS_DEMANGLE:
	case SYMBOLS_NO_DEMANGLE:
		as_the_linker_has_it = option == SYMBOLS_NO_DEMANGLE;
		return true;
	}
	return false;
}

static void forget(void)
{
	for (size_t i = 0; i < known.places; i++)
		free(known.place[i].own);
	free(known.place);
	memset(&known, 0, sizeof(known));
}

static struct known *place_of(struct known *place, size_t places, trace_id_t trid, pid_t pid,
			      uint64_t address)
{
	uint64_t mix = (address ^ (uint64_t)(unsigned)pid << 40 ^ (uint64_t)trid << 20) *
		       UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(mix >> 32) & (places - 1);

	while (place[i].address && (place[i].address != address || place[i].pid != pid ||
				    place[i].trid != trid))
		i = (i + 1) & (places - 1);
	return &place[i];
}

/* Half of the places stay free. */
static bool make_room(void)
{
	size_t places = known.places ? 2 * known.places : KNOWN_FIRST;
	struct known *more;

	if (2 * known.used < known.places)
		return true;
	if (places > KNOWN_MAX) {
		forget();
		places = KNOWN_FIRST;
	}
	more = calloc(places, sizeof(*more));
	if (!more)
		return false;
	for (size_t i = 0; i < known.places; i++) {
		const struct known *old = &known.place[i];

		if (old->address)
			*place_of(more, places, old->trid, old->pid, old->address) = *old;
	}
	free(known.place);
	known.place = more;
	known.places = places;
	return true;
}

static char *with_offset(const char *path, uint64_t offset)
{
	const char *slash = strrchr(path, '/');
	char *name;

	if (asprintf(&name, "%s+0x%llx", slash && slash[1] ? slash + 1 : path,
		     (unsigned long long)offset) < 0)
		return NULL;
	return name;
}

/* What an event has is where its call returns to: the call is before that. */
static bool learn(struct known *entry, const struct posix_trace_mapping_np *mapping,
		  uint64_t address)
{
	struct module *module = module_of(mapping);
	struct module_place place;

	free(entry->own);
	entry->own = NULL;
	memset(&entry->symbol, 0, sizeof(entry->symbol));
	entry->symbol.module = mapping->path;
	entry->from_ns = mapping->from_ns;
	entry->until_ns = mapping->until_ns;
	if (module && module_find(module, address - mapping->base - 1, &place)) {
		entry->symbol.file = place.file;
		entry->symbol.line = place.line;
		if (!as_the_linker_has_it && place.function)
			entry->own = demangle(place.function);
		entry->symbol.name = entry->own ? entry->own : place.function;
		entry->symbol.is_function = place.function != NULL;
	} else if (module) {
		module_say_lack(module);
	}
	if (!entry->symbol.name)
		entry->symbol.name = entry->own =
			with_offset(mapping->path, address - mapping->base);
	return entry->symbol.name;
}

const struct symbol *symbols_of(const struct logfile *log, const struct posix_trace_event_np *event)
{
	const uint64_t address = (uintptr_t)event->info.posix_prog_address;
	const pid_t pid = event->info.posix_pid;
	struct posix_trace_mapping_np mapping;
	struct known *entry;

	if (!address || !make_room())
		return NULL;
	entry = place_of(known.place, known.places, log->trid, pid, address);
	if (entry->address && event->time_ns >= entry->from_ns && event->time_ns < entry->until_ns)
		return &entry->symbol;
	if (posix_trace_mapping_find_np(log->trid, pid, address, event->time_ns, &mapping))
		return NULL;
	if (!entry->address) {
		entry->trid = log->trid;
		entry->pid = pid;
		entry->address = address;
		known.used++;
	}
	return learn(entry, &mapping, address) ? &entry->symbol : NULL;
}

void symbols_source(struct out *out, const struct symbol *symbol, bool json)
{
	char text[4200];
	size_t len;

	if (symbol->line)
		snprintf(text, sizeof(text), "%s:%u", symbol->file, symbol->line);
	else
		snprintf(text, sizeof(text), "%s", symbol->file);
	len = strlen(text);
	if (json)
		text_json(out, text, len);
	else
		text_safe(out, text, len);
}

void symbols_text(struct out *out, const struct symbol *symbol)
{
	out_char(out, ' ');
	text_safe(out, symbol->name, strlen(symbol->name));
	if (!symbol->file)
		return;
	out_str(out, " (");
	symbols_source(out, symbol, false);
	out_char(out, ')');
}
