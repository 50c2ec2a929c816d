/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.c - carries out a plan: writes trampolines, then jumps to them.
 *
 * At the start of a program it runs in the shim's constructor, before main() and only while the
 * process has one thread: no other thread can execute the bytes that change. A module of the plan
 * is found by its build-id, and each site must have the bytes that the planner saw. The pages are
 * writable while they are changed, and executable again after that; no page is both.
 *
 * 	prepare_module   trampolines, and a list of the jumps to them
 * 	write_jumps      the jumps and the semaphores
 *
 * All trampolines and pads of a module are executable before its first jump is written.
 */
#include "preload/patch.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined __x86_64__
# include <sys/platform/x86.h>
#endif
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/inject.h"
#include "preload/patch_file.h"
#include "preload/patch_pad.h"
#include "preload/patch_trampoline.h"
#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

#define ARCH_SHSTK_STATUS 0x5005 /* of arch_prctl(2), since Linux 6.6 */

#define PAGE     4096
#define POINTERS 64   /* bytes in front of the trampolines, for the pointers that they call by */
#define BATCHES  1024 /* modules that are patched in the life of a process */

#define GIVEN_NS UINT64_C(10000000000) /* a tracer that is slower than that has ended */

/* The plan, and the results. */
static struct work {
	struct shim_plan plan;
	uint32_t patched, refused;
	const char *why; /* of the last refusal */
	/* The event types of the plan; 0: not opened. */
	trace_event_id_t type[SHIM_PLAN_TYPES];
	/* The jumps that are prepared, in the order of the plan for each module. */
	struct shim_jump *jump;
	uint32_t jumps;
	/*
	 * Modules of the plan that were found at the last walk; the others may be loaded later.
	 * waits: there are such, and this process was started with the plan.
	 */
	uint32_t found;
	bool waits;
} work;

/*
 * The trampolines of a module and a plan. They are never unmapped, because a thread may be in one.
 * A plan that is equal to a former one uses them again.
 */
static struct batch {
	uint64_t hash;
	uintptr_t base;
	struct shim_trampoline *trampoline;
	/* The place of its jumps in posixtrace_shim_jumps; jumps 0: it has none there. */
	uint32_t first, jumps;
} batches[BATCHES];
static unsigned batch_count;

/*
 * The interface to posixtrace for a process that was running already: memory for a plan, then the
 * plan is carried out up to the jumps, which posixtrace writes. Both return a negative error number
 * if that is impossible. shim_jumps in patch_plan.h has the list of the jumps.
 */
SHIM_WRAPPER long posixtrace_shim_plan(const char *bytes);
SHIM_WRAPPER long posixtrace_shim_patch(const char *unused);
SHIM_WRAPPER extern struct shim_jumps posixtrace_shim_jumps;
struct shim_jumps posixtrace_shim_jumps;

/* The memory for a plan, and whether a thread is here. */
static struct {
	_Atomic int is_busy;
	void *memory;
	size_t bytes;
	/* When a tracer got the memory, into which it may still write; 0: the plan was taken. */
	uint64_t given_ns;
	bool is_late; /* the jumps are added to posixtrace_shim_jumps */
} late;

/* A loaded module and the part of the address space that its segments occupy. */
struct loaded {
	const struct dl_phdr_info *object;
	uintptr_t base, begin, end;
	const struct shim_plan_module *module;
};

/*
 * Counts sites that are not patched. One reason is enough for the event: the last one. Texts are
 * constants.
 */
