/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * form.c - interprets the table of form_rows.h, and makes the data of events.
 *
 * The rows are a part of this program, so they are not checked. The records may have any contents:
 * a process chooses the memory that is copied, and may change it during its call. The functions
 * read each number, text and struct from a piece whose length was checked. If such a value is
 * absent, a fixed value such as 0 is used.
 */
#include "syscalls/form.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/procfile.h"
#include "base/vec.h"
#include "syscalls/form_rows.h"
#include "../../../lib/preload/address.h"
#include "../../../lib/preload/types.h" /* the only list of the types and schemas */

/* A row of FORM_ROWS. */
struct form_row {
	const char *call, *type, *parts, *fields;
};

static const struct form_row rows[] = {
#define ROW(call, type, parts, fields) { call, type, parts, fields },
	FORM_ROWS(ROW)
#undef ROW
};

/*
 * The types of the preload library. This file uses the library's own list, so that both make the
 * same event of a call.
 */
static const struct {
	const char *name, *schema;
} library[] = {
#define TYPE(type, family, name, schema) { name, schema },
	SHIM_TYPES(TYPE)
#undef TYPE
};

/* ------------------------------------------------------------------ rows */

/*
 * Returns the row of a call, or NULL if it has none. A row with ! is only for calls of 64-bit
 * programs.
 */
static const struct form_row *find_row(const char *call, bool is_32bit)
{
	size_t len = strlen(call);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(rows[i].call, call, len) &&
		    (!rows[i].call[len] || (rows[i].call[len] == '!' && !is_32bit)))
			return &rows[i];
	return NULL;
}

/* Returns the text of the schema of a type, or NULL if the library has no such type. */
static const char *library_schema(const char *type)
{
	for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
		if (!strcmp(library[i].name, type))
			return library[i].schema;
	return NULL;
}

/* Returns the beginning of the next word, and stores its length in *len. */
static const char *next_word(const char *text, size_t *len)
{
	text += strspn(text, " ");
	*len = strcspn(text, " ");
	return text;
}

/*
 * Reads the parts of a row into the plan. A part may have no bytes, for example the part for --data
 * if this option is not given. Such a part keeps its place in the plan, so that part i of the row
 * is always piece i of a record.
 */
static void plan_parts(const struct form_row *row, unsigned content, struct syscalls_plan *plan)
{
	const char *word = row->parts;
	size_t len, part = 0;

	for (word = next_word(word, &len); len && part < SYSCALLS_PIECES;
	     word = next_word(word + len, &len)) {
		struct syscalls_fetch *fetch = &plan->fetch[part++];
		const char *colon = memchr(word, ':', len), *comma = memchr(word, ',', len);

		*fetch = (struct syscalls_fetch){
			.kind = *word == 's' ? SYSCALLS_TEXT : SYSCALLS_BYTES,
			.arg = (uint8_t)(word[1] - '0'), .length_arg = 7 };
		if (colon)
			fetch->length_arg = (uint8_t)(colon[1] == 'r' ? 6 : colon[1] - '0');
		fetch->limit = *word == 'd' ? content : comma ? (uint32_t)atoi(comma + 1) :
			       SYSCALLS_PIECE_BYTES - 1;
		if (!fetch->limit)
			fetch->kind = SYSCALLS_NOTHING;
		if (fetch->limit >= SYSCALLS_PIECE_BYTES)
			fetch->limit = SYSCALLS_PIECE_BYTES - 1;
	}
}

/*
 * Returns whether a record must be made at the beginning of the call, because the call may not
 * return, or may replace the memory that has its texts.
 */
static bool is_at_entry(const char *call)
{
	return !strcmp(call, "exit_group") || !strcmp(call, "exit") || !strcmp(call, "execve") ||
	       !strcmp(call, "execveat");
}

/*
 * Writes sys.NAME. If the headers of the build do not know the call, its number is used as its
 * name.
 */
static void sys_name(char name[FORM_NAME_BYTES], uint32_t number, bool is_32bit)
{
	const char *call = syscalls_name(number, is_32bit);

	if (call)
		snprintf(name, FORM_NAME_BYTES, "sys.%s", call);
	else
		snprintf(name, FORM_NAME_BYTES, "sys.%u", number);
}

