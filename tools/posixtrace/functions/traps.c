/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* traps.c - collects the places in files at which the kernel shall set breakpoints. */
#include "functions/traps.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/exits.h"
#include "functions/insn.h"

const char traps_no_memory[] = "there is no memory";

bool traps_are_permitted(struct traps *traps)
{
	if (!traps->refusal)
		return false;
	if (!traps->has_result)
		traps->why = traps->refusal();
	traps->has_result = true;
	return !traps->why;
}

bool traps_has_functions(struct traps *traps, const struct binary_file *file)
{
	return traps->is_forced || ((binary_reads_returns(file) || binary_is_static(file)) &&
				    traps_are_permitted(traps));
}

/*
 * Finds the file. Adds a new file with the facts that readers of the log need to find the functions
 * of the file. Returns SIZE_MAX if memory is lacking.
 */
static size_t find_file(struct traps *traps, const struct binary_file *binary, const char *path)
{
	struct traps_file *file;
	char *copy;

	for (size_t i = traps->files; i-- > 0;)
		if (!strcmp(traps->file[i].path, path))
			return i;
	copy = strdup(path);
	if (!copy || !vec_grow(&traps->file, traps->files, 1)) {
		free(copy);
		return SIZE_MAX;
	}
	file = &traps->file[traps->files];
	*file = (struct traps_file){ .path = copy };
	file->mappings = binary_mappings(binary, file->mapping, TRAPS_MAPPINGS);
	file->id_len = binary_contents(binary, file->id);
	return traps->files++;
}

/* Adds a place. Returns NULL, or the reason why that is impossible. */
static const char *add_trap(struct traps *traps, const struct binary_file *file, struct trap trap)
{
	if (traps->traps == TRAPS_MOST)
		return "a process can have no more traced functions and probes";
	if (!binary_offset(file, trap.address, &trap.offset))
		return "its address is not in the file";
	if (!vec_reserve(&traps->trap, &traps->room, traps->traps, 1))
		return traps_no_memory;
	traps->trap[traps->traps++] = trap;
	return NULL;
}

enum arguments_way traps_arguments(const struct binary_file *file)
{
	return binary_is_go(file) ? ARGUMENTS_OF_GO : ARGUMENTS_BY_KERNEL;
}

/*
 * Sets the event type of the place at which a function begins, and the values that an event records
 * there: the arguments. The place gets no type and no values if an instruction before the
 * breakpoint may have changed a register of an argument. Two kinds of instructions never do: an
 * ENDBR64, which has 4 bytes, and the instructions by which a function of Go checks its stack.
 */
static void take_values(struct trap *trap, struct shim_plan_site *site)
{
	if (trap->address > trap->function + 4 && !trap->is_go)
		site->has_type = false;
	if (!site->has_type)
		return;
	trap->type = site->type;
	trap->first = site->first;
	trap->values = site->arguments;
	trap->has_type = true;
	trap->has_result = site->has_result;
}

const char *traps_function(struct traps *traps, struct binary_file *file, const char *path,
			   const struct binary_function *function,
			   struct shim_plan_site *site)
{
	const size_t before = traps->traps, number = find_file(traps, file, path);
	struct exits exits = { .places = 0 };
	struct trap trap = { .file = (uint32_t)number, .kind = TRAP_BEGIN,
			     .function = function->address, .is_go = binary_is_go(file) };
	const char *why = number == SIZE_MAX ? traps_no_memory : exits_of(file, function, &exits);

	trap.address = exits.begin;
	take_values(&trap, site);
	if (!why)
		why = add_trap(traps, file, trap);
	trap.first += trap.values;
	trap.values = 0;
	trap.has_type = false;
	for (size_t i = 0; i < exits.places && !why; i++) {
		/*
		 * If an exit is at the same instruction as the begin, the exit gets no separate
		 * breakpoint, because the order of two breakpoints at one instruction is not known.
		 */
		if (exits.place[i].address == exits.begin) {
			traps->trap[before].condition = exits.place[i].condition;
			traps->trap[before].target = exits.place[i].target;
			continue;
		}
		trap.kind = exits.place[i].target ? TRAP_JUMP : TRAP_RETURN;
		trap.address = exits.place[i].address;
		trap.target = exits.place[i].target;
		trap.condition = exits.place[i].condition;
		why = add_trap(traps, file, trap);
	}
	exits_fini(&exits);
	/*
	 * If not all ends of a function can be recorded, the function is not traced at all, because
	 * some of its calls would seem never to end.
	 */
	if (why)
		traps->traps = before;
	else
		traps->functions++;
	return why;
}

