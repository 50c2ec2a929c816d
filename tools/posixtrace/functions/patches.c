/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patches.c - selects functions by patterns and writes their plan.
 *
 * The sites of a module, which are the places to patch, follow each other in plan->site.
 * module.first is the index of the module's first site, and module.sites is their number. The whole
 * plan is made before the program starts or is attached, so that the shim decides nothing.
 */
#include "functions/patches.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "base/path.h"
#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/whole.h"
#include "symbols/demangle.h"
#include "symbols/shorten.h"

enum { PATCHES_FUNCTION = 1310, PATCHES_ARGS, PATCHES_PROBE };

const struct option_row patches_rows[] = {
	{ "function", PATCHES_FUNCTION, "PATTERN",
		"functions whose name matches, from entry to return: GLOB, or GLOB@MODULE for "
		"those of one file; may be repeated" },
	{ "args", PATCHES_ARGS, NULL,
		"with --function, record arguments and results as the debugging information "
		"describes them" },
	{ "probe", PATCHES_PROBE, "PROBE",
		"USDT probes whose names match: PROVIDER:NAME, with the types of the arguments "
		"as (str,u32) and a file as @MODULE behind it if wanted; may be repeated" },
	OPTION_END
};

/*
 * Adds a value of --function, GLOB or GLOB@MODULE. Returns false after it printed an error. The
 * name of the module begins behind the last @, so that the glob may contain an @. The text of the
 * module is not copied, because it is a part of argv.
 */
static bool add_pattern(struct patches *plan, const char *text)
{
	const char *at = strrchr(text, '@');
	struct patches_pattern pattern = {
		.glob = at ? strndup(text, (size_t)(at - text)) : strdup(text),
		.module = at ? at + 1 : NULL,
	};

	if (!*text || at == text || (at && !at[1])) {
		say("--function %s: not GLOB or GLOB@MODULE", text_given(text));
		free(pattern.glob);
		return false;
	}
	if (!pattern.glob || !vec_grow(&plan->pattern, plan->patterns, 1)) {
		say("%s", strerror(ENOMEM));
		free(pattern.glob);
		return false;
	}
	plan->pattern[plan->patterns++] = pattern;
	return true;
}

int patches_take_option(struct patches *plan, int option, const char *arg)
{
	switch (option) {
	case PATCHES_FUNCTION:
		return add_pattern(plan, arg) ? 1 : -1;
	case PATCHES_ARGS:
		plan->described.is_wanted = true;
		return 1;
	case PATCHES_PROBE:
		return probes_add(&plan->probes, arg) ? 1 : -1;
	}
	return 0;
}

/*
 * The function first compares the pattern with the linker's name. Then it compares the pattern with
 * the C++ form of the name: whole, without the parameters, and shortened to the qualified name. If
 * the name cannot be demangled, for example because memory is lacking, only the linker's name is
 * compared. A linker's name that begins with + matches only a pattern that begins with +.
 */
bool patches_matches(const char *glob, const char *name)
{
	char *source, *bare;
	bool matches = (*name != '+' || *glob == '+') && fnmatch(glob, name, 0) == 0;

	if (matches || strncmp(name, "_Z", 2) != 0)
		return matches;
	source = demangle(name);
	if (!source)
		return false;
	matches = fnmatch(glob, source, 0) == 0;
	bare = matches ? NULL : strndup(source, strcspn(source, "("));
	matches = matches || (bare && fnmatch(glob, bare, 0) == 0) ||
		  (shorten(source) && fnmatch(glob, source, 0) == 0);
	free(bare);
	free(source);
	return matches;
}

bool patches_is_of(const char *module, const char *path)
{
	return !module || fnmatch(module, path, 0) == 0 ||
	       fnmatch(module, path_last(path), 0) == 0;
}

/*
 * Returns whether a pattern selects the function, and marks the patterns that do. If by_name is
 * true, only patterns that name the module count.
 */