void forms_plan(const struct forms *forms, struct syscalls_plan plan[SYSCALLS_PLANS], bool as_sys)
{
	for (uint32_t i = 0; i < SYSCALLS_PLANS; i++) {
		bool is_32bit = i >= SYSCALLS_NUMBERS;
		uint32_t number = i % SYSCALLS_NUMBERS;
		const char *call = syscalls_name(number, is_32bit);
		const struct form_row *row = call ? find_row(call, is_32bit) : NULL;
		char name[FORM_NAME_BYTES];

		/*
		 * Calls of one number may become events of several types. The type depends on the
		 * arguments or the result: whether a thread or a process is created, whether a
		 * message has an address, whether an execution fails. The call is recorded if one
		 * of these types is wanted.
		 */
		plan[i] = (struct syscalls_plan){ .flags = 0 };
		sys_name(name, number, is_32bit);
		if (forms->wants(forms->arg, row ? row->type : name) ||
		    ((as_sys || (call && !strncmp(call, "clone", 5))) &&
		     forms->wants(forms->arg, name)) ||
		    (call && (!strcmp(call, "sendto") || !strcmp(call, "recvfrom")) &&
		     forms->wants(forms->arg, *call == 's' ? "net.send" : "net.recv")) ||
		    (call && !strncmp(call, "execve", 6) &&
		     forms->wants(forms->arg, "process.exec_failed")))
			plan[i].flags = SYSCALLS_WANTED;
		if (plan[i].flags && call && is_at_entry(call))
			plan[i].flags |= SYSCALLS_AT_ENTRY;
		if (row)
			plan_parts(row, forms->content, &plan[i]);
	}
}

/* ------------------------------------------------------------------ pieces */

/*
 * Returns a piece of the record and stores its length. Returns NULL if there is no such piece. The
 * lengths in the record are not trusted, but compared with the number of bytes that it has.
 */
static const unsigned char *piece_of(const struct syscalls_record *record,
				     const unsigned char *piece, size_t bytes, unsigned which,
				     size_t *len)
{
	size_t at = 0;

	*len = 0;
	for (unsigned i = 0; i < SYSCALLS_PIECES && i <= which; i++) {
		size_t size = record->length[i] == SYSCALLS_UNREAD ? 0 : record->length[i];

		if (size > bytes - at)
			return NULL;
		if (i == which) {
			*len = size;
			return size ? piece + at : NULL;
		}
		at += size;
	}
	return NULL;
}

/*
 * Returns a number of 4 or 8 bytes in a piece, or 0 if the piece does not have it. A number of 4
 * bytes is signed.
 */
static uint64_t piece_number(const unsigned char *piece, size_t len, size_t offset, size_t size)
{
	uint64_t number = 0;
	int32_t small;

	if (!piece || offset > len || size > len - offset)
		return 0;
	if (size == sizeof(small)) {
		memcpy(&small, piece + offset, sizeof(small));
		return (uint64_t)(int64_t)small;
	}
	memcpy(&number, piece + offset, sizeof(number));
	return number;
}

/*
 * Returns a struct timespec or timeval as nanoseconds, or -1 if the piece does not have it. "unit"
 * is the number of nanoseconds of the unit of its second member. If the seconds are negative, the
 * result is 0; if they are too many for the result, it is INT64_MAX.
 */
static int64_t piece_time(const unsigned char *piece, size_t len, int64_t unit)
{
	int64_t seconds, parts;

	if (len < 16)
		return -1;
	seconds = (int64_t)piece_number(piece, len, 0, 8);
	parts = (int64_t)piece_number(piece, len, 8, 8);
	if (seconds < 0 || seconds > INT64_MAX / 1000000000 - 1)
		return seconds < 0 ? 0 : INT64_MAX;
	/* The program may have stored any number, also one that the kernel refuses. */
	if (parts < 0)
		return seconds * 1000000000;
	if (__builtin_mul_overflow(parts, unit, &parts) ||
	    __builtin_add_overflow(seconds * 1000000000, parts, &parts))
		return INT64_MAX;
	return parts;
}

/* ------------------------------------------------------------------ types */

/*
 * Returns whether a call of clone(2) or clone3() creates a thread. The flags of clone3() are in
 * memory.
 */
