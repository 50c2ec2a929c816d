/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary.c - files, their functions and their bytes. binary_elf.c reads the file.
 *
 * The bytes of a file are in a private mapping that libelf has made. If another process changes the
 * file while it is mapped, these bytes may change, too. Therefore the shim compares the original
 * bytes of a site with the memory before it patches the site.
 */
#include "functions/binary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functions/binary_part.h"
#include "functions/insn.h"
#include "symbols/made_id.h"

struct binary_file *binary_open(const char *path)
{
	struct binary_file *file = calloc(1, sizeof(*file));
	struct stat st;

	if (!file || !(file->path = strdup(path))) {
		free(file);
		return NULL;
	}
	/* From here on the caller may call binary_close(), even if one of the next steps fails. */
	file->debug_fd = -1;
	/* The path may belong to a FIFO. With O_NONBLOCK, open() does not wait for its writer. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0)
		file->lack = file->probe_lack = "it cannot be opened";
	else if (fstat(file->fd, &st) || !S_ISREG(st.st_mode))
		file->lack = file->probe_lack = "it is not a regular file";
	else
		file->lack = binary_read(file);
	return file;
}

void binary_close(struct binary_file *file)
{
	if (!file)
		return;
	binary_read_end(file);
	if (file->fd >= 0)
		close(file->fd);
	if (file->debug_fd >= 0)
		close(file->debug_fd);
	free(file->function);
	free(file->pointer);
	free(file->import);
	free(file->frame);
	free(file->names);
	free(file->path);
	free(file);
}

/*
 * The dynamic linker loads the shim, so a static program never has it. The runtime of Go moves
 * stacks and reads the return addresses on them, but a hook would replace a return address. The
 * garbage collector of OCaml reads the return addresses, too.
 */
const char *binary_lack(const struct binary_file *file)
{
	if (file->is_static)
		return "it is statically linked";
	if (file->is_go)
		return "it is a Go program, whose runtime moves stacks";
	if (file->is_ocaml)
		return "it is a program of OCaml, whose garbage collector reads return addresses";
	return file->lack;
}

const char *binary_probe_lack(const struct binary_file *file)
{
	return file->is_static ? "it is statically linked" : file->probe_lack;
}

const char *binary_unknown(const struct binary_file *file)
{
	return file->lack;
}

bool binary_is_go(const struct binary_file *file)
{
	return file->is_go;
}

bool binary_reads_returns(const struct binary_file *file)
{
	return file->is_go || file->is_ocaml;
}

bool binary_is_static(const struct binary_file *file)
{
	return file->is_static;
}

bool binary_is_stripped(const struct binary_file *file)
{
	return file->is_stripped;
}

const char *binary_path(const struct binary_file *file)
{
	return file->path;
}

const struct binary_function *binary_functions(const struct binary_file *file, size_t *count)
{
	*count = file->functions;
	return file->function;
}

/*
 * Returns the index of the first function behind an address. The functions are sorted, so a binary
 * search is possible. It is necessary, because patchable_of() calls this function for each function
 * of the file.
 */
static size_t index_behind(const struct binary_file *file, uint64_t address)
{
	size_t from = 0, until = file->functions;

	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (file->function[middle].address <= address)
			from = middle + 1;
		else
			until = middle;
	}
	return from;
}

uint64_t binary_next(const struct binary_file *file, uint64_t address)
{
	const size_t index = index_behind(file, address);

	return index < file->functions ? file->function[index].address : UINT64_MAX;
}

const struct binary_function *binary_function_at(const struct binary_file *file, uint64_t address)
{
	const size_t index = index_behind(file, address);
	const struct binary_function *function = index ? &file->function[index - 1] : NULL;

	return function && function->address + function->size > address ? function : NULL;
}

/*
 * Returns the bytes at an address, and stores in *bytes how many bytes the segment has from there
 * on. Returns NULL if no segment has the address. take_segment() has checked the segments against
 * the size of the file, so reading up to *bytes is safe. Segments of a hostile file may overlap;
 * the function uses the first segment that has the address.
 */
