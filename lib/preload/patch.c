/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.c - carries out a plan: writes trampolines, then jumps to them.
 *
 * It runs in the shim's constructor, before the program's main() and only while the process has
 * one thread: no other thread can execute the bytes that change. A module of the plan is found by
 * its build-id, and each site must have the bytes that the planner saw. The pages are writable
 * while they are changed, and executable again after that; no page is both.
 */
#include "preload/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

#define ARCH_SHSTK_STATUS 0x5005 /* of arch_prctl(2), since Linux 6.6 */

#define PAGE       4096
#define PLAN_BYTES ((size_t)1 << 30) /* a longer file is no plan */
#define REACH      (INT64_C(1) << 31)
#define STEP       ((uintptr_t)1 << 20) /* between tries to map memory near a module */

/* The plan, checked, and the results. */
static struct {
	const struct shim_plan_head *head;
	const struct shim_plan_module *module;
	const struct shim_plan_site *site;
	uint32_t patched, refused;
	const char *why; /* of the last refusal */
} plan;

/* A loaded module and the part of the address space that its segments occupy. */
struct loaded {
	uintptr_t base, begin, end;
	const struct shim_plan_module *module;
};

/* Counts sites that are not patched. One reason is enough for the event: the last one. */
static void refuse(uint32_t sites, const char *why)
{
	plan.refused += sites;
	plan.why = why;
}

/*
 * Maps the plan. Returns NULL, or the reason why it cannot be used. The path is a descriptor of the
 * recorder, /proc/PID/fd/N: it exists only as long as the recorder, and needs no folder.
 */
static const char *map_plan(const char *path)
{
	/* The file is the recorder's. Its number may be in use again for any other file. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat file;
	const struct shim_plan_head *head = MAP_FAILED;
	size_t need;

	if (fd < 0)
		return "the plan cannot be opened";
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
	    (size_t)file.st_size >= sizeof *head && (size_t)file.st_size <= PLAN_BYTES)
		head = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (head == MAP_FAILED)
		return "the plan cannot be read";
	if (head->magic != SHIM_PLAN_MAGIC || head->modules > SHIM_PLAN_MODULES ||
	    head->sites > SHIM_PLAN_SITES)
		return "the plan is of another version";
	/* Both counts are bounded, so that the sum does not overflow. */
	need = sizeof *head + head->modules * sizeof *plan.module + head->sites * sizeof *plan.site;
	if ((size_t)file.st_size < need)
		return "the plan is cut";
	plan.head = head;
	plan.module = (const void *)(head + 1);
	plan.site = (const void *)(plan.module + head->modules);
	for (uint32_t i = 0; i < head->modules; i++)
		if (plan.module[i].first > head->sites ||
		    plan.module[i].sites > head->sites - plan.module[i].first ||
		    plan.module[i].id_len > SHIM_PLAN_ID)
			return "the plan is damaged";
	return NULL;
}

/*
 * Returns the build-id in a note segment and its length; NULL: there is none. The segment is mapped
 * memory of a loaded file, but its contents are checked like those of any file.
 */
static const uint8_t *build_id_in(const uint8_t *note, size_t bytes, uint32_t *len)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t name = ((size_t)header->n_namesz + 3) & ~(size_t)3;
		size_t data = ((size_t)header->n_descsz + 3) & ~(size_t)3;

		if (name > bytes || data > bytes || sizeof *header + name + data > bytes)
			return NULL;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
		    !memcmp(header + 1, "GNU", 4)) {
			*len = header->n_descsz;
			return note + sizeof *header + name;
		}
		note += sizeof *header + name + data;
		bytes -= sizeof *header + name + data;
	}
	return NULL;
}

/*
 * Returns whether the file of a module without build-id is the one that was planned. The program
 * itself has an empty name in the list of the dynamic linker.
 */
