/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* keep.c - the templates and functions that are loaded, by their keys and names. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "report/template/load.h"

/*
 * The templates that the comparison functions below compare. tsearch() passes only the two entries
 * to a comparison, but a comparison also needs the pools of the templates. One load runs at a time.
 */
static const struct templates *compared;

/*
 * Orders templates by their keys, for tsearch(3). Two templates with the same key are one entry of
 * the tree.
 */
static int compare_templates(const void *a, const void *b)
{
	const struct template *first = a, *second = b;

	return key_compare(&compared->program, &first->key, &second->key);
}

/*
 * Returns the function of an entry of the tree. An entry is the index of a function + 1 and not a
 * pointer, because the functions may move.
 */
static const struct function *function_of(const void *entry)
{
	return &compared->program.function[(size_t)entry - 1];
}

/*
 * Orders functions by the length of their names, then by bytes. This order needs little time, and
 * the output does not depend on it.
 */
static int compare_functions(const void *a, const void *b)
{
	const struct text_ref *first = &function_of(a)->name, *second = &function_of(b)->name;

	if (first->len != second->len)
		return first->len < second->len ? -1 : 1;
	return memcmp(compared->program.text + first->offset,
		      compared->program.text + second->offset, first->len);
}

/* Finds a template by its key. Sets "compared", which compare_templates() needs. */
static struct template *keep_find(const struct templates *templates, const struct key *key)
{
	struct template wanted = { .key = *key };
	struct template **found;

	compared = templates;
	found = tfind(&wanted, &templates->by_key, compare_templates);
	return found ? *found : NULL;
}

const struct template *templates_find(const struct templates *templates, const struct key *key)
{
	return keep_find(templates, key);
}

/*
 * Removes the template and its functions from the two trees, so that calls no longer find them. The
 * template remains in the list, and its instructions remain in the program, so that all indexes
 * stay valid.
 */
static void remove_template(struct templates *templates, struct template *template)
{
	compared = templates;
	tdelete(template, &templates->by_key, compare_templates);
	for (size_t i = 0; i < template->functions; i++)
		tdelete((void *)(template->first_function + i + 1), &templates->by_name,
			compare_functions);
	template->removed = true;
	templates->loaded--;
}

void templates_remove(struct templates *templates, const struct key *key)
{
	struct template *template = keep_find(templates, key);

	if (template)
		remove_template(templates, template);
}

/*
 * Enters the names of the template's functions into the tree. If one of the names exists already,
 * or if memory is missing, enters none of them and returns false.
 */
static bool add_functions(struct templates *templates, const struct template *template)
{
	size_t added = 0, twice = 0;
	bool good = true;

	compared = templates;
	for (; added < template->functions; added++) {
		size_t index = template->first_function + added;
		void *const *entry = tsearch((void *)(index + 1), &templates->by_name,
					     compare_functions);

		if (!entry)
			templates->program.no_memory = true;
		good = entry && *entry == (void *)(index + 1);
		twice = index;
		if (!good)
			break;
	}
	if (good)
		return true;
	if (!templates->program.no_memory)
		diag_add(&templates->diags, templates->program.function[twice].place, "E23",
			 "a function of this name is defined already");
	while (added--)
		tdelete((void *)(template->first_function + added + 1), &templates->by_name,
			compare_functions);
	return false;
}

static bool is_earlier(const struct template *template, const struct template *than)
{
	return template->major < than->major ||
	       (template->major == than->major && template->minor < than->minor);
}

/*
 * Returns whether the template may replace the old template. If not, prints a message. Within one
 * file a second template with the same key is an error. A template of a later file replaces the old
 * template, unless the version of the new template is earlier.
 */
static bool may_replace(struct templates *templates, const struct template *template,
			const struct template *old)
{
	if (old->place.file == template->place.file) {
		diag_add(&templates->diags, template->place, "E17",
			 "a second template with this key in one file");
		return false;
	}
	if (is_earlier(template, old)) {
		diag_add(&templates->diags, template->place, "W02",
			 "ignored: a template with a later version is loaded already");
		return false;
	}
	return true;
}

/*
 * Allocates the entry and its place in the list before it removes the old template. So if memory is
 * lacking for these two, the old template remains. If the name of a function is already defined,
 * the old template is removed nevertheless. That does no harm, because this error ends the report.
 */