static bool is_selected(struct patches *plan, const char *path, const char *name, bool by_name)
{
	bool is = false;

	for (size_t i = 0; i < plan->patterns; i++) {
		struct patches_pattern *pattern = &plan->pattern[i];

		/* One match is enough for the function, and one function for a pattern. */
		if ((is && pattern->is_matched) || (by_name && !pattern->module) ||
		    !patches_is_of(pattern->module, path) || !patches_matches(pattern->glob, name))
			continue;
		pattern->is_matched = true;
		is = true;
	}
	return is;
}

/*
 * Counts a refusal. Returns false if memory is lacking. The texts are constants, and there are few
 * of them, so a linear search is enough.
 */
static bool note_refusal(struct patches_refusals *refused, const char *why)
{
	refused->count++;
	for (size_t i = 0; i < refused->reasons; i++)
		if (!strcmp(refused->reason[i].why, why)) {
			refused->reason[i].count++;
			return true;
		}
	if (!vec_grow(&refused->reason, refused->reasons, 1))
		return false;
	refused->reason[refused->reasons++] = (struct patches_reason){ why, 1 };
	return true;
}

/*
 * Adds a site. If the plan already has SHIM_PLAN_SITES sites, the site is counted as refused,
 * because the shim refuses a plan with more sites. Returns false if memory is lacking.
 */
static bool add_site(struct patches *plan, const struct shim_plan_site *site)
{
	if (plan->sites == SHIM_PLAN_SITES)
		return note_refusal(&plan->refused,
				    "a process can have no more traced functions and probes");
	if (!vec_grow(&plan->site, plan->sites, 1))
		return false;
	plan->site[plan->sites++] = *site;
	plan->functions += site->kind == SHIM_SITE_FUNCTION;
	plan->probes.places += site->kind == SHIM_SITE_PROBE;
	return true;
}

/*
 * If the function handles exceptions or long jumps, returns the kind of its hook. Otherwise returns
 * SHIM_SITE_FUNCTION.
 */
static enum shim_site_kind kind_of(const char *name)
{
	if (!strcmp(name, "__cxa_throw") || !strcmp(name, "__cxa_rethrow") ||
	    !strcmp(name, "_Unwind_ForcedUnwind"))
		return SHIM_SITE_THROW;
	if (!strcmp(name, "siglongjmp") || !strcmp(name, "__longjmp_chk"))
		return SHIM_SITE_JUMP;
	return strcmp(name, "__cxa_begin_catch") ? SHIM_SITE_FUNCTION : SHIM_SITE_CATCH;
}

/*
 * Adds the arguments of a function to its site if the user wants arguments. The debugging
 * information of a file is read only for the first selected function of the file. Returns false if
 * memory is lacking.
 */
static bool describe_site(struct patches *plan, struct binary_file *file,
			  struct prototypes **prototypes, const struct binary_function *function,
			  enum arguments_way way, struct shim_plan_site *site)
{
	if (!plan->described.is_wanted)
		return true;
	if (!*prototypes)
		*prototypes = prototypes_open(file);
	return described_take(&plan->described, *prototypes, function, way, site);
}

/* Returns the real path of the file that is being planned. */
static const char *path_of_last(const struct patches *plan)
{
	return plan->file[plan->files - 1].path;
}

/* Plans a function that the kernel shall record. Returns false if memory is lacking. */
static bool trap_function(struct patches *plan, struct binary_file *file,
			  struct prototypes **prototypes, const struct binary_function *function)
{
	struct shim_plan_site site = { .kind = SHIM_SITE_FUNCTION };
	bool is_described;
	const char *why;

	if (!describe_site(plan, file, prototypes, function,
			   traps_arguments(file), &site))
		return false;
	is_described = site.has_type;
	why = traps_function(&plan->traps, file, path_of_last(plan), function, &site);
	plan->functions += !why;
	plan->described.functions -= is_described && (why || !site.has_type);
	return why != traps_no_memory && (!why || note_refusal(&plan->refused, why));
}

/* Returns whether a pattern selects functions of the file by their addresses. */
static bool wants_nameless(const struct patches *plan, const char *path)
{
	bool wants = false;

	for (size_t i = 0; i < plan->patterns && !wants; i++)
		wants = *plan->pattern[i].glob == '+' &&
			patches_is_of(plan->pattern[i].module, path);
	return wants;
}

