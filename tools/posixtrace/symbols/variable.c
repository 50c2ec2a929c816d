/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * variable.c - names the member of a variable at an address, such as server.lock, by DWARF.
 *
 * The file may be hostile: elfutils checks its contents, and the depth of each descent is limited.
 */
#include "symbols/module_part.h"

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define DEPTH_MAX     16u       /* the greatest depth of namespaces, and of members in members */
#define VARIABLES_MAX (1u << 20)
#define ENTRIES_MAX   (1u << 26) /* the most entries that a search for variables reads */
#define DIMENSIONS_MAX 8u

/* A variable with a constant address. */
struct module_global {
	uint64_t address;
	Dwarf_Off offset; /* of its entry */
};

/* The search for all variables of a file. */
struct walk {
	struct module *module;
	Dwarf_Addr bias; /* from the addresses of the debug file to the addresses of the module */
	size_t entries;  /* the number of entries that the search has read */
};

/*
 * Types at which the descent ends. Their own members are details of the C or C++ library, and the
 * first member has the same address as the lock.
 */
static const char *const lock_types[] = {
	"pthread_mutex_t", "pthread_cond_t", "pthread_rwlock_t", "pthread_spinlock_t",
	"pthread_barrier_t", "sem_t", "mutex", "recursive_mutex", "timed_mutex",
	"recursive_timed_mutex", "shared_mutex", "shared_timed_mutex", "condition_variable",
	"condition_variable_any",
};

static bool is_lock_type(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	for (size_t i = 0; name && i < sizeof(lock_types) / sizeof(*lock_types); i++)
		if (!strcmp(name, lock_types[i]))
			return true;
	return false;
}

/* Stores the address of a variable, if it is a constant. */
static bool constant_address(Dwarf_Die *variable, uint64_t *address)
{
	Dwarf_Attribute attribute, indexed;
	Dwarf_Op *operation;
	size_t count;

	if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &operation, &count) || count != 1)
		return false;
	/* clang writes the index of an address in a table. */
	if (operation->atom == DW_OP_addrx)
		return !dwarf_getlocation_attr(&attribute, operation, &indexed) &&
		       !dwarf_formaddr(&indexed, address);
	if (operation->atom != DW_OP_addr)
		return false;
	*address = operation->number;
	return true;
}

/*
 * Adds the variables below an entry, also in namespaces, but not in functions. In a hostile file
 * the entries of namespaces may overlap, so the number of entries is limited.
 */
static void add_globals(struct walk *walk, Dwarf_Die *parent, unsigned depth)
{
	struct module *module = walk->module;
	Dwarf_Die child;
	int end = dwarf_child(parent, &child);

	for (; !end && module->globals < VARIABLES_MAX && walk->entries < ENTRIES_MAX;
	     end = dwarf_siblingof(&child, &child)) {
		struct module_global global;
		const int tag = dwarf_tag(&child);

		walk->entries++;
		if (tag == DW_TAG_namespace && depth < DEPTH_MAX)
			add_globals(walk, &child, depth + 1);
		if (tag != DW_TAG_variable || !constant_address(&child, &global.address))
			continue;
		global.address += walk->bias;
		global.offset = dwarf_dieoffset(&child);
		if (!vec_grow(&module->global, module->globals, 1))
			return;
		module->global[module->globals++] = global;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct module_global *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Finds all variables of the file, at the first call. */
static void list_globals(struct module *module)
{
	struct walk walk = { .module = module };
	Dwarf_Die *unit = NULL;

	if (module->has_globals)
		return;
	module->has_globals = true;
	while ((unit = dwfl_module_nextcu(module->elf, unit, &walk.bias)) != NULL)
		add_globals(&walk, unit, 0);
	if (module->globals)
		qsort(module->global, module->globals, sizeof(*module->global), by_address);
}

/*
 * Replaces a typedef or a qualified type by the type to which it refers. Sets *is_lock if one of
 * them is a known type of locks. Returns false if there is no type.
 */
static bool plain_type(Dwarf_Die *type, bool *is_lock)
{
	Dwarf_Attribute attribute;

	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		const int tag = dwarf_tag(type);

		*is_lock = *is_lock || is_lock_type(type);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_atomic_type)
			return true;
		if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attribute), type))
			return false;
	}
	return false;
}

/*
 * Returns whether a type is a lock, a structure or union that may have a lock, or an array of
 * these.
 */
static bool may_have_lock(Dwarf_Die type)
{
	Dwarf_Attribute attribute;
	bool is_lock = false;

	for (unsigned i = 0; i < DEPTH_MAX && plain_type(&type, &is_lock) && !is_lock; i++) {
		const int tag = dwarf_tag(&type);

		if (tag != DW_TAG_array_type)
			return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
			       tag == DW_TAG_union_type;
		if (!dwarf_formref_die(dwarf_attr_integrate(&type, DW_AT_type, &attribute), &type))
			break;
	}
	return is_lock;
}

/*
 * Replaces a type by the type of its member at *offset, and stores the name of the member in the
 * text. *offset becomes the offset in the member. Returns false if there is no such member.
 */
