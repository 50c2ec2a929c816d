/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where.c - evaluates an expression of --where for an event. where_parse.c limits the depth of the
 * tree, so the depth of the recursion is limited, too. Integers have 128 bits, so signed and
 * unsigned fields of 64 bits need no special case.
 */
#include "choose/where.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/errnames.h"
#include "choose/where_part.h"
#include "log/field.h"

struct value {
	enum { UNKNOWN, NUMBER, REAL, TEXT, NAME } kind;
	__int128 number;
	double real;
	/* of a REAL: the size in bytes of the field that has the value; 0: no field */
	unsigned size;
	/*
	 * For a NAME: the name of a value, whose number depends on the field on the other side of
	 * the operator. For a TEXT: its bytes.
	 */
	const char *text;
	size_t len;
	bool is_negated;     /* a NAME with a minus sign */
	/* For a NUMBER: the field that has the value; NULL: no field. */
	const struct posix_trace_field_np *field;
};

struct asking {
	struct where *where;
	const struct where_event *event;
	const struct where_place *place;
};

/* Evaluates the node with this index. */
static struct value where_evaluate(const struct asking *asking, unsigned node);

static struct value where_value_number(__int128 n)
{
	return (struct value){ .kind = NUMBER, .number = n };
}

static struct value where_value_text(const char *bytes, size_t len)
{
	return (struct value){ .kind = TEXT, .text = bytes, .len = len };
}

static struct value where_unknown(void)
{
	return (struct value){ .kind = UNKNOWN };
}

/* ------------------------------------------------------------------ fields */

static struct where_place *cache_place(struct where *where,
				       const struct posix_trace_schema_np *schema)
{
	return &where->place[(uintptr_t)schema / 64 % WHERE_CACHE];
}

/*
 * Returns the indices of the expression's fields in a schema. A direct-mapped cache keeps the
 * indices, so that names need not be compared for each event. Most logs have far fewer schemas than
 * the cache has places. If two schemas share a place, the result is still right but needs more
 * time.
 */
static const struct where_place *place_of(struct where *where,
					  const struct posix_trace_schema_np *schema)
{
	struct where_place *place = cache_place(where, schema);

	if (place->schema == schema)
		return place;
	place->schema = schema;
	for (unsigned i = 0; i < where->fields; i++)
		place->field[i] = (signed char)field_index(schema, where->field[i].name);
	return place;
}

/*
 * Finds the number of a named value of a field. A field of type bool has the names true and false.
 * Returns false if the field has no such name.
 */
static bool find_value(const struct posix_trace_field_np *field, const char *name,
		       uint64_t *number, uint64_t *mask)
{
	if (posix_trace_value_find_np(field, name, number, mask))
		return true;
	*number = !strcmp(name, "true");
	*mask = UINT64_MAX;
	return field->type == POSIX_TRACE_TYPE_BOOL_NP && (*number || !strcmp(name, "false"));
}

/* Returns whether a field of the schema has a value with this name. */
static bool has_value_name(const struct posix_trace_schema_np *schema, const char *name)
{
	uint64_t number, mask;

	for (unsigned i = 0; i < schema->fields; i++)
		if (find_value(&schema->field[i], name, &number, &mask))
			return true;
	return false;
}

void where_mark_names(struct where *where, const struct posix_trace_schema_np *schema)
{
	struct where_place *place = cache_place(where, schema);

	/* A schema that was freed may have had the same address, with other fields. */
	if (place->schema == schema)
		place->schema = NULL;
	for (unsigned i = 0; i < where->fields; i++) {
		struct where_name *name = &where->field[i];

		if (name->known)
			continue;
		name->known = field_index(schema, name->name) >= 0 ||
			      (!name->is_field && has_value_name(schema, name->name));
		for (unsigned f = 0; !name->known && f < schema->fields; f++) {
			const struct posix_trace_field_np *field = &schema->field[f];

			nearest_offer(&name->nearest, field->name);
			for (unsigned n = 0; !name->is_field && n < field->value_names; n++)
				nearest_offer(&name->nearest, field->value_name[n].name);
		}
	}
}

