/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose.c - a log of events that were not traced here: the log's writer with a ledger, and
 * no stream before it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace_np.h>

#include "arena/names.h"
#include "base/shield.h"
#include "posix/attr.h"
#include "posix/call.h"
#include "posix/compose.h"
#include "posix/first.h"
#include "record/schema.h"

_Static_assert(sizeof(struct ptx_log_status) == sizeof(struct posix_trace_status_info),
	       "a log's status is the public one");

static void free_composer(struct posix_trace_composer_np *composer)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(composer->name[type]);
	ptx_ledger_fini(&composer->ledger);
	free(composer);
}

static void put_text(char *to, size_t room, const char *from)
{
	memset(to, 0, room);
	memcpy(to, from, strnlen(from, room - 1));
}

static int settle(const trace_attr_t *wish, const struct posix_trace_origin_np *origin,
		  struct ptx_log_facts *facts)
{
	const struct ptx_attr *given = wish ? ptx_posix_attr_const(wish) : NULL;
	struct ptx_attr *attr = &facts->attr;

	if (wish && !given)
		return EINVAL;
	ptx_attr_init(attr);
	if (given)
		*attr = *given;
	else
		attr->log_policy = POSIX_TRACE_APPEND;
	if (!(attr->flags & PTX_ATTR_POLICY_SET))
		attr->stream_policy = POSIX_TRACE_FLUSH;
	if (origin && !(attr->flags & PTX_ATTR_FROM_STREAM))
		attr->creation_ns = origin->creation_ns;
	attr->flags |= PTX_ATTR_POLICY_SET | PTX_ATTR_FROM_STREAM;
	put_text(facts->clock, sizeof(facts->clock),
		 origin && *origin->clock ? origin->clock : "unknown");
	if (!origin)
		return 0;
	if (origin->resolution_ns)
		attr->clock_resolution_ns = origin->resolution_ns;
	if (*origin->generation)
		put_text(attr->generation, sizeof(attr->generation), origin->generation);
	put_text(facts->host, sizeof(facts->host), origin->host);
	facts->pid = (uint32_t)origin->pid;
	facts->tick_hz = origin->clock_hz;
	return 0;
}

static int bind_name(struct posix_trace_composer_np *composer, unsigned type, const char *name)
{
	char *copy = strdup(name);
	int err = copy ? ptx_log_name(composer->log, type, name) : ENOMEM;

	if (err) {
		free(copy);
		return err;
	}
	composer->name[type] = copy;
	composer->user_types += type >= PTX_TYPE_FIRST_USER;
	return 0;
}

static int open_log(struct posix_trace_composer_np *composer, int file_desc,
		    const struct ptx_log_facts *facts)
{
	int err = ptx_log_create_beside(file_desc, facts, &composer->log);

	if (err)
		return err;
	for (unsigned type = 1; !err && type < PTX_TYPE_FIRST_USER; type++) {
		const char *name = ptx_names_predefined(type);

		err = name ? bind_name(composer, type, name) : 0;
	}
	if (err)
		ptx_log_destroy(composer->log);
	return err;
}

static int compose(int file_desc, const trace_attr_t *attr,
		   const struct posix_trace_origin_np *origin,
		   struct posix_trace_composer_np **result)
{
	struct posix_trace_composer_np *composer;
	struct ptx_log_facts facts;
	int err;

	if (!result)
		return EINVAL;
	memset(&facts, 0, sizeof facts);
	err = settle(attr, origin, &facts);
	if (err)
		return err;
	composer = calloc(1, sizeof *composer);
	if (!composer)
		return ENOMEM;
	ptx_ledger_init(&composer->ledger);
	composer->next_type = PTX_TYPE_FIRST_USER;
	composer->data_max = facts.attr.max_data_size;
	if (composer->data_max < PTX_SYSTEM_DATA_MAX)
		composer->data_max = PTX_SYSTEM_DATA_MAX;
	if (composer->data_max > PTX_RECORD_LEN_MAX)
		composer->data_max = PTX_RECORD_LEN_MAX;
	err = open_log(composer, file_desc, &facts);
	if (err) {
		free_composer(composer);
		return err;
	}
	*result = composer;
	return 0;
}

