/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/log.c - posix_trace_log_np(): the event of a log line, with its arguments as fields.
 *
 * The first use of a line registers the event type log.FILE:LINE with the schema
 *
 *	s32 a1; str a2; @format "took %d ms for %s"
 *
 * and notes the types of the arguments in the line's struct posix_trace_site_np (the site). Later
 * uses fetch the arguments by these types and pack them as any other fields. posix/message.c makes
 * the text when the event is read.
 *
 * If a schema cannot describe the format, or if no further name can be added, the event has the
 * type log.other. The only field of that type is the text, which this file makes when the event is
 * recorded.
 *
 * Signals  not async-signal-safe: the first use of a line, and each use of a line of log.other,
 *          because snprintf() and vsnprintf() may allocate memory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include <trace_np.h>

#include "base/compiler.h"
#include "base/export.h"
#include "posix/site.h"
#include "record/format.h"

/*
 * `arguments` is a member of a site, a byte that is read in each use of the line. A format has at
 * most 31 arguments, so HAS_ERROR is a free bit, and IS_OTHER differs from all other values.
 */
/* value of `arguments`: the event is a log.other, which has the text */
#define IS_OTHER  255
#define HAS_ERROR 128 /* added to the number of arguments: the format has %m */

/*
 * An argument as it was passed. The type of its directive decides which member is valid. All
 * arguments are fetched before the first argument is packed, because the precision of a string may
 * come from another argument.
 */
union argument {
	int64_t s64;
	uint64_t u64;
	double f64;
	const void *pointer;
};

/*
 * Text that is copied before it is packed: strings with a precision, and wide strings. The payload
 * has no more room than this, so a string that does not fit here would be truncated in the payload,
 * too.
 */
struct scratch {
	size_t used;
	char text[POSIX_TRACE_FIELDS_BYTES_NP];
};

/*
 * The type of field for each type of argument. No type of field fits a long double, so it is
 * recorded as a double, which has enough digits for a message.
 */
static const struct {
	const char *name; /* in the schema */
	enum posix_trace_type_np type;
} fields[] = {
	[PTX_FORMAT_INT] = { "s32", POSIX_TRACE_TYPE_S32_NP },
	[PTX_FORMAT_UNSIGNED] = { "u32", POSIX_TRACE_TYPE_U32_NP },
	[PTX_FORMAT_LONG] = { "s64", POSIX_TRACE_TYPE_S64_NP },
	[PTX_FORMAT_UNSIGNED_LONG] = { "u64", POSIX_TRACE_TYPE_U64_NP },
	[PTX_FORMAT_DOUBLE] = { "f64", POSIX_TRACE_TYPE_F64_NP },
	[PTX_FORMAT_LONG_DOUBLE] = { "f64", POSIX_TRACE_TYPE_F64_NP },
	[PTX_FORMAT_STRING] = { "str", POSIX_TRACE_TYPE_STR_NP },
	[PTX_FORMAT_SHORT_STRING] = { "str", POSIX_TRACE_TYPE_STR_NP },
	[PTX_FORMAT_WIDE_STRING] = { "str", POSIX_TRACE_TYPE_STR_NP },
	[PTX_FORMAT_POINTER] = { "ptr", POSIX_TRACE_TYPE_PTR_NP },
	[PTX_FORMAT_COUNT] = { "ptr", POSIX_TRACE_TYPE_PTR_NP },
};

/* Appends a character of a format to a schema, quoted as <trace_schema_np.h> defines. */
static char *put_quoted(char *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		*to++ = '\\';
		*to++ = (char)c;
	} else if (c == '\n') {
		*to++ = '\\';
		*to++ = 'n';
	} else if (c < ' ' || c == 0x7f) {
		*to++ = '\\';
		*to++ = 'x';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	} else {
		*to++ = (char)c;
	}
	return to;
}

/*
 * Makes the schema of a format with `count` arguments. Returns false if it is too long. The fields
 * come before the format, in the order of the arguments; the error number of %m is the last field,
 * where put_error() of message.c looks for it.
 */
static bool make_schema(char *schema, const char *format, unsigned level,
			const enum ptx_format_type *type, int count, bool has_error)
{
	char *to = schema;
	const char *const end = schema + POSIX_TRACE_SCHEMA_MAX_NP;

	/*
	 * The fields need no check of the room: 31 fields have at most 10 bytes each, and the rest
	 * has at most 32. Only the format can be too long, with up to 4 bytes for each character.
	 */
	for (int i = 0; i < count; i++)
		to += sprintf(to, "%s a%d;", fields[type[i]].name, i + 1);
	if (has_error)
		to += sprintf(to, "errno error;");
	if (level)
		to += sprintf(to, "@level %u;", level);
	to = stpcpy(to, "@format \"");
	/* A character needs up to four bytes, the quote and the NUL behind it two. */
	for (; *format; format++) {
		if (end - to < 8)
			return false;
		to = put_quoted(to, (unsigned char)*format);
	}
	strcpy(to, "\"");
	return true;
}

