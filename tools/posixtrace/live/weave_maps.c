/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_maps.c - the mappings of processes without the library, from the kernel's records.
 *
 * The recorder's child has the library until its execve(2), so the old log has the mappings that
 * the child had before. The functions below end these mappings at the time of the execve(2). Then
 * they add the mappings of the program that was executed. A recording may have very many processes,
 * but the list of mappings is limited. So only the processes whose stacks are in the log get their
 * mappings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "functions/binary.h"
#include "live/jit_dump.h"
#include "live/kernel_maps.h"
#include "live/weave.h"

/*
 * A log has at most 16384 mappings, with at most 4 MiB of paths. After a log has reached a limit,
 * it gets no further mappings. So the kernel's mappings, each of which may need two entries, use at
 * most a quarter of each limit.
 */
#define MAPPINGS_MAX 2000
#define PATHS_MAX    (1u << 20)
#define ANCESTORS    16 /* readers of a log search no more ancestors */
#define SEGMENTS     8

/* The time from a fork or an execve(2) of a process to its next execve(2). */
struct image {
	pid_t pid, parent;       /* parent: 0 after execve(2), or if it is unknown */
	int64_t from_ns, until_ns;
	size_t first, end;       /* the notes of its files in weave.notes */
	bool is_executed, is_written;
};

/* A file that was mapped: its segments with code, and its identity. */
struct file {
	const char *path;
	uint64_t inode;
	struct binary_mapping segment[SEGMENTS];
	unsigned segments;
	uint8_t id[SHIM_PLAN_ID];
	uint32_t id_len;
};

struct weave_maps {
	struct image *image; /* by process and time */
	size_t images;
	struct file *file;
	size_t files;
	size_t mappings, bytes; /* that were added */
};

/* ------------------------------------------------------------------ images */

/* Divides the sorted notes into images. Returns 0 or ENOMEM. */
static int make_images(struct weave_maps *maps, const struct kernel_maps *notes)
{
	for (size_t i = 0; i < notes->maps; i++) {
		const struct kernel_map *note = &notes->map[i];
		struct image *last = maps->images ? &maps->image[maps->images - 1] : NULL;
		const bool is_new = !last || last->pid != note->pid;

		if (!is_new && note->kind == KERNEL_MAP_FILE) {
			last->end = i + 1;
			continue;
		}
		if (!vec_grow(&maps->image, maps->images, 1))
			return ENOMEM;
		if (!is_new)
			maps->image[maps->images - 1].until_ns = note->time_ns;
		/*
		 * If the first note of the process is a file, the process began earlier, at an
		 * unknown time.
		 */
		maps->image[maps->images++] = (struct image){
			.pid = note->pid, .parent = note->parent,
			.from_ns = note->kind == KERNEL_MAP_FILE ? INT64_MIN : note->time_ns,
			.until_ns = INT64_MAX, .first = note->kind == KERNEL_MAP_FILE ? i : i + 1,
			.end = i + 1, .is_executed = note->kind == KERNEL_MAP_EXEC,
		};
	}
	return 0;
}

/*
 * Returns the number of images at the begin of the array that belong to processes with a smaller
 * id, or that began in this process up to the time.
 */
