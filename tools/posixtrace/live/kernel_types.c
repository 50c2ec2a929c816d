/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_types.c - makes schemas from the kernel's descriptions of events, and data of events from
 * its records.
 *
 * A record of the kernel has padding between its fields, and texts of any length at its end. A
 * schema has no padding, so each field is copied. Offsets and lengths of a record are checked
 * against its size.
 */
#include "live/kernel_types.h"

#include <ctype.h>
#include <event-parse.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 64 /* names of the values of a field; the kernel's lists have fewer */

/* ------------------------------------------------------------------ schemas */

/*
 * Appends to the schema. If the text does not fit, returns false and leaves the schema unchanged.
 */
__attribute__((format(printf, 2, 3)))
static bool kernel_types_put(struct kernel_type *type, const char *format, ...)
{
	size_t used = strlen(type->schema);
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(type->schema + used, sizeof(type->schema) - used, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(type->schema) - used)
		return true;
	type->schema[used] = '\0';
	return false;
}

/* Returns the argument without casts of types. */
static const struct tep_print_arg *without_casts(const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg;
}

static bool is_of(const struct tep_print_arg *arg, const struct tep_format_field *field)
{
	arg = without_casts(arg);
	return arg && arg->type == TEP_PRINT_FIELD && !strcmp(arg->field.name, field->name);
}

/* Returns whether the kernel prints a field in hexadecimal. */
static bool is_hex(const struct tep_event *event, const struct tep_format_field *field)
{
	const struct tep_print_arg *arg = event->print_fmt.args;
	const char *at = event->print_fmt.format;

	if (field->flags & TEP_FIELD_IS_POINTER)
		return true;
	/*
	 * The loop relies on the fact that the conversions of the format are in the order of their
	 * arguments.
	 */
	while (at && arg && (at = strchr(at, '%'))) {
		at++;
		if (*at == '%') {
			at++;
			continue;
		}
		at += strspn(at, "-+ #0123456789.lhzjt");
		if (strchr("xXp", *at) && *at && is_of(arg, field))
			return true;
		arg = arg->next;
	}
	return false;
}

/* Returns whether the text is a word. A schema may have only a word as a name. */
static bool is_word(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return len && len <= POSIX_TRACE_FIELD_NAME_MAX_NP && !isdigit((unsigned char)*text);
}

/* Appends the names that the kernel prints for the values of a field, if it has such names. */
static void put_names(struct kernel_type *type, const struct tep_event *event,
		      const struct tep_format_field *field)
{
	const struct tep_print_flag_sym *name = NULL;
	size_t used = strlen(type->schema);
	bool is_flags = false;
	unsigned count = 0;

	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_SYMBOL && is_of(arg->symbol.field, field))
			name = arg->symbol.symbols;
		else if (arg->type == TEP_PRINT_FLAGS && is_of(arg->flags.field, field)) {
			name = arg->flags.flags;
			is_flags = true;
		}
	}
	for (; name && count < NAMES_MAX; name = name->next) {
		char *end;
		unsigned long long value = strtoull(name->value, &end, 0);

		/*
		 * The function omits a value that is an expression or a name of the kernel's
		 * source, and a flag whose value is 0.
		 */
		if (end == name->value || *end || !is_word(name->str) || (is_flags && !value))
			continue;
		if (!kernel_types_put(type, "%s%s%llu=%s", count ? "," : "{",
				      is_flags && !count ? "|" : "", value, name->str))
			break;
		count++;
	}
	if (count && !kernel_types_put(type, "}"))
		type->schema[used] = '\0';
}

/* Returns the first letter of the type that the schema gives to a number: x, s or u. */
static char letter_of(const struct tep_event *event, const struct tep_format_field *field)
{
	return is_hex(event, field) ? 'x' : field->flags & TEP_FIELD_IS_SIGNED ? 's' : 'u';
}

/*
 * Adds a field. If the schema is full, or if a schema cannot have such a field, omits the field and
 * returns false.
 */
