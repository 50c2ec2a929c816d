/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_plan.h - the plan by which the shim patches functions and probes: its format in
 * memory.
 *
 * The tool reads the ELF files, decodes the instructions, and decides which functions can be
 * patched. It writes the plan into a memory file and the file's path into the variable
 * POSIXTRACE_PATCH. The shim needs no decoder: it finds each module by its identity, compares the
 * bytes at each site with those of the plan, and copies the moved code.
 *
 * 	head, modules[head.modules], sites[head.sites], types[head.types],
 * 	arguments[head.arguments], text[head.text_bytes]
 *
 * The tool and the shim are parts of one build, so the format has one version.
 */
#ifndef PTX_PRELOAD_PATCH_PLAN_H
#define PTX_PRELOAD_PATCH_PLAN_H

#include <stdint.h>

#define SHIM_PLAN_VARIABLE "POSIXTRACE_PATCH"
#define SHIM_PLAN_MAGIC    UINT64_C(0x316e616c50785450)
#define SHIM_PLAN_ID       32 /* bytes of a build-id, or of the identity of a file without one */
#define SHIM_PLAN_ORIGINAL 20 /* the longest instruction has 15 bytes; the jump replaces 5 */
/* bytes of moved instructions; each instruction may grow by 4 bytes */
#define SHIM_PLAN_CODE     64
#define SHIM_PLAN_FIXES    5
#define SHIM_PLAN_JUMP     5  /* bytes of the jump that is written to a site */
#define SHIM_PLAN_SITES    (1u << 20)
#define SHIM_PLAN_MODULES  4096u
#define SHIM_PLAN_TYPES    512u   /* a process cannot have more event types */
#define SHIM_PLAN_ARGUMENTS (1u << 20)
#define SHIM_PLAN_OF_SITE  12     /* arguments of a probe; <sys/sdt.h> has no more */

/* The number of slots. Each active call of a patched function needs one; slot 0 is not used. */
#define SHIM_SLOTS 32768

/*
 * The calls that are active now, in a memory file that posixtrace has made. After the end of a
 * process, posixtrace reads in this file which functions the process had not left. Each process has
 * a part:
 *
 * 	struct shim_open_head, then struct shim_open_process[SHIM_OPEN_PROCESSES]
 */
#define SHIM_OPEN_MAGIC     UINT64_C(0x316e65704f785450)
#define SHIM_OPEN_PROCESSES 1022

struct shim_open_head {
	uint64_t magic;           /* SHIM_OPEN_MAGIC */
	uint32_t pid[SHIM_OPEN_PROCESSES]; /* of the process that uses a part; 0: free */
};

struct shim_open {
	uint64_t function;        /* its address; 0: the other members are not valid */
	uint64_t begin;           /* a stamp, as of posix_trace_stamp_np() */
	uint32_t tid, depth;
};

struct shim_open_process {
	/* One moment on both clocks, before all calls in this part began. */
	uint64_t ticks;
	int64_t realtime_ns;
	/* 1: stamps are ticks of the processor's counter; 0: of CLOCK_MONOTONIC */
	uint64_t is_counter;
	/* not 0: the process has executed another program, which uses another part */
	uint64_t is_executed;
	uint64_t unused[508];
	struct shim_open open[SHIM_SLOTS]; /* by the number of the slot */
};

#define SHIM_OPEN_BYTES \
	(sizeof(struct shim_open_head) + SHIM_OPEN_PROCESSES * sizeof(struct shim_open_process))

struct shim_plan_head {
	uint64_t magic;           /* SHIM_PLAN_MAGIC */
	uint32_t modules, sites;  /* numbers of elements */
	/*
	 * The longest vector registers that code of the modules uses: enum shim_vectors. The hooks
	 * need not save longer registers. A caller in another module may have values in longer
	 * registers. But it assumes that every function changes them, so it does not use these
	 * values after a call.
	 */
	uint32_t vectors;
	/* numbers of elements, and bytes of the texts with their NULs */
	uint32_t types, arguments, text_bytes;
	uint64_t hash;  /* of everything behind the head; equal plans have equal hashes */
	/* The recorder's descriptor of the memory file for active calls; -1: there is none. */
	int32_t open_fd;
	uint32_t unused;
};

