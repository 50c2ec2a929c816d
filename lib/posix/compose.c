/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose.c - a log of events that this library did not record: foreign traces, merged
 * logs.
 *
 * The composer uses the writer of logs (log/log.h) and a ledger of its own; there is no stream. The
 * program calls the functions of one composer one at a time. The program may have read its input
 * from a hostile file, so the functions check lengths, types and texts.
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

/* Frees the composer. The caller has destroyed the log before. */
static void free_composer(struct posix_trace_composer_np *composer)
{
	/* Each name has an allocation of its own, because the names are few. */
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(composer->name[type]);
	ptx_ledger_fini(&composer->ledger);
	free(composer);
}

/* Copies a text into a field of the log's format. The text is shortened so that a NUL fits. */
static void put_text(char *to, size_t room, const char *from)
{
	/*
	 * The bytes behind the NUL are cleared, because they become part of the file and must not
	 * be old bytes of the stack.
	 */
	memset(to, 0, room);
	memcpy(to, from, strnlen(from, room - 1));
}

/*
 * Determines the facts of the log from the attributes and the origin that the caller gives. Both
 * may be NULL. EINVAL: the attributes are not valid.
 */
static int fill_facts(const trace_attr_t *requested, const struct posix_trace_origin_np *origin,
		      struct ptx_log_facts *facts)
{
	const struct ptx_attr *given = requested ? ptx_posix_attr_const(requested) : NULL;
	struct ptx_attr *attr = &facts->attr;

	/* A pointer to an object that is not initialized is an error; NULL is not (CREATE-02). */
	if (requested && !given)
		return EINVAL;
	ptx_attr_init(attr);
	if (given)
		*attr = *given;
	else
		/*
		 * A composed log may have any length, so the default is APPEND, which has no limit.
		 */
		attr->log_policy = POSIX_TRACE_APPEND;
	/* A stream with log has the same default (POLICY-04). */
	if (!(attr->flags & PTX_ATTR_POLICY_SET))
		attr->stream_policy = POSIX_TRACE_FLUSH;
	/*
	 * Attributes of a stream have a creation time already. Otherwise the log gets the creation
	 * time of the trace from which it is made.
	 */
	if (origin && !(attr->flags & PTX_ATTR_FROM_STREAM))
		attr->creation_ns = origin->creation_ns;
	attr->flags |= PTX_ATTR_POLICY_SET | PTX_ATTR_FROM_STREAM;
	/*
	 * If the clock of the imported trace has no name, it gets the name "unknown". So a reader
	 * does not compare its ticks with those of other clocks.
	 */
	put_text(facts->clock, sizeof(facts->clock),
		 origin && *origin->clock ? origin->clock : "unknown");
	if (!origin)
		return 0;
	/* 0 and empty texts of the origin mean "unknown": the defaults remain. */
	if (origin->resolution_ns)
		attr->clock_resolution_ns = origin->resolution_ns;
	if (*origin->generation)
		put_text(attr->generation, sizeof(attr->generation), origin->generation);
	put_text(facts->host, sizeof(facts->host), origin->host);
	/* This is the traced process, with the number that the foreign trace gives. */
	facts->pid = (uint32_t)origin->pid;
	facts->tick_hz = origin->clock_hz;
	facts->begin_ns = origin->begin_ns;
	return 0;
}

/* Enters a name in the log and in the composer's table, in which name_type() looks it up. */
static int bind_name(struct posix_trace_composer_np *composer, unsigned type, const char *name)
{
	char *copy = strdup(name);
	int err = copy ? ptx_log_name(composer->log, type, name) : ENOMEM;

	/*
	 * The name is put into the table only after the log has it, so that the table and the log
	 * agree.
	 */
	if (err) {
		free(copy);
		return err;
	}
	composer->name[type] = copy;
	/* The limit of names concerns user types only (EVID-09). */
	composer->user_types += type >= PTX_TYPE_FIRST_USER;
	return 0;
}

/* Creates the log and enters the predefined names, which every log has (NAMEOF-03). */
static int open_log(struct posix_trace_composer_np *composer, int file_desc,
		    const struct ptx_log_facts *facts)
{
	int err = ptx_log_create_beside(file_desc, facts, &composer->log);

	if (err)
		return err;
	/* Types without a predefined name are reserved, and are not entered. */
	for (unsigned type = 1; !err && type < PTX_TYPE_FIRST_USER; type++) {
		const char *name = ptx_names_predefined(type);

		err = name ? bind_name(composer, type, name) : 0;
	}
	/*
	 * The incomplete log remains in the file. Only a reader that salvages damaged logs can open
	 * it.
	 */
	if (err)
		ptx_log_destroy(composer->log);
	return err;
}