static bool is_same_file(const struct shim_plan_module *module, const char *path)
{
	struct shim_plan_file wanted;
	struct stat file;

	memcpy(&wanted, module->id, sizeof wanted);
	return stat(*path ? path : "/proc/self/exe", &file) == 0 &&
	       wanted.device == (uint64_t)file.st_dev && wanted.inode == (uint64_t)file.st_ino &&
	       wanted.bytes == (uint64_t)file.st_size &&
	       wanted.changed_ns == (uint64_t)file.st_mtim.tv_sec * 1000000000 +
					    (uint64_t)file.st_mtim.tv_nsec;
}

/*
 * Finds the plan of a loaded object; NULL: it has none. A file that was replaced since the planning
 * has another build-id, and is left alone.
 */
static const struct shim_plan_module *module_of(const struct dl_phdr_info *object)
{
	const uint8_t *id = NULL;
	uint32_t len = 0;

	for (int i = 0; i < object->dlpi_phnum && !id; i++)
		if (object->dlpi_phdr[i].p_type == PT_NOTE)
			id = build_id_in((const void *)(uintptr_t)(object->dlpi_addr +
								   object->dlpi_phdr[i].p_vaddr),
					 object->dlpi_phdr[i].p_memsz, &len);
	for (uint32_t i = 0; i < plan.head->modules; i++) {
		const struct shim_plan_module *module = &plan.module[i];

		if (id ? !module->is_file && module->id_len == len && !memcmp(module->id, id, len) :
			 module->is_file && is_same_file(module, object->dlpi_name))
			return module;
	}
	return NULL;
}

/*
 * Maps memory from which every byte of the module is in the reach of a jump. Addresses below the
 * module are tried first: the heap grows above a program.
 */
static unsigned char *map_near(const struct loaded *loaded, size_t bytes)
{
	uintptr_t least = loaded->end > (uintptr_t)REACH ? loaded->end - (uintptr_t)REACH : 0;
	uintptr_t most = loaded->begin + (uintptr_t)REACH - bytes;
	uintptr_t at = (loaded->begin - bytes) & ~(uintptr_t)(PAGE - 1);
	void *got;

	if (least < (uintptr_t)1 << 20)
		least = (uintptr_t)1 << 20;
	for (; at > least && at < loaded->begin; at -= STEP) {
		got = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (got == (void *)at)
			return got;
		if (got != MAP_FAILED) /* a kernel that does not know the flag */
			munmap(got, bytes);
	}
	for (at = (loaded->end + (STEP << 8)) & ~(uintptr_t)(PAGE - 1); at < most; at += STEP) {
		got = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (got == (void *)at)
			return got;
		if (got != MAP_FAILED)
			munmap(got, bytes);
	}
	return NULL;
}

/*
 * Stores to - from in 4 bytes, as jumps and calls have it. False: it does not fit. It calls no
 * function: memcpy() may be on a page that is not executable at the moment.
 */
static bool put_distance(uint8_t *at, uintptr_t from, uintptr_t to)
{
	int64_t distance = (int64_t)(to - from);

	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)((uint64_t)distance >> (8 * i));
	return distance == (int32_t)distance;
}

/*
 * Writes the trampoline of a site. Returns false if the site does not have the bytes of the plan,
 * or something is out of reach.
 */
