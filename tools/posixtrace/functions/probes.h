/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probes.h - the USDT probes that a user selects, and their event types.
 *
 * All places of a probe, in all files, have the same event type. The fields of the type are large
 * enough for the values of each place.
 */
#ifndef POSIXTRACE_FUNCTIONS_PROBES_H
#define POSIXTRACE_FUNCTIONS_PROBES_H

#include "functions/probe_argument.h"
#include "functions/probe_place.h"

struct probes_pattern {
	char *provider, *name;  /* globs */
	/* types of the arguments, separated by commas; NULL: the user gave none */
	char *types;
	const char *module;     /* a glob of the name or path of the file; NULL: every file */
	bool is_matched;        /* a probe matches, which may be refused */
	bool is_awaited;        /* no loaded file matches the module */
};

/* An event type. probes_finish() sets the members "schema" and "bytes". */
struct probes_type {
	char *name;
	const char *known;       /* the fields from probe_known(), or NULL */
	const char *types;       /* types from the pattern; not owned */
	unsigned fields;
	struct probes_field {
		uint8_t size;    /* the largest size that any place has */
		bool is_signed, is_float, is_missing;
	} field[SHIM_PLAN_OF_SITE];
	char *schema;
	/*
	 * number of bytes of each field in an event; 0: the field is a text; -1: events lack the
	 * field
	 */
	int bytes[SHIM_PLAN_OF_SITE];
};

/* An argument at a place. "field" is the number of its field in the type. */
struct probes_value {
	struct shim_plan_argument plan;
	uint8_t field;
};

struct probes {
	struct probes_pattern *pattern;
	size_t patterns;
	struct probes_type *type;
	size_t types;
	struct probes_value *value;
	size_t values;
	size_t places;           /* the number of places that are traced */
};

/*
 * Adds a value of --probe. The value is PROVIDER:NAME, optionally followed by types in parentheses
 * and by @MODULE. Returns false after it printed an error.
 */
bool probes_add(struct probes *probes, const char *text);
void probes_fini(struct probes *probes);

/*
 * Returns the first pattern that selects a probe of the file, or NULL if no pattern selects it.
 * Marks all patterns that select it.
 */
const struct probes_pattern *probes_match(struct probes *probes, const char *path,
					  const struct binary_probe *probe);

/*
 * Adds the arguments and the type of a probe to its site. Returns NULL, or the reason why the probe
 * cannot be traced.
 */
const char *probes_take(struct probes *probes, const struct binary_file *file,
			const struct probes_pattern *pattern, const struct binary_probe *probe,
			struct shim_plan_site *site);

/* Makes the schemas, after the last file. Returns false after it printed an error. */
bool probes_finish(struct probes *probes);

/*
 * Collects the probes of a file in the order of their places. Returns false if memory is lacking.
 */
bool probes_of(struct binary_file *file, struct probe_place **place, size_t *count);

#endif
