/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.c - finds the arguments and results of functions by libdw and by the calling
 * conventions of x86-64.
 *
 * A function that other files can call gets its arguments by the System V ABI: the type of an
 * argument determines its registers. A compiler may change the convention of a function that is
 * called only in its own file, and of copies with names such as name.isra.0. For these functions
 * the debugging information has the place of each argument at the first instruction. Functions of
 * Go are treated in the same way, because Go has its own convention, in which a callee preserves no
 * registers. The debugging information describes the results of Go as parameters of another kind.
 */
#include "functions/arguments.h"

#if defined HAVE_LIBDW && defined __x86_64__

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "functions/prototype_part.h"

#define DEEP_MAX   8   /* greatest depth of nested structures */
/* greatest number of names of an enumeration; further values are shown as numbers */
#define NAMES_MAX  24
#define TYPE_BYTES 400 /* bytes of the type of a field, with the names of its values */
#define RSP        4   /* the processor's number of %rsp */
#define RETURN     8   /* bytes of the return address below the arguments on the stack */

/* The registers for integers, in the order of the ABI, by the processor's numbers. */
static const uint8_t integer_register[] = { 7, 6, 2, 1, 8, 9 };
#define INTEGERS (sizeof(integer_register) / sizeof(integer_register[0]))
#define FLOATS   8

/* The processor's numbers of the registers that DWARF numbers from 0 to 15. */
static const uint8_t by_dwarf[] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
#define DWARF_VECTORS 17 /* DWARF's number of %xmm0 */

/* How a value is passed. A value of 0 bytes needs no registers and no memory. */
struct passing {
	unsigned integers, floats; /* registers */
	bool is_memory, is_unknown;
	uint64_t size;             /* bytes */
};

/* A function, and the way to find its arguments. */
struct convention {
	uint64_t address;
	enum arguments_way way;
	bool is_own; /* the compiler may have changed the convention */
};

/* The registers and the stack that the arguments so far have used. */
struct used {
	unsigned integers, floats;
	uint64_t stack;
};

/* ------------------------------------------------------------------ types */

/*
 * Stores the type of an entry. Qualifiers and typedef names are resolved. Returns false if the
 * entry has no type.
 */
static bool find_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type) && dwarf_peel_type(type, type) == 0;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr_integrate(die, name, &attribute) &&
			       !dwarf_formudata(&attribute, &value) ?
		       value : otherwise;
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) ? 0 : size;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

/*
 * A value at an offset of a structure occupies one or two of its groups of 8 bytes. Adds the
 * value's class to the classes of these groups: bit 0 for integers, bit 1 for floating point.
 * Returns false if the class is not known.
 */
static bool add_classes(Dwarf_Die *type, uint64_t offset, unsigned deep, unsigned class[2]);

/*
 * Adds the classes of the members of a structure, a union or a base class, as add_classes() does.
 */
static bool add_members(Dwarf_Die *type, uint64_t offset, unsigned deep, unsigned class[2])
{
	Dwarf_Die die, member;

	if (dwarf_child(type, &die))
		return true; /* the structure is empty */
	do {
		int tag = dwarf_tag(&die);

		/* A static member is a separate variable and no part of the structure. */
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&die, DW_AT_external) || dwarf_hasattr(&die, DW_AT_declaration))
			continue;
		if (!find_type(&die, &member) ||
		    !add_classes(&member,
				 offset + number_of(&die, DW_AT_data_member_location,
						    number_of(&die, DW_AT_data_bit_offset, 0) / 8),
				 deep + 1, class))
			return false;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

static bool add_elements(Dwarf_Die *type, uint64_t offset, unsigned deep, unsigned class[2])
{
	const uint64_t size = size_of(type);
	Dwarf_Die element;
	uint64_t step;

	if (!find_type(type, &element) || dwarf_hasattr(type, DW_AT_GNU_vector))
		return false;
	step = size_of(&element);
	for (uint64_t at = 0; step && at < size; at += step)
		if (!add_classes(&element, offset + at, deep + 1, class))
			return false;
	return step;
}