/*
 * Registers the line. Several threads may register it at the same time. They store equal values.
 * The stores are atomic, because other threads may already read the values.
 */
static void open_log(struct posix_trace_site_np *site)
{
	enum ptx_format_type type[PTX_FORMAT_ARGUMENTS];
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1], name[TRACE_EVENT_NAME_MAX + 1];
	/*
	 * The name has only the last component of the path, because the rest depends on the build.
	 */
	const char *file = strrchr(site->name, '/');
	const trace_event_id_t other =
		ptx_site_type("log.other", "", "str text;@format \"%s\"");
	trace_event_id_t id = POSIX_TRACE_UNNAMED_USEREVENT;
	unsigned arguments = IS_OTHER;
	bool has_error;
	const int count = ptx_format_types(site->schema, type, &has_error);

	/*
	 * The type log.other is registered at the first line already, because later there may be no
	 * name left for it.
	 */
	if (count >= 0 &&
	    make_schema(schema, site->schema, site->level, type, count, has_error)) {
		snprintf(name, sizeof(name), "log.%.40s:%u", file ? file + 1 : site->name,
			 site->line);
		id = ptx_site_type(name, "", schema);
	}
	/*
	 * If no name is left, the type is log.other: readers could not interpret the fields of an
	 * event of the unnamed type.
	 */
	if (id == POSIX_TRACE_UNNAMED_USEREVENT) {
		id = other;
	} else {
		arguments = (unsigned)count | (has_error ? HAS_ERROR : 0);
		for (int i = 0; i < count; i++)
			__atomic_store_n(&site->argument[i], (unsigned char)type[i],
					 __ATOMIC_RELAXED);
	}
	__atomic_store_n(&site->arguments, (unsigned char)arguments, __ATOMIC_RELAXED);
	__atomic_store_n(&site->event_id, id, __ATOMIC_RELEASE);
}

/*
 * Fetches the arguments in their order, by the types of the format. The compiler has checked the
 * arguments against the same format, so va_arg() is called with the types that were passed.
 */
static void log_fetch(const struct posix_trace_site_np *site, unsigned count, va_list *list,
		      union argument *argument)
{
	for (unsigned i = 0; i < count; i++)
		switch (site->argument[i]) {
		case PTX_FORMAT_INT:
			argument[i].s64 = va_arg(*list, int);
			break;
		case PTX_FORMAT_UNSIGNED:
			argument[i].u64 = va_arg(*list, unsigned);
			break;
		case PTX_FORMAT_LONG:
		case PTX_FORMAT_UNSIGNED_LONG:
			/* All these types have 64 bits on the machines that are supported. */
			argument[i].u64 = va_arg(*list, uint64_t);
			break;
		case PTX_FORMAT_DOUBLE:
			argument[i].f64 = va_arg(*list, double);
			break;
		case PTX_FORMAT_LONG_DOUBLE:
			argument[i].f64 = (double)va_arg(*list, long double);
			break;
		default:
			/* Strings, pointers, and the pointer of %n, to which nothing is stored. */
			argument[i].pointer = va_arg(*list, const void *);
		}
}

/*
 * Returns the precision of a string argument in bytes. If the argument has no precision, returns
 * the room of a payload. The function parses the format again, which costs time only for lines that
 * have strings with a precision.
 */
static size_t precision_of(const char *text, int argument, const union argument *passed)
{
	struct ptx_format format = { .at = text };
	struct ptx_format_part part;
	size_t most = POSIX_TRACE_FIELDS_BYTES_NP;

	while (ptx_format_next(&format, &part)) {
		int64_t precision = part.precision;

		if (part.argument != argument)
			continue;
		if (part.precision_argument != PTX_FORMAT_NONE)
			precision = passed[part.precision_argument].s64;
		/* A negative precision counts as none. */
		if (precision >= 0 && (uint64_t)precision < most)
			most = (size_t)precision;
	}
	return most;
}

/*
 * Copies at most `most` bytes of a string that may lack its NUL. No byte behind them is read.
 * Returns the copy, which has a NUL.
 */
static const char *copy_short(struct scratch *scratch, const char *string, size_t most)
{
	char *const to = scratch->text + scratch->used;
	const size_t room = sizeof(scratch->text) - 1 - scratch->used;
	const size_t len = strnlen(string, most < room ? most : room);

	memcpy(to, string, len);
	to[len] = '\0';
	scratch->used += len + (len < room);
	return to;
}

/*
 * Appends a character as UTF-8, whatever the locale is. Functions that use the locale are not
 * async-signal-safe.
 */
static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | (c >> 18 & 7));
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/*
 * Copies a wide string as at most `most` bytes of UTF-8, because all readers expect text in UTF-8.
 * Returns the copy, which has a NUL.
 */
