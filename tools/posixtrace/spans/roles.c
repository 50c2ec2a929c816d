/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* roles.c - finds the roles of event types by their schemas, by --pair and by their names. */
#include "spans/roles.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "log/field.h"
#include "spans/by_name.h"

/* ------------------------------------------------------------------ fields */

/*
 * Compares names and ignores case and underscores, so KernelTime equals kernel_time. "wanted" must
 * be in lower case and without underscores.
 */
static bool is_called(const char *name, const char *wanted)
{
	for (; *wanted; name++) {
		if (*name == '_')
			continue;
		if (tolower((unsigned char)*name) != *wanted++)
			return false;
	}
	return !*name;
}

/*
 * Returns whether the field is a CPU time. CPU times also have the type ns, but they are not
 * durations.
 */
static bool is_cpu(const struct posix_trace_field_np *field)
{
	return field->type == POSIX_TRACE_TYPE_NS_NP && !field->is_array &&
	       (is_called(field->name, "kerneltime") || is_called(field->name, "usertime") ||
		is_called(field->name, "cputime"));
}

/* The duration is in the first field of type ns that is neither a CPU time nor a counter. */
int pairing_time_field(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (schema->field[i].type == POSIX_TRACE_TYPE_NS_NP &&
		    !is_cpu(&schema->field[i]) && !schema->field[i].is_counter)
			return (int)i;
	return -1;
}

/* Stores the indices of the CPU time fields in the role. */
static void find_cpu(struct role *role, const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; schema && i < schema->fields && role->cpu_fields < ROLE_CPU_FIELDS;
	     i++)
		if (is_cpu(&schema->field[i]))
			role->cpu[role->cpu_fields++] = i;
}

/*
 * If a field of type ptr has the name of the span, the spans are named after functions, and this
 * field has the address of the function.
 */
static void find_function(struct role *role, const struct posix_trace_schema_np *schema)
{
	int field = field_index(schema, schema->span);

	role->has_function = field >= 0 && !schema->field[field].is_array &&
			     schema->field[field].type == POSIX_TRACE_TYPE_PTR_NP;
	role->function = role->has_function ? (unsigned)field : 0;
	if (schema->role != POSIX_TRACE_POINT_NP || !role->has_function)
		return;
	field = field_index(schema, "depth");
	role->has_depth = field >= 0 && !schema->field[field].is_array &&
			  schema->field[field].form == POSIX_TRACE_FORM_UNSIGNED_NP;
	role->depth = role->has_depth ? (unsigned)field : 0;
}

/* ------------------------------------------------------------------ series */

/* Returns the name of a series of --pair in new memory, or NULL if memory is lacking. */
static char *pair_name(const struct pairing_option *option)
{
	size_t size = strlen(option->begin) + strlen(option->end) + 3;
	char *text = malloc(size);

	if (text)
		/* All outputs of the pair show this name. */
		snprintf(text, size, "%s..%s", option->begin, option->end);
	return text;
}

/*
 * Adds a series. The caller sets its member "of". If memory is lacking, the function sets err and
 * returns NULL.
 */
static struct series *add_series(struct pairing *pairing, enum series_kind kind, const char *name)
{
	struct series *series = calloc(1, sizeof(*series));

	if (series)
		series->name = strdup(name);
	if (!series || !series->name || !vec_grow(&pairing->series, pairing->count, 1)) {
		if (series)
			free(series->name);
		free(series);
		pairing->err = ENOMEM;
		return NULL;
	}
	series->kind = kind;
	series->index = pairing->count;
	pairing->series[pairing->count++] = series;
	return series;
}

/*
 * Returns the series of this kind and name and creates it if necessary. Returns NULL if
 * there are PAIRING_SERIES series already. If memory is lacking, sets err and returns NULL. Spans
 * of several types may share one series.
 */
static struct series *series_of(struct pairing *pairing, enum series_kind kind, const char *name)
{
	struct series *series;