static bool write_trampoline(struct shim_trampoline *to, const void *pointer,
			     const struct shim_plan_site *site, uintptr_t base)
{
	const uint8_t *from = (const uint8_t *)(base + site->site);
	uint8_t *jump = to->code + site->code_len;

	if (site->replaced < SHIM_PLAN_JUMP || site->replaced > SHIM_PLAN_ORIGINAL ||
	    site->code_len > SHIM_PLAN_CODE || site->fixes > SHIM_PLAN_FIXES ||
	    site->kind >= SHIM_SITE_KINDS || memcmp(from, site->original, site->replaced) != 0)
		return false;
	to->function = base + site->function;
	to->kind = site->kind;
	to->call[0] = 0xff; /* call *pointer(%rip) */
	to->call[1] = 0x15;
	memcpy(to->code, site->code, site->code_len);
	jump[0] = 0xe9;
	for (unsigned i = 0; i < site->fixes; i++) {
		const struct shim_plan_fix *fix = &site->fix[i];

		if (fix->end == SHIM_PLAN_ABSOLUTE && fix->at + 8u <= site->code_len) {
			uintptr_t address = base + fix->target;

			memcpy(to->code + fix->at, &address, sizeof address);
			continue;
		}
		if (fix->at + 4u > site->code_len || fix->end > site->code_len ||
		    !put_distance(to->code + fix->at, (uintptr_t)to->code + fix->end,
				  base + fix->target))
			return false;
	}
	return put_distance(to->call + 2, (uintptr_t)to->code, (uintptr_t)pointer) &&
	       put_distance(jump + 1, (uintptr_t)jump + 5, (uintptr_t)from + site->replaced);
}

/*
 * Writes the jump from a site to its trampoline. The page is writable. Bytes of the replaced
 * instructions behind the jump remain: nothing leads there, as the planner has proven.
 */
static void write_jump(const struct shim_plan_site *site, uintptr_t base,
		       const struct shim_trampoline *to)
{
	uint8_t *at = (uint8_t *)(base + site->site);

	at[0] = 0xe9;
	put_distance(at + 1, (uintptr_t)at + 5, (uintptr_t)to->call);
}

/* Returns the protection of the module's segment at an address, -1 if none is there. */
static int protection_at(const struct dl_phdr_info *object, uintptr_t address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    address - object->dlpi_addr - header->p_vaddr < header->p_memsz)
			return (header->p_flags & PF_R ? PROT_READ : 0) |
			       (header->p_flags & PF_W ? PROT_WRITE : 0) |
			       (header->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return -1;
}

/*
 * A system call that needs no function of the C library, whose pages may not be executable then.
 */
static long raw_call(long number, uintptr_t a, uintptr_t b, uintptr_t c)
{
	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return number;
}

/* Returns whether the processor compares return addresses with a second stack. */
static bool has_shadow_stack(void)
{
	uint64_t features = 0;

	return raw_call(SYS_arch_prctl, ARCH_SHSTK_STATUS, (uintptr_t)&features, 0) == 0 &&
	       (features & 1);
}

/*
 * Makes pages writable and not executable, or as they were. They may be pages of the C library, so
 * that no function of it can be called until they are executable again.
 */
static bool protect(uintptr_t begin, uintptr_t end, int protection)
{
	return raw_call(SYS_mprotect, begin, end - begin, (uintptr_t)protection) == 0;
}

/*
 * Writes the jumps of the site and of those behind it that are on the same page or the next one.
 * Returns the number of these sites, at least 1.
 */
