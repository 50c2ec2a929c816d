/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * data.c - names objects by the symbols of variables.
 *
 * A log has the mappings of code only. The data of a file is mapped behind its code, at the
 * distance that their addresses have in the file. So the file of an address is the file with the
 * greatest base that is not above the address. The symbol table of that file decides whether a
 * variable is there.
 */
#include "symbols/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "log/jit.h"
#include "symbols/demangle.h"
#include "symbols/module.h"
#include "symbols/symbols.h"

/*
 * A process inherits the mappings of its ancestors. The search considers at most this number of
 * processes.
 */
#define ANCESTORS 16
#define SYMBOL_BYTES 512 /* a longer name of a function loses its end */
#define NAMES_MAX (1u << 16) /* when the cache has this number of names, it is emptied */

/* The name that an address of a process has from from_ns until until_ns. */
struct named {
	pid_t pid;
	uint64_t pointer;
	int64_t from_ns, until_ns;
	char *name; /* NULL: no variable is at the address */
	/*
	 * The number of bytes of 'name' that data_symbol() uses. A pointer to a structure also
	 * points to its first member. If this member is not a lock, data_symbol() omits the name of
	 * the member.
	 */
	size_t plain;
};

/* The mappings of one log, and the names that were found by them. */
static struct data {
	trace_id_t trid;
	struct posix_trace_mapping_np *mapping; /* in the order of the log: by process and time */
	size_t mappings;
	struct named *named;
	size_t names;
	struct table table;
} *all; /* one for each log; a linear search is enough, because commands open few logs */
static size_t logs;

static void empty_names(struct data *data)
{
	for (size_t i = 0; i < data->names; i++)
		free(data->named[i].name);
	free(data->named);
	table_fini(&data->table);
	data->named = NULL;
	data->names = 0;
	memset(&data->table, 0, sizeof(data->table));
}

/* Reads the mappings of a log. If memory is lacking, the last mappings are missing. */
static void read_mappings(struct data *data)
{
	struct posix_trace_mapping_np mapping;
	int end;

	if (posix_trace_mapping_rewind_np(data->trid))
		return;
	while (!posix_trace_mapping_getnext_np(data->trid, &mapping, &end) && !end) {
		if (!vec_grow(&data->mapping, data->mappings, 1))
			break;
		data->mapping[data->mappings++] = mapping;
	}
	posix_trace_mapping_rewind_np(data->trid);
}

/* Returns the mappings of a log, which the first call reads, or NULL if memory is lacking. */
static struct data *data_of(trace_id_t trid)
{
	for (size_t i = 0; i < logs; i++)
		if (all[i].trid == trid)
			return &all[i];
	if (!vec_grow(&all, logs, 1))
		return NULL;
	all[logs] = (struct data){ .trid = trid };
	read_mappings(&all[logs]);
	return &all[logs++];
}