/*
 * Returns the label of a number. If the field of the number has error numbers, the label is the
 * name of the error, also for a negative number. Otherwise the label is the one that the library
 * has, such as the name that the schema has for this value of the field. Returns NULL if there is
 * no label. "room" has POSIX_TRACE_LABEL_MAX_NP + 1 bytes.
 */
static const char *label_of(const struct value *number, char *room)
{
	const int64_t n = (int64_t)number->number;
	struct posix_trace_value_np value = { .field = number->field };

	if (!number->field)
		return NULL;
	if (number->field->type == POSIX_TRACE_TYPE_ERRNO_NP)
		/* The number comes from a field of 32 bits, so the negation cannot overflow. */
		return errno_name(n < 0 ? -n : n);
	value.s64 = n;
	return posix_trace_value_label_np(&value, room, POSIX_TRACE_LABEL_MAX_NP + 1) ? room
										      : NULL;
}

static struct value duration_value(const struct where_event *event)
{
	return event->has_duration ? where_value_number(event->duration_ns) : where_unknown();
}

static struct value field_value(const struct asking *asking, const struct where_node *node)
{
	const struct where_event *event = asking->event;
	const struct where_name *name = &asking->where->field[node->field];
	struct posix_trace_value_np got;
	struct value value = { .kind = NUMBER };
	int field;

	/*
	 * If the event itself has a field named duration, the value of that field is used and not
	 * the duration of the event's span.
	 */
	field = event->schema ? asking->place->field[node->field] : -1;
	if (field < 0 && where_is_duration(name))
		return duration_value(event);
	if (field < 0)
		return name->is_field ? where_unknown() :
		       (struct value){ .kind = NAME, .text = name->name };
	/* If the data is too short, the last fields have no value. */
	if (!posix_trace_field_get_np(event->schema, (unsigned)field, node->index, event->data,
				      event->data_len, event->flags, &got))
		return where_unknown();
	switch (got.field->form) {
	case POSIX_TRACE_FORM_BYTES_NP:
		return where_value_text(got.data, got.len);
	case POSIX_TRACE_FORM_FLOAT_NP:
		return (struct value){ .kind = REAL, .real = got.f64, .size = got.field->size };
	case POSIX_TRACE_FORM_SIGNED_NP:
		value.number = got.s64;
		break;
	default:
		value.number = got.u64;
		break;
	}
	value.field = got.field;
	return value;
}

/* ------------------------------------------------------------------ operations */

static double real_of(const struct value *value)
{
	return value->kind == REAL ? value->real : (double)value->number;
}

static bool is_number(const struct value *value)
{
	return value->kind == NUMBER || value->kind == REAL;
}

/*
 * Reals follow IEEE arithmetic, so the result of a division by zero is infinity and not an unknown
 * value. Remainder and bits have no meaning for reals.
 */
static struct value calculate_real(enum where_op op, double a, double b)
{
	struct value value = { .kind = REAL };

	switch (op) {
	case WHERE_ADD:
		value.real = a + b;
		return value;
	case WHERE_SUBTRACT:
		value.real = a - b;
		return value;
	case WHERE_MULTIPLY:
		value.real = a * b;
		return value;
	case WHERE_DIVIDE:
		value.real = a / b;
		return value;
	default:
		return where_unknown();
	}
}

/*
 * Finds the value with this name in the field that has the number. Returns false if 'number' does
 * not come from a field, or if the field has no value with this name.
 */
static bool find_named(const struct value *number, const struct value *name, uint64_t *value,
		       uint64_t *mask)
{
	return number->kind == NUMBER && number->field && name->kind == NAME &&
	       find_value(number->field, name->text, value, mask);
}