/*
 * Plans the selected functions. Functions with the same address follow each other and have one
 * site. Functions that handle exceptions are patched for their hooks, even if they are not
 * selected. If such a patch is not safe, the trace does not show the ends of functions that an
 * exception leaves. If no function of the file can ever be patched, the function notes refusals
 * only for patterns that name the module. Returns false if memory is lacking.
 */
static bool patches_functions(struct patches *plan, struct binary_file *file,
			      struct prototypes **prototypes)
{
	const bool by_kernel = traps_has_functions(&plan->traps, file);
	const struct binary_function *function;
	uint64_t last = UINT64_MAX;
	bool by_name;
	size_t count;

	if (wants_nameless(plan, binary_path(file)) && !binary_add_nameless(file))
		return false;
	function = binary_functions(file, &count);
	by_name = !by_kernel && patchable_lack(file);

	/*
	 * If the file has no symbols, no pattern can match. The reason is noted, so that it is
	 * printed.
	 */
	if (by_kernel && binary_unknown(file))
		return note_refusal(&plan->refused, binary_unknown(file));
	for (size_t i = 0; i < count; i++) {
		enum shim_site_kind kind = kind_of(function[i].name);
		/* One address may have several names, and each of them may match a pattern. */
		const bool is_wanted =
			is_selected(plan, binary_path(file), function[i].name, by_name);
		struct patchable is;

		if (by_kernel)
			/* The kernel records the function, so it needs no hook for exceptions. */
			kind = SHIM_SITE_FUNCTION;

		if (function[i].address == last || (kind == SHIM_SITE_FUNCTION && !is_wanted))
			continue;
		if (by_kernel) {
			if (!trap_function(plan, file, prototypes, &function[i]))
				return false;
			last = function[i].address;
			continue;
		}
		is = patchable_of(file, &function[i], kind);
		if (is.method == PATCH_REFUSED) {
			if (kind == SHIM_SITE_FUNCTION && !note_refusal(&plan->refused, is.why))
				return false;
			continue;
		}
		last = function[i].address;
		if (kind == SHIM_SITE_FUNCTION &&
		    !describe_site(plan, file, prototypes, &function[i], ARGUMENTS_BY_SHIM,
				   &is.site))
			return false;
		if (!add_site(plan, &is.site))
			return false;
	}
	return true;
}

/*
 * Returns whether the kernel shall record a probe that cannot be patched. Otherwise place->why has
 * the reason why it cannot be traced.
 */
static bool can_trap_probe(struct patches *plan, const struct binary_file *file,
			   struct probe_place *place)
{
	const char *lack = traps_probe_lack(file, &place->probe);

	if (!lack && (plan->traps.is_forced || traps_are_permitted(&plan->traps)))
		return true;
	/*
	 * If the shim cannot be in the program, no probe can be patched. So the function also
	 * refuses a probe that has a method of patching.
	 */
	if (plan->traps.is_forced) {
		place->method = PATCH_REFUSED;
		place->why = lack;
	}
	return false;
}

/* Plans a probe that the kernel shall record. Returns the reason of a refusal, or NULL. */
static const char *trap_probe(struct patches *plan, const struct binary_file *file,
			      const struct probes_pattern *pattern, const struct probe_place *place)
{
	struct shim_plan_site site = { .kind = SHIM_SITE_PROBE };
	const char *why = probes_take(&plan->probes, file, pattern, &place->probe, &site);

	/*
	 * The kernel does not pass the values of vector registers, so an argument in such a
	 * register has no field.
	 */
	for (unsigned i = 0; i < site.arguments && !why; i++) {
		const struct probes_value *value = &plan->probes.value[site.first + i];

		if (value->plan.place == SHIM_PLAN_VECTOR)
			plan->probes.type[site.type].field[value->field].is_missing = true;
	}
	if (!why)
		why = traps_probe(&plan->traps, file, path_of_last(plan), &place->probe, &site);
	plan->probes.places += !why;
	return why;
}

