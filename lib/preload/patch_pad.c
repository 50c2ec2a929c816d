/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_pad.c - maps the pages of pads, and writes pads.
 *
 * A page with pads that may be in use is never writable: another thread may execute it. Later pads
 * must then have the same contents, or are refused. Pads are never removed, for the same reason.
 *
 * The program may want the memory of a pad later. mmap() of the kernel then chooses other memory; a
 * program that insists on a fixed address would replace the pad, as it would replace a library.
 */
#include "preload/patch_pad.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/patch.h"

#if defined __x86_64__

#define PAGE      ((uintptr_t)4096)
#define PAGES     4096 /* further ones are refused */
#define PAD_BYTES 14
#define LOWEST    ((uintptr_t)1 << 20) /* the kernel and programs keep null pointers unmapped */
#define HIGHEST   ((uintptr_t)1 << 47)

/*
 * The pages that have pads; those from open_from on are still writable. A page occurs once, also if
 * several modules have pads there.
 */
static uintptr_t pages[PAGES];
static unsigned count, open_from;

/*
 * Returns the number of a page in the list, count if it is none. The search is linear, because few
 * probes need pads.
 */
static unsigned find(uintptr_t page)
{
	unsigned i = 0;

	while (i < count && pages[i] != page)
		i++;
	return i;
}

/*
 * Maps a page for pads. False: the page is in use, or the list is full. Memory below LOWEST would
 * make null pointers valid; addresses from HIGHEST on are the kernel's.
 */
static bool map(uintptr_t page)
{
	void *got;

	if (count == PAGES || page < LOWEST || page >= HIGHEST)
		return false;
	got = mmap((void *)page, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got != (void *)page) {
		if (got != MAP_FAILED) /* a kernel that does not know the flag */
			munmap(got, PAGE);
		return false;
	}
	pages[count++] = page;
	return true;
}

/* A pad may cross the end of its page. A page that was mapped for nothing remains for later. */
bool shim_pad_write(uintptr_t at, uintptr_t target)
{
	/* jmp *0(%rip), then the address: it reaches all memory and changes no register. */
	unsigned char pad[PAD_BYTES] = { 0xff, 0x25 };
	bool is_open = true; /* all pages of the pad are writable */

	/* Behind the 6 bytes of the instruction. */
	memcpy(pad + 6, &target, sizeof target);
	for (uintptr_t page = at & ~(PAGE - 1); page < at + PAD_BYTES; page += PAGE) {
		unsigned i = find(page);

		if (i == count && !map(page))
			return false;
		is_open &= i >= open_from;
	}
	if (!is_open)
		return !memcmp((void *)at, pad, sizeof pad);
	/* New memory is zero, and no pad begins with 0. */
	for (unsigned i = 0; i < PAD_BYTES; i++)
		if (((unsigned char *)at)[i])
			return !memcmp((void *)at, pad, sizeof pad); /* another pad is here */
	memcpy((void *)at, pad, sizeof pad);
	return true;
}

/*
 * A page that cannot be made executable stays mapped and unused: find() does not find it again, and
 * no jump leads to it. No page has the number 1.
 */
bool shim_pads_end(void)
{
	bool good = true;

	for (; open_from < count; open_from++)
		if (mprotect((void *)pages[open_from], PAGE, PROT_READ | PROT_EXEC)) {
			pages[open_from] = 1;
			good = false;
		}
	return good;
}

#endif