static bool add_classes(Dwarf_Die *type, uint64_t offset, unsigned deep, unsigned class[2])
{
	const int tag = dwarf_tag(type);
	const uint64_t size = size_of(type);
	uint64_t encoding;

	if (deep > DEEP_MAX || offset > 15 || size > 16 - offset)
		return false;
	if (is_structure(tag))
		return add_members(type, offset, deep, class);
	if (tag == DW_TAG_array_type)
		return add_elements(type, offset, deep, class);
	if (tag == DW_TAG_base_type) {
		encoding = number_of(type, DW_AT_encoding, 0);
		if (encoding == DW_ATE_float && size > 8)
			return false;
		class[offset / 8] |= encoding == DW_ATE_float ? 2 : 1;
		return size <= 8 && encoding != DW_ATE_complex_float;
	}
	class[offset / 8] |= 1;
	return is_pointer(tag) || tag == DW_TAG_enumeration_type || tag == DW_TAG_unspecified_type;
}

/*
 * Returns how a structure is passed. A structure of at most 16 bytes is passed in one register for
 * each 8 bytes, a longer structure in memory.
 */
static struct passing pass_structure(Dwarf_Die *type, uint64_t size)
{
	struct passing passing = { .size = size };
	unsigned class[2] = { 0, 0 };

	switch (number_of(type, DW_AT_calling_convention, 0)) {
	case DW_CC_pass_by_reference:
		/* The caller passes the address of a copy. */
		return (struct passing){ .integers = 1, .size = 8 };
	case DW_CC_pass_by_value:
		break;
	default:
		/*
		 * If the attribute of the calling convention is missing, a class may be passed by
		 * reference, because it has a destructor, or by value.
		 */
		passing.is_unknown = dwarf_tag(type) == DW_TAG_class_type;
	}
	if (size > 16)
		passing.is_memory = true;
	else if (!add_classes(type, 0, 0, class))
		passing.is_unknown = true;
	for (int i = 0; i < 2; i++) {
		passing.integers += class[i] & 1;
		passing.floats += class[i] == 2;
	}
	return passing;
}

static struct passing pass_type(Dwarf_Die *type)
{
	struct passing passing = { .size = size_of(type) };
	const int tag = dwarf_tag(type);

	if (is_structure(tag))
		return pass_structure(type, passing.size);
	if (tag == DW_TAG_base_type && number_of(type, DW_AT_encoding, 0) == DW_ATE_float) {
		passing.floats = passing.size <= 8;
		passing.is_memory = passing.size > 8;
	} else if (tag == DW_TAG_base_type || is_pointer(tag) ||
		   tag == DW_TAG_enumeration_type) {
		passing.size = is_pointer(tag) ? 8 : passing.size;
		passing.integers = 1;
		passing.is_unknown = passing.size < 1 || passing.size > 8 ||
				     number_of(type, DW_AT_encoding, 0) == DW_ATE_complex_float;
	} else {
		passing.is_unknown = true;
	}
	return passing;
}

/* ------------------------------------------------------------------ fields */

static bool is_power(int64_t value)
{
	return value > 0 && !(value & (value - 1));
}

/*
 * Writes the names of an enumeration. The names are written as names of bits if each value is 0 or
 * one bit, and more than two values are not 0. Names that a schema cannot contain are omitted.
 * Returns whether a value is negative.
 */
static bool put_enumeration(Dwarf_Die *type, char *text, size_t bytes)
{
	bool is_negative = false, are_bits = true;
	unsigned names = 0, values = 0;
	Dwarf_Attribute attribute;
	size_t len = 1, kept = 0;
	Dwarf_Sword value;
	Dwarf_Die die;

	text[0] = '\0';
	if (dwarf_child(type, &die))
		return false;
	for (int pass = 0; pass < 2; pass++) {
		Dwarf_Die at = die;

		do {
			const char *name = dwarf_diename(&at);

			if (dwarf_tag(&at) != DW_TAG_enumerator || !name ||
			    !dwarf_attr(&at, DW_AT_const_value, &attribute) ||
			    dwarf_formsdata(&attribute, &value))
				continue;
			if (pass == 0) {
				is_negative |= value < 0;
				are_bits &= value == 0 || is_power(value);
				values += value != 0;
				continue;
			}
			if (names++ >= NAMES_MAX || strpbrk(name, ";,{}|=@\"\\ ") ||
			    strlen(name) > POSIX_TRACE_FIELD_NAME_MAX_NP)
				continue;
			len += (size_t)snprintf(text + len, bytes - len, "%s%" PRId64 "=%s",
						kept ? "," : are_bits ? "|" : "", (int64_t)value,
						name);
			/*
			 * The first name that does not fit, and all names behind it, are omitted.
			 */
			if (len + 2 >= bytes)
				break;
			kept = len;
		} while (!dwarf_siblingof(&at, &at));
		are_bits &= values > 2;
	}
	if (kept) {
		text[0] = '{';
		strcpy(text + kept, "}");
	}
	return is_negative;
}