	for (size_t i = 0; i < pairing->count; i++)
		if (pairing->series[i]->kind == kind && !strcmp(pairing->series[i]->name, name))
			return pairing->series[i];
	if (pairing->count == PAIRING_SERIES) {
		pairing->types_without_room++;
		return NULL;
	}
	series = add_series(pairing, kind, name);
	if (series)
		series->of = series;
	return series;
}

/*
 * Returns whether the series at index is for the function with this name. table_find() calls this
 * function.
 */
static bool has_name(const void *array, uint32_t index, const void *name)
{
	struct series *const *series = array;

	return !strcmp(series[index]->name, name) && series[index]->of != series[index];
}

/*
 * For each event of a function, the series of this function is needed. There may be thousands of
 * functions, so the series are in a hash table.
 */
struct series *roles_function(struct pairing *pairing, const struct series *of, const char *name)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, name, strlen(name));
	struct series *series;
	uint32_t index;

	if (!pairing->named)
		pairing->named = calloc(1, sizeof(*pairing->named));
	if (!pairing->named) {
		pairing->err = ENOMEM;
		return NULL;
	}
	index = table_find(pairing->named, hash, has_name, pairing->series, name);
	if (index != TABLE_NONE)
		return pairing->series[index];
	if (pairing->count == PAIRING_SERIES)
		return NULL;
	series = add_series(pairing, SERIES_SPAN, name);
	if (!series)
		return NULL;
	series->of = of;
	/*
	 * If the table has no entry for the series, no later event of the function would find it.
	 * So err is set, which ends the reading.
	 */
	if (!table_add(pairing->named, hash, (uint32_t)series->index))
		pairing->err = ENOMEM;
	return pairing->err ? NULL : series;
}

/* ------------------------------------------------------------------ --pair */

/* Frees the parts of a value of --pair. */
static void free_option(struct pairing_option *option)
{
	free(option->begin);
	free(option->end);
	for (unsigned i = 0; i < option->keys; i++)
		free(option->key[i]);
}

/* Values are "BEGIN,END" or "BEGIN,END,FIELD,...". An empty part is an error. */
bool pairing_add(struct pairing *pairing, const char *text)
{
	struct pairing_option option = { 0 };
	const char *rest = text;
	unsigned parts = 0;

	if (pairing->options == PAIRING_PAIRS) {
		say("--pair %s: at most %d pairs are possible", text, PAIRING_PAIRS);
		return false;
	}
	for (;; rest++, parts++) {
		size_t len = strcspn(rest, ",");
		/* If strndup() has no memory, the value is reported as malformed. */
		char *part = len ? strndup(rest, len) : NULL;

		/* With parts == 0 the value is reported as malformed at the end of the function. */
		if (!part || parts == 2 + POSIX_TRACE_KEYS_MAX_NP) {
			free(part);
			parts = 0;
			break;
		}
		if (parts == 0)
			option.begin = part;
		else if (parts == 1)
			option.end = part;
		else
			option.key[option.keys++] = part;
		rest += len;
		if (!*rest) {
			parts++;
			break;
		}
	}
	/*
	 * A pair must not be given twice, because each of its spans would be counted twice. A value
	 * with too few parts is not compared, because it is reported as malformed later.
	 */
	for (size_t i = 0; parts >= 2 && i < pairing->options; i++)
		if (!strcmp(pairing->option[i].begin, option.begin) &&
		    !strcmp(pairing->option[i].end, option.end)) {
			say("--pair %s: these two are a pair already", text);
			free_option(&option);
			return false;
		}
	if (parts >= 2) {
		pairing->option[pairing->options++] = option;
		return true;
	}
	say("--pair %s: not BEGIN,END or BEGIN,END,FIELD with %d fields at most", text_given(text),
	    POSIX_TRACE_KEYS_MAX_NP);
	free_option(&option);
	return false;
}

/*
 * say_no_field() and say_no_type() also print the most similar name of a field or type, if there is
 * one.
 */
static void say_no_field(const struct log_type *type, const char *name)
{
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (unsigned i = 0; type->schema && i < type->schema->fields; i++)
		nearest_offer(&nearest, type->schema->field[i].name);
	say("--pair: %s has no field %s%s", type->name, name, nearest_hint(&nearest));
}