/* Plans the selected probes. Returns false if memory is lacking. */
static bool patches_probes(struct patches *plan, struct binary_file *file)
{
	struct probe_place *place;
	size_t count, kept = 0;
	bool good = probes_of(file, &place, &count);

	for (size_t i = 0; i < count; i++)
		if (probes_match(&plan->probes, binary_path(file), &place[i].probe))
			place[kept++] = place[i];
	if (good && kept)
		probe_places(file, place, kept);
	for (size_t i = 0; i < kept && good; i++) {
		const struct probes_pattern *pattern =
			probes_match(&plan->probes, binary_path(file), &place[i].probe);
		bool by_kernel;

		by_kernel = place[i].method == PATCH_REFUSED || plan->traps.is_forced;
		if (by_kernel && can_trap_probe(plan, file, &place[i]))
			place[i].why = trap_probe(plan, file, pattern, &place[i]);
		else if (place[i].method != PATCH_REFUSED)
			place[i].why = probes_take(&plan->probes, file, pattern, &place[i].probe,
						   &place[i].site);
		if (!place[i].why && by_kernel)
			continue;
		if (place[i].why)
			good = note_refusal(&plan->refused_probes, place[i].why);
		else
			good = (!place[i].has_before || add_site(plan, &place[i].before)) &&
			       add_site(plan, &place[i].site);
	}
	free(place);
	return good;
}

static int by_site(const void *a, const void *b)
{
	const struct shim_plan_site *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	/*
	 * If a function begins with a probe, the sites of the function and of the probe have the
	 * same address. The site of the function precedes the other, because a thread enters the
	 * function before it reaches the probe.
	 */
	return (int)x->kind - (int)y->kind;
}

/*
 * Chains the site of a probe to the site before it, if the jump of the site before it replaces the
 * probe, too. The plan then moves the instructions of both sites. Returns false if the sites cannot
 * be chained.
 */
static bool patches_chain(const struct binary_file *file, struct shim_plan_site *before,
			  struct shim_plan_site *site)
{
	/*
	 * look_before() may have chained this site to a site for the instructions before the probe.
	 * If so, "before" must be that site.
	 */
	if (site->is_chained)
		return before->kind == SHIM_SITE_BEFORE &&
		       before->site + before->replaced == site->site;
	if (before->is_byte || site->is_byte || site->kind != SHIM_SITE_PROBE ||
	    (site->site == before->site && before->kind == SHIM_SITE_PROBE) ||
	    !probe_place_cut(file, before, site->site))
		return false;
	before->continues = true;
	site->is_chained = true;
	return true;
}

/*
 * Sorts the sites of a module. Drops each site that overlaps with the site before it and cannot be
 * chained. If both sites were kept, one jump could be written into bytes that the other site
 * replaces, moves or reads. Returns false if memory is lacking.
 */
static bool drop_overlaps(struct patches *plan, const struct binary_file *file, size_t first)
{
	size_t kept = first;
	uint64_t end = 0;

	if (plan->sites > first)
		qsort(plan->site + first, plan->sites - first, sizeof(*plan->site), by_site);
	for (size_t i = first; i < plan->sites; i++) {
		struct shim_plan_site *site = &plan->site[i];
		bool is_probe = site->kind == SHIM_SITE_PROBE;
		uint64_t least = site->site + SHIM_PLAN_JUMP;

		if ((site->site >= end && !site->is_chained) ||
		    (kept > first && patches_chain(file, &plan->site[kept - 1], site))) {
			end = site->site + site->replaced;
			end = end < least && !site->is_chained ? least : end;
			plan->site[kept++] = *site;
			continue;
		}
		plan->functions -= site->kind == SHIM_SITE_FUNCTION;
		plan->described.functions -= site->has_type;
		plan->probes.places -= is_probe;
		if (site->kind == SHIM_SITE_BEFORE)
			continue; /* its probe is dropped, too */
		if (!note_refusal(is_probe ? &plan->refused_probes : &plan->refused,
				  "it is too close to another function or probe"))
			return false;
	}
	plan->sites = kept;
	return true;
}

