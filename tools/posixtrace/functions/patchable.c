/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patchable.c - proves that a function can be patched, and makes the plan of its patch.
 *
 * choose_site() chooses the bytes that the jump replaces and moves their instructions. Then
 * check_function() searches the whole function for instructions and tables that lead into these
 * bytes. patchable_of() searches the other functions and the data. patchable.h has the list of
 * conditions. Each refusal has a constant text for the user.
 */
#include "functions/patchable.h"

#include <fnmatch.h>
#include <string.h>

#include "functions/insn.h"
#include "functions/move.h"


/*
 * Compares the names of files and not their paths, because the C library that the hooks use may be
 * in any folder.
 */
const char *patchable_lack(const struct binary_file *file)
{
	static const char *const own[] = {
		"libc.so*", "libc-*.so", "ld-linux*", "ld-[0-9]*", "libpthread*", "libdl.so*",
		"libdl-*", "librt.so*", "librt-*", "libgcc_s.so*", "libposixtrace*",
	};
	const char *slash = strrchr(binary_path(file), '/');
	const char *name = slash ? slash + 1 : binary_path(file);

	if (binary_lack(file))
		return binary_lack(file);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!fnmatch(own[i], name, 0))
			return "the trace itself uses this library";
	return NULL;
}

/*
 * Refuses functions that use their own return address, or run where no event can be recorded.
 * Returns the reason, or NULL. The hook replaces the return address of a function. So a function
 * that keeps or reads its return address could later return into the hook again. The first row that
 * matches is used.
 */
static const char *refuse_name(const char *name)
{
	static const struct {
		const char *glob, *why;
	} list[] = {
		{ "_start", "the program's first instruction" },
		{ "_init", "part of the program's start" },
		{ "_fini", "part of the program's end" },
		{ "*register_tm_clones", "part of the program's start" },
		{ "__do_global_dtors_aux", "part of the program's end" },
		{ "frame_dummy", "part of the program's start" },
		{ "setjmp", "it keeps its return address" },
		{ "_setjmp", "it keeps its return address" },
		{ "sigsetjmp", "it keeps its return address" },
		{ "__sigsetjmp", "it keeps its return address" },
		{ "vfork", "it keeps its return address" },
		{ "__vfork", "it keeps its return address" },
		{ "getcontext", "it keeps its return address" },
		{ "__fentry__", "it is for tracers" },
		{ "mcount", "it is for tracers" },
		{ "_mcount", "it is for tracers" },
		{ "__cyg_profile_func_*", "it is for tracers" },
		{ "__x86_indirect_thunk*", "it changes its return address" },
		{ "__x86_return_thunk*", "it changes its return address" },
		{ "__x86.get_pc_thunk*", "it reads its return address" },
		{ "__morestack*", "it changes stacks" },
		{ "uw_*", "part of the handling of exceptions" },
		{ "_Unwind_*", "part of the handling of exceptions" },
		{ "__gxx_personality*", "part of the handling of exceptions" },
		{ "__cxa_*", "part of the handling of exceptions" },
		{ "__asan_*", "part of a sanitizer" },
		{ "__tsan_*", "part of a sanitizer" },
		{ "__ubsan_*", "part of a sanitizer" },
		{ "__sanitizer_*", "part of a sanitizer" },
		{ "*.cold", "a part of another function" },
		{ "*.cold.*", "a part of another function" },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!fnmatch(list[i].glob, name, 0))
			return list[i].why;
	return NULL;
}

/*
 * Returns whether the hooks may call a function of this name. A program may define such a function
 * itself, and its definition then replaces the definition of the C library. If this
 * definition were patched, a hook that calls it would enter the hook again, without end.
 */
