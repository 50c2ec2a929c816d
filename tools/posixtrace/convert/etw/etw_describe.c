/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_describe.c - keeps the descriptions that a log contains: layouts by provider, event and
 * version, maps by provider and name, and manifests by provider.
 */
#include "convert/etw/etw_describe.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/octets.h"

/* When Windows merges logs, the merge writes descriptions as classic events of this class. */
static const unsigned char metadata_guid[ETW_GUID_BYTES] = {
	0xc1, 0xf6, 0xcc, 0xbb, 0xd1, 0x6c, 0xc4, 0x48,
	0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71,
};
#define METADATA_EVENT 32
#define METADATA_MAP 33

/* An EventSource writes its manifest in events with this number, in one piece or several. */
#define MANIFEST_ID 0xfffe
#define MANIFEST_HEADER 8
#define MANIFEST_MAGIC 0x5b
#define MANIFEST_CHUNKS_MAX 256
#define MANIFESTS_MAX 1024

/* The greatest number of layouts. A conversion has fewer event types (convert/types.c). */
#define LAYOUTS_MAX 65536
/*
 * The greatest number of fields of all layouts together. The limit is needed because many events of
 * a manifest can use one list of fields, and each of these events has a copy of the list.
 */
#define ALL_FIELDS_MAX (1 << 20)

struct described {
	unsigned char guid[ETW_GUID_BYTES];
	uint32_t id, version;
	struct etw_layout *layout;
};

struct named_map {
	unsigned char guid[ETW_GUID_BYTES];
	char *name;
	struct etw_map *map;
};

struct use {
	unsigned char guid[ETW_GUID_BYTES];
	struct etw_layout *layout;
	unsigned field;
	char *name;             /* name of the map */
};

struct manifest {
	unsigned char guid[ETW_GUID_BYTES];
	unsigned chunks, left;
	struct etw_bytes chunk[MANIFEST_CHUNKS_MAX];
};

struct etw_describe {
	void *layouts;          /* trees of search.h */
	size_t count, fields;
	void *maps;
	struct use *use;
	size_t uses;
	void *by_provider;      /* a tree of the manifests */
	/* the manifests in the order of their appearance */
	struct manifest *manifest[MANIFESTS_MAX];
	size_t manifests;
};

/* Compares first the GUID of the provider, then the number and the version of the event. */
static int compare_described(const void *a, const void *b)
{
	const struct described *x = a, *y = b;
	int order = memcmp(x->guid, y->guid, sizeof(x->guid));

	if (order)
		return order;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->version < y->version ? -1 : x->version > y->version;
}

/*
 * A map is identified by its provider and its name, because two providers may use one name for
 * different maps.
 */
static int compare_maps(const void *a, const void *b)
{
	const struct named_map *x = a, *y = b;
	int order = memcmp(x->guid, y->guid, sizeof(x->guid));

	return order ? order : strcmp(x->name, y->name);
}

struct etw_describe *etw_describe_new(void)
{
	return calloc(1, sizeof(struct etw_describe));
}

static void free_described(void *p)
{
	struct described *d = p;

	etw_layout_free(d->layout);
	free(d);
}

static void free_named_map(void *p)
{
	struct named_map *m = p;

	etw_map_free(m->map);
	free(m->name);
	free(m);
}

static void free_manifest(void *p)
{
	struct manifest *m = p;

	for (unsigned i = 0; i < MANIFEST_CHUNKS_MAX; i++)
		free(m->chunk[i].bytes);
	free(m);
}

/*
 * The trees own the layouts and the maps, and the fields of layouts point to maps. The caller must
 * therefore not use any layout after this call.
 */
void etw_describe_free(struct etw_describe *d)
{
	if (!d)
		return;
	tdestroy(d->layouts, free_described);
	tdestroy(d->maps, free_named_map);
	for (size_t i = 0; i < d->uses; i++)
		free(d->use[i].name);
	free(d->use);
	tdestroy(d->by_provider, free_manifest);
	free(d);
}

/* Only the newest layout can be dropped, so its uses of maps are the last in the list. */
void etw_describe_drop(struct etw_describe *d, struct etw_layout *layout)
{
	while (d->uses && d->use[d->uses - 1].layout == layout)
		free(d->use[--d->uses].name);
	etw_layout_free(layout);
}

/*
 * The limits apply to the whole log and not to one description, because a log may have many
 * descriptions that are short.
 */