/*
 * Notes a file. Returns false if memory is lacking. If realpath() fails, for example because the
 * file no longer exists, the path is noted unchanged.
 */
static bool note_file(struct patches *plan, const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		real = strdup(path);
	if (!real || !vec_grow(&plan->file, plan->files, 1)) {
		free(real);
		return false;
	}
	plan->file[plan->files++] = (struct patches_file){ .path = real, .first = plan->sites };
	return true;
}

const struct patches_file *patches_find_file(const struct patches *plan, const char *path)
{
	for (size_t i = 0; i < plan->files; i++)
		if (!strcmp(plan->file[i].path, path))
			return &plan->file[i];
	return NULL;
}

bool patches_file(struct patches *plan, const char *path)
{
	struct binary_file *file = binary_open(path);
	struct shim_plan_module module = { .first = (uint32_t)plan->sites };
	struct prototypes *prototypes = NULL;
	size_t functions = plan->functions, places = plan->probes.places;
	bool good = file != NULL && note_file(plan, path);

	if (good)
		plan->file[plan->files - 1].is_stripped = binary_is_stripped(file);
	if (good && plan->patterns)
		good = patches_functions(plan, file, &prototypes);
	prototypes_close(prototypes);
	if (good && plan->probes.patterns)
		good = patches_probes(plan, file);
	if (good)
		good = drop_overlaps(plan, file, module.first);
	if (good && plan->sites > module.first) {
		module.sites = (uint32_t)plan->sites - module.first;
		/*
		 * If the file has only sites for hooks of exceptions, its vector registers do not
		 * matter, because the functions of such sites are called from other files.
		 */
		unsigned vectors = plan->functions > functions || plan->probes.places > places ?
					   binary_vectors(file) : 0;

		plan->vectors = vectors > plan->vectors ? vectors : plan->vectors;
		binary_identity(file, &module);
		good = vec_grow(&plan->module, plan->modules, 1);
		if (good)
			plan->module[plan->modules++] = module;
		plan->file[plan->files - 1].sites = module.sites;
	}
	binary_close(file);
	return good;
}

bool patches_selects_file(const struct patches *plan, const char *path, bool by_name)
{
	bool is = false;

	if (strstr(path, "/libposixtrace"))
		return false;
	for (size_t i = 0; i < plan->patterns && !is; i++)
		is = (!by_name || plan->pattern[i].module) &&
		     patches_is_of(plan->pattern[i].module, path);
	for (size_t i = 0; i < plan->probes.patterns && !is; i++)
		is = (!by_name || plan->probes.pattern[i].module) &&
		     patches_is_of(plan->probes.pattern[i].module, path);
	return is;
}

void patches_later(struct patches *later, const struct patches *plan)
{
	*later = (struct patches){
		.pattern = plan->pattern, .patterns = plan->patterns, .is_later = true,
		.open_file = plan->open_file,
		.described = { .is_wanted = plan->described.is_wanted },
		.probes = { .pattern = plan->probes.pattern, .patterns = plan->probes.patterns },
		.traps = { .is_forced = plan->traps.is_forced },
	};
}

/*
 * Appends a value of a place. "bytes" is the number of bytes that the value has in an event.
 * Returns false if memory is lacking.
 */
static bool append_trap_value(struct traps *traps, const struct shim_plan_argument *plan, int bytes)
{
	if (!vec_grow(&traps->value, traps->values, 1))
		return false;
	traps->value[traps->values] = *plan;
	traps->value[traps->values++].bytes = (uint8_t)bytes;
	return true;
}

/*
 * Completes the values of a probe that the kernel records, as append_arguments() does for a probe
 * that the shim records.
 */
static bool finish_probe(struct patches *plan, struct trap *trap)
{
	const size_t from = trap->first, count = trap->values;
	bool good = true;

	trap->first = (uint32_t)plan->traps.values;
	trap->values = 0;
	for (size_t k = from; k < from + count && good; k++) {
		const struct probes_value *value = &plan->probes.value[k];
		int bytes = plan->probes.type[trap->type].bytes[value->field];

		if (bytes < 0)
			continue;
		good = append_trap_value(&plan->traps, &value->plan, bytes);
		trap->values += good;
	}
	return good;
}