static bool is_of_hooks(const char *name)
{
	static const char *const list[] = {
		"memcpy", "memmove", "memset", "memcmp", "strlen", "strnlen", "strcmp", "mmap",
		"munmap", "mprotect", "madvise", "syscall", "read", "write", "open", "close",
		"fstat", "getpid", "clock_gettime", "malloc", "free", "calloc", "realloc",
		"sched_yield", "pthread_self", "fcntl", "pread", "pwrite", "memchr", "dprintf",
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/*
 * Returns whether a call leads to __fentry__(): directly, through a pointer, or through the
 * procedure linkage table. An entry of the procedure linkage table has at most three instructions
 * and jumps through a pointer.
 */
static bool is_fentry(struct binary_file *file, const struct insn *call)
{
	uint64_t address = call->has_address ? call->address : 0;
	const char *name;

	for (unsigned i = 0; i < 3 && !address && call->target; i++) {
		static uint64_t at;
		struct insn insn;
		size_t bytes;
		const uint8_t *code;

		at = i ? at : call->target;
		code = binary_at(file, at, &bytes);
		if (!code || !insn_decode(&insn, code, bytes, at))
			return false;
		if (insn.kind == INSN_INDIRECT && insn.has_address)
			address = insn.address;
		at += insn.len;
	}
	name = address ? binary_import_at(file, address) : NULL;
	return name && !strcmp(name, "__fentry__");
}

/*
 * The state of a pass over the instructions of the function. "why" is NULL as long as no reason
 * against a patch has been found.
 */
struct proof {
	struct binary_file *file;
	const struct binary_function *function;
	uint64_t from, until;   /* the replaced bytes */
	int64_t depth;          /* offset of the return address from rsp */
	bool is_hook;           /* of exceptions or jumps: its return address does not change */
	bool is_begin;          /* no branch, call or return was seen yet */
	bool has_frame;         /* rbp points 8 bytes below the return address */
	bool has_indirect;      /* the function jumps through a register or memory */
	const char *why;
};

/*
 * Returns whether "address" is within the replaced bytes, behind the first of them. A thread may
 * arrive at the first byte, because the jump begins there.
 */
static bool is_inside(const struct proof *proof, uint64_t address)
{
	return address > proof->from && address < proof->until;
}

/*
 * Checks a table of jumps that the function refers to. Its entries are distances of 4 bytes from
 * the table. The table ends at the first entry that is not in the function. If the
 * address is not that of a table, check_table() interprets other bytes as a table. The only
 * possible effect is a needless refusal.
 */
static void check_table(struct proof *proof, uint64_t table)
{
	size_t bytes;
	const uint8_t *at = binary_data_at(proof->file, table, &bytes);

	for (; at && bytes >= 4 && !proof->why; at += 4, bytes -= 4) {
		int32_t distance;
		uint64_t target;

		memcpy(&distance, at, sizeof(distance));
		target = table + (uint64_t)(int64_t)distance;
		if (target < proof->function->address ||
		    target >= proof->function->address + proof->function->size)
			return;
		if (is_inside(proof, target))
			proof->why = "a table of jumps leads into its first bytes";
	}
}

/*
 * Refuses a function that reads its own return address. In a patched function, such a read would
 * return an address that the hook has written. The check follows the depth of the stack up to the
 * first branch or call, and assumes that the depth does not change behind it. If the depth does
 * change, the check misses such a read.
 */
static void check_return_address(struct proof *proof, const struct insn *insn)
{
	if (!proof->is_hook &&
	    ((insn->base == INSN_STACK && insn->offset == proof->depth) ||
	     (insn->base == INSN_FRAME && proof->has_frame && insn->offset == 8)))
		proof->why = "it uses its own return address";
	if (insn->target || insn->kind == INSN_CALL || insn->kind == INSN_RETURN ||
	    insn->kind == INSN_INDIRECT)
		proof->is_begin = false;
	if (proof->is_begin) {
		proof->has_frame |= insn->sets_frame && proof->depth == 8;
		proof->depth += insn->pushes;
	}
}

/* Checks one instruction of the function, behind or among the replaced bytes. */
static void check_insn(struct proof *proof, const struct insn *insn)
{
	const struct binary_function *function = proof->function;

	check_return_address(proof, insn);
	/*
	 * A function without a symbol may be a thunk for an indirect jump. Its call into itself is
	 * not a real call: the call only pushes a return address, which the thunk then replaces.
	 * refuse_name() refuses the thunks of GCC that have a symbol.
	 */
	if (*function->name == '+' && insn->kind == INSN_CALL && insn->target > function->address &&
	    insn->target < function->address + function->size)
		proof->why = "it calls a part of itself";
	else if (insn->target && is_inside(proof, insn->target))
		proof->why = "a branch leads into its first bytes";
	else if (insn->target == proof->from && insn->kind != INSN_CALL)
		proof->why = "a loop begins at its first instruction";
	/*
	 * The instruction computes an address in the replaced bytes, as lea does. The function may
	 * later call this address or jump to it.
	 */
	else if (insn->has_address && is_inside(proof, insn->address))
		proof->why = "it uses the address of one of its first bytes";
	proof->has_indirect |= insn->kind == INSN_INDIRECT;
}

/* Decodes the whole function. If the function has an indirect jump, checks its tables of jumps. */
static void check_function(struct proof *proof)
{
	const struct binary_function *function = proof->function;
	uint64_t at = function->address, end = at + function->size;
	struct insn insn;
	size_t bytes;

	for (; at < end && !proof->why; at += insn.len) {
		const uint8_t *code = binary_at(proof->file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at)) {
			proof->why = "its instructions cannot be decoded";
			return;
		}
		check_insn(proof, &insn);
	}
	for (at = function->address; at < end && proof->has_indirect && !proof->why;
	     at += insn.len) {
		const uint8_t *code = binary_at(proof->file, at, &bytes);

		if (!code || !insn_decode(&insn, code, bytes, at))
			return;
		if (insn.has_address)
			check_table(proof, insn.address);
	}
}

/*
 * Chooses the bytes to replace and moves their instructions. The bytes begin at the first
 * instruction or behind endbr64. If the function ends with a return or a jump among these bytes,
 * the patch may also replace the padding up to the next function. Whole instructions are replaced,
 * so the replaced bytes may be more than the 5 bytes of the jump. Returns the reason of a refusal,
 * or NULL.
 */
static const char *choose_site(struct binary_file *file, const struct binary_function *function,
			       struct patchable *is)
{
	struct shim_plan_site *site = &is->site;
	uint64_t at = function->address, end = at + function->size;
	bool ended = false, only_nops = true;
	struct insn insn;
	size_t bytes;

	while (site->replaced < SHIM_PLAN_JUMP) {
		const uint8_t *code = binary_at(file, at, &bytes);
		const char *why;

		if (!code || !insn_decode(&insn, code, bytes, at))
			return "its instructions cannot be decoded";
		if (at >= end && (!ended || (insn.kind != INSN_NOP && insn.kind != INSN_TRAP)))
			return "it is shorter than a jump";
		if (at + insn.len > end && at < end)
			return "its size ends within an instruction";
		if (insn.kind == INSN_ENDBR && at == function->address) {
			at += insn.len;
			site->site = at;
			continue;
		}
		if (at < end && !site->replaced && insn.kind == INSN_CALL &&
		    insn.len >= SHIM_PLAN_JUMP && is_fentry(file, &insn))
			why = NULL; /* the call of __fentry__() is not moved */
		else if (at >= end)
			why = NULL; /* padding */
		else {
			why = move_insn(site, &insn, code, at);
			only_nops &= insn.kind == INSN_NOP;
		}
		if (why)
			return why;
		if (site->replaced + insn.len > SHIM_PLAN_ORIGINAL)
			return "its first instructions are too long";
		/*
		 * The shim compares these bytes with the memory of the process before it patches.
		 */
		memcpy(site->original + site->replaced, code, insn.len);
		site->replaced = (uint8_t)(site->replaced + insn.len);
		/* The code behind a return or a jump runs only if something branches to it. */
		ended = insn.kind == INSN_RETURN || insn.kind == INSN_JUMP ||
			insn.kind == INSN_INDIRECT || (ended && at >= end);
		at += insn.len;
	}
	if (at > end && binary_next(file, function->address) < at)
		return "it is shorter than a jump";
	is->method = only_nops ? PATCH_SLOT : PATCH_MOVE;
	return NULL;
}

/*
 * A function without a symbol may have had a name that refuse_name() refuses. So functions without
 * a symbol are refused in a file that contains the handling of exceptions or a sanitizer. Such a
 * file is recognized by the functions that it calls. Returns the reason, or NULL.
 */
static const char *refuse_nameless(const struct binary_file *file,
				   const struct binary_function *function)
{
	if (*function->name != '+' || !binary_may_unwind(file))
		return NULL;
	return "it may be part of the handling of exceptions, as it has no name";
}

/*
 * Returns the reason of a refusal that does not depend on the instructions of the function, or
 * NULL.
 */
static const char *refuse_early(const struct binary_file *file,
				const struct binary_function *function, enum shim_site_kind kind)
{
	const char *why = kind == SHIM_SITE_FUNCTION ? patchable_lack(file) : binary_lack(file);

	if (!why && kind == SHIM_SITE_FUNCTION)
		why = refuse_name(function->name);
	if (!why)
		why = refuse_nameless(file, function);
	if (why)
		return why;
	if (is_of_hooks(function->name))
		return "the trace itself may call it";
	return binary_function_lack(function);
}

/*
 * The function makes cheap checks before costly checks, and ends at the first reason for a refusal.
 * The plan in a refused result is incomplete and must not be used.
 */
struct patchable patchable_of(struct binary_file *file, const struct binary_function *function,
			      enum shim_site_kind kind)
{
	struct patchable is = { .site = { .function = function->address, .kind = kind,
					  .site = function->address } };
	struct proof proof = { .file = file, .function = function, .is_begin = true,
			       .is_hook = kind != SHIM_SITE_FUNCTION };

	is.why = refuse_early(file, function, kind);
	if (!is.why)
		is.why = choose_site(file, function, &is);
	if (!is.why) {
		proof.from = is.site.site;
		proof.until = proof.from + is.site.replaced;
		check_function(&proof);
		is.why = proof.why;
		if (!is.why && binary_next(file, function->address) < proof.until)
			is.why = "another symbol is at one of its first bytes";
		if (!is.why && binary_is_pointed_into(file, proof.from, proof.until))
			is.why = "data has the address of one of its first bytes";
	}
	if (is.why)
		is.method = PATCH_REFUSED;
	return is;
}