/*
 * Computes NUMBER & NAME. Most names are names of one or more bits. The result then has those of
 * these bits that are set in the number. Some names, such as O_WRONLY, are names of a value of a
 * group of bits. For such a name the result is 1 if the group has this value, else 0.
 */
static struct value named_bits(const struct value *bits, const struct value *name)
{
	uint64_t value, mask;

	if (!find_named(bits, name, &value, &mask))
		return where_unknown();
	if (mask == value || mask == UINT64_MAX)
		return where_value_number(bits->number & value);
	return where_value_number(((uint64_t)bits->number & mask) == value);
}

/* With integers, an overflow or a division by zero makes the result unknown. */
static struct value where_calculate(enum where_op op, const struct value *a, const struct value *b)
{
	__int128 n;

	if (op == WHERE_BITS && (a->kind == NAME || b->kind == NAME))
		return a->kind == NAME ? named_bits(b, a) : named_bits(a, b);
	if (!is_number(a) || !is_number(b))
		return where_unknown();
	if (a->kind == REAL || b->kind == REAL)
		return calculate_real(op, real_of(a), real_of(b));
	switch (op) {
	case WHERE_ADD:
		return __builtin_add_overflow(a->number, b->number, &n) ? where_unknown()
									: where_value_number(n);
	case WHERE_SUBTRACT:
		return __builtin_sub_overflow(a->number, b->number, &n) ? where_unknown()
									: where_value_number(n);
	case WHERE_MULTIPLY:
		return __builtin_mul_overflow(a->number, b->number, &n) ? where_unknown()
									: where_value_number(n);
	case WHERE_BITS:
		return where_value_number(a->number & b->number);
	default:
		/*
		 * A divisor of -1 is handled without a division. Otherwise the division of the
		 * least number by -1 would overflow, and the processor would raise an exception.
		 */
		if (!b->number)
			return where_unknown();
		if (b->number == -1)
			return op == WHERE_REST ? where_value_number(0)
			       : __builtin_sub_overflow((__int128)0, a->number, &n)
				       ? where_unknown()
				       : where_value_number(n);
		return where_value_number(op == WHERE_REST ? a->number % b->number
							   : a->number / b->number);
	}
}

/*
 * Converts an operand to the kind of the other operand if that is necessary to compare them. A name
 * becomes the number of the value with this name in the field of the other operand. If the other
 * operand is a text, a number becomes its label, so that op == "write" works. The number of a char
 * becomes a text of one byte. "room" has POSIX_TRACE_LABEL_MAX_NP + 1 bytes for the text.
 */
static struct value as_comparable(const struct value *value, const struct value *other, char *room)
{
	const char *label;
	uint64_t n, mask;
	__int128 named;

	if (find_named(other, value, &n, &mask)) {
		named = other->field->form == POSIX_TRACE_FORM_SIGNED_NP ? (__int128)(int64_t)n :
									     (__int128)n;
		return where_value_number(value->is_negated ? -named : named);
	}
	if (value->kind != NUMBER || other->kind != TEXT)
		return *value;
	label = label_of(value, room);
	/*
	 * Commands print a negative error number with a minus sign. So such a number equals its
	 * label with the minus sign, and also its label without it.
	 */
	if (label && value->number < 0 && other->len && *other->text == '-' &&
	    value->field->type == POSIX_TRACE_TYPE_ERRNO_NP) {
		snprintf(room, POSIX_TRACE_LABEL_MAX_NP + 1, "-%s", label);
		label = room;
	}
	if (label)
		return where_value_text(label, strlen(label));
	if (!value->field || value->field->type != POSIX_TRACE_TYPE_CHAR_NP)
		return *value;
	*room = (char)value->number;
	return where_value_text(room, 1);
}

/*
 * Returns the value as a double. If the value is a REAL that no field has, such as a constant, and
 * the other operand is a field of type f32, the function first rounds the value to an f32. No f32
 * is exactly 0.1, but a user who writes 0.1 means the f32 that a program recorded for 0.1.
 */