static const uint8_t *bytes_at(const struct binary_file *file, uint64_t address, size_t *bytes,
			       bool only_code)
{
	for (unsigned i = 0; i < file->segments; i++) {
		const struct binary_segment *segment = &file->segment[i];

		if ((only_code && !segment->is_code) || address < segment->address ||
		    address - segment->address >= segment->size)
			continue;
		*bytes = segment->size - (address - segment->address);
		return segment->bytes + (address - segment->address);
	}
	return NULL;
}

const uint8_t *binary_at(const struct binary_file *file, uint64_t address, size_t *bytes)
{
	return bytes_at(file, address, bytes, true);
}

const uint8_t *binary_data_at(const struct binary_file *file, uint64_t address, size_t *bytes)
{
	return bytes_at(file, address, bytes, false);
}

bool binary_offset(const struct binary_file *file, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < file->segments; i++) {
		const struct binary_segment *segment = &file->segment[i];

		if (address < segment->address || address - segment->address >= segment->size)
			continue;
		*offset = segment->offset + (address - segment->address);
		return true;
	}
	return false;
}

/* The function assumes pages of 4 KiB, because the tool decodes only code of x86-64. */
unsigned binary_mappings(const struct binary_file *file, struct binary_mapping *mapping,
			 unsigned most)
{
	const uint64_t in_page = 4095;
	unsigned count = 0;

	for (unsigned i = 0; i < file->segments && count < most; i++) {
		const struct binary_segment *segment = &file->segment[i];

		if (!segment->is_code || !segment->size)
			continue;
		mapping[count++] = (struct binary_mapping){
			.start = segment->address & ~in_page,
			.end = (segment->address + segment->size + in_page) & ~in_page,
			.offset = segment->offset & ~in_page,
		};
	}
	return count;
}

bool binary_is_variable(const struct binary_file *file, uint64_t address, size_t bytes)
{
	bool is_variable = false;

	for (unsigned i = 0; i < file->segments; i++) {
		const struct binary_segment *segment = &file->segment[i];
		uint64_t offset = address - segment->address;

		if (address < segment->address || offset >= segment->memory)
			continue;
		if (segment->is_code)
			return false;
		is_variable |= segment->is_writable && bytes <= segment->memory - offset;
	}
	return is_variable;
}

void binary_range(const struct binary_file *file, uint64_t *begin, uint64_t *end)
{
	*begin = file->begin;
	*end = file->end;
}

/*
 * A linear search is fast enough, because the function is called only for functions that begin with
 * a call.
 */
const char *binary_import_at(const struct binary_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->imports; i++)
		if (file->import[i].address == address)
			return file->import[i].name;
	return NULL;
}

bool binary_may_unwind(const struct binary_file *file)
{
	return file->may_unwind;
}

/*
 * The shim patches a mapped file only if it has this identity, so that no plan is applied to
 * another build. The identity of a file without a build-id is its device, inode, size and time of
 * modification.
 */
void binary_identity(const struct binary_file *file, struct shim_plan_module *module)
{
	struct shim_plan_file id;
	struct stat st;

	module->id_len = file->id_len;
	module->is_file = file->id_len == 0;
	memcpy(module->id, file->id, sizeof(module->id));
	if (module->is_file && !fstat(file->fd, &st)) {
		id = (struct shim_plan_file){
			.device = st.st_dev, .inode = st.st_ino, .bytes = (uint64_t)st.st_size,
			.changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
				      (uint64_t)st.st_mtim.tv_nsec,
		};
		memcpy(module->id, &id, sizeof(id));
	}
}

uint32_t binary_contents(const struct binary_file *file, uint8_t id[SHIM_PLAN_ID])
{
	if (!file->id_len)
		return file->fd < 0 ? 0 : made_id_of(file->fd, id);
	memcpy(id, file->id, SHIM_PLAN_ID);
	return file->id_len;
}

const char *binary_function_lack(const struct binary_function *function)
{
	if (function->is_resolver)
		return "it chooses an implementation while the program is linked";
	/*
	 * In Haskell code, the stack pointer does not point to a return address. So a hook or a
	 * breakpoint cannot detect the end of a call.
	 */
	if (function->is_haskell)
		return "it is Haskell code, which has no return address";
	if (!insn_is_available())
		return "posixtrace was built without Zydis";
	if (!function->size)
		return "its size is unknown";
	if (function->size > BINARY_FUNCTION_BYTES)
		return "it is too long";
	return NULL;
}