static bool enter_member(Dwarf_Die *type, uint64_t *offset, char *text, size_t bytes)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member, found;
	const char *name;
	Dwarf_Word at, best = 0, size;
	bool has_found = false, has_lock = false, may_lock;
	int end = dwarf_child(type, &member);

	for (; !end; end = dwarf_siblingof(&member, &member)) {
		const int tag = dwarf_tag(&member);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		/* DWARF has no offset for members of a union and for static members. */
		at = 0;
		if (dwarf_hasattr(&member, DW_AT_external) ||
		    (dwarf_attr(&member, DW_AT_data_member_location, &attribute) &&
		     dwarf_formudata(&attribute, &at)))
			continue;
		if (at > *offset || (has_found && at < best))
			continue;
		if (!dwarf_formref_die(dwarf_attr_integrate(&member, DW_AT_type, &attribute),
				       &found) ||
		    dwarf_aggregate_size(&found, &size) || *offset - at >= size)
			continue;
		/*
		 * In a union, an array may share the bytes of a lock. The member that may have a
		 * lock is preferred.
		 */
		may_lock = may_have_lock(found);
		if (has_found && at == best && (has_lock || !may_lock))
			continue;
		has_lock = may_lock;
		best = at;
		*type = found;
		has_found = true;
		name = tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
		text[0] = '\0';
		if (name)
			snprintf(text, bytes, ".%s", name);
	}
	*offset -= best;
	return has_found;
}

/*
 * Adds the indexes of an element to the text, one for each dimension. Returns false if a dimension
 * other than the first has no constant number of elements, if there are too many dimensions, or if
 * the text is too long.
 */
static bool put_indexes(Dwarf_Die *array, uint64_t element, char *text, size_t bytes)
{
	Dwarf_Word count[DIMENSIONS_MAX], stride = 1;
	Dwarf_Attribute attribute;
	unsigned dimensions = 0;
	size_t used = 0;
	Dwarf_Die child;
	int end = dwarf_child(array, &child);

	for (; !end; end = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (dimensions == DIMENSIONS_MAX)
			return false;
		count[dimensions] = 0;
		if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) &&
		    !dwarf_formudata(&attribute, &count[dimensions]))
			count[dimensions]++;
		else if (dwarf_attr(&child, DW_AT_count, &attribute))
			dwarf_formudata(&attribute, &count[dimensions]);
		if (dimensions++ && __builtin_mul_overflow(stride, count[dimensions - 1], &stride))
			return false;
	}
	/* The stride is the number of elements that the later dimensions have together. */
	for (unsigned i = 0; i == 0 || i < dimensions; i++) {
		if (!stride)
			return false;
		used += (size_t)snprintf(text + used, bytes - used, "[%llu]",
					 (unsigned long long)(element / stride));
		if (used >= bytes)
			return false;
		element %= stride;
		if (i + 1 < dimensions)
			stride /= count[i + 1];
	}
	return true;
}

/*
 * Replaces the type of an array by the type of its elements, and stores the indexes in the text.
 * *offset becomes the offset in the element.
 */
static bool enter_element(Dwarf_Die *type, uint64_t *offset, char *text, size_t bytes)
{
	Dwarf_Die array = *type;
	Dwarf_Attribute attribute;
	Dwarf_Word size;

	if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attribute), type) ||
	    dwarf_aggregate_size(type, &size) || !size ||
	    !put_indexes(&array, *offset / size, text, bytes))
		return false;
	*offset %= size;
	return true;
}

/*
 * Writes the path of members to the lock at an offset of a type, or to another member without
 * members of its own. Returns false if none begins there, or if the text is too long.
 */
static bool find_member(Dwarf_Die *type, uint64_t offset, char *text, size_t bytes, bool *is_lock)
{
	size_t used = 0;

	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		bool has_entered;
		int tag;

		if (!plain_type(type, is_lock))
			return false;
		if (*is_lock)
			return offset == 0;
		tag = dwarf_tag(type);
		if (tag == DW_TAG_array_type)
			has_entered = enter_element(type, &offset, text + used, bytes - used);
		else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
			 tag == DW_TAG_union_type)
			has_entered = enter_member(type, &offset, text + used, bytes - used);
		else
			return offset == 0;
		if (!has_entered)
			return false;
		used += strlen(text + used);
		if (used + 1 >= bytes)
			return false;
	}
	return false;
}

bool module_member(struct module *module, uint64_t begin, uint64_t offset, char *text,
		   size_t bytes, bool *is_lock)
{
	const struct module_global wanted = { .address = begin }, *global;
	Dwarf_Attribute attribute;
	Dwarf_Die variable, type;
	Dwarf_Addr bias;
	Dwarf *dwarf;

	text[0] = '\0';
	*is_lock = false;
	if (module->lack || !module->elf)
		return false;
	list_globals(module);
	global = module->globals ? bsearch(&wanted, module->global, module->globals,
					   sizeof(wanted), by_address) : NULL;
	dwarf = global ? dwfl_module_getdwarf(module->elf, &bias) : NULL;
	return dwarf && dwarf_offdie(dwarf, global->offset, &variable) &&
	       dwarf_formref_die(dwarf_attr_integrate(&variable, DW_AT_type, &attribute),
				 &type) &&
	       find_member(&type, offset, text, bytes, is_lock);
}

#else

bool module_member(struct module *module, uint64_t begin, uint64_t offset, char *text,
		   size_t bytes, bool *is_lock)
{
	(void)module, (void)begin, (void)offset, (void)text, (void)bytes;
	*is_lock = false;
	return false;
}

#endif