static void say_no_type(const char *name, const struct logfile *log)
{
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (size_t i = 0; i < log->types; i++)
		nearest_offer(&nearest, log->list[i]->name);
	say("--pair: %s: %s has no such event type%s", name, log->path, nearest_hint(&nearest));
}

/* Returns whether the type has all fields of the option. If not, prints the first missing field. */
static bool has_keys(const struct pairing_option *option, const struct log_type *type)
{
	for (unsigned i = 0; i < option->keys; i++)
		if (field_index(type->schema, option->key[i]) < 0) {
			say_no_field(type, option->key[i]);
			return false;
		}
	return true;
}

/* Checks an option against the log's types. Both types of the option must exist. */
static bool option_fits(struct pairing_option *option, struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++) {
		const struct log_type *type = log->list[i];
		/* The same type may be both the begin and the end, for example a periodic tick. */
		bool begins = !strcmp(type->name, option->begin);
		bool ends = !strcmp(type->name, option->end);

		if ((begins || ends) && !has_keys(option, type))
			return false;
		option->found_begin |= begins;
		option->found_end |= ends;
	}
	if (option->found_begin && option->found_end)
		return true;
	say_no_type(option->found_begin ? option->end : option->begin, log);
	return false;
}

/*
 * by_name() calls this function to find the partner of a name. The rule of by_name.h must apply to
 * the partner's type, too.
 */
static bool find_listed(void *arg, const char *name, size_t len)
{
	const struct logfile *log = arg;

	for (size_t i = 0; i < log->types; i++) {
		const struct log_type *type = log->list[i];

		if (type->name_len == len && !memcmp(type->name, name, len) &&
		    by_name_applies(type->id, type->schema))
			return true;
	}
	return false;
}

void pairing_names(struct pairing *pairing, struct logfile *log)
{
	pairing->find = find_listed;
	pairing->find_arg = log;
}

bool pairing_begin(struct pairing *pairing, struct logfile *log)
{
	pairing_names(pairing, log);
	for (size_t i = 0; i < pairing->options; i++)
		if (!option_fits(&pairing->option[i], log))
			return false;
	return true;
}

/* ------------------------------------------------------------------ roles */

/*
 * Adds a role at the front of the type's list. Returns NULL if memory is lacking, or if there are
 * too many series.
 */
static struct role *add_role(struct pairing *pairing, struct pairing_type *to,
			     const struct posix_trace_schema_np *schema, enum series_kind kind,
			     const char *name)
{
	struct series *series = series_of(pairing, kind, name);
	struct role *role = series ? calloc(1, sizeof(*role)) : NULL;

	if (!role) {
		if (series)
			pairing->err = ENOMEM;
		return NULL;
	}
	role->series = series;
	find_cpu(role, schema);
	role->next = to->role;
	to->role = role;
	return role;
}

/* Adds the role that the type's schema describes: @begin, @end or @span, or a duration. */
static void add_described(struct pairing *pairing, struct pairing_type *to,
			  const struct log_type *type)
{
	const struct posix_trace_schema_np *schema = type->schema;
	int time = pairing_time_field(schema);
	struct role *role;

	if (schema->role != POSIX_TRACE_POINT_NP) {
		/* The parser of schemas has checked that the key fields exist and may be keys. */
		role = add_role(pairing, to, schema, SERIES_SPAN, schema->span);
		if (!role)
			return;
		role->phase = schema->role;
		role->keys = schema->keys;
		memcpy(role->key, schema->key, sizeof(role->key));
		find_function(role, schema);
		return;
	}
	if (time < 0)
		return;
	role = schema->span ? add_role(pairing, to, schema, SERIES_SPAN, schema->span) :
			      add_role(pairing, to, schema, SERIES_EVENT, type->name);
	if (!role)
		return;
	role->time = (unsigned)time;
	if (schema->span)
		find_function(role, schema);
}

/*
 * Adds the role that an option --pair gives the type. has_keys() has checked that the fields exist.
 */