static const char *copy_wide(struct scratch *scratch, const wchar_t *string, size_t most)
{
	char *const begin = scratch->text + scratch->used, *to = begin;
	const char *const end = scratch->text + sizeof(scratch->text);

	/* A character has at most four bytes, and the NUL one. */
	while (end - to > 4 && (size_t)(to - begin) < most && *string) {
		char bytes[4];
		const size_t len = (size_t)(put_utf8(bytes, (uint32_t)*string++) - bytes);

		/* The precision counts bytes, and printf() writes no part of a character. */
		if ((size_t)(to - begin) + len > most)
			break;
		memcpy(to, bytes, len);
		to += len;
	}
	*to = '\0';
	scratch->used = (size_t)(to - scratch->text) + (to + 1 < end);
	return begin;
}

/*
 * Makes a field of an argument. The copies of strings are in *scratch, where they stay until the
 * payload is made.
 */
static struct posix_trace_arg_np field_of(unsigned type, const union argument *passed, int i,
					  const char *format, struct scratch *scratch)
{
	static const char null[] = "(null)";
	struct posix_trace_arg_np arg = { .type = fields[type].type, .u64 = passed[i].u64 };

	switch (type) {
	case PTX_FORMAT_DOUBLE:
	case PTX_FORMAT_LONG_DOUBLE:
		arg.f64 = passed[i].f64;
		break;
	case PTX_FORMAT_STRING:
	case PTX_FORMAT_SHORT_STRING:
	case PTX_FORMAT_WIDE_STRING:
		arg.data = passed[i].pointer;
		/* printf() of the GNU C library shows a null pointer like this, or not at all. */
		if (!arg.data)
			arg.data = type != PTX_FORMAT_STRING &&
						   precision_of(format, i, passed) < strlen(null) ?
					   "" : null;
		else if (type == PTX_FORMAT_SHORT_STRING)
			arg.data = copy_short(scratch, arg.data, precision_of(format, i, passed));
		else if (type == PTX_FORMAT_WIDE_STRING)
			arg.data = copy_wide(scratch, arg.data, precision_of(format, i, passed));
		break;
	default:
		break;
	}
	return arg;
}

/*
 * Records the event of a line whose text is made now. A text that is too long is truncated, with a
 * NUL at its end. vsnprintf() may change errno and allocate memory, which is why other lines do not
 * use it.
 */
__attribute__((format(printf, 2, 0)))
static void log_text(trace_event_id_t id, const char *format, va_list list, const void *address)
{
	char text[POSIX_TRACE_FIELDS_BYTES_NP];
	const int len = vsnprintf(text, sizeof(text), format, list);

	/*
	 * vsnprintf() fails if the locale does not have a character. Then no event is recorded.
	 */
	if (len >= 0)
		posix_trace_event_at_np(id, text,
					(size_t)len < sizeof(text) ? (size_t)len + 1 : sizeof(text),
					address);
}

/* Records the event of a line whose arguments are fields. `error` is the errno of the program. */
static void log_fields(const struct posix_trace_site_np *site, unsigned arguments, int error,
		       va_list *list, const void *address)
{
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	union argument passed[PTX_FORMAT_ARGUMENTS];
	unsigned count = arguments & ~HAS_ERROR;
	struct scratch scratch;

	/*
	 * Only the member `used` is initialized. Clearing the kilobyte of text behind it would cost
	 * more than the rest of the call.
	 */
	scratch.used = 0;
	log_fetch(site, count, list, passed);
	for (unsigned i = 0; i < count; i++)
		arg[i] = field_of(site->argument[i], passed, (int)i, site->schema, &scratch);
	if (arguments & HAS_ERROR)
		arg[count++] = (struct posix_trace_arg_np)POSIX_TRACE_ERRNO_NP(error);
	posix_trace_event_at_np(site->event_id, payload,
				posix_trace_fields_pack_np(payload, sizeof(payload), arg, count),
				address);
}

/*
 * `format` is the same literal as in the site. It is passed so that the compiler checks the
 * arguments, and is used only for lines of log.other. The function holds no lock and no memory, so
 * a cancellation or a signal does no harm.
 */
PTX_EXPORT void posix_trace_log_np(struct posix_trace_site_np *site, const char *format, ...)
{
	const void *address = __builtin_return_address(0);
	const int error = errno;
	unsigned arguments;
	va_list list;

	if (ptx_unlikely(!__atomic_load_n(&site->event_id, __ATOMIC_ACQUIRE)))
		open_log(site);
	arguments = __atomic_load_n(&site->arguments, __ATOMIC_RELAXED);
	/*
	 * log_fields() passes the list on, so it gets the address of the list.
	 */
	va_start(list, format);
	if (arguments == IS_OTHER) {
		/* %m is the errno of the program. */
		errno = error;
		log_text(site->event_id, format, list, address);
	} else {
		log_fields(site, arguments, error, &list, address);
	}
	va_end(list);
	errno = error;
}