const char *traps_probe_lack(const struct binary_file *file, const struct binary_probe *probe)
{
	struct insn insn;
	uint64_t offset;
	size_t bytes;
	const uint8_t *code = binary_at(file, probe->address, &bytes);

	if (!insn_is_available())
		return "posixtrace was built without Zydis";
	if (!code || !insn_decode(&insn, code, bytes, probe->address) || insn.kind != INSN_NOP ||
	    !insn.has_breakpoints)
		return "there is no NOP at its place";
	if (probe->semaphore && !binary_is_variable(file, probe->semaphore, 2))
		return "its semaphore is not a variable";
	if (probe->semaphore && !binary_offset(file, probe->semaphore, &offset))
		return "its semaphore has no data in the file";
	return NULL;
}

const char *traps_probe(struct traps *traps, const struct binary_file *file, const char *path,
			const struct binary_probe *probe, const struct shim_plan_site *site)
{
	const size_t number = find_file(traps, file, path);
	struct trap trap = { .file = (uint32_t)number, .kind = TRAP_PROBE,
			     .is_go = binary_is_go(file), .address = probe->address,
			     .type = site->type, .first = site->first,
			     .values = site->arguments };
	const char *why;

	if (number == SIZE_MAX)
		return traps_no_memory;
	if (probe->semaphore && !binary_offset(file, probe->semaphore, &trap.semaphore))
		return traps_probe_lack(file, probe);
	why = add_trap(traps, file, trap);
	traps->probes += !why;
	return why;
}

/*
 * Finds the type in "traps" that has the same name and schema as *type. If there is no such type,
 * appends a copy of *type. *index receives the index of the type in "traps", or UINT32_MAX if a
 * type with this name has another schema. Returns false if memory is lacking.
 */
static bool find_type(struct traps *traps, const struct traps_type *type, uint32_t *index)
{
	struct traps_type copy;

	for (size_t i = 0; i < traps->types; i++) {
		if (strcmp(traps->type[i].name, type->name) != 0)
			continue;
		*index = strcmp(traps->type[i].schema, type->schema) ? UINT32_MAX : (uint32_t)i;
		return true;
	}
	if (!vec_grow(&traps->text, traps->texts, 2) || !vec_grow(&traps->type, traps->types, 1))
		return false;
	copy = (struct traps_type){ strdup(type->name), strdup(type->schema) };
	if (!copy.name || !copy.schema) {
		free((char *)copy.name);
		free((char *)copy.schema);
		return false;
	}
	traps->text[traps->texts++] = (char *)copy.name;
	traps->text[traps->texts++] = (char *)copy.schema;
	*index = (uint32_t)traps->types;
	traps->type[traps->types++] = copy;
	return true;
}

/*
 * Appends a place of the plan "from" of traps_append() to "traps", and converts the indexes of the
 * place. The array "index" has the new index of each type.
 */
static void append_trap(struct traps *traps, struct trap trap, const uint32_t *index,
			size_t *left_out)
{
	trap.file += (uint32_t)traps->files;
	trap.first += (uint32_t)traps->values;
	if ((trap.kind == TRAP_PROBE || trap.has_type) && index[trap.type] == UINT32_MAX) {
		*left_out += trap.kind == TRAP_PROBE;
		if (trap.kind == TRAP_PROBE)
			return;
		trap.has_type = trap.has_result = false;
		trap.values = 0;
	}
	if (trap.kind == TRAP_PROBE || trap.has_type)
		trap.type = index[trap.type];
	traps->trap[traps->traps++] = trap;
}

bool traps_append(struct traps *traps, struct traps *from, size_t *left_out)
{
	uint32_t *index = calloc(from->types + 1, sizeof(*index));
	bool good = index && from->traps <= TRAPS_MOST - traps->traps &&
		    vec_reserve(&traps->trap, &traps->room, traps->traps, from->traps) &&
		    vec_grow(&traps->file, traps->files, from->files) &&
		    vec_grow(&traps->value, traps->values, from->values);

	*left_out = 0;
	for (size_t i = 0; i < from->types && good; i++)
		good = find_type(traps, &from->type[i], &index[i]);
	for (size_t i = 0; i < from->traps && good; i++)
		append_trap(traps, from->trap[i], index, left_out);
	free(index);
	if (!good)
		return false;
	if (from->files)
		memcpy(traps->file + traps->files, from->file, from->files * sizeof(*from->file));
	if (from->values)
		memcpy(traps->value + traps->values, from->value,
		       from->values * sizeof(*from->value));
	traps->files += from->files;
	traps->values += from->values;
	traps->functions += from->functions;
	traps->probes += from->probes;
	from->files = 0; /* the paths belong to "traps" now */
	traps_fini(from);
	return true;
}

void traps_fini(struct traps *traps)
{
	for (size_t i = 0; i < traps->texts; i++)
		free(traps->text[i]);
	free(traps->text);
	for (size_t i = 0; i < traps->files; i++)
		free(traps->file[i].path);
	free(traps->file);
	free(traps->trap);
	free(traps->type);
	free(traps->value);
	memset(traps, 0, sizeof(*traps));
}
