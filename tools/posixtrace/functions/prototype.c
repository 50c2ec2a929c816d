/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prototype.c - reads the declarations of functions by libdw.
 *
 * The functions of all compilation units are collected once and sorted by their addresses. The name
 * of a type is searched only when a declaration is printed.
 */
#include "functions/prototype.h"

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/binary_part.h"
#include "functions/prototype_part.h"

#define TYPE_TEXT 256 /* bytes of the text of one type or parameter */
#define DEEP_MAX  8   /* levels of types that refer to other types */

struct prototypes {
	Dwarf *dwarf;
	struct entry {
		uint64_t address;
		Dwarf_Off offset;
	} *entry;
	size_t entries;
};

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Callback of dwarf_getfuncs(). A function without an address is only declared or inlined, so it is
 * omitted.
 */
static int add_function(Dwarf_Die *die, void *arg)
{
	struct prototypes *prototypes = arg;
	Dwarf_Addr address;

	if (dwarf_lowpc(die, &address) || !vec_grow(&prototypes->entry, prototypes->entries, 1))
		return DWARF_CB_OK;
	prototypes->entry[prototypes->entries++] =
		(struct entry){ address, dwarf_dieoffset(die) };
	return DWARF_CB_OK;
}

struct prototypes *prototypes_open(const struct binary_file *file)
{
	struct prototypes *prototypes = calloc(1, sizeof(*prototypes));
	Dwarf_Off at = 0, next;
	size_t header;
	Dwarf_Die unit;

	if (!prototypes)
		return NULL;
	if (file->debug)
		prototypes->dwarf = dwarf_begin_elf(file->debug, DWARF_C_READ, NULL);
	if (!prototypes->dwarf && file->elf)
		prototypes->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	while (prototypes->dwarf &&
	       !dwarf_nextcu(prototypes->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		if (dwarf_offdie(prototypes->dwarf, at + header, &unit))
			dwarf_getfuncs(&unit, add_function, prototypes, 0);
		at = next;
	}
	if (!prototypes->entries) {
		prototypes_close(prototypes);
		return NULL;
	}
	qsort(prototypes->entry, prototypes->entries, sizeof(*prototypes->entry), by_address);
	return prototypes;
}

void prototypes_close(struct prototypes *prototypes)
{
	if (!prototypes)
		return;
	dwarf_end(prototypes->dwarf);
	free(prototypes->entry);
	free(prototypes);
}

/*
 * Stores the type of an entry. Returns false if the entry has no type, for example if it is a
 * function that returns nothing.
 */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type);
}

/*
 * Writes the type of an entry in the form of C, such as "const char *". A pointer type has no space
 * at its end.
 */
static void put_type(Dwarf_Die *die, unsigned deep, char text[TYPE_TEXT])
{
	const char *keyword = "", *suffix = NULL, *name;
	char inner[TYPE_TEXT];
	Dwarf_Die type;

	if (!type_of(die, &type) || deep == DEEP_MAX) {
		snprintf(text, TYPE_TEXT, "%s", deep == DEEP_MAX ? "?" : "void");
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
		keyword = "struct ";
		break;
	case DW_TAG_union_type:
		keyword = "union ";
		break;
	case DW_TAG_enumeration_type:
		keyword = "enum ";
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_array_type:
		suffix = "*";
		break;
	case DW_TAG_reference_type:
		suffix = "&";
		break;
	case DW_TAG_rvalue_reference_type:
		suffix = "&&";
		break;
	case DW_TAG_const_type:
		suffix = "const";
		break;
	case DW_TAG_volatile_type:
		suffix = "volatile";
		break;
	case DW_TAG_restrict_type:
		suffix = "restrict";
		break;
	case DW_TAG_subroutine_type:
		snprintf(text, TYPE_TEXT, "function ");
		return;
	}
	if (!suffix) {
		name = dwarf_diename(&type);
		snprintf(text, TYPE_TEXT, "%s%s", keyword, name && *name ? name : "?");
		return;
	}
	put_type(&type, deep + 1, inner);
	if (*suffix == '*' || *suffix == '&')
		snprintf(text, TYPE_TEXT, "%.200s%s%s", inner,
			 strchr("* ", inner[strlen(inner) - 1]) ? "" : " ", suffix);
	/* behind a pointer, const or another qualifier applies to the pointer itself */
	else if (inner[strlen(inner) - 1] == '*')
		snprintf(text, TYPE_TEXT, "%.200s%s", inner, suffix);
	else
		snprintf(text, TYPE_TEXT, "%s %.200s", suffix, inner);
}

/* Appends to a text. Returns false if it does not fit. */
static bool prototype_append(char text[PROTOTYPE_TEXT], const char *more)
{
	size_t len = strlen(text);

	if (strlen(more) >= PROTOTYPE_TEXT - len)
		return false;
	strcpy(text + len, more);
	return true;
}

/* Appends a type and the name that it belongs to. */
static bool append_named(char text[PROTOTYPE_TEXT], Dwarf_Die *die, const char *name)
{
	char type[TYPE_TEXT];

	put_type(die, 0, type);
	return prototype_append(text, type) &&
	       (!*name || strchr("*& ", type[strlen(type) - 1]) || prototype_append(text, " ")) &&
	       prototype_append(text, name);
}

/* Appends the parameters without parentheses. For a function without parameters, appends "void". */
static bool append_parameters(char text[PROTOTYPE_TEXT], Dwarf_Die *function)
{
	const char *separator = "";
	bool good = true;
	Dwarf_Die die;

	if (dwarf_child(function, &die))
		return prototype_append(text, "void");
	do {
		int tag = dwarf_tag(&die);
		const char *name = dwarf_diename(&die);

		if (tag == DW_TAG_unspecified_parameters) {
			good = prototype_append(text, separator) && prototype_append(text, "...");
			separator = ", ";
		}
		if (tag != DW_TAG_formal_parameter)
			continue;
		good = prototype_append(text, separator) &&
		       append_named(text, &die, name ? name : "");
		separator = ", ";
	} while (good && !dwarf_siblingof(&die, &die));
	return good && (*separator || prototype_append(text, "void"));
}

bool prototypes_find(struct prototypes *prototypes, uint64_t address, Dwarf_Die *die)
{
	const struct entry key = { .address = address }, *entry;

	entry = prototypes ? bsearch(&key, prototypes->entry, prototypes->entries,
				     sizeof(*prototypes->entry), by_address) :
			     NULL;
	return entry && dwarf_offdie(prototypes->dwarf, entry->offset, die);
}

bool prototypes_text(struct prototypes *prototypes, uint64_t address, const char *name,
		     char text[PROTOTYPE_TEXT])
{
	Dwarf_Die die;

	*text = '\0';
	return prototypes_find(prototypes, address, &die) &&
	       append_named(text, &die, name) && prototype_append(text, "(") &&
	       append_parameters(text, &die) && prototype_append(text, ")");
}

#else

struct prototypes *prototypes_open(const struct binary_file *file)
{
	(void)file;
	return NULL;
}

void prototypes_close(struct prototypes *prototypes)
{
	(void)prototypes;
}

bool prototypes_text(struct prototypes *prototypes, uint64_t address, const char *name,
		     char text[PROTOTYPE_TEXT])
{
	(void)prototypes, (void)address, (void)name, (void)text;
	return false;
}

#endif