static void add_pair(struct pairing *pairing, struct pairing_type *to, const struct log_type *type,
		     const struct pairing_option *option, enum posix_trace_role_np phase)
{
	char *name = pair_name(option);
	struct role *role = name ? add_role(pairing, to, type->schema, SERIES_PAIR, name) : NULL;

	if (!name)
		pairing->err = ENOMEM;
	free(name);
	if (!role)
		return;
	role->phase = phase;
	for (unsigned i = 0; i < option->keys; i++)
		role->key[role->keys++] = (unsigned)field_index(type->schema, option->key[i]);
}

/* ------------------------------------------------------------------ names */

/*
 * Adds the role that the type has by its name. The key of its spans is the thread. The partner's
 * type must already exist when the first event of the type occurs. Otherwise the type is not
 * paired.
 */
static void add_named(struct pairing *pairing, struct pairing_type *to,
		      const struct log_type *type)
{
	enum posix_trace_role_np phase;
	struct role *role;
	size_t stem;
	char *name;

	if (!pairing->find || !by_name_applies(type->id, type->schema))
		return;
	phase = by_name(type->name, type->name_len, pairing->find, pairing->find_arg, &stem);
	if (phase == POSIX_TRACE_POINT_NP)
		return;
	name = strndup(type->name, stem);
	role = name ? add_role(pairing, to, type->schema, SERIES_SPAN, name) : NULL;
	if (!name)
		pairing->err = ENOMEM;
	if (role)
		role->phase = phase;
	free(name);
}

/*
 * Finds the roles of a type. The role that is added last becomes the first of the list. The ends of
 * --pair are added after the begins, so in the list the ends precede the begins. So if an event
 * both ends and begins a span, it ends the open span before it begins the next one.
 */
static struct pairing_type *find_roles(struct pairing *pairing, const struct log_type *type)
{
	struct pairing_type *to = calloc(1, sizeof(*to));

	if (!to)
		return NULL;
	for (size_t i = 0; i < pairing->options; i++)
		if (type->listed && !strcmp(type->name, pairing->option[i].begin))
			add_pair(pairing, to, type, &pairing->option[i], POSIX_TRACE_BEGIN_NP);
	for (size_t i = 0; i < pairing->options; i++)
		if (type->listed && !strcmp(type->name, pairing->option[i].end))
			add_pair(pairing, to, type, &pairing->option[i], POSIX_TRACE_END_NP);
	if (type->schema)
		add_described(pairing, to, type);
	add_named(pairing, to, type);
	return to;
}

/*
 * The array has one of only two sizes, so that an id in a forged log does not determine the size.
 */
static bool grow_ids(struct pairing *pairing, size_t id)
{
	return id < 65536 && vec_reach(&pairing->by_id, &pairing->ids, id < 1024 ? 1023 : 65535);
}

/* Only a damaged log has events of types that it does not list. Such types have no roles. */
const struct role *roles_find(struct pairing *pairing, const struct log_type *type)
{
	if (!type->listed)
		return NULL;
	if (!grow_ids(pairing, type->id)) {
		pairing->err = ENOMEM;
		return NULL;
	}
	if (!pairing->by_id[type->id])
		pairing->by_id[type->id] = find_roles(pairing, type);
	if (!pairing->by_id[type->id]) {
		pairing->err = ENOMEM;
		return NULL;
	}
	return pairing->by_id[type->id]->role;
}

void roles_fini(struct pairing *pairing)
{
	for (size_t i = 0; i < pairing->ids; i++) {
		/*
		 * The roles are freed, but not the series to which they refer. pairing_fini() frees
		 * these.
		 */
		struct role *role = pairing->by_id[i] ? pairing->by_id[i]->role : NULL, *next;

		/* Each role of the list was allocated separately. */
		for (; role; role = next) {
			next = role->next;
			free(role);
		}
		free(pairing->by_id[i]);
	}
	free(pairing->by_id);
	if (pairing->named)
		table_fini(pairing->named);
	free(pairing->named);
	for (size_t i = 0; i < pairing->options; i++)
		free_option(&pairing->option[i]);
}