static bool is_thread(const struct syscalls_record *record, const char *call,
		      const unsigned char *piece, size_t bytes)
{
	size_t len;
	const unsigned char *part = piece_of(record, piece, bytes, 0, &len);
	uint64_t flags = !strcmp(call, "clone3") ? piece_number(part, len, 0, 8) : record->arg[0];

	return flags & CLONE_THREAD;
}

/*
 * Returns the result of find_row() for a call. The function keeps the result for each number,
 * because each record needs the row.
 */
static const struct form_row *row_at(uint32_t number, bool is_32bit, const char *call)
{
	static const struct form_row *row[SYSCALLS_PLANS];
	static bool is_known[SYSCALLS_PLANS];
	const size_t at = number + (is_32bit ? SYSCALLS_NUMBERS : 0);

	if (!is_known[at])
		row[at] = find_row(call, is_32bit);
	is_known[at] = true;
	return row[at];
}

/* Returns the row of a call, or NULL if it becomes sys.NAME. */
static const struct form_row *row_of(const struct syscalls_record *record,
				     const unsigned char *piece, size_t bytes)
{
	const char *call = syscalls_name(record->number, record->is_32bit);

	if (!call)
		return NULL;
	/* The C library makes these calls with a null address for send() and recv(). */
	if (!strcmp(call, "sendto") && !record->arg[4])
		return find_row("send", record->is_32bit);
	if (!strcmp(call, "recvfrom") && !record->arg[4])
		return find_row("recv", record->is_32bit);
	if (!strncmp(call, "clone", 5) && is_thread(record, call, piece, bytes))
		return NULL;
	return row_at(record->number, record->is_32bit, call);
}

/*
 * Appends the arguments of a call to a schema. Their names are those in the kernel's description of
 * the tracepoint, and their types follow from the types in C. Without this description, the names
 * are arg0 to arg5, and the type is x64.
 */
static void put_arguments(char *schema, size_t room, const char *call)
{
	static const char *const reserved[] = { "time", "error", "result" };
	char path[128], text[PROCFILE_BYTES];
	size_t used = strlen(schema);
	const char *line;

	snprintf(path, sizeof(path), "syscalls/sys_enter_%s", call);
	if (!syscalls_read_event(path, "format", text, sizeof(text))) {
		for (int i = 0; i < 6; i++)
			used += (size_t)snprintf(schema + used, room - used, "; x64 arg%d", i);
		return;
	}
	for (line = strstr(text, "\tfield:"); line; line = strstr(line + 1, "\tfield:")) {
		const char *end = strchr(line, ';'), *name, *type = "x64";
		bool is_reserved = false;
		size_t len;

		if (!end)
			break;
		/* "\tfield:unsigned int fd;" - the name is the last word, behind type and stars. */
		for (name = end; name > line && (isalnum((unsigned char)name[-1]) ||
						 name[-1] == '_'); )
			name--;
		len = (size_t)(end - name);
		if (!len || !strncmp(name, "common_", 7) || !strncmp(name, "__", 2))
			continue;
		/*
		 * The first fields of a type have these names, so an argument with such a name gets
		 * an underscore.
		 */
		for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
			is_reserved |= strlen(reserved[i]) == len &&
				       !strncmp(reserved[i], name, len);
		if (memchr(line, '*', (size_t)(name - line)))
			type = "ptr";
		else if ((len == 2 && !strncmp(name, "fd", 2)) ||
			 (len == 3 && !strncmp(name, "dfd", 3)))
			type = "fd";
		else if (!strncmp(line + 7, "umode_t ", 8))
			type = "o32";
		else if (!strncmp(line + 7, "pid_t ", 6))
			type = "s32";
		else if (!strncmp(line + 7, "size_t ", 7))
			type = "u64";
		used += (size_t)snprintf(schema + used, room - used, "; %s %.*s%s", type, (int)len,
					 name, is_reserved ? "_" : "");
		if (used >= room)
			break;
	}
}

/*
 * Appends the fields text and text2 to the schema of sys.NAME, for a call with a row that has
 * texts. The plan of the row copies these texts for events sys.NAME as well.
 */
static void put_texts(char *schema, size_t room, const struct form_row *row)
{
	size_t used = strlen(schema), len;
	unsigned texts = 0;

	for (const char *word = next_word(row->parts, &len); len;
	     word = next_word(word + len, &len))
		if (*word == 's' && texts < 2 && used < room)
			used += (size_t)snprintf(schema + used, room - used, "; str %s",
						 texts++ ? "text2" : "text");
}