static double where_rounded(const struct value *value, const struct value *other)
{
	return value->kind == REAL && !value->size && other->size == sizeof(float)
		       ? (double)(float)value->real
		       : real_of(value);
}

/*
 * Compares two values. *order becomes negative if x is less than y, 0 if they are equal, otherwise
 * positive. Returns false if they cannot be compared.
 */
static bool where_compare(const struct value *x, const struct value *y, int *order)
{
	char room[2][POSIX_TRACE_LABEL_MAX_NP + 1];
	struct value a = as_comparable(x, y, room[0]), b = as_comparable(y, x, room[1]);
	double left, right;

	/*
	 * Texts are compared byte by byte, because they may contain NULs. If one text is the
	 * beginning of the other, it is less.
	 */
	if (a.kind == TEXT && b.kind == TEXT) {
		*order = memcmp(a.text, b.text, a.len < b.len ? a.len : b.len);
		if (!*order)
			*order = a.len < b.len ? -1 : a.len > b.len;
		return true;
	}
	if (!is_number(&a) || !is_number(&b))
		return false;
	if (a.kind == NUMBER && b.kind == NUMBER) {
		*order = a.number < b.number ? -1 : a.number > b.number;
		return true;
	}
	left = where_rounded(&a, &b);
	right = where_rounded(&b, &a);
	/* NaN is neither less than, nor equal to, nor greater than any number. */
	if (isnan(left) || isnan(right))
		return false;
	*order = left < right ? -1 : left > right;
	return true;
}

static struct value compare_values(enum where_op op, const struct value *a, const struct value *b)
{
	int order;

	if (!where_compare(a, b, &order))
		return where_unknown();
	switch (op) {
	case WHERE_EQUAL:
		return where_value_number(!order);
	case WHERE_UNEQUAL:
		return where_value_number(order != 0);
	case WHERE_LESS:
		return where_value_number(order < 0);
	case WHERE_AT_MOST:
		return where_value_number(order <= 0);
	case WHERE_MORE:
		return where_value_number(order > 0);
	default:
		return where_value_number(order >= 0);
	}
}

/*
 * Matches a shell pattern. fnmatch() needs a string that ends with a NUL, but the text of an event
 * does not end with a NUL. So the function matches a copy with a NUL. The copy has at most 4095
 * bytes, which is enough for names and paths.
 */
static struct value match_value(const struct value *value, const struct value *pattern, bool wanted)
{
	char copy[4096], room[POSIX_TRACE_LABEL_MAX_NP + 1];
	struct value a = as_comparable(value, pattern, room);
	size_t len = a.len < sizeof(copy) - 1 ? a.len : sizeof(copy) - 1;

	if (a.kind != TEXT)
		return where_unknown();
	memcpy(copy, a.text, len);
	copy[len] = '\0';
	return where_value_number(!fnmatch(pattern->text, copy, 0) == wanted);
}

/* Returns 1 if the value is true, 0 if it is false, or -1 if that is unknown. */
static int where_truth(const struct value *value)
{
	switch (value->kind) {
	case NUMBER:
		return value->number != 0;
	case REAL:
		return value->real != 0;
	case TEXT:
		return value->len > 0;
	default:
		return -1;
	}
}

/*
 * Evaluates && and ||. If one operand alone decides the result, the other operand may be
 * unknown.
 */
static struct value evaluate_logical(const struct asking *asking, const struct where_node *node)
{
	int deciding = node->op == WHERE_OR;
	struct value value = where_evaluate(asking, node->a);
	int a = where_truth(&value), b;

	if (a == deciding)
		return where_value_number(deciding);
	value = where_evaluate(asking, node->b);
	b = where_truth(&value);
	if (b == deciding)
		return where_value_number(deciding);
	return a < 0 || b < 0 ? where_unknown() : where_value_number(!deciding);
}