/*
 * Completes the values of a function's beginning or end that the kernel records, as
 * append_described() does for a function that the shim records.
 */
static bool finish_described(struct patches *plan, struct trap *trap)
{
	const struct shim_plan_argument *from = plan->described.argument + trap->first;
	const size_t count = trap->values + (size_t)trap->has_result;
	bool good = true;

	trap->type += (uint32_t)plan->probes.types;
	trap->first = (uint32_t)plan->traps.values;
	if (trap->kind == TRAP_RETURN)
		trap->values = !from->bytes;
	for (size_t k = 0; k < count && good; k++)
		good = append_trap_value(&plan->traps, &from[k], from[k].bytes);
	return good;
}

/* Completes the types and values of the places that the kernel records. */
static bool finish_traps(struct patches *plan)
{
	const size_t types = plan->probes.types + plan->described.types;
	struct traps *traps = &plan->traps;
	bool good = true;

	if (!types || !traps->traps)
		return true;
	good = vec_grow(&traps->type, 0, types);
	for (size_t i = 0; good && i < plan->probes.types; i++)
		traps->type[traps->types++] = (struct traps_type){ plan->probes.type[i].name,
								   plan->probes.type[i].schema };
	for (size_t i = 0; good && i < plan->described.types; i++)
		traps->type[traps->types++] =
			(struct traps_type){ plan->described.type[i].name,
					     plan->described.type[i].schema };
	for (size_t i = 0; i < traps->traps && good; i++) {
		struct trap *trap = &traps->trap[i];

		if (trap->kind == TRAP_PROBE)
			good = finish_probe(plan, trap);
		else if (trap->has_type || (trap->has_result && trap->kind == TRAP_RETURN))
			good = finish_described(plan, trap);
	}
	if (!good)
		say("%s", strerror(ENOMEM));
	return good;
}

bool patches_finish(struct patches *plan)
{
	if (plan->probes.types + plan->described.types > SHIM_PLAN_TYPES) {
		say("--function and --probe: a process has no more than %u event types",
		    SHIM_PLAN_TYPES);
		return false;
	}
	return probes_finish(&plan->probes) && finish_traps(plan);
}

/* The parts of a plan after its head, as they are written to the file. */
struct image {
	char *bytes;
	size_t count;
};

/* Appends bytes. Returns false if memory is lacking. */
static bool patches_append(struct image *image, const void *from, size_t bytes)
{
	if (!bytes)
		return true;
	if (!vec_grow(&image->bytes, image->count, bytes))
		return false;
	memcpy(image->bytes + image->count, from, bytes);
	image->count += bytes;
	return true;
}

/*
 * Appends the arguments of a probe's site that its events contain, and sets their number. Returns
 * false if memory is lacking.
 */
static bool append_arguments(const struct probes *probes, struct shim_plan_site *site,
			     struct image *to)
{
	const struct probes_value *value = probes->value + site->first;
	unsigned count = site->arguments;
	bool good = true;

	site->first = (uint32_t)(to->count / sizeof(value->plan));
	site->arguments = 0;
	for (unsigned i = 0; i < count && good; i++) {
		struct shim_plan_argument plan = value[i].plan;
		int bytes = probes->type[site->type].bytes[value[i].field];

		if (bytes < 0)
			continue;
		plan.bytes = (uint8_t)bytes;
		good = patches_append(to, &plan, sizeof(plan));
		site->arguments++;
	}
	return good;
}

/*
 * Appends the arguments of a function and its result. In the plan, the event types of functions
 * follow the event types of probes. Returns false if memory is lacking.
 */
static bool append_described(const struct patches *plan, struct shim_plan_site *site,
			     struct image *to)
{
	const struct shim_plan_argument *from = plan->described.argument + site->first;
	const size_t values = (size_t)site->arguments + site->has_result;