/*
 * Returns the type with this name, and makes it at its first use. Returns NULL if the type is not
 * wanted, if its schema is too long, or if memory is lacking.
 */
static struct form_type *make_type(struct forms *forms, const char *name,
				   const struct form_row *row, bool is_library)
{
	struct form_type *type;
	const char *schema;

	for (size_t i = 0; i < forms->types; i++)
		if (!strcmp(forms->type[i]->name, name))
			return forms->type[i]->text[0] ? forms->type[i] : NULL;
	if (!vec_grow(&forms->type, forms->types, 1))
		return NULL;
	type = calloc(1, sizeof(*type));
	if (!type)
		return NULL;
	forms->type[forms->types++] = type;
	schema = is_library ? library_schema(name) : NULL;
	type->row = schema ? row : NULL;
	snprintf(type->name, sizeof(type->name), "%s", name);
	/* A type that is not wanted is kept without a schema. */
	if (!forms->wants(forms->arg, name))
		return NULL;
	if (schema) {
		snprintf(type->text, sizeof(type->text), "%s", schema);
	} else {
		snprintf(type->text, sizeof(type->text), "ns time; errno error; s64 result");
		put_arguments(type->text, sizeof(type->text), name + strlen("sys."));
		if (row)
			put_texts(type->text, sizeof(type->text), row);
	}
	if (posix_trace_schema_parse_np(type->text, &type->schema))
		type->text[0] = '\0';
	return type->text[0] ? type : NULL;
}

struct form_type *forms_type(struct forms *forms, const struct syscalls_record *record,
			     const unsigned char *piece, size_t bytes, bool as_sys)
{
	const struct form_row *row = row_of(record, piece, bytes);
	char name[FORM_NAME_BYTES];

	if (row && !as_sys)
		return make_type(forms, row->type, row, true);
	sys_name(name, record->number, record->is_32bit);
	return make_type(forms, name, row, false);
}

struct form_type *forms_named(struct forms *forms, const char *name)
{
	return make_type(forms, name, NULL, true);
}

/* ------------------------------------------------------------------ data */

/* The data of an event while it is made. */
struct making {
	const struct syscalls_record *record;
	const unsigned char *piece;
	size_t bytes;
	unsigned char *data;
	size_t used;
};

/*
 * Appends bytes. If the bytes do not fit, the function omits them, and readers notice that the data
 * is too short.
 */
static void form_put(struct making *making, const void *from, size_t bytes)
{
	if (bytes <= FORM_DATA_BYTES - making->used) {
		memcpy(making->data + making->used, from, bytes);
		making->used += bytes;
	}
}

/*
 * Appends a text. If the text is too long, the function omits its beginning, as the library does.
 */
static void put_text(struct making *making, const void *from, size_t len)
{
	const char *text = from;
	size_t most = FORM_TEXT_BYTES - 1;

	len = text ? strnlen(text, len) : 0;
	if (len > most) {
		form_put(making, "...", 3);
		text += len - (most - 3);
		len = most - 3;
	}
	if (len)
		form_put(making, text, len);
	form_put(making, "", 1);
}

/* Returns the result that the C library makes of the kernel's result: -1 for each error. */
static int64_t result_of(const struct syscalls_record *record)
{
	return record->result < 0 && record->result >= -4095 ? -1 : record->result;
}

/* Returns the value of errno after the call, or 0 after success. */
static int error_of(const struct syscalls_record *record)
{
	int64_t error = -record->result;

	if (error <= 0 || error > 4095)
		return 0;
	/*
	 * An error from 512 on means that a signal has interrupted the call. The kernel may repeat
	 * such a call.
	 */
	return error >= 512 ? EINTR : (int)error;
}

/* Returns the milliseconds in an argument as nanoseconds, or -1 if the argument is negative. */
static int64_t of_milliseconds(uint64_t arg)
{
	return (int)arg < 0 ? -1 : (int64_t)(int)arg * 1000000;
}

