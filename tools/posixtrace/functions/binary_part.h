/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* binary_part.h - the struct that the binary_*.c files share. */
#ifndef POSIXTRACE_FUNCTIONS_BINARY_PART_H
#define POSIXTRACE_FUNCTIONS_BINARY_PART_H

#include "functions/binary.h"

#define BINARY_SEGMENTS 16
#define BINARY_PLTS 4

struct Elf;

struct binary_file {
	char *path;
	const char *lack, *probe_lack;
	int fd, debug_fd;
	struct Elf *elf, *debug;
	uint8_t id[SHIM_PLAN_ID];
	uint32_t id_len;
	struct binary_segment {
		uint64_t address, size;
		/* size of the segment in memory, which includes the zeros behind its bytes */
		uint64_t memory;
		uint64_t offset;   /* offset of the segment's bytes in the file */
		const uint8_t *bytes;
		bool is_code, is_writable;
	} segment[BINARY_SEGMENTS];
	unsigned segments;
	struct binary_function *function;
	size_t functions;
	uint64_t *pointer;     /* sorted: addresses of code in data and in branches of cold parts */
	size_t pointers;
	bool has_pointers;     /* the pointers were collected */
	struct binary_import {
		uint64_t address;
		const char *name;
	} *import;
	size_t imports;
	uint64_t begin, end;   /* range of all segments in memory */
	struct binary_frame *frame;
	size_t frames;
	bool has_frames;       /* the frames were collected */
	uint64_t entry;        /* address of the first instruction of the program */
	uint64_t frame_table;  /* address of .eh_frame_hdr, 0: there is none */
	/* addresses of the section .eh_frame; 0: there is none */
	uint64_t frames_begin, frames_end;
	bool is_fixed;         /* the file is linked to fixed addresses (ET_EXEC) */
	bool is_static;        /* the file is a program without a dynamic linker */
	bool is_go;            /* the Go compiler has made the file */
	bool is_ocaml;         /* the file has code of the compiler of OCaml */
	bool has_haskell;      /* the file has code of the compiler GHC */
	bool may_unwind;       /* the file calls a function that the handling of exceptions needs */
	bool is_stripped;      /* the file's only symbol table has the dynamic symbols */
	struct binary_plt {    /* the procedure linkage table, whose parts are not functions */
		uint64_t begin, end;
	} plt[BINARY_PLTS];
	unsigned plts;
	char *names;           /* names of the functions that have no symbol */
	bool has_nameless;     /* the functions without a symbol were added */
};

/*
 * In binary_elf.c. Reads all contents of the struct except the pointers and the frames. Returns the
 * reason of a failure, or NULL.
 */
const char *binary_read(struct binary_file *file);

/*
 * In binary_elf.c. Sorts the functions. If an address has the same name twice, one entry remains.
 */
void binary_sort(struct binary_file *file);
void binary_read_end(struct binary_file *file);

/*
 * In binary_pointers.c. Adds an address to which code branches. binary_is_pointed_into() finds this
 * address. The caller must add all addresses before the first call of binary_is_pointed_into().
 * Returns false if memory is lacking.
 */
bool binary_add_pointer(struct binary_file *file, uint64_t address);

/*
 * In binary_elf.c. Calls add() for each relocation, and for each word of data that may be an
 * address of code. If add() returns false, the function ends and returns false.
 */
bool binary_each_pointer(struct binary_file *file, bool (*add)(void *arg, uint64_t address),
			 void *arg);

#endif