	site->first = (uint32_t)(to->count / sizeof(*from));
	site->type += (uint32_t)plan->probes.types;
	return patches_append(to, from, values * sizeof(*from));
}

/* Appends an event type, and its texts. Returns false if memory is lacking. */
static bool append_type(const char *name, const char *schema, struct image *to,
			struct image *texts)
{
	struct shim_plan_type type = { .name = (uint32_t)texts->count };

	if (!patches_append(texts, name, strlen(name) + 1))
		return false;
	type.schema = (uint32_t)texts->count;
	return patches_append(texts, schema, strlen(schema) + 1) &&
	       patches_append(to, &type, sizeof(type));
}

/*
 * Appends the modules, then the sites, the types, the arguments and the texts. Returns false if
 * memory is lacking.
 */
static bool append_all(const struct patches *plan, struct image *image,
		       struct shim_plan_head *head)
{
	struct image arguments = { NULL, 0 }, texts = { NULL, 0 };
	bool good = patches_append(image, plan->module, plan->modules * sizeof(*plan->module));

	for (size_t i = 0; i < plan->sites && good; i++) {
		struct shim_plan_site site = plan->site[i];

		if (site.kind == SHIM_SITE_PROBE)
			good = append_arguments(&plan->probes, &site, &arguments);
		if (site.has_type)
			good = append_described(plan, &site, &arguments);
		good = good && patches_append(image, &site, sizeof(site));
	}
	for (size_t i = 0; i < plan->probes.types && good; i++)
		good = append_type(plan->probes.type[i].name, plan->probes.type[i].schema, image,
				   &texts);
	for (size_t i = 0; i < plan->described.types && good; i++)
		good = append_type(plan->described.type[i].name, plan->described.type[i].schema,
				   image, &texts);
	head->arguments = (uint32_t)(arguments.count / sizeof(struct shim_plan_argument));
	head->text_bytes = (uint32_t)texts.count;
	good = good && patches_append(image, arguments.bytes, arguments.count) &&
	       patches_append(image, texts.bytes, texts.count);
	free(arguments.bytes);
	free(texts.bytes);
	return good;
}

/*
 * The plan is written to a memory file, so that no file remains on the disk if this process is
 * killed. An incomplete plan is never returned.
 */
int patches_write(const struct patches *plan)
{
	struct shim_plan_head head = {
		.magic = SHIM_PLAN_MAGIC, .modules = (uint32_t)plan->modules,
		.sites = (uint32_t)plan->sites, .vectors = plan->vectors,
		.types = (uint32_t)(plan->probes.types + plan->described.types),
		.open_fd = plan->open_file - 1,
	};
	struct image image = { NULL, 0 };
	int fd = -1;

	errno = ENOMEM;
	if (append_all(plan, &image, &head)) {
		head.hash = hash_bytes(HASH_BEGIN, image.bytes, image.count);
		fd = memory_file("posixtrace-plan");
	}
	/* The file is sealed, so that the plan cannot change after the shim has checked it. */
	if (fd >= 0 && (whole_write(fd, &head, sizeof(head)) ||
			whole_write(fd, image.bytes, image.count) ||
			fcntl(fd, F_ADD_SEALS,
			      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))) {
		close(fd);
		fd = -1;
	}
	free(image.bytes);
	return fd;
}

void patches_fini(struct patches *plan)
{
	if (plan->is_later) {
		plan->patterns = plan->probes.patterns = 0;
		plan->pattern = NULL;
		plan->probes.pattern = NULL;
	}
	for (size_t i = 0; i < plan->patterns; i++)
		free(plan->pattern[i].glob);
	free(plan->pattern);
	for (size_t i = 0; i < plan->files; i++)
		free(plan->file[i].path);
	free(plan->file);
	free(plan->module);
	free(plan->site);
	free(plan->refused.reason);
	free(plan->refused_probes.reason);
	probes_fini(&plan->probes);
	described_fini(&plan->described);
	traps_fini(&plan->traps);
	memset(plan, 0, sizeof(*plan));
}