static uint32_t write_jumps(const struct dl_phdr_info *object, const struct loaded *loaded,
			    uint32_t first, const struct shim_trampoline *trampoline)
{
	const struct shim_plan_site *site = plan.site + loaded->module->first;
	uintptr_t begin = (loaded->base + site[first].site) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = begin;
	int protection = protection_at(object, loaded->base + site[first].site);
	uint32_t last = first;

	for (; last < loaded->module->sites; last++) {
		uintptr_t at = loaded->base + site[last].site;

		if (at < begin || (end != begin && at >= end) ||
		    protection_at(object, at) != protection)
			break;
		end = (at + SHIM_PLAN_JUMP + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	}
	if (protection < 0 || !protect(begin, end, PROT_READ | PROT_WRITE)) {
		refuse(last - first, "code cannot be made writable");
		return last - first;
	}
	for (uint32_t i = first; i < last; i++)
		if (trampoline[i].function) {
			write_jump(&site[i], loaded->base, &trampoline[i]);
			plan.patched += site[i].kind == SHIM_SITE_FUNCTION;
		}
	protect(begin, end, protection);
	return last - first;
}

/*
 * Patches a module: all trampolines first, then the jumps. A site whose trampoline is not usable
 * has function 0 and is skipped.
 */
static void patch_module(const struct dl_phdr_info *object, const struct loaded *loaded)
{
	const struct shim_plan_site *site = plan.site + loaded->module->first;
	uint32_t sites = loaded->module->sites;
	size_t bytes = (64 + (size_t)sites * sizeof(struct shim_trampoline) + PAGE - 1) &
		       ~(size_t)(PAGE - 1);
	unsigned char *memory = map_near(loaded, bytes);
	struct shim_trampoline *trampoline;
	void (*enter)(void) = shim_patch_enter;

	if (!memory) {
		refuse(sites, "there is no free memory near the module");
		return;
	}
	/* All trampolines of the module call through this pointer: the shim may be out of reach. */
	memcpy(memory, &enter, sizeof enter);
	trampoline = (void *)(memory + 64);
	for (uint32_t i = 0; i < sites; i++)
		if (!write_trampoline(&trampoline[i], memory, &site[i], loaded->base)) {
			trampoline[i].function = 0;
			refuse(1, "the code in memory is not that of the file");
		}
	if (mprotect(memory, bytes, PROT_READ | PROT_EXEC)) {
		refuse(sites, "memory cannot be made executable");
		munmap(memory, bytes);
		return;
	}
	for (uint32_t i = 0; i < sites;)
		i += write_jumps(object, loaded, i, trampoline);
}

/* Callback of dl_iterate_phdr(): patches the object if the plan has it. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct loaded loaded = { .base = object->dlpi_addr, .begin = UINTPTR_MAX };

	(void)size, (void)arg;
	loaded.module = module_of(object);
	if (!loaded.module)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (begin < loaded.begin)
			loaded.begin = begin;
		if (begin + header->p_memsz > loaded.end)
			loaded.end = begin + header->p_memsz;
	}
	patch_module(object, &loaded);
	return 0;
}

/*
 * Finds the vector registers that programs may use: those that processor and kernel support. The
 * compiler's functions consider both.
 */
static void find_vectors(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
		shim_vectors = SHIM_AVX512;
	else if (__builtin_cpu_supports("avx"))
		shim_vectors = SHIM_AVX;
	if (plan.head->vectors < (uint32_t)shim_vectors)
		shim_vectors = (int)plan.head->vectors;
}

/*
 * Records how many functions were patched, and why others were not. The planner has printed its own
 * refusals; the event has those that only the process can find.
 */
static void report(void)
{
	struct {
		uint32_t patched, refused;
		char why[SHIM_TEXT];
	} data = { .patched = plan.patched, .refused = plan.refused };

	if (*shim_switch[SHIM_PATCHED])
		shim_put(SHIM_PATCHED, &data,
			 8 + shim_text(data.why, sizeof data.why, plan.why ? plan.why : ""),
			 shim_caller());
}

void shim_patch_begin(void)
{
	const char *path = secure_getenv(SHIM_PLAN_VARIABLE);
	int saved = errno;

	/*
	 * Without the family func nothing is changed. In a process that records nothing now, the
	 * functions are patched nevertheless: a stream may be attached later.
	 */
	if (!path || !shim_id[FUNC_ENTER])
		return;
	plan.why = map_plan(path);
	if (plan.why)
		plan.head = NULL;
	else if (!__libc_single_threaded)
		refuse(plan.head->sites, "the process has threads already");
	else if (has_shadow_stack())
		refuse(plan.head->sites, "the process has a shadow stack");
	else if (!shim_slots_begin())
		refuse(plan.head->sites, "there is no memory");
	else {
		find_vectors();
		dl_iterate_phdr(patch_object, NULL);
	}
	report();
	errno = saved;
}

#else

/* Other processors have no trampolines here: the tool refuses the option. */
void shim_patch_begin(void)
{
}

void shim_patch_thread_ends(void)
{
}

#endif