struct shim_plan_module {
	uint32_t first, sites; /* index of the module's first site, and number of its sites */
	uint32_t id_len;
	/* not 0: the file has no build-id, and id is a struct shim_plan_file */
	uint32_t is_file;
	uint8_t id[SHIM_PLAN_ID];
};

/* The identity of a file that has no build-id. */
struct shim_plan_file {
	uint64_t device, inode, bytes, changed_ns;
};

/*
 * A place in the moved code that the shim must correct. It is either a displacement of 4 bytes to
 * an address of the module, or the address itself, which has 8 bytes.
 */
#define SHIM_PLAN_ABSOLUTE 0xff
struct shim_plan_fix {
	uint8_t at;            /* offset of the displacement or address */
	uint8_t end;           /* offset of the end of its instruction, or SHIM_PLAN_ABSOLUTE */
	uint8_t unused[6];
	uint64_t target;       /* address in the file */
};

/*
 * The kind of a site, which determines its hook. Functions of the program have the first kind. The
 * next three kinds are functions of the C and C++ libraries by which the shim notices that frames
 * are left without a return. The hooks of these functions record no event of their own.
 */
enum shim_site_kind {
	SHIM_SITE_FUNCTION,
	SHIM_SITE_THROW,   /* an exception or a cancellation is about to leave frames */
	SHIM_SITE_CATCH,   /* __cxa_begin_catch(): the exception has arrived */
	SHIM_SITE_JUMP,    /* longjmp() */
	SHIM_SITE_PROBE,   /* a probe of <sys/sdt.h>, at any place of a function */
	SHIM_SITE_BEFORE,  /* no hook: instructions before a probe, which is chained to this site */
	SHIM_SITE_KINDS
};

#define SHIM_CALL_PREFIX "func.call:" /* of the names of types with arguments */

/*
 * The event type of a probe, or of a function with arguments. Both members are offsets of texts
 * that end with a NUL.
 */
struct shim_plan_type {
	uint32_t name, schema;
};

/* Where a value of the program is when a probe is reached. */
enum shim_plan_place {
	SHIM_PLAN_CONSTANT, /* the member `value` is the value */
	/* in the register `base`, shifted to the right by `shift` bits, as for %ah */
	SHIM_PLAN_REGISTER,
	SHIM_PLAN_VECTOR,   /* in the low bytes of the vector register `base` */
	SHIM_PLAN_MEMORY,   /* in memory at `base + (index << shift) + value` */
	SHIM_PLAN_OBJECT,   /* in memory; `value` is the address in the file */
	SHIM_PLAN_PLACES
};

#define SHIM_PLAN_NO_REGISTER 0xff

/* A value for an event. Registers have the processor's numbers. */
struct shim_plan_argument {
	uint8_t place;         /* enum shim_plan_place */
	uint8_t base, index;   /* registers; SHIM_PLAN_NO_REGISTER: none */
	uint8_t shift;         /* bits */
	uint8_t size;          /* bytes of the value in the program: 1, 2, 4 or 8 */
	uint8_t is_signed;     /* the value is sign-extended to the bytes of the event */
	/* bytes of the value in the event; 0: the event has the text that the value points to */
	uint8_t bytes;
	uint8_t unused;
	int64_t value;         /* a constant, a distance or an address of the file */
};

