/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.c - finds the function of an event's address and keeps it in a cache. A log has many
 * events but few different addresses, so the cache saves most of the time.
 */
#include "symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/path.h"
#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "log/jit.h"
#include "symbols/demangle.h"
#include "symbols/given.h"
#include "symbols/jit_name.h"
#include "symbols/module.h"
#include "symbols/shorten.h"

#define KNOWN_MAX    (1u << 17) /* when the cache has this number of entries, it is emptied */
#define SOURCE_BYTES 4200       /* PATH_MAX and a number */

/*
 * An entry of the cache: the symbol that an address of a process has while a file is mapped there.
 */
struct known {
	trace_id_t trid;
	pid_t pid;
	uint64_t address;
	int64_t from_ns, until_ns;
	struct symbol symbol;
	char *own, *own_whole;      /* the names, if this entry allocated them */
};

static struct {
	struct known *entry;
	size_t entries;
	struct table table;
} known;

/* The form of the names of C++ functions. */
static enum { NAMES_SIMPLE, NAMES_FULL, NAMES_OF_LINKER } form;

const struct option_row symbols_dir_rows[] = {
	{ "debug-dir", SYMBOLS_DEBUG_DIR, "DIR",
		"also look for files by build-id in DIR, directly or in .build-id/",
		OPTION_FOLDER },
	OPTION_END
};

const struct option_row symbols_rows[] = {
	{ .rows = symbols_dir_rows },
	{ "demangle", SYMBOLS_DEMANGLE, "[=FORM]",
		"the form of the names of C++ functions: simple (the default; without parameters "
		"and arguments of templates) or full",
		OPTION_CHOICE, "simple full" },
	{ "no-demangle", SYMBOLS_NO_DEMANGLE, NULL,
		"names of C++ functions as the linker has them" },
	OPTION_END
};

bool symbols_option(int option, const char *value)
{
	switch (option) {
	case SYMBOLS_DEBUG_DIR:
		return module_add_dir(value);
	case SYMBOLS_DEMANGLE:
		if (value && strcmp(value, "simple") != 0 && strcmp(value, "full") != 0) {
			say("--demangle=%s: the forms are simple and full%s", text_given(value),
			    nearest_among(value, strlen(value), "simple and full"));
			return false;
		}
		form = value && !strcmp(value, "full") ? NAMES_FULL : NAMES_SIMPLE;
		return true;
	case SYMBOLS_NO_DEMANGLE:
		form = NAMES_OF_LINKER;
		return true;
	}
	return false;
}

char *symbols_source_name(const char *name)
{
	char *source = form == NAMES_OF_LINKER ? NULL : demangle(name);

	if (source && form == NAMES_SIMPLE)
		shorten(source);
	return source;
}

/* Empties the cache. */
static void empty_cache(void)
{
	for (size_t i = 0; i < known.entries; i++) {
		free(known.entry[i].own);
		free(known.entry[i].own_whole);
	}
	free(known.entry);
	table_fini(&known.table);
	memset(&known, 0, sizeof(known));
}

/*
 * Returns whether the entry at index has the log, process and address of key. table_find() calls
 * this function.
 */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct known *entry = (const struct known *)array + index, *wanted = key;

	return entry->address == wanted->address && entry->pid == wanted->pid &&
	       entry->trid == wanted->trid;
}

/*
 * Returns the cache's entry of this address, or NULL if memory is lacking. A new entry has an empty
 * range of times, so that it is not yet used for any event.
 */
static struct known *known_entry(trace_id_t trid, pid_t pid, uint64_t address)
{
	struct known wanted = { .trid = trid, .pid = pid, .address = address };
	uint64_t hash = hash_number(address, (uint64_t)(unsigned)pid << 32 ^ (uint64_t)trid);
	uint32_t index = table_find(&known.table, hash, is_at, known.entry, &wanted);

	if (index != TABLE_NONE)
		return &known.entry[index];
	if (known.entries == KNOWN_MAX)
		empty_cache();
	if (!vec_grow(&known.entry, known.entries, 1) ||
	    !table_add(&known.table, hash, (uint32_t)known.entries))
		return NULL;
	known.entry[known.entries] = wanted;
	return &known.entry[known.entries++];
}

/* Returns "MODULE+0xOFFSET" in new memory, or NULL if memory is lacking. */
static char *with_offset(const char *path, uint64_t offset)
{
	char *name;

	if (asprintf(&name, "%s+0x%llx", path_last(path), (unsigned long long)offset) < 0)
		return NULL;
	return name;
}