static void refuse(uint32_t sites, const char *why)
{
	work.refused += sites;
	work.why = why;
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
 * Returns whether both bytes of a semaphore are in a segment that the program can write. A file is
 * hostile: without the check its note could let a tracer change code. Memory that is read-only
 * after the relocation is in a writable segment, too.
 */
static bool is_variable(const struct dl_phdr_info *object, uintptr_t address)
{
	const uintptr_t offset = address - object->dlpi_addr;

	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = header->p_vaddr & ~(uintptr_t)(PAGE - 1);
		uintptr_t end = (header->p_vaddr + header->p_memsz) & ~(uintptr_t)(PAGE - 1);

		if (header->p_type == PT_GNU_RELRO && offset + 1 >= begin && offset < end)
			return false;
	}
	for (uintptr_t at = address; at - address < 2; at++) {
		int protection = protection_at(object, at);

		if (protection < 0 || !(protection & PROT_WRITE) || (protection & PROT_EXEC))
			return false;
	}
	return true;
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

/*
 * Returns whether the processor compares return addresses with a second stack. The dynamic linker
 * decides that at the start of the program.
 */
static bool has_shadow_stack(void)
{
	static bool is_known, has_one;
	uint64_t features = 0;

	if (!is_known)
		has_one = raw_call(SYS_arch_prctl, ARCH_SHSTK_STATUS, (uintptr_t)&features, 0) ==
				  0 &&
			  (features & 1);
	is_known = true;
	return has_one;
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
 * Writes the jump and those behind it that are on the same page or the next one. Returns the number
 * of these jumps, at least 1. A semaphore is incremented last: from then on the program computes
 * the values.
 */
static uint32_t write_jumps(const struct dl_phdr_info *object, const struct shim_jump *jump,
			    uint32_t count)
{
	uintptr_t begin = jump->at & ~(uintptr_t)(PAGE - 1), end = begin;
	int protection = protection_at(object, jump->at);
	uint32_t some = 0;

	for (; some < count; some++) {
		uintptr_t at = jump[some].at;

		if (at < begin || (end != begin && at >= end) ||
		    protection_at(object, at) != protection)
			break;
		end = (at + SHIM_PLAN_JUMP + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	}
	if (protection < 0 || !protect(begin, end, PROT_READ | PROT_WRITE)) {
		refuse(some, "code cannot be made writable");
		return some;
	}
	for (uint32_t i = 0; i < some; i++) {
		volatile uint8_t *at = (volatile uint8_t *)jump[i].at;

		for (unsigned k = 0; k < jump[i].bytes; k++)
			at[k] = jump[i].jump[k];
	}
	protect(begin, end, protection);
	for (uint32_t i = 0; i < some; i++) {
		work.patched += jump[i].kind == SHIM_SITE_FUNCTION ||
				jump[i].kind == SHIM_SITE_PROBE;
		if (jump[i].semaphore)
			++*(volatile uint16_t *)jump[i].semaphore;
	}
	return some;
}

/*
 * Appends the jump to a trampoline. A jump of which only the first byte is written needs a pad at
 * its target. Returns the reason why that is impossible, or NULL.
 */
static const char *add_jump(const struct shim_plan_site *site, const struct loaded *loaded,
			    const struct shim_trampoline *to)
{
	const uintptr_t base = loaded->base;
	struct shim_jump *jump = &work.jump[work.jumps];
	const uint8_t *entry = to->kind == SHIM_SITE_BEFORE ? to->code :
			       to->probe ? to->before : to->call;
	uintptr_t at = base + site->site;

	if (late.is_late && work.jumps == SHIM_JUMPS)
		return "there are too many";
	if (site->semaphore && !is_variable(loaded->object, base + site->semaphore))
		return "its semaphore is not a variable";
	/* A jump across a page could be seen half written, if the tool is killed. */
	if (late.is_late && !site->is_chained && !site->is_byte &&
	    at / PAGE != (at + SHIM_PLAN_JUMP - 1) / PAGE)
		return "it is at the end of a page";
	*jump = (struct shim_jump){ .at = at, .kind = site->kind,
				    .bytes = site->is_chained ? 0 : site->is_byte ? 1 :
					     SHIM_PLAN_JUMP,
				    .semaphore = site->semaphore ? base + site->semaphore : 0,
				    .is_wanted = true };
	jump->until = at + (site->continues ? SHIM_PLAN_JUMP : site->replaced);
	memcpy(jump->original, (const void *)at, SHIM_PLAN_JUMP);
	memcpy(jump->jump, jump->original, SHIM_PLAN_JUMP);
	jump->jump[0] = 0xe9;
	if (site->is_chained) {
		/* The trampoline of the site before continues with this one. */
	} else if (site->is_byte) {
		int32_t distance;

		memcpy(&distance, jump->jump + 1, sizeof distance);
		if (!shim_pad_write(at + SHIM_PLAN_JUMP + (uintptr_t)(intptr_t)distance,
				    (uintptr_t)entry))
			return "the memory to which a jump at the probe leads is in use";
	} else if (!shim_put_distance(jump->jump + 1, at + SHIM_PLAN_JUMP, (uintptr_t)entry)) {
		return "its trampoline is out of reach";
	}
	work.jumps++;
	return NULL;
}

/* Returns the number of probes among the sites of a module, for the memory that they need. */
static uint32_t probes_of(const struct shim_plan_module *module)
{
	uint32_t probes = 0;

	for (uint32_t i = 0; i < module->sites; i++)
		probes += work.plan.site[module->first + i].kind == SHIM_SITE_PROBE;
	return probes;
}

/*
 * Returns whether the moved instructions have a call: they push an address on the stack and jump,
 * so that a shadow stack does not have it.
 */
static bool moves_call(const struct shim_plan_site *site)
{
	for (unsigned i = 0; i < site->fixes && i < SHIM_PLAN_FIXES; i++)
		if (site->fix[i].end == SHIM_PLAN_ABSOLUTE)
			return true;
	return false;
}

/*
 * Writes the trampolines of a module. Returns NULL after it counted the refusals. A site whose
 * trampoline is not usable has function 0.
 */
static struct batch *write_trampolines(const struct loaded *loaded)
{
	const struct shim_plan_site *site = work.plan.site + loaded->module->first;
	const void *const pointers[2] = { (const void *)shim_patch_enter,
					  (const void *)shim_patch_probe };
	uint32_t sites = loaded->module->sites;
	size_t bytes = (POINTERS + (size_t)sites * sizeof(struct shim_trampoline) + PAGE - 1) &
		       ~(size_t)(PAGE - 1);
	size_t probe_bytes = (probes_of(loaded->module) + 1) * sizeof(struct shim_probe);
	unsigned char *memory = shim_trampolines_map(loaded->begin, loaded->end, bytes);
	struct shim_probe *probe = mmap(NULL, probe_bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct shim_trampoline *trampoline;

	if (!memory || probe == MAP_FAILED || batch_count == BATCHES) {
		refuse(sites, "there is no free memory near the module");
		if (memory)
			munmap(memory, bytes);
		if (probe != MAP_FAILED)
			munmap(probe, probe_bytes);
		return NULL;
	}
	/* All trampolines of the module call through these: the shim may be out of reach. */
	memcpy(memory, pointers, sizeof pointers);
	trampoline = (void *)(memory + POINTERS);
	/*
	 * From the last to the first: a site may continue with the next one. If that one is not
	 * usable, neither is this one. A probe gets the next free struct whether its trampoline is
	 * usable or not.
	 */
	for (uint32_t i = sites; i-- > 0;) {
		bool is_probe = site[i].kind == SHIM_SITE_PROBE;
		bool has_next = i + 1 < sites && trampoline[i + 1].function &&
				site[i + 1].kind == SHIM_SITE_PROBE;

		if (is_probe)
			*probe = (struct shim_probe){
				.id = work.type[site[i].type], .arguments = site[i].arguments,
				.argument = work.plan.argument + site[i].first,
				.base = loaded->base,
			};
		if (moves_call(&site[i]) && has_shadow_stack()) {
			trampoline[i].function = 0;
			refuse(1, "it has a call among its instructions, and the process a shadow "
				  "stack");
		} else if ((site[i].continues && !has_next) ||
			   !shim_trampoline_write(&trampoline[i], (const void *const *)memory,
						  &site[i], loaded->base,
						  is_probe ? probe++ : NULL, &trampoline[i + 1])) {
			trampoline[i].function = 0;
			refuse(1, "the code in memory is not that of the file");
		}
	}
	if (mprotect(memory, bytes, PROT_READ | PROT_EXEC)) {
		refuse(sites, "memory cannot be made executable");
		munmap(memory, bytes);
		return NULL;
	}
	batches[batch_count] = (struct batch){ .hash = work.plan.head->hash,
					       .base = loaded->base, .trampoline = trampoline };
	return &batches[batch_count++];
}

/*
 * Finds or writes the trampolines of a module, and prepares its jumps. Trampolines are found by the
 * plan's number and the module's address: the same library may have been unloaded and loaded again
 * at its former place.
 */
static void prepare_module(const struct loaded *loaded)
{
	const struct shim_plan_site *site = work.plan.site + loaded->module->first;
	struct batch *batch = NULL;
	uint32_t first = work.jumps;
	const char *why = NULL;
	bool is_added = false;

	for (unsigned i = 0; i < batch_count; i++)
		if (batches[i].hash == work.plan.head->hash && batches[i].base == loaded->base)
			batch = &batches[i];
	for (uint32_t i = 0; batch && i < batch->jumps; i++)
		work.jump[batch->first + i].is_wanted = true;
	if (batch && batch->jumps)
		return;
	if (!batch)
		batch = write_trampolines(loaded);
	for (uint32_t i = 0; batch && i < loaded->module->sites; i++) {
		/* A chained site is reached only by the jump of the site before it. */
		if (!site[i].is_chained || is_added) {
			why = NULL;
			is_added = false;
			/* The bytes are compared again for trampolines that were there before. */
			if (batch->trampoline[i].function &&
			    !memcmp((const void *)(loaded->base + site[i].site), site[i].original,
				    site[i].replaced)) {
				why = add_jump(&site[i], loaded, &batch->trampoline[i]);
				is_added = !why;
			}
		}
		/* The probe is counted, and not the instructions before it. */
		if (why && site[i].kind != SHIM_SITE_BEFORE)
			refuse(1, why);
	}
	if (!shim_pads_end()) {
		refuse(work.jumps - first, "memory cannot be made executable");
		work.jumps = first;
	}
	if (batch && late.is_late) {
		batch->first = first;
		batch->jumps = work.jumps - first;
	}
}

/*
 * Finds out whether the plan has a loaded object, and where the object is: from its first segment
 * to the end of its last one. False: the plan does not have it.
 */
static bool find_object(struct loaded *loaded, const struct dl_phdr_info *object)
{
	*loaded = (struct loaded){ .object = object, .base = object->dlpi_addr,
				   .begin = UINTPTR_MAX,
				   .module = shim_plan_module_of(&work.plan, object) };
	for (int i = 0; i < object->dlpi_phnum && loaded->module; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (begin < loaded->begin)
			loaded->begin = begin;
		if (begin + header->p_memsz > loaded->end)
			loaded->end = begin + header->p_memsz;
	}
	return loaded->module;
}

/* Callback of dl_iterate_phdr(): patches the object if the plan has it. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct loaded loaded;
	uint32_t first = work.jumps;

	(void)size, (void)arg;
	if (!find_object(&loaded, object))
		return 0;
	work.found++;
	prepare_module(&loaded);
	while (first < work.jumps)
		first += write_jumps(object, &work.jump[first], work.jumps - first);
	return 0;
}

/*
 * Finds the vector registers that programs may use: those that processor and kernel support. The
 * macros of the C library consider both. The functions of the compiler come with a constructor that
 * executes CPUID a dozen times at the start of every program, and under a hypervisor each one costs
 * microseconds.
 */
static void find_vectors(void)
{
	int vectors = SHIM_SSE;

	if (CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW))
		vectors = SHIM_AVX512;
	else if (CPU_FEATURE_ACTIVE(AVX))
		vectors = SHIM_AVX;
	if (work.plan.head->vectors < (uint32_t)vectors)
		vectors = (int)work.plan.head->vectors;
	/* Another plan may have needed more. */
	if (vectors > shim_vectors)
		shim_vectors = vectors;
}

/*
 * Opens the event types of the probes, in the order of the plan. Returns false if one of them is
 * not available: there are too many, or an earlier plan has given it other fields. Events of its
 * probes would be counted as lost.
 */
static bool open_types(void)
{
	const struct shim_plan *plan = &work.plan;
	bool good = true;

	for (uint32_t i = 0; i < plan->head->types; i++) {
		work.type[i] = shim_probe_open(plan->text + plan->type[i].name,
					       plan->text + plan->type[i].schema);
		good &= work.type[i] != 0;
	}
	return good;
}

/*
 * Allocates the list of jumps, with one element more than needed so that it is never empty. Pages
 * that are not used need no memory. False: there is no memory.
 */
static bool begin_jumps(void)
{
	void *memory = mmap(NULL, (size_t)(work.plan.head->sites + 1) * sizeof *work.jump,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	work.jumps = 0;
	work.jump = memory == MAP_FAILED ? NULL : memory;
	return work.jump;
}

/*
 * Returns whether the plan has functions, whose calls need slots for return addresses. Probes need
 * none, nor do the instructions before them.
 */
static bool has_functions(void)
{
	for (uint32_t i = 0; i < work.plan.head->sites; i++)
		if (work.plan.site[i].kind != SHIM_SITE_PROBE &&
		    work.plan.site[i].kind != SHIM_SITE_BEFORE)
			return true;
	return false;
}

/*
 * Records how many functions and probes were patched, and why others were not. The planner has
 * printed its own refusals; the event has those that only the process can find.
 */
static void report(void)
{
	struct {
		uint32_t patched, refused;
		char why[SHIM_TEXT];
	} data = { .patched = work.patched, .refused = work.refused };

	if (*shim_switch[SHIM_PATCHED])
		shim_put(SHIM_PATCHED, &data,
			 8 + shim_text(data.why, sizeof data.why, work.why ? work.why : ""),
			 shim_caller());
}

void shim_patch_begin(void)
{
	const char *path = secure_getenv(SHIM_PLAN_VARIABLE);
	int saved = errno;

	/*
	 * In a process that records nothing now, everything is patched nevertheless: a stream may
	 * be attached later.
	 */
	if (!path)
		return;
	work.why = shim_plan_map(&work.plan, path);
	if (work.why)
		work.refused = 0;
	else if (!__libc_single_threaded)
		refuse(work.plan.head->sites, "the process has threads already");
	else if (has_functions() && has_shadow_stack())
		refuse(work.plan.head->sites, "the process has a shadow stack");
	else if (!begin_jumps() || (has_functions() && !shim_slots_begin()))
		refuse(work.plan.head->sites, "there is no memory");
	else {
		find_vectors();
		open_types();
		dl_iterate_phdr(patch_object, NULL);
		work.waits = work.found < work.plan.head->modules;
	}
	report();
	errno = saved;
}

/* A library of the plan may also never be loaded. The cost is a search after each dlopen(). */
bool shim_patch_waits(void)
{
	return work.waits;
}

/*
 * The thread that has loaded a module may be the only one: then nothing else executes it now. Sites
 * that are patched already do not have the bytes of the plan, and are left alone.
 */
void shim_patch_loaded(void)
{
	int saved = errno;
	uint32_t patched = work.patched;

	if (!work.waits || !__libc_single_threaded || late.is_late)
		return;
	/* The former jumps are written, and their list is not needed any more. */
	work.jumps = work.found = 0;
	dl_iterate_phdr(patch_object, NULL);
	work.waits = work.found < work.plan.head->modules;
	if (work.patched != patched)
		report();
	errno = saved;
}

/*
 * Callback of dl_iterate_phdr(): prepares the jumps of the object if the plan has it. Its code does
 * not change here, because other threads execute it.
 */
static int prepare_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct loaded loaded;

	(void)size, (void)arg;
	if (find_object(&loaded, object))
		prepare_module(&loaded);
	return 0;
}

/*
 * Returns the address of memory into which posixtrace writes a plan. Memory of a former plan that
 * no trampoline refers to is released. While a tracer writes its plan, another one waits. A tracer
 * that was killed meanwhile leaves its memory mapped: it may only have been slow. bytes is the size
 * as text, because the call has a string.
 */
long posixtrace_shim_plan(const char *bytes)
{
	void *memory;

	if (atomic_exchange(&late.is_busy, 1))
		return -EAGAIN;
	if (late.given_ns && shim_now() - late.given_ns < GIVEN_NS) {
		atomic_store(&late.is_busy, 0);
		return -EAGAIN;
	}
	if (late.memory && !late.given_ns)
		munmap(late.memory, late.bytes);
	late.bytes = (size_t)strtoul(bytes, NULL, 10);
	memory = mmap(NULL, late.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late.memory = memory == MAP_FAILED ? NULL : memory;
	late.given_ns = late.memory ? shim_now() : 0;
	atomic_store(&late.is_busy, 0);
	return late.memory ? (long)late.memory : -ENOMEM;
}

/*
 * Prepares what the plan needs in general: slots for functions, and the list of jumps. Returns 0,
 * or a negative error number. Both remain for later plans.
 */
static int begin_late(void)
{
	if (has_functions() && has_shadow_stack())
		return -ENOTSUP;
	if (!posixtrace_shim_jumps.jump) {
		void *memory = mmap(NULL, SHIM_JUMPS * sizeof(struct shim_jump),
				    PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			return -ENOMEM;
		posixtrace_shim_jumps.jump = (uint64_t)(uintptr_t)memory;
	}
	/*
	 * The slots in use must keep their return addresses, so that they are prepared once. The
	 * library of the unwinder is loaded by the thread that also loads the shim.
	 */
	if (has_functions() && !shim_slots_are_used() && !shim_slots_begin())
		return -ENOMEM;
	return 0;
}

/*
 * Called by a thread that posixtrace has stopped at a safe place, as posixtrace_shim_attach().
 * Returns the number of jumps that are wanted. After an error the former plan is still the one that
 * modules are patched by.
 */
long posixtrace_shim_patch(const char *unused)
{
	const struct work before = work;
	unsigned batches_before = batch_count;
	long wanted = 0;
	int err;

	(void)unused;
	if (atomic_exchange(&late.is_busy, 1))
		return -EAGAIN;
	late.given_ns = 0;
	if (!late.memory || shim_plan_take(&work.plan, late.memory, late.bytes))
		err = -EINVAL;
	else
		err = begin_late();
	if (!err && !open_types())
		err = -EEXIST;
	if (err) {
		work = before;
	} else {
		work.patched = work.refused = 0;
		work.why = NULL;
		/* A shim that was preloaded may have chosen other families. */
		if (has_functions())
			shim_choose_again("func", true);
		late.is_late = true;
		work.jump = (void *)(uintptr_t)posixtrace_shim_jumps.jump;
		work.jumps = (uint32_t)posixtrace_shim_jumps.count;
		find_vectors();
		dl_iterate_phdr(prepare_object, NULL);
		posixtrace_shim_jumps.count = work.jumps;
		for (uint32_t i = 0; i < work.jumps; i++)
			wanted += work.jump[i].is_wanted;
	}
	/* Trampolines of probes refer to the arguments in the plan, which then remains. */
	if (batch_count != batches_before)
		late.memory = NULL;
	atomic_store(&late.is_busy, 0);
	return err ? err : wanted;
}

/* A thread of the parent may have been in one of the two functions. */
void shim_patch_in_child(void)
{
	atomic_store(&late.is_busy, 0);
	late.given_ns = 0;
}

#else

/* Other processors have no trampolines here: the tool refuses the option. */
void shim_patch_begin(void)
{
}

bool shim_patch_waits(void)
{
	return false;
}

void shim_patch_loaded(void)
{
}

void shim_patch_in_child(void)
{
}

void shim_patch_thread_ends(void)
{
}

#endif
