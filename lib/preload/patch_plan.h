/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_plan.h - the plan by which the shim patches functions: its format in memory.
 *
 * The tool reads the ELF files, decodes the instructions, and decides which functions can be
 * patched. It writes the plan into a memory file, whose path POSIXTRACE_PATCH has. The shim needs
 * no decoder: it finds each module by its identity, compares the bytes at each site with those of
 * the plan, and copies the moved code.
 *
 * 	head, modules[head.modules], sites[head.sites]
 *
 * Both sides are parts of one build: there is one version.
 */
#ifndef PTX_PRELOAD_PATCH_PLAN_H
#define PTX_PRELOAD_PATCH_PLAN_H

#include <stdint.h>

#define SHIM_PLAN_VARIABLE "POSIXTRACE_PATCH"
#define SHIM_PLAN_MAGIC    UINT64_C(0x316e616c50785450)
#define SHIM_PLAN_ID       32 /* bytes of a build-id, or of the identity of a file without one */
#define SHIM_PLAN_ORIGINAL 20 /* the longest instruction has 15 bytes; the jump replaces 5 */
#define SHIM_PLAN_CODE     64 /* of moved instructions; each may grow by 4 bytes */
#define SHIM_PLAN_FIXES    5
#define SHIM_PLAN_JUMP     5  /* bytes of the jump that is written to a site */
#define SHIM_PLAN_SITES    (1u << 20)
#define SHIM_PLAN_MODULES  4096u

struct shim_plan_head {
	uint64_t magic;
	uint32_t modules, sites;
	/*
	 * The longest vector registers that code of the modules uses: enum shim_vectors. Longer
	 * ones have no value that must outlive a call of a patched function: a caller in another
	 * file expects every function to change them.
	 */
	uint32_t vectors;
	uint32_t unused;
};

struct shim_plan_module {
	uint32_t first, sites; /* its sites */
	uint32_t id_len;
	uint32_t is_file;      /* id is struct shim_plan_file: the file has no build-id */
	uint8_t id[SHIM_PLAN_ID];
};

/* The identity of a file that has no build-id. */
struct shim_plan_file {
	uint64_t device, inode, bytes, changed_ns;
};

/*
 * A displacement of 4 bytes in the moved code that refers to an address of the module, or an
 * address of 8 bytes.
 */
#define SHIM_PLAN_ABSOLUTE 0xff
struct shim_plan_fix {
	uint8_t at;            /* offset of the displacement or address */
	uint8_t end;           /* offset of the end of its instruction, or SHIM_PLAN_ABSOLUTE */
	uint8_t unused[6];
	uint64_t target;       /* address in the file */
};

/*
 * The hook of a site. A program's functions have the first kind. The others are functions of the
 * C and C++ libraries that leave frames for good; they record no event of their own.
 */
enum shim_site_kind {
	SHIM_SITE_FUNCTION,
	SHIM_SITE_THROW,   /* an exception or a cancellation is about to leave frames */
	SHIM_SITE_CATCH,   /* __cxa_begin_catch(): it has arrived */
	SHIM_SITE_JUMP,    /* longjmp() */
	SHIM_SITE_KINDS
};

struct shim_plan_site {
	uint64_t function;     /* the function's address in the file */
	uint64_t site;         /* the address of the bytes that the jump replaces */
	uint8_t replaced;      /* number of these bytes, whole instructions */
	uint8_t code_len;
	uint8_t fixes;
	uint8_t kind;          /* enum shim_site_kind */
	uint8_t unused[4];
	uint8_t original[SHIM_PLAN_ORIGINAL];
	uint8_t code[SHIM_PLAN_CODE];
	uint8_t unused_too[4];
	struct shim_plan_fix fix[SHIM_PLAN_FIXES];
};

#endif