static size_t images_until(const struct weave_maps *maps, pid_t pid, int64_t time_ns)
{
	size_t low = 0, high = maps->images;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct image *image = &maps->image[middle];

		if (image->pid < pid || (image->pid == pid && image->from_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the image of a process at a time, or NULL. */
static struct image *image_at(const struct weave_maps *maps, pid_t pid, int64_t time_ns)
{
	const size_t count = images_until(maps, pid, time_ns);

	return count && maps->image[count - 1].pid == pid ? &maps->image[count - 1] : NULL;
}

/* Ends a mapping at the next execve(2) of its process. */
static void end_mapping(const struct weave_maps *maps, struct posix_trace_mapping_np *mapping)
{
	for (size_t i = images_until(maps, mapping->pid, mapping->from_ns);
	     i < maps->images && maps->image[i].pid == mapping->pid; i++) {
		if (!maps->image[i].is_executed)
			continue;
		if (maps->image[i].from_ns < mapping->until_ns)
			mapping->until_ns = maps->image[i].from_ns;
		return;
	}
}

/* ------------------------------------------------------------------ files */

/*
 * Reads a file. If the path now leads to another file, or if the tool cannot see the path (for
 * example a path in a container), the file has no segments and no identity.
 */
static void read_file(struct file *file)
{
	struct binary_file *binary;
	struct stat st;

	if (stat(file->path, &st) || !S_ISREG(st.st_mode) || st.st_ino != file->inode)
		return;
	binary = binary_open(file->path);
	if (!binary)
		return;
	file->segments = binary_mappings(binary, file->segment, SEGMENTS);
	file->id_len = binary_contents(binary, file->id);
	binary_close(binary);
}

/* Returns the file of a note, or NULL if memory is lacking. Each file is read once. */
static const struct file *file_of(struct weave_maps *maps, const struct kernel_map *note)
{
	for (size_t i = 0; i < maps->files; i++)
		if (maps->file[i].inode == note->inode && !strcmp(maps->file[i].path, note->path))
			return &maps->file[i];
	if (!vec_grow(&maps->file, maps->files, 1))
		return NULL;
	maps->file[maps->files] = (struct file){ .path = note->path, .inode = note->inode };
	read_file(&maps->file[maps->files]);
	return &maps->file[maps->files++];
}

/* Returns the difference between addresses in the process and addresses in the file. */
static uint64_t base_of(const struct kernel_map *note, const struct file *file)
{
	for (unsigned i = 0; file && i < file->segments; i++) {
		const struct binary_mapping *segment = &file->segment[i];

		if (note->offset >= segment->offset &&
		    note->offset - segment->offset < segment->end - segment->start)
			return note->start - segment->start - (note->offset - segment->offset);
	}
	return note->start - note->offset;
}

/* ------------------------------------------------------------------ the log */

/*
 * Returns whether the library has noted a mapping of this image at the addresses of "note". If
 * "note" is NULL, returns whether the library has noted the parent of this image.
 */
static bool is_known(const struct weave *weave, const struct image *image,
		     const struct kernel_map *note)
{
	for (size_t i = 0; i < weave->mappings; i++) {
		const struct posix_trace_mapping_np *old = &weave->mapping[i];

		if (old->pid == image->pid && old->from_ns >= image->from_ns &&
		    old->from_ns < image->until_ns &&
		    (note ? !old->parent && old->start < note->end && note->start < old->end :
			    old->parent != 0))
			return true;
	}
	return false;
}

/* Adds a mapping to the log, unless the log has too many. Returns 0 or an error number. */
static int add_mapping(struct weave *weave, const struct posix_trace_mapping_np *mapping)
{
	struct weave_maps *maps = weave->maps;
	const size_t bytes = mapping->path ? strlen(mapping->path) + 1 : 0;

	if (maps->mappings == MAPPINGS_MAX || bytes > PATHS_MAX - maps->bytes)
		return 0;
	maps->mappings++;
	maps->bytes += bytes;
	return weave_compose_mapping(weave, mapping);
}

/* Makes the mapping of a note. */
static struct posix_trace_mapping_np mapping_of(struct weave_maps *maps, const struct image *image,
						const struct kernel_map *note)
{
	const struct file *file = file_of(maps, note);
	struct posix_trace_mapping_np mapping = {
		.pid = image->pid, .from_ns = note->time_ns, .until_ns = image->until_ns,
		.start = note->start, .end = note->end, .offset = note->offset,
		.base = base_of(note, file), .path = note->path,
	};

	if (file) {
		mapping.build_id_len = file->id_len;
		memcpy(mapping.build_id, file->id, file->id_len);
	}
	return mapping;
}

/* Calls put() for the entries of an image that the library has not noted. */
static int each_mapping(struct weave *weave, const struct image *image,
			int (*put)(struct weave *weave, const struct posix_trace_mapping_np *of))
{
	const struct posix_trace_mapping_np child = {
		.pid = image->pid, .parent = image->parent, .from_ns = image->from_ns,
		.until_ns = image->until_ns,
	};
	int err = image->parent && !is_known(weave, image, NULL) ? put(weave, &child) : 0;

	for (size_t i = image->first; !err && i < image->end; i++) {
		const struct kernel_map *note = &weave->notes.map[i];
		struct posix_trace_mapping_np mapping;

		/*
		 * A JIT compiler maps its jitdump file, so that tracers find it. The file has no
		 * code and may be long.
		 */
		if (is_known(weave, image, note) || jit_dump_is_path(note->path))
			continue;
		mapping = mapping_of(weave->maps, image, note);
		err = put(weave, &mapping);
	}
	return err;
}

int weave_maps_process(struct weave *weave, pid_t pid, int64_t time_ns)
{
	int err = 0;

	for (unsigned i = 0; !err && pid && i < ANCESTORS; i++) {
		struct image *image = image_at(weave->maps, pid, time_ns);

		if (!image || image->is_written)
			return 0;
		image->is_written = true;
		err = each_mapping(weave, image, add_mapping);
		pid = image->parent;
		time_ns = image->from_ns;
	}
	return err;
}

/* Adds a mapping to those that unwinders use. */
static int add_module(struct weave *weave, const struct posix_trace_mapping_np *mapping)
{
	if (!vec_grow(&weave->module, weave->modules, 1))
		return ENOMEM;
	weave->module[weave->modules++] = *mapping;
	return 0;
}

int weave_maps_modules(struct weave *weave)
{
	int err = 0;

	for (size_t i = 0; !err && i < weave->mappings; i++)
		err = add_module(weave, &weave->mapping[i]);
	for (size_t i = 0; !err && i < weave->maps->images; i++)
		err = each_mapping(weave, &weave->maps->image[i], add_module);
	return err;
}

/* Copies the notes, because the recording may go on and add further ones. Returns 0 or ENOMEM. */
static int copy_notes(struct weave *weave)
{
	const struct kernel_maps *from = &weave->kernel->maps;

	if (!from->maps)
		return 0;
	weave->notes.map = malloc(from->maps * sizeof(*from->map));
	if (!weave->notes.map)
		return ENOMEM;
	weave->notes.maps = from->maps;
	for (size_t i = 0; i < from->maps; i++) {
		struct kernel_map *note = &weave->notes.map[i];

		*note = from->map[i];
		note->pid = kernel_inner_process(weave->kernel, note->pid);
		note->parent = kernel_inner_process(weave->kernel, note->parent);
	}
	kernel_maps_sort(&weave->notes);
	return 0;
}

int weave_maps_begin(struct weave *weave)
{
	struct posix_trace_mapping_np mapping;
	int end = 0, err;

	weave->maps = calloc(1, sizeof(*weave->maps));
	if (!weave->maps)
		return ENOMEM;
	err = copy_notes(weave);
	if (!err)
		err = make_images(weave->maps, &weave->notes);
	if (!err)
		err = posix_trace_mapping_rewind_np(weave->from);
	while (!err) {
		err = posix_trace_mapping_getnext_np(weave->from, &mapping, &end);
		if (err || end)
			break;
		if (!vec_grow(&weave->mapping, weave->mappings, 1))
			return ENOMEM;
		end_mapping(weave->maps, &mapping);
		weave->mapping[weave->mappings++] = mapping;
	}
	return err;
}

void weave_maps_end(struct weave *weave)
{
	free(weave->mapping);
	free(weave->module);
	free(weave->notes.map);
	if (!weave->maps)
		return;
	free(weave->maps->image);
	free(weave->maps->file);
	free(weave->maps);
}