/* Returns whether open(2) may create a file with these flags. Only such a call has a mode. */
static bool is_creating(uint64_t flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/*
 * Returns the flags that fcntl(2) was to set or has returned, as the preload library records them.
 * Returns 0 for commands without flags.
 */
static int64_t fcntl_flags(const struct syscalls_record *record)
{
	const bool is_error = result_of(record) < 0;

	switch ((int)record->arg[1]) {
	case F_GETFL:
		return is_error ? 0 : record->result | SHIM_FCNTL_STATUS;
	case F_SETFL:
		return (int64_t)(record->arg[2] | SHIM_FCNTL_STATUS);
	case F_GETFD:
		return is_error ? 0 : record->result | SHIM_FCNTL_CLOSING;
	case F_SETFD:
		return (int64_t)(record->arg[2] | SHIM_FCNTL_CLOSING);
	default:
		return 0;
	}
}

/* Programs of 32 bits use these commands; 64-bit headers do not have their numbers. */
#define SETLK64_OF_32BIT  13
#define SETLKW64_OF_32BIT 14

/*
 * Returns the type of the lock that fcntl(2) has set or removed, or -1 if there is none. `part` has
 * the begin of the struct flock.
 */
static int64_t fcntl_lock(const struct syscalls_record *record, const unsigned char *part,
			  size_t len)
{
	int16_t type;

	switch ((int)record->arg[1]) {
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		break;
	case SETLK64_OF_32BIT:
	case SETLKW64_OF_32BIT:
		if (record->is_32bit)
			break;
		return -1;
	default:
		return -1;
	}
	if (!part || len < sizeof(type) || result_of(record) < 0)
		return -1;
	memcpy(&type, part, sizeof(type));
	return type;
}

/*
 * Evaluates a source of form_rows.h that is a number. The operator % keeps each argument's number
 * within the array of arguments. No row may have c0, because there is no argument before argument
 * 0.
 */
static int64_t number_from(const struct making *making, const char *source)
{
	const struct syscalls_record *record = making->record;
	unsigned which = isdigit((unsigned char)source[0]) ? (unsigned)(source[0] - '0') :
			 (unsigned)(source[1] - '0') % 6;
	size_t len = 0, offset = source[0] && source[1] && source[2] == ':' ?
				 (size_t)atoi(source + 3) : 0;
	const unsigned char *part = strchr("CLTViqkF", *source) && *source ?
		piece_of(record, making->piece, making->bytes, which, &len) : NULL;

	switch (*source) {
	case 'r':
		return result_of(record);
	case 'p':
		return record->pid;
	case '#':
		return strtoll(source + 1, NULL, 0);
	case 'c':
		return is_creating(record->arg[which - 1]) ? (int64_t)record->arg[which] : 0;
	case 'C':
		return is_creating(piece_number(part, len, 0, 8)) ?
		       (int64_t)piece_number(part, len, offset, 8) : 0;
	case 'm':
		return of_milliseconds(record->arg[which]);
	case 'T':
		return piece_time(part, len, 1);
	case 'V':
		return piece_time(part, len, 1000);
	case 'i':
		return (int64_t)piece_number(part, len, offset, 4);
	case 'q':
		return (int64_t)piece_number(part, len, offset, 8);
	case 'F':
		return part && record->arg[1] ? (int32_t)piece_number(part, len, 0, 4) : -1;
	case 'f':
		return fcntl_flags(record);
	case 'L':
		return fcntl_lock(record, part, len);
	case 'k':
		return part && record->result > 0;
	case 'o':
		return (int64_t)(record->arg[1] << 32 | (uint32_t)record->arg[2]);
	}
	return (int64_t)record->arg[which % 6];
}

/* Appends a text from its source. If the source or its piece is missing, the text is empty. */
static void text_from(struct making *making, const char *source)
{
	char address[SHIM_ADDRESS_TEXT];
	const char *call = syscalls_name(making->record->number, making->record->is_32bit);
	size_t len = 0;
	const unsigned char *part = source && *source && *source != 'n' ?
		piece_of(making->record, making->piece, making->bytes,
			 (unsigned)(source[1] - '0') % SYSCALLS_PIECES, &len) : NULL;
	struct sockaddr_storage copy = { .ss_family = 0 };

	switch (source ? *source : 0) {
	case 'n':
		put_text(making, call, call ? strlen(call) : 0);
		return;
	case 'a':
		if (part)
			memcpy(&copy, part, len < sizeof(copy) ? len : sizeof(copy));
		shim_address(address, part ? (struct sockaddr *)&copy : NULL, (socklen_t)len);
		put_text(making, address, sizeof(address));
		return;
	}
	put_text(making, part, len);
}

/*
 * Finds the source of a field in a row. Returns NULL if the row does not name the field. The search
 * is linear, because rows are short, and because the search does not slow down the traced program.
 */
static const char *source_of(const struct form_row *row, const char *field)
{
	size_t len, name = strlen(field);

	for (const char *word = next_word(row->fields, &len); len;
	     word = next_word(word + len, &len))
		if (len > name && word[name] == '=' && !strncmp(word, field, name))
			return word + name + 1;
	return NULL;
}

/* Appends a number with the size of the field, or with 8 bytes if the field has no such size. */
static void put_number(struct making *making, const struct posix_trace_field_np *field,
		       int64_t number)
{
	uint64_t value = (uint64_t)number;

	/* All supported processors store the least significant byte first. */
	form_put(making, &value, field->size && field->size <= 8 ? field->size : 8);
}

/*
 * Appends the fields of a type of the library: time, error, and those that the row describes. All
 * other fields are 0 or empty.
 */
static void put_row(struct making *making, const struct form_type *type,
		    const struct form_row *row)
{
	for (unsigned i = 0; i < type->schema.fields; i++) {
		const struct posix_trace_field_np *field = &type->schema.field[i];
		const char *source = source_of(row, field->name);
		size_t len = 0;

		if (!strcmp(field->name, "time")) {
			put_number(making, field,
				   (int64_t)(making->record->time_ns - making->record->begin_ns));
		} else if (!strcmp(field->name, "error")) {
			put_number(making, field, error_of(making->record));
		} else if (field->type == POSIX_TRACE_TYPE_STR_NP) {
			text_from(making, source);
		} else if (field->type == POSIX_TRACE_TYPE_BYTES_NP) {
			const unsigned char *part = source ?
				piece_of(making->record, making->piece, making->bytes, 0, &len) :
				NULL;
			uint32_t size = (uint32_t)len;

			form_put(making, &size, sizeof(size));
			if (size)
				form_put(making, part, size);
		} else {
			put_number(making, field, source ? number_from(making, source) : 0);
		}
	}
}

/*
 * Appends the fields of sys.NAME: time, error and result, then the arguments in their order, then
 * the texts.
 */
static void put_sys(struct making *making, const struct form_type *type)
{
	const struct form_row *row = row_of(making->record, making->piece, making->bytes);
	const char *word = row ? row->parts : "";
	unsigned part = 0;
	size_t len = 0, bytes;

	for (unsigned i = 0; i < type->schema.fields; i++) {
		const struct posix_trace_field_np *field = &type->schema.field[i];

		if (field->type == POSIX_TRACE_TYPE_STR_NP) {
			const unsigned char *text;

			/* parts that are not texts are skipped, because they have no fields */
			for (word = next_word(word + len, &len); len && *word != 's';
			     word = next_word(word + len, &len))
				part++;
			text = piece_of(making->record, making->piece, making->bytes, part++,
					&bytes);
			put_text(making, text, bytes);
			continue;
		}
		put_number(making, field,
			   i == 0 ? (int64_t)(making->record->time_ns -
					      making->record->begin_ns) :
			   i == 1 ? error_of(making->record) :
			   i == 2 ? result_of(making->record) :
			   i < 9 ? (int64_t)making->record->arg[i - 3] : 0);
	}
}

size_t forms_data(const struct form_type *type, const struct syscalls_record *record,
		  const unsigned char *piece, size_t bytes,
		  unsigned char data[FORM_DATA_BYTES])
{
	struct making making = { .record = record, .piece = piece, .bytes = bytes, .data = data };
	const struct form_row *row = type->row ? row_of(record, piece, bytes) : NULL;

	if (row)
		put_row(&making, type, row);
	else
		put_sys(&making, type);
	return making.used;
}

void forms_begin(struct forms *forms, unsigned content,
		 bool (*wants)(void *arg, const char *type), void *arg)
{
	*forms = (struct forms){ .content = content, .wants = wants, .arg = arg };
}

void forms_fini(struct forms *forms)
{
	for (size_t i = 0; i < forms->types; i++)
		free(forms->type[i]);
	free(forms->type);
	forms->type = NULL;
	forms->types = 0;
}