/* Returns whether a pointer leads to characters. */
static bool is_text(Dwarf_Die *pointer)
{
	Dwarf_Die type;
	const char *name;

	if (dwarf_tag(pointer) != DW_TAG_pointer_type || !find_type(pointer, &type) ||
	    dwarf_tag(&type) != DW_TAG_base_type)
		return false;
	name = dwarf_diename(&type);
	return name && !strcmp(name, "char") && size_of(&type) == 1;
}

/* Writes the name of a type for numbers: a letter and the number of bits, such as "s32". */
static void put_number(char *text, size_t bytes, char letter, uint64_t size)
{
	snprintf(text, bytes, "%c%u", letter, 8 * (unsigned)size);
}

/*
 * Writes the type of a field for a value of this type, and sets the size and the sign of the
 * argument. Returns false if such values are not recorded.
 */
static bool describe_value(Dwarf_Die *type, char text[TYPE_BYTES],
			   struct shim_plan_argument *argument)
{
	const char *name = dwarf_diename(type);
	const uint64_t size = is_pointer(dwarf_tag(type)) ? 8 : size_of(type);
	char names[TYPE_BYTES - 16];

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	argument->size = argument->bytes = (uint8_t)size;
	if (is_pointer(dwarf_tag(type))) {
		bool has_text = is_text(type);

		snprintf(text, TYPE_BYTES, "%s", has_text ? "str" : "ptr");
		argument->bytes = has_text ? 0 : 8;
		return true;
	}
	if (dwarf_tag(type) == DW_TAG_enumeration_type) {
		argument->is_signed = put_enumeration(type, names, sizeof(names));
		put_number(text, TYPE_BYTES,
			   argument->is_signed ? 's' : names[0] && names[1] == '|' ? 'x' : 'u',
			   size);
		strcat(text, names);
		return true;
	}
	switch (dwarf_tag(type) == DW_TAG_base_type ? number_of(type, DW_AT_encoding, 0) : 0) {
	case DW_ATE_boolean:
		snprintf(text, TYPE_BYTES, "bool");
		return size == 1;
	case DW_ATE_float:
		put_number(text, TYPE_BYTES, 'f', size);
		return size >= 4;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		if (name && !strcmp(name, "char")) {
			snprintf(text, TYPE_BYTES, "char");
			return true;
		}
		argument->is_signed =
			number_of(type, DW_AT_encoding, 0) == DW_ATE_signed_char;
		break;
	case DW_ATE_signed:
		argument->is_signed = true;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		break;
	default:
		return false;
	}
	put_number(text, TYPE_BYTES, argument->is_signed ? 's' : 'u', size);
	return true;
}

/* ------------------------------------------------------------------ places */

static struct shim_plan_argument on_stack(int64_t offset)
{
	return (struct shim_plan_argument){ .place = SHIM_PLAN_MEMORY, .base = RSP,
					    .index = SHIM_PLAN_NO_REGISTER,
					    .value = RETURN + offset };
}

static struct shim_plan_argument in_register(unsigned place, unsigned number)
{
	return (struct shim_plan_argument){ .place = (uint8_t)place, .base = (uint8_t)number,
					    .index = SHIM_PLAN_NO_REGISTER };
}

/*
 * Assigns the next place by the ABI. If a value does not fit into the registers that are left, the
 * whole value is on the stack. Returns the place of the value in its first register or on the
 * stack.
 */
static struct shim_plan_argument place_by_abi(const struct passing *passing, struct used *used)
{
	struct shim_plan_argument argument;

	if (!passing->is_memory && used->integers + passing->integers <= INTEGERS &&
	    used->floats + passing->floats <= FLOATS) {
		argument = passing->integers ?
				   in_register(SHIM_PLAN_REGISTER,
					       integer_register[used->integers % INTEGERS]) :
				   in_register(SHIM_PLAN_VECTOR, used->floats);
		used->integers += passing->integers;
		used->floats += passing->floats;
		return argument;
	}
	/* A long double, and an integer of 16 bytes, are aligned to 16 bytes on the stack. */
	if (passing->size == 16 && passing->is_memory)
		used->stack = (used->stack + 15) & ~(uint64_t)15;
	argument = on_stack((int64_t)used->stack);
	used->stack += (passing->size + 7) & ~(uint64_t)7;
	return argument;
}