struct shim_plan_site {
	uint64_t function;     /* the function's address in the file */
	uint64_t site;         /* the address of the bytes that the jump replaces */
	uint8_t replaced;      /* number of these bytes, whole instructions */
	uint8_t code_len;      /* bytes of the moved instructions */
	uint8_t fixes;         /* number of places to correct in the moved instructions */
	uint8_t kind;          /* enum shim_site_kind */
	uint8_t arguments;     /* number of arguments of a probe or function */
	/*
	 * Not 0: only the first byte of the jump is written. The other bytes of the jump are bytes
	 * of the program, which do not change. So they determine the jump's target.
	 */
	uint8_t is_byte;
	/*
	 * `continues`: the next site is a probe among the bytes that the jump replaces. The
	 * trampoline of this site has the instructions before the probe and continues with the
	 * probe's trampoline. `is_chained`: this site is such a probe. It has no jump of its own.
	 */
	uint8_t continues, is_chained;
	uint8_t original[SHIM_PLAN_ORIGINAL];
	uint8_t code[SHIM_PLAN_CODE];
	/*
	 * The index of the event type, and the index of the first argument. They are valid for a
	 * probe, and for a function if has_type is not 0. If has_result is not 0, one more argument
	 * follows: the place of the result when the function has returned.
	 */
	uint32_t type, first;
	uint8_t has_type, has_result;
	uint8_t unused_too[2];
	uint64_t semaphore;    /* address in the file of a number of 2 bytes; 0: none */
	struct shim_plan_fix fix[SHIM_PLAN_FIXES];
};

/*
 * A jump that the shim has prepared in memory. In a process that was running already, the tool
 * writes the jump into the code while all threads are stopped, and restores the original bytes at
 * the end.
 */
struct shim_jump {
	uint64_t at;           /* address of the jump */
	uint64_t until;        /* the end of the replaced instructions */
	uint64_t semaphore;    /* address of a number of 2 bytes to be incremented; 0: none */
	/* number of bytes that are written: SHIM_PLAN_JUMP or 1; 0: a chained site */
	uint8_t bytes;
	uint8_t kind;          /* enum shim_site_kind */
	uint8_t is_wanted;     /* 1 if an attached tracer needs the jump */
	uint8_t is_written;    /* the tool sets it when it has incremented the semaphore */
	uint8_t original[SHIM_PLAN_JUMP], jump[SHIM_PLAN_JUMP];
	uint8_t unused[2];
};

/*
 * The greatest number of jumps; further jumps are refused. Only the filled part of the list uses
 * memory.
 */
#define SHIM_JUMPS (1u << 18)

#define SHIM_TRACERS 16

/*
 * All jumps of a process that was running already. The shim's variable posixtrace_shim_jumps is
 * such a struct. The list grows; an element never changes its place in the list.
 */
struct shim_jumps {
	uint64_t count;        /* at most SHIM_JUMPS */
	uint64_t jump;         /* address of the elements */
	/*
	 * Number of calls of dlopen(). If it has changed, posixtrace looks for new libraries. If
	 * dlopen() does not return to the shim, the shim counts the call before it is made.
	 */
	uint64_t opened;
	/*
	 * Grows if a library is loaded while other threads run, and the plan of the start has sites
	 * in the library. It also grows if dlopen() does not return to the shim, because this call
	 * may load such a library.
	 */
	uint64_t missed;
	/*
	 * The process ids of the tracers that need jumps; 0: none. The shim adds them. Each tracer
	 * removes itself, and the last tracer restores the code. If the array is full, a further
	 * tracer is not added.
	 */
	uint32_t tracer[SHIM_TRACERS];
};

/*
 * The result of a walk over the relocation slots (slots.h) has three parts: the number of slots
 * that were changed, the number of slots that stay as they are because their memory cannot become
 * writable, and SHIM_SLOTS_OPEN if a page that the walks made writable could not get back its
 * protection. posixtrace reads these parts in the results of posixtrace_shim_attach() and
 * posixtrace_shim_detach(). A number above SHIM_SLOTS_MOST becomes SHIM_SLOTS_MOST.
 */
#define SHIM_SLOTS_MOST           0xffffffL
#define SHIM_SLOTS_CHANGED(value) ((value) & SHIM_SLOTS_MOST)
#define SHIM_SLOTS_LEFT(value)    ((value) >> 24 & SHIM_SLOTS_MOST)
#define SHIM_SLOTS_OPEN           (1L << 48)

#endif