static bool add_field(struct kernel_type *type, const struct tep_event *event,
		      const struct tep_format_field *from)
{
	struct kernel_field *field = &type->field[type->fields];
	const char *blank = *type->schema ? "; " : "";

	if (type->fields == POSIX_TRACE_FIELDS_MAX_NP - 1 || !is_word(from->name) ||
	    from->offset < 0 || from->size <= 0)
		return false;
	*field = (struct kernel_field){
		.offset = (unsigned)from->offset, .size = (unsigned)from->size,
		.is_dynamic = from->flags & TEP_FIELD_IS_DYNAMIC,
		.is_relative = from->flags & TEP_FIELD_IS_RELATIVE,
	};
	if (from->flags & TEP_FIELD_IS_STRING) {
		field->form = KERNEL_TEXT;
		if (!kernel_types_put(type, "%sstr %s", blank, from->name))
			return false;
	} else if (from->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) {
		field->form = KERNEL_BYTES;
		if (!kernel_types_put(type, "%sbytes %s", blank, from->name))
			return false;
	} else if (from->size == 1 || from->size == 2 || from->size == 4 || from->size == 8) {
		if (!kernel_types_put(type, "%s%c%d %s", blank, letter_of(event, from),
				      8 * from->size, from->name))
			return false;
		put_names(type, event, from);
	} else {
		return false;
	}
	type->fields++;
	return true;
}

void kernel_type_make(struct kernel_type *type, const struct tep_event *event)
{
	const struct tep_format_field *field;

	*type = (struct kernel_type){ .id = event->id, .system = event->system,
				      .event = event->name, .address = -1, .has_cpu = true };
	snprintf(type->name, sizeof(type->name), "%s:%s", event->system, event->name);
	for (field = event->format.fields; field; field = field->next)
		if (!strcmp(field->name, "cpu"))
			type->has_cpu = false;
	if (type->has_cpu)
		kernel_types_put(type, "u32 cpu");
	for (field = event->format.fields; field; field = field->next) {
		/*
		 * In some events, such as those of exceptions, the field ip has the address of the
		 * program's instruction.
		 */
		if (add_field(type, event, field) && !strcmp(field->name, "ip") &&
		    field->size == 8)
			type->address = field->offset;
	}
}

/* ------------------------------------------------------------------ data */

/*
 * Finds the bytes of a field in a record. Returns their number, or 0 if they are not within the
 * record. In a dynamic field, the upper half is the length of these bytes, and the lower half is
 * their offset.
 */
static size_t bytes_of(const struct kernel_field *field, const unsigned char *record, size_t bytes,
		       const unsigned char **at)
{
	size_t offset = field->offset, size = field->size;
	uint32_t place;

	if (offset > bytes || size > bytes - offset)
		return 0;
	if (field->is_dynamic) {
		if (size != sizeof(place))
			return 0;
		memcpy(&place, record + offset, sizeof(place));
		/* A relative offset counts from the end of the field. */
		offset = (place & 0xffff) + (field->is_relative ? offset + sizeof(place) : 0);
		size = place >> 16;
		if (offset > bytes || size > bytes - offset)
			return 0;
	}
	*at = record + offset;
	return size;
}

size_t kernel_type_data(const struct kernel_type *type, const unsigned char *record, size_t bytes,
			unsigned cpu, unsigned char *data)
{
	/*
	 * 8 bytes are reserved for each field: for a number, for the length of bytes, or for the
	 * NUL of a text. "room" is the number of bytes that remain for the contents of texts and
	 * bytes.
	 */
	size_t used = 0, room = KERNEL_DATA_BYTES - 8 * type->fields - sizeof(uint32_t);
	uint32_t number = cpu;

	if (type->has_cpu) {
		memcpy(data, &number, sizeof(number));
		used = sizeof(number);
	}
	for (size_t i = 0; i < type->fields; i++) {
		const struct kernel_field *field = &type->field[i];
		const unsigned char *at = record;
		size_t size = bytes_of(field, record, bytes, &at);

		if (field->form == KERNEL_NUMBER) {
			/*
			 * If the record lacks the number, "size" is 0, and the data gets the number
			 * 0.
			 */
			memset(data + used, 0, field->size);
			memcpy(data + used, at, size);
			used += field->size;
			continue;
		}
		if (field->form == KERNEL_TEXT)
			size = strnlen((const char *)at, size);
		size = size < room ? size : room;
		room -= size;
		if (field->form == KERNEL_BYTES) {
			number = (uint32_t)size;
			memcpy(data + used, &number, sizeof(number));
			used += sizeof(number);
		}
		memcpy(data + used, at, size);
		used += size;
		if (field->form == KERNEL_TEXT)
			data[used++] = '\0';
	}
	return used;
}

uint64_t kernel_type_address(const struct kernel_type *type, const unsigned char *record,
			     size_t bytes)
{
	uint64_t address;

	if (type->address < 0 || (size_t)type->address + sizeof(address) > bytes)
		return 0;
	memcpy(&address, record + type->address, sizeof(address));
	return address;
}