/* Returns "function 0xBEGIN of MODULE" in new memory; NULL if the begin is unknown. */
static char *with_begin(struct module *module, const char *path, uint64_t offset)
{
	uint64_t begin;
	char *name;

	if (!module || !module_begin(module, offset, &begin) ||
	    asprintf(&name, "function 0x%llx of %s", (unsigned long long)begin,
		     path_last(path)) < 0)
		return NULL;
	return name;
}

/* The kinds of addresses. */
enum address_kind {
	IS_RETURN,      /* a call returns there */
	IS_INSTRUCTION, /* a thread was at this instruction */
	IS_BEGIN,       /* the first byte of a function */
};

/*
 * Fills the entry of a function that the program compiled while it ran: the log has its name.
 * Returns false if memory is lacking.
 */
static bool fill_compiled(struct known *entry, const struct posix_trace_mapping_np *mapping)
{
	struct jit_name name;

	entry->own = strdup(jit_name_of(mapping->path));
	if (!entry->own)
		return false;
	jit_name_split(entry->own, &name);
	entry->symbol = (struct symbol){
		.name = name.function, .whole = name.function, .module = SYMBOLS_COMPILED,
		.file = name.file, .line = name.line, .is_function = true,
	};
	return true;
}

/*
 * Fills the entry. The instruction at a return address may belong to the next line or function. So
 * find_symbol() looks up the address before it, which belongs to the call. Returns false if memory
 * is lacking.
 */
static bool find_symbol(struct known *entry, const struct posix_trace_mapping_np *mapping,
			uint64_t address, enum address_kind kind)
{
	const bool is_compiled = jit_is_path(mapping->path);
	struct module *module = is_compiled ? NULL : module_of(mapping);
	struct module_place place = { NULL };

	free(entry->own);
	free(entry->own_whole);
	entry->own = entry->own_whole = NULL;
	memset(&entry->symbol, 0, sizeof(entry->symbol));
	entry->symbol.module = mapping->path;
	entry->from_ns = mapping->from_ns;
	entry->until_ns = mapping->until_ns;
	if (is_compiled)
		return fill_compiled(entry, mapping);
	if (module && kind == IS_BEGIN)
		place.function = module_function(module, address - mapping->base);
	if (place.function ||
	    (module && kind != IS_BEGIN &&
	     module_find(module, address - mapping->base - (kind == IS_RETURN), &place))) {
		entry->symbol.file = place.file;
		entry->symbol.line = place.line;
		if (place.function)
			entry->own = symbols_source_name(place.function);
		entry->symbol.name = entry->own ? entry->own : place.function;
		entry->symbol.is_function = place.function != NULL;
	} else if (module) { /* "module" is NULL if memory is lacking */
		module_say_lack(module);
	}
	if (!entry->symbol.name)
		entry->symbol.name = entry->own =
			with_offset(mapping->path, address - mapping->base);
	if (!entry->symbol.is_function && kind != IS_BEGIN)
		entry->own_whole = with_begin(module, mapping->path,
					      address - mapping->base - (kind == IS_RETURN));
	entry->symbol.whole = entry->own_whole ? entry->own_whole : entry->symbol.name;
	return entry->symbol.name;
}

/*
 * A key of the cache is an address. One of these bits in the key shows the kind of the address. The
 * key of a return address has none of the bits. No address of a program has these bits, so the
 * kinds are not confused. Only addresses of the kernel have both bits.
 */
static const uint64_t key_of_kind[] = {
	[IS_INSTRUCTION] = UINT64_C(1) << 62, [IS_BEGIN] = UINT64_C(1) << 63,
};

/*
 * Fills the entry of a function of the kernel. A log stores the name of this function as the name
 * of an object. Returns false if the log has no such name, or if memory is lacking.
 */
static bool find_kernel(struct known *entry, trace_id_t trid, uint64_t address)
{
	struct posix_trace_object_np object;

	/*
	 * For the time INT64_MAX, look_up() calls this function although the entry has a name,
	 * because until_ns is not greater. The entry is valid at this time, too.
	 */
	if (entry->own)
		return true;
	if (posix_trace_object_find_np(trid, 0, address, INT64_MAX, &object))
		return false;
	entry->own = strdup(object.name);
	if (!entry->own || asprintf(&entry->own_whole, "%s_[k]", object.name) < 0) {
		free(entry->own);
		entry->own = entry->own_whole = NULL;
		return false;
	}
	entry->symbol = (struct symbol){
		.name = entry->own, .whole = entry->own_whole, .module = SYMBOLS_KERNEL,
		.is_function = true,
	};
	entry->from_ns = INT64_MIN;
	entry->until_ns = INT64_MAX;
	return true;
}

static const struct symbol *look_up(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns,
				    enum address_kind kind)
{
	struct posix_trace_mapping_np mapping;
	struct known *entry;