/* Returns a fact about the event that is no field of its data, such as event.pid. */
static struct value fact_value(const struct where_event *event, enum where_op op)
{
	switch (op) {
	case WHERE_EVENT:
		return where_value_text(event->name, event->name_len);
	case WHERE_ID:
		return where_value_number(event->id);
	case WHERE_THREAD:
		return where_value_number(event->thread);
	case WHERE_PID:
		return where_value_number(event->pid);
	case WHERE_TID:
		return where_value_number(event->tid);
	case WHERE_TIME:
		return where_value_number(event->time_ns);
	case WHERE_LEN:
		return where_value_number(event->data_len);
	case WHERE_DURATION:
		return duration_value(event);
	case WHERE_LEVEL:
		/* The level 0 means that the schema has no @level. */
		return event->schema && event->schema->level ?
			       where_value_number(event->schema->level) : where_unknown();
	default:
		return where_value_number(event->address);
	}
}

/*
 * Evaluates ! and unary minus. A negated number is no longer the value of a field, so it has no
 * label.
 */
static struct value evaluate_unary(const struct asking *asking, const struct where_node *node)
{
	struct value value = where_evaluate(asking, node->a);
	int is_true = where_truth(&value);

	if (node->op == WHERE_NOT)
		return is_true < 0 ? where_unknown() : where_value_number(!is_true);
	/*
	 * In -ENOENT, the operand remains a NAME. Its number is unknown here, because it depends on
	 * the field on the other side of the operator.
	 */
	if (value.kind == NAME) {
		value.is_negated = !value.is_negated;
		return value;
	}
	if (value.kind == REAL)
		value.real = -value.real;
	else if (value.kind != NUMBER ||
		 __builtin_sub_overflow((__int128)0, value.number, &value.number))
		return where_unknown();
	value.field = NULL;
	return value;
}

static struct value where_evaluate(const struct asking *asking, unsigned index)
{
	const struct where_node *node = &asking->where->node[index];
	struct value a, b;

	switch (node->op) {
	case WHERE_OR:
	case WHERE_AND:
		return evaluate_logical(asking, node);
	case WHERE_NOT:
	case WHERE_NEGATE:
		return evaluate_unary(asking, node);
	case WHERE_NUMBER:
		return where_value_number(node->number);
	case WHERE_REAL:
		return (struct value){ .kind = REAL, .real = node->real };
	case WHERE_TEXT:
		return where_value_text(node->text, node->len);
	case WHERE_FIELD:
		return field_value(asking, node);
	case WHERE_EVENT:
	case WHERE_ID:
	case WHERE_PID:
	case WHERE_TID:
	case WHERE_THREAD:
	case WHERE_TIME:
	case WHERE_LEN:
	case WHERE_ADDRESS:
	case WHERE_DURATION:
	case WHERE_LEVEL:
		return fact_value(asking->event, node->op);
	default:
		break;
	}
	a = where_evaluate(asking, node->a);
	b = where_evaluate(asking, node->b);
	/*
	 * These conditions use the order of enum where_op: comparisons, then matches, then
	 * arithmetic.
	 */
	if (node->op >= WHERE_ADD)
		return where_calculate(node->op, &a, &b);
	if (node->op >= WHERE_MATCH)
		return match_value(&a, &b, node->op == WHERE_MATCH);
	return compare_values(node->op, &a, &b);
}

enum where_answer where_match(struct where *where, const struct where_event *event)
{
	/* A NULL schema needs no special case here, because field_value() then uses no place. */
	struct asking asking = { where, event, place_of(where, event->schema) };
	struct value value = where_evaluate(&asking, where->root);

	return (enum where_answer)where_truth(&value);
}

bool where_holds(struct where *where, const struct where_event *event)
{
	return where_match(where, event) == WHERE_YES;
}

bool where_uses_duration(const struct where *where)
{
	return where->uses_duration;
}

void where_declare_duration(struct where *where)
{
	for (unsigned i = 0; i < where->fields; i++)
		where->field[i].known |= where_is_duration(&where->field[i]);
}