bool templates_keep(struct templates *templates, const struct template *template)
{
	struct template *old = keep_find(templates, &template->key), *kept;

	if (old && !may_replace(templates, template, old))
		return false;
	if (!old && templates->loaded == TEMPLATES_MAX) {
		diag_add(&templates->diags, template->place, "E21", "more than 4096 templates");
		return false;
	}
	kept = malloc(sizeof(*kept));
	if (!kept || !vec_grow(&templates->list, templates->count, 1)) {
		free(kept);
		templates->program.no_memory = true;
		return false;
	}
	*kept = *template;
	if (old)
		remove_template(templates, old);
	if (!add_functions(templates, kept)) {
		free(kept);
		return false;
	}
	compared = templates;
	if (!tsearch(kept, &templates->by_key, compare_templates))
		templates->program.no_memory = true;
	templates->list[templates->count++] = kept;
	templates->loaded++;
	return true;
}

/*
 * The search by name is linear, because the tree can compare only names in the program's texts, and
 * "name" is in the log.
 */
const struct template *templates_for_event(const struct templates *templates, const char *name,
					   uint32_t number)
{
	const struct template *found = NULL;

	if (name) {
		for (size_t i = 0; i < templates->count && !found; i++) {
			const struct template *each = templates->list[i];

			if (!each->removed && each->key.kind == KEY_NAME &&
			    strlen(name) == each->key.name.len &&
			    !memcmp(name, templates->program.text + each->key.name.offset,
				    each->key.name.len))
				found = each;
		}
	}
	if (!found)
		found = templates_find(templates,
				       &(struct key){ .kind = KEY_NUMBER, .number = number });
	if (!found)
		found = templates_find(templates, &(struct key){ .kind = KEY_OTHERS });
	return found;
}

/*
 * Stores the start of the called code in the call. Returns false if no template has the called key,
 * if no function has the called name and this number of parameters, or if memory is lacking.
 */
static bool keep_resolve(struct templates *templates, struct call *call)
{
	const struct template *template;
	const struct function *function;
	struct function wanted;
	void *const *entry;

	if (!call->is_function) {
		template = templates_find(templates, &call->key);
		if (template)
			call->start = template->start;
		return template != NULL;
	}
	/*
	 * The entries of the tree are indexes of functions, and so is the key of a search. So
	 * keep_resolve() adds the wanted name as a function during the search.
	 */
	wanted = (struct function){ .name = call->key.name };
	program_function(&templates->program, &wanted);
	if (templates->program.no_memory)
		return false;
	compared = templates;
	entry = tfind((void *)templates->program.functions, &templates->by_name, compare_functions);
	templates->program.functions--;
	function = entry ? function_of(*entry) : NULL;
	if (!function || function->parameters != call->arguments)
		return false;
	call->start = function->start;
	return true;
}

/*
 * The caller calls this function once, after all files were read, because a template may call a
 * template that a later file defines, replaces or removes. Reports the first unknown call of each
 * template. The member "start" of a call is valid only after this function has returned true. So
 * templates run only after that.
 */
bool templates_link(struct templates *templates)
{
	if (templates->diags.errors)
		return false;
	for (size_t i = 0; i < templates->count; i++) {
		const struct template *template = templates->list[i];

		if (template->removed)
			continue;
		for (size_t j = 0; j < template->calls; j++) {
			struct call *call = &templates->program.call[template->first_call + j];

			if (keep_resolve(templates, call))
				continue;
			diag_add(&templates->diags, call->place, call->is_function ? "E19" : "E18",
				 call->is_function
					 ? "no function of this name takes so many arguments"
					 : "there is no such template");
			break;
		}
	}
	return !templates->diags.errors && !templates->program.no_memory;
}

/*
 * Frees nothing, for tdestroy(3). The trees own no memory: one tree has templates, which the list
 * owns, and the other tree has indexes of functions.
 */
static void free_nothing(void *entry)
{
	(void)entry;
}

void templates_fini(struct templates *templates)
{
	tdestroy(templates->by_key, free_nothing);
	tdestroy(templates->by_name, free_nothing);
	for (size_t i = 0; i < templates->count; i++)
		free(templates->list[i]);
	free(templates->list);
	program_fini(&templates->program);
	diag_fini(&templates->diags);
}