PTX_EXPORT int posix_trace_compose_sized_np(int file_desc, const trace_attr_t *attr,
					    const struct posix_trace_origin_np *origin, size_t size,
					    struct posix_trace_composer_np **composer)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_origin_np known;

	if (origin && size < PTX_FIRST_ORIGIN)
		return ptx_call_end(call, EINVAL);
	if (origin && !ptx_sized_load(&known, sizeof(known), origin, size))
		return ptx_call_end(call, ENOTSUP);
	return ptx_call_end(call, compose(file_desc, attr, origin ? &known : NULL, composer));
}

static int name_type(struct posix_trace_composer_np *composer, const char *name,
		     trace_event_id_t *id)
{
	if (!composer || !name || !id || *id >= PTX_TYPE_MAX)
		return EINVAL;
	if (strlen(name) >= PTX_TYPE_NAME_BYTES)
		return ENAMETOOLONG;
	if (*id && composer->name[*id])
		return strcmp(composer->name[*id], name) ? EEXIST : 0;
	if (*id)
		return bind_name(composer, *id, name);
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		if (composer->name[type] && !strcmp(composer->name[type], name)) {
			*id = type;
			return 0;
		}
	}
	while (composer->next_type < PTX_TYPE_MAX && composer->name[composer->next_type])
		composer->next_type++;
	if (composer->user_types >= PTX_NAMES || composer->next_type == PTX_TYPE_MAX)
		return ENOSPC;
	*id = composer->next_type;
	return bind_name(composer, *id, name);
}

PTX_EXPORT int posix_trace_compose_name_np(struct posix_trace_composer_np *composer,
					   const char *name, trace_event_id_t *id)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, name_type(composer, name, id));
}

static int describe_type(struct posix_trace_composer_np *composer, trace_event_id_t id,
			 const char *text)
{
	struct posix_trace_schema_np *schema;
	int err;

	if (!composer || !text || id >= PTX_TYPE_MAX || !composer->name[id])
		return EINVAL;
	schema = malloc(sizeof *schema);
	if (!schema)
		return ENOMEM;
	err = ptx_schema_parse(text, schema) ? EINVAL : ptx_log_schema(composer->log, id, text);
	free(schema);
	return err;
}

PTX_EXPORT int posix_trace_compose_schema_np(struct posix_trace_composer_np *composer,
					     trace_event_id_t event_id, const char *schema)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, describe_type(composer, event_id, schema));
}

PTX_EXPORT int posix_trace_compose_object_sized_np(struct posix_trace_composer_np *composer,
						   const struct posix_trace_object_np *from,
						   size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_object_np known;
	struct ptx_object object;

	if (!composer || !from || size < PTX_FIRST_OBJECT)
		return ptx_call_end(call, EINVAL);
	if (!ptx_sized_load(&known, sizeof(known), from, size))
		return ptx_call_end(call, ENOTSUP);
	object.kind = (uint32_t)known.kind;
	object.pid = (uint32_t)known.pid;
	object.pointer = known.pointer;
	object.time_ns = known.time_ns;
	put_text(object.name, sizeof object.name, known.name);
	return ptx_call_end(call, ptx_log_object(composer->log, &object));
}

PTX_EXPORT int posix_trace_compose_finish_np(struct posix_trace_composer_np *composer,
					     const struct posix_trace_status_info *given)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_log_status status;
	struct ptx_shield shield;
	int err;

	if (!composer)
		return ptx_call_end(call, EINVAL);
	memset(&status, 0, sizeof status);
	if (given)
		memcpy(&status, given, sizeof status);
	else
		status.stream_overrun = composer->lost ? POSIX_TRACE_OVERRUN
						       : POSIX_TRACE_NO_OVERRUN;
	ptx_composer_settle(composer);
	ptx_shield_raise(&shield);
	err = ptx_log_complete(composer->log, &status, &composer->ledger);
	ptx_shield_lower(&shield);
	ptx_log_destroy(composer->log);
	free_composer(composer);
	return ptx_call_end(call, err);
}

PTX_EXPORT void posix_trace_compose_drop_np(struct posix_trace_composer_np *composer)
{
	struct ptx_call call = ptx_call_begin();

	if (composer) {
		ptx_log_destroy(composer->log);
		free_composer(composer);
	}
	ptx_call_end(call, 0);
}