/* Returns the index of the first mapping of a process, or of a process with a greater number. */
static size_t first_of(const struct data *data, pid_t pid)
{
	size_t low = 0, high = data->mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (data->mapping[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Reduces the times of a name to a range in which the mapping neither begins nor ends. The range
 * includes time_ns.
 */
static void narrow_times(struct named *name, const struct posix_trace_mapping_np *mapping,
			 int64_t time_ns)
{
	const int64_t edge[] = { mapping->from_ns, mapping->until_ns };

	for (unsigned i = 0; i < 2; i++)
		if (edge[i] > time_ns && edge[i] < name->until_ns)
			name->until_ns = edge[i];
		else if (edge[i] <= time_ns && edge[i] > name->from_ns)
			name->from_ns = edge[i];
}

/*
 * Returns the mapping with the greatest base that is not above an address, among those that a
 * process had at a time, also from its ancestors. Returns NULL if there is none. Reduces the times
 * of the name to the range in which the result is the same.
 */
static const struct posix_trace_mapping_np *mapping_below(const struct data *data, pid_t pid,
							  uint64_t pointer, int64_t time_ns,
							  struct named *name)
{
	const struct posix_trace_mapping_np *found = NULL;

	for (int depth = 0; depth < ANCESTORS; depth++) {
		const struct posix_trace_mapping_np *fork = NULL;

		for (size_t i = first_of(data, pid);
		     i < data->mappings && data->mapping[i].pid == pid; i++) {
			const struct posix_trace_mapping_np *at = &data->mapping[i];

			/*
			 * For an ancestor, time_ns is the time of the fork. So its mappings never
			 * change the range.
			 */
			if (!depth && (at->parent || at->base <= pointer))
				narrow_times(name, at, time_ns);
			if (at->from_ns > time_ns || at->until_ns <= time_ns)
				continue;
			if (at->parent)
				fork = at;
			else if (at->base <= pointer && (!found || at->base > found->base))
				found = at;
		}
		if (!fork)
			break;
		pid = fork->parent;
		time_ns = fork->from_ns;
	}
	return found;
}

/*
 * Returns the name of the variable, or of its member, at an address of a file. The name is in new
 * memory. Returns NULL if no variable is there. Stores the value for the member 'plain' of struct
 * named.
 */
static char *variable_name(struct module *module, uint64_t address, size_t *plain)
{
	uint64_t offset;
	const char *symbol = module ? module_variable(module, address, &offset) : NULL;
	char *source = symbol ? symbols_source_name(symbol) : NULL, *name = NULL;
	char member[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1];
	bool is_lock = false;
	int len = -1;

	if (symbol && module_member(module, address - offset, offset, member, sizeof(member),
				    &is_lock))
		len = asprintf(&name, "%s%s", source ? source : symbol, member);
	else if (symbol && offset)
		len = asprintf(&name, "%s+0x%llx", source ? source : symbol,
			       (unsigned long long)offset);
	else if (symbol)
		len = asprintf(&name, "%s", source ? source : symbol);
	*plain = len < 0 ? 0 : offset || is_lock ? (size_t)len : strlen(source ? source : symbol);
	free(source);
	return len < 0 ? NULL : name;
}

static bool is_named(const void *array, uint32_t index, const void *key)
{
	const struct named *entry = (const struct named *)array + index, *wanted = key;

	return entry->pointer == wanted->pointer && entry->pid == wanted->pid;
}

/* Returns the cache's entry with the name of the variable at an address of a process, or NULL. */
static const struct named *find_variable(trace_id_t trid, pid_t pid, uint64_t pointer,
					  int64_t time_ns)
{
	struct data *data = data_of(trid);
	const struct posix_trace_mapping_np *mapping;
	struct named wanted = { .pid = pid, .pointer = pointer }, *entry;
	const uint64_t hash = hash_number(pointer, (unsigned)pid);
	uint32_t index;

	if (!data || !data->mappings)
		return NULL;
	index = table_find(&data->table, hash, is_named, data->named, &wanted);
	if (index == TABLE_NONE) {
		if (data->names == NAMES_MAX)
			empty_names(data);
		if (!vec_grow(&data->named, data->names, 1) ||
		    !table_add(&data->table, hash, (uint32_t)data->names))
			return NULL;
		index = (uint32_t)data->names++;
		data->named[index] = wanted;
	}
	entry = &data->named[index];
	if (time_ns >= entry->from_ns && time_ns < entry->until_ns)
		return entry->name ? entry : NULL;
	/* Another file may have been mapped there at another time. */
	free(entry->name);
	entry->from_ns = INT64_MIN;
	entry->until_ns = INT64_MAX;
	mapping = mapping_below(data, pid, pointer, time_ns, entry);
	entry->name = mapping && !jit_is_path(mapping->path) ?
		      variable_name(module_of(mapping), pointer - mapping->base, &entry->plain) :
		      NULL;
	return entry->name ? entry : NULL;
}

const char *data_name(const struct logfile *log, pid_t pid, uint64_t pointer, int64_t time_ns,
		      struct posix_trace_object_np *object)
{
	const struct named *named;
	size_t bytes;

	if (log->has_objects &&
	    !posix_trace_object_find_np(log->trid, pid, pointer, time_ns, object))
		return object->name;
	named = find_variable(log->trid, pid, pointer, time_ns);
	if (!named)
		return NULL;
	bytes = strnlen(named->name, sizeof(object->name) - 1);
	memcpy(object->name, named->name, bytes);
	object->name[bytes] = '\0';
	return object->name;
}

const char *data_text(const struct logfile *log, pid_t pid, uint64_t pointer, int64_t time_ns,
		      const char *kind, const char *otherwise, char *text, size_t size)
{
	struct posix_trace_object_np object;
	const char *name = data_name(log, pid, pointer, time_ns, &object);

	if (!name)
		name = otherwise;
	if (name)
		snprintf(text, size, "%s \"%s\"", kind, name);
	else
		snprintf(text, size, "%s 0x%llx", kind, (unsigned long long)pointer);
	return text;
}

/* Returns the distance of an address from the begin of its function; 0: the begin is not known. */
static uint64_t distance_in(const struct logfile *log, pid_t pid, uint64_t address,
			    int64_t time_ns)
{
	struct posix_trace_mapping_np mapping;
	struct module *module;
	uint64_t begin;

	if (posix_trace_mapping_find_np(log->trid, pid, address, time_ns, &mapping))
		return 0;
	module = jit_is_path(mapping.path) ? NULL : module_of(&mapping);
	return module && module_begin(module, address - mapping.base, &begin)
		       ? address - mapping.base - begin
		       : 0;
}

const char *data_symbol(const struct logfile *log, pid_t pid, uint64_t address, int64_t time_ns)
{
	static char text[SYMBOL_BYTES];
	const struct named *named = find_variable(log->trid, pid, address, time_ns);
	const char *name;
	uint64_t distance;

	if (named) {
		snprintf(text, sizeof(text), "%.*s", (int)named->plain, named->name);
		return text;
	}
	name = symbols_function(log->trid, pid, address, time_ns);
	distance = name && !strstr(name, "+0x") ? distance_in(log, pid, address, time_ns) : 0;
	if (!distance)
		return name;
	snprintf(text, sizeof(text), "%s+0x%llx", name, (unsigned long long)distance);
	return text;
}
