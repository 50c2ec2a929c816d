/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unmatched.c - reports patterns of functions and probes that select nothing.
 *
 * The names are read from the files again, because few recordings need them a second time.
 */
#include "functions/unmatched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/path.h"
#include "base/say.h"
#include "base/text.h"
#include "symbols/demangle.h"
#include "symbols/shorten.h"

#define NAME_BYTES 256

/* A search for the name that the user probably meant. */
struct meant {
	struct nearest nearest;
	char best[NAME_BYTES]; /* a copy, because a name is valid only while its file is open */
	char lack[NAME_BYTES]; /* the name exists, but its file has this reason; or empty */
};

/* Offers a name, or its C++ form if it has one. */
static void offer_name(struct meant *meant, const char *name)
{
	char *source = strncmp(name, "_Z", 2) ? NULL : demangle(name);

	if (source && shorten(source))
		name = source;
	if (strlen(name) < sizeof(meant->best)) {
		nearest_offer(&meant->nearest, name);
		if (meant->nearest.name == name) {
			strcpy(meant->best, name);
			meant->nearest.name = meant->best;
		}
	}
	free(source);
}

/*
 * Offers the functions of a file. If a function matches the pattern, no function of the file can
 * ever be patched, and "lack" gets the reason.
 */
static void offer_functions(struct meant *meant, struct binary_file *file, const char *glob)
{
	const struct binary_function *function;
	size_t count;

	function = binary_functions(file, &count);
	for (size_t i = 0; i < count; i++) {
		const char *why = patches_matches(glob, function[i].name) ? patchable_lack(file) :
									    NULL;

		if (why)
			snprintf(meant->lack, sizeof(meant->lack),
				 "; those of %s cannot be traced: %s",
				 path_last(binary_path(file)), why);
		else
			offer_name(meant, function[i].name);
	}
}

/* Offers a probe by PROVIDER:NAME, for binary_probes(). */
static bool offer_probe(void *arg, const struct binary_probe *probe)
{
	char name[NAME_BYTES];

	if (snprintf(name, sizeof(name), "%s:%s", probe->provider, probe->name) <
	    (int)sizeof(name))
		offer_name(arg, name);
	return true;
}

/* Searches all files that were planned. "glob" is NULL for a search of probes. */
static void search_meant(struct meant *meant, const struct patches *plan, const char *given,
			 const char *glob, const char *module)
{
	/* No name is similar to a pattern with wildcards. */
	*meant = (struct meant){ .best = "" };
	nearest_begin(&meant->nearest, strpbrk(given, "*?[") ? "" : given);
	for (size_t i = 0; i < plan->files; i++) {
		struct binary_file *file;

		if (!patches_is_of(module, plan->file[i].path) ||
		    !(file = binary_open(plan->file[i].path)))
			continue;
		if (glob)
			offer_functions(meant, file, glob);
		else
			binary_probes(file, offer_probe, meant);
		binary_close(file);
	}
}

bool unmatched_functions(const struct patches *plan, const char *program)
{
	bool is_stripped = plan->files && plan->file[0].is_stripped, has = false;

	for (size_t i = 0; i < plan->patterns; i++) {
		const struct patches_pattern *pattern = &plan->pattern[i];
		struct meant meant;

		if (pattern->is_matched || pattern->is_awaited)
			continue;
		search_meant(&meant, plan, pattern->glob, pattern->glob, pattern->module);
		/* The names of the libraries alone would be a misleading choice. */
		say("--function %s: no function of %s and its libraries matches%s",
		    text_given(pattern->glob), program,
		    *meant.lack ? meant.lack
		    : is_stripped ? "; it has no symbol table: list --probes lists its functions "
				    "by their addresses"
				  : nearest_hint(&meant.nearest));
		has = true;
	}
	return has;
}

bool unmatched_probes(const struct patches *plan, const char *program)
{
	bool has = false;

	for (size_t i = 0; i < plan->probes.patterns; i++) {
		const struct probes_pattern *pattern = &plan->probes.pattern[i];
		char given[NAME_BYTES];
		struct meant meant;

		if (pattern->is_matched || pattern->is_awaited)
			continue;
		snprintf(given, sizeof(given), "%s:%s", pattern->provider, pattern->name);
		search_meant(&meant, plan, given, NULL, pattern->module);
		say("--probe %s: no probe of %s and its libraries matches%s; list --probes lists "
		    "those of a file", text_given(given), program, nearest_hint(&meant.nearest));
		has = true;
	}
	return has;
}
