/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_pad.c - maps the pages of pads, and writes pads.
 *
 * A page with pads that may be in use is never writable: another thread may execute it. A later pad
 * on such a page is refused unless the same bytes are already there. Pads are never removed,
 * because another thread may be executing them.
 *
 * The program may later ask mmap(2) for the memory of a pad. The kernel then chooses other memory.
 * With MAP_FIXED, the program would replace the pad, just as it would replace a library there.
 */
#include "preload/patch_pad.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/patch.h"

#if defined __x86_64__

#define PAGE      ((uintptr_t)4096)
#define PAGES     4096 /* pads on further pages are refused */
#define PAD_BYTES 14
/* the shim maps no page below this address, so that null pointers stay invalid */
#define LOWEST    ((uintptr_t)1 << 20)
#define HIGHEST   ((uintptr_t)1 << 47)

/*
 * The pages that have pads. The pages from the index open_from on are still writable. The list has
 * each page once, even if several modules have pads there.
 */
static uintptr_t pages[PAGES];
static unsigned count, open_from;

/*
 * Returns the index of a page in the list, or `count` if the page is not in the list. The search is
 * linear, because few probes need pads.
 */
static unsigned patch_pad_find(uintptr_t page)
{
	unsigned i = 0;

	while (i < count && pages[i] != page)
		i++;
	return i;
}

/*
 * Maps a page for pads. Returns false if the page is in use, if the list is full, or if the address
 * is not allowed. Addresses from HIGHEST on belong to the kernel.
 */
static bool patch_pad_map(uintptr_t page)
{
	void *got;

	if (count == PAGES || page < LOWEST || page >= HIGHEST)
		return false;
	got = mmap((void *)page, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got != (void *)page) {
		if (got != MAP_FAILED) /* the kernel is too old for MAP_FIXED_NOREPLACE */
			munmap(got, PAGE);
		return false;
	}
	pages[count++] = page;
	return true;
}

/*
 * A pad may cross the end of its page. If the second page cannot be mapped, the first page stays
 * mapped for later pads.
 */
bool shim_pad_write(uintptr_t at, uintptr_t target)
{
	/*
	 * The pad is jmp *0(%rip) followed by the address. This jump reaches all memory and changes
	 * no register.
	 */
	unsigned char pad[PAD_BYTES] = { 0xff, 0x25 };
	bool is_open = true; /* all pages of the pad are writable */

	/* The address is behind the 6 bytes of the instruction. */
	memcpy(pad + 6, &target, sizeof target);
	for (uintptr_t page = at & ~(PAGE - 1); page < at + PAD_BYTES; page += PAGE) {
		unsigned i = patch_pad_find(page);

		if (i == count && !patch_pad_map(page))
			return false;
		is_open &= i >= open_from;
	}
	if (!is_open)
		return !memcmp((void *)at, pad, sizeof pad);
	/* New memory is zero, and no pad begins with 0. */
	for (unsigned i = 0; i < PAD_BYTES; i++)
		if (((unsigned char *)at)[i])
			return !memcmp((void *)at, pad, sizeof pad); /* a pad is here already */
	memcpy((void *)at, pad, sizeof pad);
	return true;
}

/*
 * A page that cannot be made executable is unmapped. No jump leads to the page, because the caller
 * then writes no jump of the module. The number 1, which is no page's address, replaces the page in
 * the list, so that patch_pad_find() does not find it again.
 */
bool shim_pads_end(void)
{
	bool good = true;

	for (; open_from < count; open_from++)
		if (mprotect((void *)pages[open_from], PAGE, PROT_READ | PROT_EXEC)) {
			munmap((void *)pages[open_from], PAGE);
			pages[open_from] = 1;
			good = false;
		}
	return good;
}

#endif
