/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_manifest_join.c - joins the elements of a manifest by their identifiers.
 *
 * Templates and strings are found by trees, so that the time for a hostile manifest with many
 * elements is not quadratic. Functions that return bool return false if memory is lacking.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_manifest.h"

struct join {
	const struct manifest *manifest;
	struct etw_describe *describe;
	const unsigned char *guid;
	void *templates, *strings; /* trees of search.h, by id */
};

static int compare_templates(const void *a, const void *b)
{
	const struct manifest_template *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static int compare_strings(const void *a, const void *b)
{
	const struct manifest_string *x = a, *y = b;

	return strcmp(x->id, y->id);
}

/*
 * Adds the templates and the strings to their trees. If several elements have the same id, a tree
 * has only the first of them.
 */
static bool index_ids(struct join *j)
{
	const struct manifest *m = j->manifest;

	for (size_t i = 0; i < m->templates.len; i++)
		if (m->templates.at[i]->id &&
		    !tsearch(m->templates.at[i], &j->templates, compare_templates))
			return false;
	for (size_t i = 0; i < m->strings.len; i++)
		if (m->strings.at[i].id && m->strings.at[i].text &&
		    !tsearch(&m->strings.at[i], &j->strings, compare_strings))
			return false;
	return true;
}

/*
 * tdestroy() requires a function that frees an element. This function frees nothing, because the
 * manifest owns the elements.
 */
static void keep_element(void *element)
{
	(void)element; /* which the manifest owns */
}

/* Returns the template with that id, or NULL. An event without a template has no fields. */
static const struct manifest_template *find_template(const struct join *j, char *id)
{
	struct manifest_template key = { .id = id }, **found;

	found = id ? tfind(&key, &j->templates, compare_templates) : NULL;
	return found ? *found : NULL;
}

/* Returns the name of a value, or NULL if the value has none. */
static const char *name_of(const struct join *j, const struct manifest_map_value *value)
{
	struct manifest_string key = { .id = value->message }, **found;

	if (!value->is_id || !value->message)
		return value->message;
	found = tfind(&key, &j->strings, compare_strings);
	return found ? (*found)->text : NULL;
}

/* Adds each map. The values of a map are consecutive in the list. */
static bool add_maps(const struct join *j)
{
	const struct manifest *m = j->manifest;

	for (size_t i = 0; i < m->maps.len;) {
		const struct manifest_map_value *first = &m->maps.at[i];
		struct etw_map *map = calloc(1, sizeof(*map));

		if (!map)
			return false;
		map->bits = first->bits;
		for (; i < m->maps.len && m->maps.at[i].map && first->map &&
		       !strcmp(m->maps.at[i].map, first->map); i++) {
			const char *name = name_of(j, &m->maps.at[i]);

			if (name && !etw_map_add(map, m->maps.at[i].value, name)) {
				etw_map_free(map);
				return false;
			}
		}
		if (!first->map) {
			etw_map_free(map);
			i++;
		} else if (!etw_describe_map(j->describe, j->guid, first->map, map)) {
			return false;
		}
	}
	return true;
}

/*
 * Adds a layout for an event. The layout has a copy of the fields of the template. Each event has
 * its own layout, because layouts are freed one by one.
 */
static bool add_event(const struct join *j, const struct manifest_event *e)
{
	const struct manifest_template *t = find_template(j, e->template);
	const char *provider = j->manifest->provider;
	struct etw_layout *layout;

	/*
	 * A short manifest may have thousands of events with one long template. So the limit bounds
	 * the memory for the copies of the template's fields.
	 */
	if (etw_describe_is_full(j->describe, t ? t->layout->fields : 0))
		return true;
	layout = etw_layout_new();
	if (!layout)
		return false;
	for (unsigned i = 0; t && i < t->layout->fields; i++) {
		const struct etw_field *from = &t->layout->field[i];
		struct etw_field *field = etw_layout_add(layout, from->name, strlen(from->name));
		char *name;

		if (!field || (t->map[i] && !etw_describe_use_map(j->describe, j->guid, layout, i,
								  t->map[i]))) {
			etw_describe_drop(j->describe, layout);
			return false;
		}
		name = field->name;
		*field = *from;
		field->name = name;
	}
	layout->top = t ? t->layout->top : 0;
	layout->provider = provider ? strndup(provider, ETW_NAME_CHARS) : NULL;
	layout->event = e->name ? strndup(e->name, ETW_NAME_CHARS) : NULL;
	if ((provider && !layout->provider) || (e->name && !layout->event)) {
		etw_describe_drop(j->describe, layout);
		return false;
	}
	return etw_describe_add(j->describe, j->guid, e->id, e->version, layout);
}

/* Adds the maps and then the events. etw_describe_end() later connects the fields with the maps. */
bool etw_manifest_join(const struct manifest *m, struct etw_describe *describe,
		       const unsigned char guid[ETW_GUID_BYTES])
{
	struct join j = { .manifest = m, .describe = describe, .guid = guid };
	bool ok = index_ids(&j) && add_maps(&j);

	for (size_t i = 0; ok && i < m->events.len; i++)
		ok = add_event(&j, &m->events.at[i]);
	tdestroy(j.templates, keep_element);
	tdestroy(j.strings, keep_element);
	return ok;
}