/*
 * Makes a composer. After an error no memory and no descriptor remains; only the file may have got
 * bytes.
 */
static int make_composer(int file_desc, const trace_attr_t *attr,
			 const struct posix_trace_origin_np *origin,
			 struct posix_trace_composer_np **result)
{
	struct posix_trace_composer_np *composer;
	struct ptx_log_facts facts;
	int err;

	if (!result)
		return EINVAL;
	/* The facts become the header of the log, so all bytes, also padding, must be zero. */
	memset(&facts, 0, sizeof facts);
	err = fill_facts(attr, origin, &facts);
	if (err)
		return err;
	composer = calloc(1, sizeof *composer);
	if (!composer)
		return ENOMEM;
	/* ptx_ledger_init() allocates no memory. */
	ptx_ledger_init(&composer->ledger);
	composer->next_type = PTX_TYPE_FIRST_USER;
	/*
	 * Data of system events are never truncated (SIZE-13), so the buffer has room for the
	 * largest of them.
	 */
	composer->data_max = facts.attr.max_data_size;
	if (composer->data_max < PTX_SYSTEM_DATA_MAX)
		composer->data_max = PTX_SYSTEM_DATA_MAX;
	/* The length of a record has 28 bits. */
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

/*
 * file_desc is as for posix_trace_create_withlog(), and the errors are the same. ENOTSUP: `origin`
 * has members of a later version that are not 0.
 */
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
	return ptx_call_end(call, make_composer(file_desc, attr, origin ? &known : NULL, composer));
}

/*
 * Binds a name to a type. If *id is 0, the function chooses the type that has this name already, or
 * else a free type. EEXIST: the type has another name. ENOSPC: there are no more types.
 */
static int name_type(struct posix_trace_composer_np *composer, const char *name,
		     trace_event_id_t *id)
{
	/* *id is input and output: a type that the caller requests, or 0. */
	if (!composer || !name || !id || *id >= PTX_TYPE_MAX)
		return EINVAL;
	/* Names are compared in bytes, as in posix_trace_eventid_open() (EVID-04, EVID-17). */
	if (strlen(name) >= PTX_TYPE_NAME_BYTES)
		return ENAMETOOLONG;
	/* The same name again is no error, so that a program need not keep a table. */
	if (*id && composer->name[*id])
		return strcmp(composer->name[*id], name) ? EEXIST : 0;
	if (*id)
		return bind_name(composer, *id, name);
	/* A name has one type: a name that is known gives its type again (EVID-02). */
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		if (composer->name[type] && !strcmp(composer->name[type], name)) {
			*id = type;
			return 0;
		}
	}
	/* The caller may have bound types itself, so that next_type may be in use. */
	while (composer->next_type < PTX_TYPE_MAX && composer->name[composer->next_type])
		composer->next_type++;
	/*
	 * EVID-08 does not apply: a name for which there is no room does not get the unnamed type.
	 * A composed log has events of the unnamed type only if the program requests this type.
	 */
	if (composer->user_types >= PTX_NAMES || composer->next_type == PTX_TYPE_MAX)
		return ENOSPC;
	*id = composer->next_type;
	return bind_name(composer, *id, name);
}

/*
 * Names a type of the composed log. A program can call this function at any time before the first
 * event of the type.
 */
PTX_EXPORT int posix_trace_compose_name_np(struct posix_trace_composer_np *composer,
					   const char *name, trace_event_id_t *id)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, name_type(composer, name, id));
}

/*
 * The schema is parsed before it is stored, because a log must not contain a text that no reader
 * accepts.
 */
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
	/*
	 * The message of the parser is not returned: the program only gets EINVAL, as for any other
	 * error in the arguments.
	 */
	err = ptx_schema_parse(text, schema) ? EINVAL : ptx_log_schema(composer->log, id, text);
	free(schema);
	return err;
}

/* Describes a type that has a name. */
PTX_EXPORT int posix_trace_compose_schema_np(struct posix_trace_composer_np *composer,
					     trace_event_id_t event_id, const char *schema)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, describe_type(composer, event_id, schema));
}