bool etw_describe_is_full(const struct etw_describe *d, unsigned fields)
{
	return d->count == LAYOUTS_MAX || fields > ALL_FIELDS_MAX - d->fields;
}

/*
 * If the event has a layout already, or if the new layout exceeds the limits, the function frees
 * the new layout and returns true, because the log can still be read.
 */
bool etw_describe_add(struct etw_describe *d, const unsigned char guid[ETW_GUID_BYTES],
		      unsigned id, unsigned version, struct etw_layout *layout)
{
	bool full = etw_describe_is_full(d, layout->fields);
	struct described *new = full ? NULL : calloc(1, sizeof(*new)), **place;

	if (!new) {
		etw_describe_drop(d, layout);
		return full;
	}
	memcpy(new->guid, guid, sizeof(new->guid));
	new->id = id;
	new->version = version;
	new->layout = layout;
	place = tsearch(new, &d->layouts, compare_described);
	if (place && *place == new) {
		d->count++;
		d->fields += layout->fields;
		return true;
	}
	/*
	 * A log may contain the description of an event twice, at its beginning and at its end. The
	 * first description is kept.
	 */
	etw_describe_drop(d, layout);
	free(new);
	return place != NULL;
}

/*
 * Becomes the owner of the map and sorts its entries for the search by value. If the provider has a
 * map of that name already, the new map is freed.
 */
bool etw_describe_map(struct etw_describe *d, const unsigned char guid[ETW_GUID_BYTES],
		      const char *name, struct etw_map *map)
{
	struct named_map *new = calloc(1, sizeof(*new)), **place = NULL;

	if (new) {
		memcpy(new->guid, guid, sizeof(new->guid));
		new->map = map;
		new->name = strndup(name, ETW_NAME_CHARS);
		if (new->name && etw_map_sort(map))
			place = tsearch(new, &d->maps, compare_maps);
	} else {
		etw_map_free(map);
	}
	if (new && (!place || *place != new))
		free_named_map(new);
	return place != NULL;
}

/*
 * The function keeps the layout and the index of the field instead of the field's address, because
 * the array of fields may still move.
 */
bool etw_describe_use_map(struct etw_describe *d, const unsigned char guid[ETW_GUID_BYTES],
			  struct etw_layout *layout, unsigned field, const char *name)
{
	struct use *use;

	if (!vec_grow(&d->use, d->uses, 1))
		return false;
	use = &d->use[d->uses];
	*use = (struct use){ .layout = layout, .field = field,
			     .name = strndup(name, ETW_NAME_CHARS) };
	if (!use->name)
		return false;
	memcpy(use->guid, guid, sizeof(use->guid));
	d->uses++;
	return true;
}

/*
 * Reports the fault of a description and returns true. If "why" is NULL, memory was lacking. In
 * this case the function reports no fault and returns false.
 */
static bool report_dropped(const char *what, const char *why, const struct etw_record *r,
			   struct findings *f)
{
	if (!why)
		return false;
	finding(f, FINDING_WARNING, "E24", r->at, "%s is dropped: %s", what, why);
	return true;
}

/* ---- manifests, which a log contains in pieces (chunks) */

static int compare_manifests(const void *a, const void *b)
{
	const struct manifest *x = a, *y = b;

	return memcmp(x->guid, y->guid, sizeof(x->guid));
}

/*
 * Finds the manifest of the record's provider, or makes a new one. If there are too many manifests,
 * *of becomes NULL. Returns false if memory is lacking.
 */
static bool manifest_of(struct etw_describe *d, const struct etw_record *r, struct manifest **of)
{
	struct manifest key, *new, **found;

	memcpy(key.guid, r->guid, sizeof(key.guid));
	found = tfind(&key, &d->by_provider, compare_manifests);
	*of = found ? *found : NULL;
	if (found || d->manifests == MANIFESTS_MAX)
		return true;
	new = calloc(1, sizeof(*new));
	if (!new)
		return false;
	memcpy(new->guid, r->guid, sizeof(new->guid));
	if (!tsearch(new, &d->by_provider, compare_manifests)) {
		free(new);
		return false;
	}
	*of = d->manifest[d->manifests++] = new;
	return true;
}

/* The events in which an EventSource writes its manifest have a special number and a magic byte. */
static bool is_manifest(const struct etw_record *r)
{
	return etw_is_provider(r) && r->id == MANIFEST_ID &&
	       r->size - r->header > MANIFEST_HEADER &&
	       r->bytes[r->header + 3] == MANIFEST_MAGIC;
}

