/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_file.c - maps a plan and checks it, and finds the part for a loaded module.
 *
 * The mapping is private and remains as long as a trampoline refers to it. The recorder may end
 * earlier: the memory file exists as long as any mapping of it.
 */
#include "preload/patch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN_BYTES ((size_t)1 << 30) /* a longer file is no plan */

/*
 * Returns whether a text of the plan begins at this offset and has its NUL. A text may share its
 * bytes with the end of another text.
 */
static bool has_text(const struct shim_plan *plan, uint32_t offset)
{
	return offset < plan->head->text_bytes &&
	       memchr(plan->text + offset, '\0', plan->head->text_bytes - offset);
}

/* Returns whether the event type and the arguments of a site are in the plan. */
static bool is_sound_site(const struct shim_plan_site *site, const struct shim_plan_head *head)
{
	const uint32_t values = site->arguments + (site->has_result ? 1u : 0);

	return (site->kind != SHIM_SITE_PROBE && !site->has_type) ||
	       (site->type < head->types && values <= SHIM_PLAN_OF_SITE &&
		site->first <= head->arguments && values <= head->arguments - site->first);
}

/*
 * Returns whether all numbers that are positions in the plan are valid. The tool has written
 * the plan, but any process of the user could have opened the file. Later code relies on this
 * check.
 */
static bool is_sound(const struct shim_plan *plan)
{
	const struct shim_plan_head *head = plan->head;

	/* The comparisons use differences, because sums could overflow. */
	for (uint32_t i = 0; i < head->modules; i++)
		if (plan->module[i].first > head->sites ||
		    plan->module[i].sites > head->sites - plan->module[i].first ||
		    plan->module[i].id_len > SHIM_PLAN_ID)
			return false;
	for (uint32_t i = 0; i < head->sites; i++)
		if (!is_sound_site(&plan->site[i], head))
			return false;
	/* The contents of names and schemas are checked later by libposixtrace. */
	for (uint32_t i = 0; i < head->types; i++)
		if (!has_text(plan, plan->type[i].name) || !has_text(plan, plan->type[i].schema))
			return false;
	/*
	 * A shift by 64 bits or more is undefined. The numbers of registers are checked when their
	 * values are read.
	 */
	for (uint32_t i = 0; i < head->arguments; i++)
		if (plan->argument[i].size < 1 || plan->argument[i].size > 8 ||
		    plan->argument[i].bytes > 8 || plan->argument[i].shift > 63)
			return false;
	return true;
}

/* The counts are bounded, so that the sum of the sizes does not overflow. */
const char *shim_plan_take(struct shim_plan *plan, const void *memory, size_t bytes)
{
	const struct shim_plan_head *head = memory;
	size_t need;

	memset(plan, 0, sizeof *plan);
	if (bytes < sizeof *head || head->magic != SHIM_PLAN_MAGIC ||
	    head->modules > SHIM_PLAN_MODULES || head->sites > SHIM_PLAN_SITES ||
	    head->types > SHIM_PLAN_TYPES || head->arguments > SHIM_PLAN_ARGUMENTS)
		return "the plan is of another version";
	need = sizeof *head + head->modules * sizeof *plan->module +
	       head->sites * sizeof *plan->site + head->types * sizeof *plan->type +
	       head->arguments * sizeof *plan->argument + head->text_bytes;
	/* More bytes are no error, because the rest of the last page follows the plan. */
	if (bytes < need)
		return "the plan is cut";
	/* The parts follow each other. The sizes of all structs are multiples of 8. */
	plan->head = head;
	plan->module = (const void *)(head + 1);
	plan->site = (const void *)(plan->module + head->modules);
	plan->type = (const void *)(plan->site + head->sites);
	plan->argument = (const void *)(plan->type + head->types);
	plan->text = (const void *)(plan->argument + head->arguments);
	if (is_sound(plan))
		return NULL;
	memset(plan, 0, sizeof *plan);
	return "the plan is damaged";
}