/*
 * Names an object of a process. The name is valid from the time in *from. ENOTSUP: as for
 * posix_trace_compose_sized_np().
 */
PTX_EXPORT int posix_trace_compose_object_sized_np(struct posix_trace_composer_np *composer,
						   const struct posix_trace_object_np *from,
						   size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_object_np known;
	struct ptx_object object;

	/* A null pointer is an error (GEN-05). */
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

/*
 * Adds the notes from which a reader makes the span of the mapping: one for its beginning, and one
 * for its end unless the mapping lasts to the end of the log. A note GONE precedes others of the
 * same time, so it does not end a mapping that begins at that time (record/mapping.c).
 */
static int add_mapping(struct posix_trace_composer_np *composer,
		       const struct posix_trace_mapping_np *from)
{
	struct ptx_mapping note = {
		.kind = from->parent ? PTX_MAPPING_CHILD : PTX_MAPPING_FILE,
		.pid = (uint32_t)from->pid, .parent = (uint32_t)from->parent,
		.from_ns = from->from_ns,
	};
	int err;

	/*
	 * A note of a child has no addresses, because the mappings of the parent are valid in the
	 * child.
	 */
	if (note.kind == PTX_MAPPING_FILE) {
		/* The log's writer checks the length of the path (FORMAT M2). */
		if (from->start >= from->end || !from->path ||
		    from->build_id_len > PTX_MAPPING_ID_BYTES)
			return EINVAL;
		note.start = from->start;
		note.end = from->end;
		note.offset = from->offset;
		note.base = from->base;
		note.id_bytes = from->build_id_len;
		memcpy(note.id, from->build_id, from->build_id_len);
		note.path = from->path;
	}
	/*
	 * The log's writer writes the note with the next block of events, or at the end of the log.
	 */
	err = ptx_log_mapping(composer->log, &note);
	if (err || from->until_ns == INT64_MAX)
		return err;
	/* For a child, one note ends all its mappings, also those that it has from its parent. */
	note = (struct ptx_mapping){
		.kind = PTX_MAPPING_GONE, .pid = note.pid, .from_ns = from->until_ns,
		.start = from->parent ? 0 : from->start,
		.end = from->parent ? UINT64_MAX : from->end,
	};
	return ptx_log_mapping(composer->log, &note);
}

/*
 * Adds a mapping in the form that a reader of a log yields. ENOTSUP: as for
 * posix_trace_compose_sized_np().
 */
PTX_EXPORT int posix_trace_compose_mapping_sized_np(struct posix_trace_composer_np *composer,
						    const struct posix_trace_mapping_np *from,
						    size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_mapping_np known;

	/*
	 * A null pointer is an error (GEN-05). Process 0 is an error, too, because an entry with
	 * this number would end the list (FORMAT 3.12).
	 */
	if (!composer || !from || size < PTX_FIRST_MAPPING)
		return ptx_call_end(call, EINVAL);
	if (!ptx_sized_load(&known, sizeof(known), from, size))
		return ptx_call_end(call, ENOTSUP);
	return ptx_call_end(call, known.pid ? add_mapping(composer, &known) : EINVAL);
}

/*
 * Completes the log and frees the composer, also if it returns an error. `given` is the status for
 * the log, or NULL.
 */
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
	/* Without a status, the log reports an overrun if events were counted as lost. */
	if (given)
		memcpy(&status, given, sizeof status);
	else
		status.stream_overrun = composer->lost ? POSIX_TRACE_OVERRUN
						       : POSIX_TRACE_NO_OVERRUN;
	/* The last run of events is added to its thread's line before the ledger is written. */
	ptx_composer_count_run(composer);
	/* FLUSHF-09: SIGXFSZ and SIGPIPE from writing the file do not reach the program. */
	ptx_shield_raise(&shield);
	/* ENOSPC, EFBIG, EIO and others: the log is incomplete then. */
	err = ptx_log_complete(composer->log, &status, &composer->ledger);
	ptx_shield_lower(&shield);
	ptx_log_destroy(composer->log);
	free_composer(composer);
	return ptx_call_end(call, err);
}

/*
 * Frees the composer without completing the log. The function returns no error number, because
 * nothing can fail.
 */
PTX_EXPORT void posix_trace_compose_abandon_np(struct posix_trace_composer_np *composer)
{
	struct ptx_call call = ptx_call_begin();

	if (composer) {
		ptx_log_destroy(composer->log);
		free_composer(composer);
	}
	ptx_call_end(call, 0);
}
