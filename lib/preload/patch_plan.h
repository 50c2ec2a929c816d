/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_plan.h - the plan by which the shim patches functions and probes: its format in
 * memory.
 *
 * The tool reads the ELF files, decodes the instructions, and decides which functions can be
 * patched. It writes the plan into a memory file, whose path POSIXTRACE_PATCH has. The shim needs
 * no decoder: it finds each module by its identity, compares the bytes at each site with those of
 * the plan, and copies the moved code.
 *
 * 	head, modules[head.modules], sites[head.sites], types[head.types],
 * 	arguments[head.arguments], text[head.text_bytes]
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
#define SHIM_PLAN_TYPES    512u   /* a process has no more event types */
#define SHIM_PLAN_ARGUMENTS (1u << 20)
#define SHIM_PLAN_OF_SITE  12     /* arguments of a probe; <sys/sdt.h> has no more */

struct shim_plan_head {
	uint64_t magic;           /* SHIM_PLAN_MAGIC */
	uint32_t modules, sites;  /* numbers of elements */
	/*
	 * The longest vector registers that code of the modules uses: enum shim_vectors. Longer
	 * ones have no value that must outlive a call of a patched function: a caller in another
	 * file expects every function to change them.
	 */
	uint32_t vectors;
	uint32_t types, arguments, text_bytes; /* further numbers; the texts have their NULs */
	uint64_t hash;  /* of all contents behind the head: equal plans have the same */
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
	SHIM_SITE_PROBE,   /* a probe of <sys/sdt.h>, at any place of a function */
	SHIM_SITE_BEFORE,  /* no hook: instructions before a probe that is chained to it */
	SHIM_SITE_KINDS
};

/* An event type that the plan needs: that of a probe. Both are offsets of texts with a NUL. */
struct shim_plan_type {
	uint32_t name, schema;
};

/* Where a value of the program is when a probe is reached. */
enum shim_plan_place {
	SHIM_PLAN_CONSTANT, /* value itself */
	SHIM_PLAN_REGISTER, /* base, after a shift of so many bits to the right: %ah */
	SHIM_PLAN_VECTOR,   /* the low bytes of the vector register base */
	SHIM_PLAN_MEMORY,   /* at base + index << shift + value */
	SHIM_PLAN_OBJECT,   /* at the address value of the file */
	SHIM_PLAN_PLACES
};

#define SHIM_PLAN_NO_REGISTER 0xff

/* A value for an event. Registers have the processor's numbers. */
struct shim_plan_argument {
	uint8_t place;         /* enum shim_plan_place */
	uint8_t base, index;   /* registers; SHIM_PLAN_NO_REGISTER: none */
	uint8_t shift;         /* bits */
	uint8_t size;          /* bytes of the value in the program: 1, 2, 4 or 8 */
	uint8_t is_signed;     /* the sign fills the event's additional bits */
	uint8_t bytes;         /* in the event; 0: the text that the value points to */
	uint8_t unused;
	int64_t value;         /* a constant, a distance or an address of the file */
};

struct shim_plan_site {
	uint64_t function;     /* the function's address in the file */
	uint64_t site;         /* the address of the bytes that the jump replaces */
	uint8_t replaced;      /* number of these bytes, whole instructions */
	uint8_t code_len;      /* bytes of the moved instructions */
	uint8_t fixes;         /* number of places in them to correct */
	uint8_t kind;          /* enum shim_site_kind */
	uint8_t arguments;     /* number, of a probe */
	/*
	 * Only the first byte of the jump is written. The others are bytes of the program that
	 * follow and do not change, so that they determine the jump's target.
	 */
	uint8_t is_byte;
	/*
	 * The next site, a probe, is among the bytes that the jump replaces. The trampoline of this
	 * one has the instructions before it, and continues with that of the next one, which has no
	 * jump: it is chained.
	 */
	uint8_t continues, is_chained;
	uint8_t original[SHIM_PLAN_ORIGINAL];
	uint8_t code[SHIM_PLAN_CODE];
	uint32_t type, first;  /* of a probe: its event type and its first argument */
	uint32_t unused_too;
	uint64_t semaphore;    /* address in the file of a number of 2 bytes; 0: none */
	struct shim_plan_fix fix[SHIM_PLAN_FIXES];
};

/*
 * A jump that the shim has prepared in memory. In a process that was running already, the tool
 * writes it while all threads are stopped, and restores the original bytes at the end.
 */
struct shim_jump {
	uint64_t at;           /* address of the jump */
	uint64_t until;        /* the end of the replaced instructions */
	uint64_t semaphore;    /* address of a number of 2 bytes to be incremented; 0: none */
	uint8_t bytes;         /* that are written: SHIM_PLAN_JUMP or 1; 0: a chained site */
	uint8_t kind;          /* enum shim_site_kind */
	uint8_t is_wanted;     /* by a tracer that is attached */
	uint8_t is_written;    /* the tool sets it when it has incremented the semaphore */
	uint8_t original[SHIM_PLAN_JUMP], jump[SHIM_PLAN_JUMP];
	uint8_t unused[2];
};

/* Further jumps are refused. Their list is memory that is used as far as it is filled. */
#define SHIM_JUMPS (1u << 18)

#define SHIM_TRACERS 16

/*
 * All jumps of a process that was running already, in the memory of the shim: the symbol
 * posixtrace_shim_jumps. The list grows; an element never changes its place in it.
 */
struct shim_jumps {
	uint64_t count;        /* at most SHIM_JUMPS */
	uint64_t jump;         /* address of the elements */
	/*
	 * Calls of dlopen() by which posixtrace notices that there may be new libraries. A call
	 * that the shim cannot follow is counted before it.
	 */
	uint64_t opened;
	/*
	 * Grows if the plan of the start has sites in a library that was loaded while other threads
	 * ran, or may have by a call that the shim cannot follow.
	 */
	uint64_t missed;
	/*
	 * The process ids of the tracers that want jumps; 0: none. The shim enters them, each
	 * tracer removes itself, and the last one restores the code. A further tracer is not
	 * entered.
	 */
	uint32_t tracer[SHIM_TRACERS];
};

#endif