/*
 * Finds the place of a parameter that the debugging information has for the first instruction.
 * Returns 1 if there is such a place, and 0 if there is none. Returns -1 if the place is a variable
 * on the stack that the function itself fills. In that case the code is not optimized, and the
 * place by the ABI is right.
 */
static int place_by_list(Dwarf_Die *die, uint64_t address, struct shim_plan_argument *argument)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *op;
	size_t ops;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, address, &op, &ops, 1) != 1 || ops != 1)
		return 0;
	if (op->atom >= DW_OP_reg0 && op->atom < DW_OP_reg0 + sizeof(by_dwarf)) {
		*argument = in_register(SHIM_PLAN_REGISTER, by_dwarf[op->atom - DW_OP_reg0]);
		return 1;
	}
	if (op->atom >= DW_OP_reg0 + DWARF_VECTORS &&
	    op->atom < DW_OP_reg0 + DWARF_VECTORS + FLOATS) {
		*argument = in_register(SHIM_PLAN_VECTOR,
					op->atom - DW_OP_reg0 - DWARF_VECTORS);
		return 1;
	}
	if (op->atom != DW_OP_fbreg)
		return 0;
	if ((int64_t)op->number < 0)
		return -1;
	/*
	 * The offset counts from the caller's stack pointer, because gcc and clang use this as the
	 * base of the frame.
	 */
	*argument = on_stack((int64_t)op->number);
	return 1;
}

/* ------------------------------------------------------------------ functions */

/* Returns whether a name can be the name of a field. Names of C++ may have other characters. */
static bool is_field_name(const char *name)
{
	return name && *name && !strchr("0123456789", *name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
		       strlen(name) &&
	       strlen(name) < POSIX_TRACE_FIELD_NAME_MAX_NP;
}

/* Returns whether a name is in use, by a field so far or by a field that all functions have. */
static bool is_used_name(const struct arguments *arguments, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = arguments->schema; (at = strstr(at, name)) != NULL; at += len)
		if (at > arguments->schema && at[-1] == ' ' && strchr(";{", at[len]))
			return true;
	return !strcmp(name, "time") || !strcmp(name, "function") || !strcmp(name, "depth");
}

/*
 * Appends a field. If the name is missing or cannot be the name of a field, the field is called
 * arg2, for example. If the name is in use, it gets an underscore. If this name is in use, too, or
 * if the field does not fit, the field is omitted, and the function returns false.
 */
static bool add_field(struct arguments *arguments, const char *name, unsigned number,
		      const char *type, const struct shim_plan_argument *argument)
{
	/*
	 * In a schema, the order is: the type, the name of the field, and the names of values in
	 * braces.
	 */
	const size_t len = strlen(arguments->schema), type_len = strcspn(type, "{");
	char own[POSIX_TRACE_FIELD_NAME_MAX_NP + 2];
	int more;

	if (is_field_name(name))
		snprintf(own, sizeof(own), "%s%s", name,
			 is_used_name(arguments, name) ? "_" : "");
	else
		snprintf(own, sizeof(own), "arg%u", number);
	more = is_used_name(arguments, own) ?
		       -1 :
		       snprintf(arguments->schema + len, ARGUMENTS_SCHEMA - len, "%s%.*s %s%s",
				len ? "; " : "", (int)type_len, type, own, type + type_len);
	if (more < 0 || (size_t)more >= ARGUMENTS_SCHEMA - len) {
		arguments->schema[len] = '\0';
		return false;
	}
	arguments->plan[arguments->count++] = *argument;
	return true;
}

/*
 * Appends the field of one parameter if the parameter can be read. Returns false if the places of
 * the parameters behind it cannot be known. The function skips a parameter that is a result of Go,
 * because it is not an argument.
 */
