/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary.h - the functions of an ELF file: names, addresses and code.
 *
 * Addresses are the addresses in the file. A file is hostile: libelf checks offsets, and all code
 * is read through binary_at(). Several names may have one address; each name counts as a function.
 * Only one thread may use a file.
 */
#ifndef POSIXTRACE_FUNCTIONS_BINARY_H
#define POSIXTRACE_FUNCTIONS_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../lib/preload/patch_plan.h"

struct binary_function {
	const char *name;     /* the linker's name, without a version */
	uint64_t address;
	uint64_t size;        /* 0: unknown */
	bool is_resolver;     /* chooses an implementation while the program is linked (IFUNC) */
	bool is_haskell;      /* code of the compiler GHC, which is entered and left by jumps */
};

#define BINARY_FUNCTION_BYTES (UINT64_C(1) << 24) /* longer functions are refused */

/* Returns the reason why the code of a function cannot be examined, or NULL. */
const char *binary_function_lack(const struct binary_function *function);

struct binary_file;

/*
 * Opens a file and reads its dynamic symbols and its full symbol table. If the file has no full
 * table, reads the table of its separate debug file. Returns NULL if memory is lacking. After any
 * other error binary_lack() returns the reason, and the file has no functions.
 */
struct binary_file *binary_open(const char *path);
void binary_close(struct binary_file *file);

/* Returns the reason why no function of the file can be patched, or NULL if some may be. */
const char *binary_lack(const struct binary_file *file);

/* Returns the reason why no function of the file is known, or NULL if some may be. */
const char *binary_unknown(const struct binary_file *file);

/*
 * binary_is_go() returns whether the Go compiler has made the file. binary_reads_returns() returns
 * whether the runtime of the file reads return addresses on the stack, as those of Go and OCaml do.
 * binary_is_static() returns whether the file is a statically linked program.
 */
bool binary_is_go(const struct binary_file *file);
bool binary_reads_returns(const struct binary_file *file);
bool binary_is_static(const struct binary_file *file);
const char *binary_path(const struct binary_file *file);

/*
 * Returns whether the Go compiler has made the file of a descriptor, without reading its functions.
 * Returns false if the tool was built without libelf.
 */
bool binary_made_by_go(int fd);

/*
 * Returns whether only the dynamic symbols of the file are known, because the file has no other
 * symbol table and no debug file of it was found.
 */
bool binary_is_stripped(const struct binary_file *file);

/*
 * Returns whether the file calls a function that the handling of exceptions needs. Such a file
 * searches the tables of unwinders, as sanitizers also do, or throws exceptions.
 */
bool binary_may_unwind(const struct binary_file *file);

/*
 * Adds the functions of a stripped file that have no symbol and that the tables for unwinders have.
 * Their names are "+0x" and the address in hexadecimal digits. For other files the function has no
 * effect. Returns false if memory is lacking.
 */
bool binary_add_nameless(struct binary_file *file);

/* Returns the functions in the order of their addresses. */
const struct binary_function *binary_functions(const struct binary_file *file, size_t *count);

/* Returns the function that contains an address, or NULL if none is known. */
const struct binary_function *binary_function_at(const struct binary_file *file, uint64_t address);

/*
 * Returns the address of the first function behind an address, or UINT64_MAX if no function is
 * behind it.
 */
uint64_t binary_next(const struct binary_file *file, uint64_t address);

/*
 * Returns the bytes at an address of an executable segment, and stores how many bytes the segment
 * has from there on. Returns NULL if there is no code at the address.
 */
const uint8_t *binary_at(const struct binary_file *file, uint64_t address, size_t *bytes);

/*
 * Stores the offset in the file of an address. Returns false if the file has no data for this
 * address.
 */
bool binary_offset(const struct binary_file *file, uint64_t address, uint64_t *offset);

/* A segment with code, as a process maps it: whole pages. */
struct binary_mapping {
	uint64_t start, end, offset; /* addresses in the file; offset of start */
};

/* Stores the segments with code, at most "most" of them. Returns the number of stored segments. */
unsigned binary_mappings(const struct binary_file *file, struct binary_mapping *mapping,
			 unsigned most);

/* Like binary_at(), but for all segments that have data in the file. */
const uint8_t *binary_data_at(const struct binary_file *file, uint64_t address, size_t *bytes);

/*
 * Returns whether this number of bytes at an address belong to variables: the bytes are in a
 * writable segment and in no executable segment.
 */
bool binary_is_variable(const struct binary_file *file, uint64_t address, size_t bytes);

/*
 * Stores the beginning and the end of the addresses that the file occupies in memory. The end
 * includes the zeroed memory behind the data of the file.
 */
void binary_range(const struct binary_file *file, uint64_t *begin, uint64_t *end);

/*
 * Returns whether the file contains an address that is greater than "from" and less than "until".
 * Such an address may be in a table of jumps, a pointer to a label, or the target of a branch from
 * the cold part of a function. If the file is stripped, branches from all parts of functions count.
 */
bool binary_is_pointed_into(struct binary_file *file, uint64_t from, uint64_t until);

/*
 * The dynamic linker sets a pointer at this address to a function. Returns the name of the
 * function, or NULL if the name is not known. Calls through the procedure linkage table use such
 * pointers.
 */
const char *binary_import_at(const struct binary_file *file, uint64_t address);

/* Returns the longest vector registers that the file's code uses: enum insn_vectors. */
unsigned binary_vectors(const struct binary_file *file);

/* A USDT probe. Its texts are in the note of the file. */
struct binary_probe {
	const char *provider, *name, *arguments;
	uint64_t address;
	uint64_t semaphore;   /* address of a number of 2 bytes, 0: none */
};

/* Returns the reason why no probe of the file can be patched, or NULL if some may be. */
const char *binary_probe_lack(const struct binary_file *file);

/* Calls take() for each probe. If take() returns false, the function ends and returns false. */
bool binary_probes(const struct binary_file *file,
		   bool (*take)(void *arg, const struct binary_probe *probe), void *arg);

/* A part of a function as unwinders know it, even if the file has no symbols. */
struct binary_frame {
	uint64_t begin, end;
	/* the program may continue at places inside this part after an exception */
	bool has_pads;
	/*
	 * At the begin of the part, the return address is at the stack pointer, as at the begin of
	 * a function. This is false for cold parts of functions that have saved registers.
	 */
	bool is_begin;
	/*
	 * Only binary_add_nameless() sets these two members. is_called: a call, a jump to the begin
	 * of the part, or an address in the code leads to the part. is_entered: other parts branch
	 * into the part in another way.
	 */
	bool is_called, is_entered;
};

/*
 * Returns the frames in the order of their addresses. *count is 0 if there are no frames or memory
 * is lacking.
 */
const struct binary_frame *binary_frames(struct binary_file *file, size_t *count);

/* Returns the frame of an address, or NULL if none is known. */
const struct binary_frame *binary_frame_at(struct binary_file *file, uint64_t address);

/*
 * Stores the address of an object, such as a global variable. Returns false if there is no such
 * symbol.
 */
bool binary_object(const struct binary_file *file, const char *name, size_t len,
		   uint64_t *address);

/*
 * Stores the identity of the file for a log, and returns the length of the identity. The identity
 * is the build-id, or is computed from the contents. Returns 0 if the file cannot be read.
 */
uint32_t binary_contents(const struct binary_file *file, uint8_t id[SHIM_PLAN_ID]);

/* Fills the identity of the file for the plan. */
void binary_identity(const struct binary_file *file, struct shim_plan_module *module);

#endif
