/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_trampoline.c - maps memory for trampolines, and writes trampolines.
 *
 * A jump stores the distance to its target in 4 bytes, so a trampoline must be at most 2 GiB from
 * its module. The moved instructions refer to the module by distances in 4 bytes, too.
 */
#include "preload/patch_trampoline.h"

#include <string.h>
#include <sys/mman.h>

#if defined __x86_64__

#define PAGE  4096
#define REACH (INT64_C(1) << 31)
#define STEP  ((uintptr_t)1 << 20) /* distance between the addresses that are tried */

/* Addresses below the module are tried first, because the heap grows above a program. */
unsigned char *shim_trampolines_map(uintptr_t begin, uintptr_t end, size_t bytes)
{
	uintptr_t least = end > (uintptr_t)REACH ? end - (uintptr_t)REACH : 0;
	uintptr_t most = begin + (uintptr_t)REACH - bytes;
	uintptr_t at = (begin - bytes) & ~(uintptr_t)(PAGE - 1);
	void *got;

	if (least < (uintptr_t)1 << 20)
		least = (uintptr_t)1 << 20;
	for (; at > least && at < begin; at -= STEP) {
		got = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (got == (void *)at)
			return got;
		if (got != MAP_FAILED) /* the kernel is too old for MAP_FIXED_NOREPLACE */
			munmap(got, bytes);
	}
	for (at = (end + (STEP << 8)) & ~(uintptr_t)(PAGE - 1); at < most; at += STEP) {
		got = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (got == (void *)at)
			return got;
		if (got != MAP_FAILED)
			munmap(got, bytes);
	}
	return NULL;
}

/* The least byte is first. A distance that does not fit is stored, too, without its upper bytes. */
bool shim_put_distance(uint8_t *at, uintptr_t from, uintptr_t to)
{
	int64_t distance = (int64_t)(to - from);

	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)((uint64_t)distance >> (8 * i));
	return distance == (int32_t)distance;
}

/*
 * The code before the call of a probe's hook. It moves the stack pointer below the red zone, which
 * is memory below the stack pointer that the interrupted function may use.
 */
static const uint8_t keep_flags[SHIM_KEEPS_FLAGS] = {
	0x48, 0x8d, 0x64, 0x24, 0x80,                   /* lea -128(%rsp), %rsp */
	0x9c,                                           /* pushfq */
};
/*
 * The code behind the call. lea changes no flags, so the flags can be restored before the stack
 * pointer.
 */
static const uint8_t restore_flags[SHIM_RESTORES_FLAGS] = {
	0x9d,                                           /* popfq */
	0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, /* lea 128(%rsp), %rsp */
};

/*
 * Corrects the moved instructions for their new place. A fix names 4 bytes with the distance from
 * the end of an instruction to an address of the module, or 8 bytes with the address itself.
 * Returns false if a distance is too long, or the plan is damaged.
 */
static bool fix_code(uint8_t *code, const struct shim_plan_site *site, uintptr_t base)
{
	for (unsigned i = 0; i < site->fixes; i++) {
		const struct shim_plan_fix *fix = &site->fix[i];

		/*
		 * The 8 bytes are the return address that a moved call pushes: the address behind
		 * the original call.
		 */
		if (fix->end == SHIM_PLAN_ABSOLUTE && fix->at + 8u <= site->code_len) {
			uintptr_t address = base + fix->target;

			memcpy(code + fix->at, &address, sizeof address);
			continue;
		}
		if (fix->at + 4u > site->code_len || fix->end > site->code_len ||
		    !shim_put_distance(code + fix->at, (uintptr_t)code + fix->end,
				       base + fix->target))
			return false;
	}
	return true;
}

/*
 * The bytes of the plan are compared with the memory first: the file may have been replaced, or
 * another tool may have patched the same place. The local pointers `code` and `jump` stay inside
 * to->code for all valid lengths.
 */
bool shim_trampoline_write(struct shim_trampoline *to, const void *const *pointers,
			   const struct shim_plan_site *site, uintptr_t base,
			   const struct shim_probe *probe, const struct shim_trampoline *next)
{
	const uint8_t *from = (const uint8_t *)(base + site->site);
	const uint8_t *behind = site->continues ? next->before : from + site->replaced;
	bool is_short = site->is_byte || site->is_chained;
	/*
	 * `continues`: the jump of this site also replaces the probe of the next site. The site
	 * itself may then have no instructions before the probe.
	 */
	uint8_t least = site->continues ? 0 : is_short ? 1 : SHIM_PLAN_JUMP;
	const bool is_probe = site->kind == SHIM_SITE_PROBE;
	uint8_t *code = to->code + (is_probe ? SHIM_RESTORES_FLAGS : 0);
	uint8_t *jump = code + site->code_len;

	if (site->replaced < least ||
	    site->replaced > SHIM_PLAN_ORIGINAL || site->code_len > SHIM_PLAN_CODE ||
	    site->fixes > SHIM_PLAN_FIXES || site->kind >= SHIM_SITE_KINDS ||
	    memcmp(from, site->original, site->replaced) != 0)
		return false;
	/* The event of a probe contains the address of the probe. */
	to->function = base + site->function;
	to->kind = site->kind;
	to->probe = probe;
	memcpy(to->before, keep_flags, sizeof keep_flags);
	to->call[0] = 0xff; /* call *pointer(%rip) */
	to->call[1] = 0x15;
	if (is_probe)
		memcpy(to->code, restore_flags, sizeof restore_flags);
	memcpy(code, site->code, site->code_len);
	jump[0] = 0xe9;
	return fix_code(code, site, base) &&
	       shim_put_distance(to->call + 2, (uintptr_t)to->code,
				 (uintptr_t)&pointers[is_probe]) &&
	       shim_put_distance(jump + 1, (uintptr_t)jump + 5, (uintptr_t)behind);
}

#endif