static bool add_parameter(struct arguments *arguments, Dwarf_Die *die, unsigned number,
			  const struct convention *how, struct used *used)
{
	const bool is_go = how->way == ARGUMENTS_OF_GO;
	struct shim_plan_argument argument, type_of_it = { .size = 0 };
	char text[TYPE_BYTES];
	struct passing passing;
	const char *named;
	Dwarf_Die type;
	int listed = 1;

	if (is_go && number_of(die, DW_AT_variable_parameter, 0))
		return true;
	if (!find_type(die, &type))
		return is_go;
	passing = pass_type(&type);
	if (passing.is_unknown && !is_go)
		return false;
	argument = place_by_abi(&passing, used);
	if (how->is_own)
		listed = place_by_list(die, how->address, &argument);
	if (listed == 0 || (is_go && listed < 0) || is_structure(dwarf_tag(&type)) ||
	    (argument.place == SHIM_PLAN_VECTOR && how->way != ARGUMENTS_BY_SHIM) ||
	    !describe_value(&type, text, &type_of_it))
		return true;
	argument.size = type_of_it.size;
	argument.bytes = type_of_it.bytes;
	argument.is_signed = type_of_it.is_signed;
	named = dwarf_diename(die);
	/* The field may fit without the names of its values. */
	if (!add_field(arguments, named, number, text, &argument) && strchr(text, '{')) {
		*strchr(text, '{') = '\0';
		add_field(arguments, named, number, text, &argument);
	}
	return true;
}

/*
 * Appends the result. The name of its field is "return". No parameter can have this name, because
 * it is a keyword of C. A structure, or a result of more than 8 bytes, gets no field. A
 * floating-point number gets a field only if the shim records the call.
 */
static void add_result(struct arguments *arguments, Dwarf_Die *type, enum arguments_way way)
{
	const bool is_float = dwarf_tag(type) == DW_TAG_base_type &&
			      number_of(type, DW_AT_encoding, 0) == DW_ATE_float;
	struct shim_plan_argument argument =
		in_register(is_float ? SHIM_PLAN_VECTOR : SHIM_PLAN_REGISTER, 0);
	char text[TYPE_BYTES];

	if (is_float && way != ARGUMENTS_BY_SHIM)
		return;
	if (arguments->count < SHIM_PLAN_OF_SITE && !is_structure(dwarf_tag(type)) &&
	    describe_value(type, text, &argument))
		arguments->has_result = add_field(arguments, "return", 0, text, &argument);
	arguments->count -= arguments->has_result;
}

/* Returns whether the caller passes the address of memory for the result. */
static bool is_stored(Dwarf_Die *type, const struct passing *result)
{
	return result->is_memory ||
	       number_of(type, DW_AT_calling_convention, 0) == DW_CC_pass_by_reference;
}

/* Appends the parameters, up to a parameter behind which no place is known. */
static void add_parameters(struct arguments *arguments, Dwarf_Die *function,
			   const struct convention *how, struct used *used)
{
	unsigned number = 0;
	Dwarf_Die die;

	if (dwarf_child(function, &die))
		return;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		/* One place remains for the result. */
		if (arguments->count == SHIM_PLAN_OF_SITE - 1 ||
		    !add_parameter(arguments, &die, ++number, how, used))
			return;
	} while (!dwarf_siblingof(&die, &die));
}

bool arguments_of(struct prototypes *prototypes, uint64_t address, const char *name,
		  enum arguments_way way, struct arguments *arguments)
{
	struct convention how = { .address = address, .way = way };
	struct used used = { .integers = 0 };
	struct passing result;
	bool has_type;
	Dwarf_Die die, type;

	*arguments = (struct arguments){ .count = 0 };
	if (!prototypes_find(prototypes, address, &die))
		return false;
	/* A copy of a function has the name of the function, a dot, and further characters. */
	how.is_own = !dwarf_hasattr_integrate(&die, DW_AT_external) || strchr(name, '.') ||
		     way == ARGUMENTS_OF_GO;
	has_type = way != ARGUMENTS_OF_GO && find_type(&die, &type);
	if (has_type && is_structure(dwarf_tag(&type))) {
		result = pass_type(&type);
		if (result.is_unknown && !how.is_own)
			return false;
		used.integers = is_stored(&type, &result);
	}
	add_parameters(arguments, &die, &how, &used);
	if (has_type)
		add_result(arguments, &type, way);
	return arguments->count || arguments->has_result;
}

#else

bool arguments_of(struct prototypes *prototypes, uint64_t address, const char *name,
		  enum arguments_way way, struct arguments *arguments)
{
	(void)prototypes, (void)address, (void)name, (void)way;
	*arguments = (struct arguments){ .count = 0 };
	return false;
}

#endif