	if (!address) /* system events and events of foreign logs have no address */
		return NULL;
	/* An address of the kernel is the begin of the same function in all processes. */
	if (stacks_is_kernel(address)) {
		pid = 0;
		kind = IS_RETURN;
	}
	entry = known_entry(trid, pid, address ^ key_of_kind[kind]);
	if (!entry)
		return NULL;
	/*
	 * The entry is right only while its file is mapped. After dlclose() or exec, another file
	 * may be at the same address.
	 */
	if (time_ns >= entry->from_ns && time_ns < entry->until_ns)
		return &entry->symbol;
	if (stacks_is_kernel(address))
		return find_kernel(entry, trid, address) ? &entry->symbol : NULL;
	if (posix_trace_mapping_find_np(trid, pid, address, time_ns, &mapping))
		return kind == IS_BEGIN ? NULL :
		       given_find(trid, pid, address, kind == IS_INSTRUCTION);
	return find_symbol(entry, &mapping, address, kind) ? &entry->symbol : NULL;
}

/* Returns whether the name of a file is the name of a library of this project. */
static bool is_recorder(const char *path)
{
	static const char *const names[] = { "libposixtrace.so", "libposixtrace-preload.so" };
	const char *base = path ? path_last(path) : NULL;

	for (size_t i = 0; base && i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

const struct symbol *symbols_at(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns,
				bool is_exact)
{
	static struct symbol recorder = {
		.name = SYMBOLS_RECORDER, .whole = SYMBOLS_RECORDER, .is_function = true,
		.is_recorder = true,
	};
	const struct symbol *symbol = look_up(trid, pid, address, time_ns,
					      is_exact ? IS_INSTRUCTION : IS_RETURN);

	if (!symbol || !is_exact || !is_recorder(symbol->module))
		return symbol;
	recorder.module = symbol->module;
	return &recorder;
}

void symbols_place(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns, bool is_exact,
		   char *text, size_t size)
{
	const struct symbol *symbol = symbols_at(trid, pid, address, time_ns, is_exact);

	*text = '\0';
	if (symbol && symbol->file && symbol->line)
		snprintf(text, size, "%s (%s:%u)", symbol->name, path_last(symbol->file),
			 symbol->line);
	else if (symbol && symbol->is_function && symbol->module)
		snprintf(text, size, "%s of %s", symbol->name, path_last(symbol->module));
	else if (symbol)
		snprintf(text, size, "%s", symbol->whole);
}

const struct symbol *symbols_of_frame(trace_id_t trid, pid_t pid, const struct stacks_found *stack,
				      size_t index, int64_t time_ns)
{
	return symbols_at(trid, pid, stack->frame[index], time_ns, stack->is_exact && !index);
}

/*
 * Returns whether the address of an event is the address of an instruction, and not a return
 * address. The begin and the end of a thread have the address of the thread's function.
 */
static bool is_exact_type(const struct log_type *type)
{
	static const char *const names[] = { STACKS_SAMPLE, "thread.begin", "thread.end" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(type->name, names[i]))
			return true;
	return false;
}

const struct symbol *symbols_of(const struct logfile *log, const struct posix_trace_event_np *event)
{
	const uint64_t address = (uintptr_t)event->info.posix_prog_address;
	const trace_event_id_t id = event->info.posix_event_id;
	const struct log_type *type = id < log->ids ? log->by_id[id] : NULL;

	return symbols_at(log->trid, event->info.posix_pid, address, event->time_ns,
			  type && is_exact_type(type));
}

const char *symbols_function(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns)
{
	const struct symbol *symbol = look_up(trid, pid, address, time_ns, IS_BEGIN);

	return symbol ? symbol->name : NULL;
}

/* Stores FILE:LINE, or only FILE. A path that is too long loses its end. */
static const char *get_source(const struct symbol *symbol, char text[SOURCE_BYTES])
{
	if (symbol->line)
		snprintf(text, SOURCE_BYTES, "%s:%u", symbol->file, symbol->line);
	else
		snprintf(text, SOURCE_BYTES, "%s", symbol->file);
	return text;
}

void symbols_source(struct out *out, const struct symbol *symbol)
{
	char text[SOURCE_BYTES];

	get_source(symbol, text);
	text_safe(out, text, strlen(text));
}

void symbols_source_json(struct json *json, const char *name, const struct symbol *symbol)
{
	char text[SOURCE_BYTES];

	json_string_member(json, name, get_source(symbol, text));
}

void symbols_text(struct out *out, const struct symbol *symbol)
{
	out_char(out, ' ');
	text_safe(out, symbol->name, strlen(symbol->name));
	if (!symbol->file)
		return;
	out_str(out, " (");
	symbols_source(out, symbol);
	out_char(out, ')');
}