/*
 * Keeps one piece of a manifest. Pieces may come in any order and more than once. All pieces of a
 * manifest must agree on the number of pieces. The number of pieces is at most 256, which bounds
 * the memory. Returns false if memory is lacking.
 */
static bool take_chunk(struct etw_describe *d, const struct etw_record *r, struct findings *f)
{
	const unsigned char *p = r->bytes + r->header;
	unsigned chunks = octets_u16(p + 4), chunk = octets_u16(p + 6);
	struct manifest *m;
	struct etw_bytes *to;

	if (!chunks || chunks > MANIFEST_CHUNKS_MAX || chunk >= chunks)
		return report_dropped("a manifest", "the numbers of its pieces are wrong", r, f);
	if (!manifest_of(d, r, &m))
		return false;
	if (!m)
		return true;
	if (!m->chunks)
		m->chunks = m->left = chunks;
	if (m->chunks != chunks)
		return report_dropped("a manifest", "its pieces give different numbers of pieces",
				      r, f);
	to = &m->chunk[chunk];
	if (to->len) /* a repeated piece: manifests are written again at the end */
		return true;
	etw_bytes_add(to, p + MANIFEST_HEADER, r->size - r->header - MANIFEST_HEADER);
	m->left--;
	return !to->no_memory;
}

/*
 * Joins the pieces and parses the XML. A manifest that lacks pieces is dropped with a finding.
 * Returns false if memory is lacking.
 */
static bool parse_manifest(struct etw_describe *d, const struct manifest *m, struct findings *f)
{
#ifdef HAVE_EXPAT
	const struct etw_record nowhere = { .at = 0 };
	struct etw_bytes text = { 0 };
	const char *why = NULL;
	bool ok;

	if (m->left)
		return report_dropped("a manifest", "some of its pieces are missing", &nowhere, f);
	for (unsigned i = 0; i < m->chunks; i++)
		etw_bytes_add(&text, m->chunk[i].bytes, m->chunk[i].len);
	ok = !text.no_memory &&
	     (etw_manifest(d, m->guid, (const char *)text.bytes, text.len, &why) ||
	      report_dropped("a manifest", why, &nowhere, f));
	free(text.bytes);
	return ok;
#else
	(void)d;
	(void)m;
	finding(f, FINDING_WARNING, "E25", 0,
		"the log has manifests of EventSource: this posixtrace was built without expat, "
		"which reads them");
	return true;
#endif
}

/* ---- descriptions of all kinds */

/*
 * Three kinds of records are descriptions. A few comparisons are enough to recognize all other
 * records.
 */
bool etw_describe_take(struct etw_describe *d, const struct etw_record *r, struct findings *f)
{
	const unsigned char *p = r->bytes + r->header;
	size_t size = r->size - r->header;
	const char *why;

	if (is_manifest(r))
		return take_chunk(d, r, f);
	if (!r->has_guid || !etw_is_classic(r) ||
	    memcmp(r->guid, metadata_guid, ETW_GUID_BYTES) != 0)
		return true;
	if (r->type == METADATA_EVENT)
		return etw_event_info(d, p, size, &why) ||
		       report_dropped("the description of an event", why, r, f);
	if (r->type == METADATA_MAP)
		return etw_map_info(d, p, size, &why) || report_dropped("a map", why, r, f);
	return true;
}

/*
 * Manifests are parsed only after the last record, because the pieces of one manifest may be far
 * apart. If the map of a field does not exist, the field has no names of values.
 */
bool etw_describe_end(struct etw_describe *d, struct findings *f)
{
	for (size_t i = 0; i < d->manifests; i++)
		if (!parse_manifest(d, d->manifest[i], f))
			return false;
	for (size_t i = 0; i < d->uses; i++) {
		struct named_map key = { .name = d->use[i].name }, **found;

		memcpy(key.guid, d->use[i].guid, sizeof(key.guid));
		found = tfind(&key, &d->maps, compare_maps);
		if (found)
			d->use[i].layout->field[d->use[i].field].map = (*found)->map;
	}
	return true;
}

/*
 * A log contains descriptions only of events of providers. The built-in table describes classic
 * events.
 */
const struct etw_layout *etw_describe_find(const struct etw_describe *d, const struct etw_record *r)
{
	struct described key = { .id = r->id, .version = r->version }, **found;

	if (!etw_is_provider(r))
		return NULL;
	memcpy(key.guid, r->guid, sizeof(key.guid));
	found = tfind(&key, &d->layouts, compare_described);
	return found ? (*found)->layout : NULL;
}