/*
 * The path is /proc/PID/fd/N, a descriptor of the recorder. The path exists only as long as the
 * recorder. Such a file needs no folder for temporary files.
 */
const char *shim_plan_map(struct shim_plan *plan, const char *path)
{
	/*
	 * After the recorder has ended, another process may have its process id, and the path may
	 * name any other file. So the file is opened and checked with care.
	 */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	void *memory = MAP_FAILED;
	const char *why;
	struct stat file;

	memset(plan, 0, sizeof *plan);
	if (fd < 0)
		return "the plan cannot be opened";
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
	    file.st_size > 0 && (size_t)file.st_size <= PLAN_BYTES)
		memory = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return "the plan cannot be read";
	why = shim_plan_take(plan, memory, (size_t)file.st_size);
	if (why)
		munmap(memory, (size_t)file.st_size);
	return why;
}

/*
 * Returns the build-id in a note segment and its length; NULL: there is none. The segment is mapped
 * memory of a loaded file, but its contents are checked like those of any file.
 */
static const uint8_t *build_id_in(const uint8_t *note, size_t bytes, uint32_t *len)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t name = ((size_t)header->n_namesz + 3) & ~(size_t)3;
		size_t data = ((size_t)header->n_descsz + 3) & ~(size_t)3;

		if (name > bytes || data > bytes || sizeof *header + name + data > bytes)
			return NULL;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
		    !memcmp(header + 1, "GNU", 4)) {
			*len = header->n_descsz;
			return note + sizeof *header + name;
		}
		note += sizeof *header + name + data;
		bytes -= sizeof *header + name + data;
	}
	return NULL;
}

/*
 * For a module without build-id: returns whether the plan was made for the file at `path`. The
 * program itself has an empty name in the list of the dynamic linker.
 */
static bool is_same_file(const struct shim_plan_module *module, const char *path)
{
	struct shim_plan_file wanted;
	struct stat file;

	memcpy(&wanted, module->id, sizeof wanted);
	return stat(*path ? path : "/proc/self/exe", &file) == 0 &&
	       wanted.device == (uint64_t)file.st_dev && wanted.inode == (uint64_t)file.st_ino &&
	       wanted.bytes == (uint64_t)file.st_size &&
	       wanted.changed_ns == (uint64_t)file.st_mtim.tv_sec * 1000000000 +
					    (uint64_t)file.st_mtim.tv_nsec;
}

/* Returns the build-id of a loaded object and its length; NULL: it has none. */
static const uint8_t *build_id_of(const struct dl_phdr_info *object, uint32_t *len)
{
	const uint8_t *id = NULL;

	for (int i = 0; i < object->dlpi_phnum && !id; i++)
		if (object->dlpi_phdr[i].p_type == PT_NOTE)
			id = build_id_in((const void *)(uintptr_t)(object->dlpi_addr +
								   object->dlpi_phdr[i].p_vaddr),
					 object->dlpi_phdr[i].p_memsz, len);
	return id;
}

/*
 * Returns whether an object is this module. `id` is the object's build-id or NULL; the caller looks
 * it up once for all modules.
 */
static bool is_module(const struct shim_plan_module *module, const struct dl_phdr_info *object,
		      const uint8_t *id, uint32_t len)
{
	return id ? !module->is_file && module->id_len == len && !memcmp(module->id, id, len) :
		    module->is_file && is_same_file(module, object->dlpi_name);
}

bool shim_plan_is_module(const struct shim_plan_module *module, const struct dl_phdr_info *object)
{
	uint32_t len = 0;
	const uint8_t *id = build_id_of(object, &len);

	return is_module(module, object, id, len);
}

/* If the file was replaced after the plan was made, it has another build-id, and is not patched. */
const struct shim_plan_module *shim_plan_module_of(const struct shim_plan *plan,
						   const struct dl_phdr_info *object)
{
	uint32_t len = 0;
	const uint8_t *id = build_id_of(object, &len);

	for (uint32_t i = 0; i < plan->head->modules; i++)
		if (is_module(&plan->module[i], object, id, len))
			return &plan->module[i];
	return NULL;
}
