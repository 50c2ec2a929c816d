/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_module.c - prepares the patches of one loaded module: its trampolines, and a list
 * of the jumps to them.
 *
 * A module of the plan is found by its build-id, and each site must have the bytes that the tool
 * saw when it made the plan. All trampolines and pads of a module are executable before its first
 * jump is written, and no page is writable and executable at the same time. This file does not
 * change the code of the module.
 */
#include "preload/patch_module.h"

#include <string.h>
#include <sys/mman.h>
#if defined __x86_64__
# include <sys/platform/x86.h>
#endif
#include <sys/syscall.h>

#include "preload/patch_pad.h"
#include "preload/patch_trampoline.h"
#include "preload/shim.h"

#if defined __x86_64__

#define ARCH_SHSTK_STATUS 0x5005 /* request of arch_prctl(2), since Linux 6.6 */

#define PAGE     4096
/*
 * bytes in front of the trampolines, for the pointers through which the trampolines call the shim
 */
#define POINTERS 64
#define BATCHES  1024 /* the greatest number of batches in the life of a process */

/*
 * The trampolines for one module by one plan. They are never unmapped, because a thread may be
 * executing one. A plan that is equal to an earlier plan uses the same trampolines again.
 */
static struct batch {
	uint64_t hash;
	uintptr_t base;
	struct shim_trampoline *trampoline;
	/*
	 * For late work: the index of this batch's first jump in the list, and the number of its
	 * jumps there. Otherwise both are 0.
	 */
	uint32_t first, jumps;
	/*
	 * The identity of the module: another build of a library may be loaded at the same address
	 * later.
	 */
	struct shim_plan_module module;
	/* true if the module was loaded when shim_work_forget() last examined all modules */
	bool is_loaded;
} batches[BATCHES];
static unsigned batch_count;

/* A loaded module and the part of the address space that its segments occupy. */
struct loaded {
	const struct dl_phdr_info *object;
	uintptr_t base, begin, end;
	const struct shim_plan_module *module;
};

/* The event SHIM_PATCHED gets the number and the reason. */
void shim_work_refuse(struct shim_work *work, uint32_t sites, const char *why)
{
	work->refused += sites;
	work->why = why;
}

/*
 * A module has few segments, so a search of the program headers is enough. For a page that the
 * dynamic linker makes read-only after the relocation, the result is still the protection of the
 * segment.
 */
int shim_protection_at(const struct dl_phdr_info *object, uintptr_t address)
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
 * Returns whether both bytes of a semaphore are in a segment that the program can write. The file
 * may be hostile: without this check, a note in the file could make a tracer change code. Memory
 * that is read-only after the relocation is refused as well, although it is in a writable segment.
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
		int protection = shim_protection_at(object, at);

		if (protection < 0 || !(protection & PROT_WRITE) || (protection & PROT_EXEC))
			return false;
	}
	return true;
}

/* The result is stored, because it cannot change and is needed for each plan. */
bool shim_has_shadow_stack(void)
{
	static bool is_known, has_one;
	uint64_t features = 0;

	if (!is_known)
		has_one = shim_raw_call(SYS_arch_prctl, ARCH_SHSTK_STATUS, (uintptr_t)&features,
					0) == 0 &&
			  (features & 1);
	is_known = true;
	return has_one;
}

/*
 * Appends the jump to a trampoline. A jump of which only the first byte is written needs a pad at
 * its target. Returns NULL, or the reason why the jump is not possible.
 */
static const char *add_jump(struct shim_work *work, const struct shim_plan_site *site,
			    const struct loaded *loaded, const struct shim_trampoline *to)
{
	const uintptr_t base = loaded->base;
	struct shim_jump *jump = &work->jump[work->jumps];
	const uint8_t *entry = to->kind == SHIM_SITE_BEFORE ? to->code :
			       to->kind == SHIM_SITE_PROBE  ? to->before :
							      to->call;
	uintptr_t at = base + site->site;

	if (work->jumps == work->room)
		return "there are too many";
	if (site->semaphore && !is_variable(loaded->object, base + site->semaphore))
		return "its semaphore is not a variable";
	/*
	 * A late jump must not cross the border of two pages. If the tool were killed between its
	 * writes to the two pages, half a jump would remain.
	 */
	if (work->is_late && !site->is_chained && !site->is_byte &&
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
		/*
		 * No jump is written here: the trampoline of the site before continues with this
		 * trampoline.
		 */
	} else if (site->is_byte) {
		int32_t distance;

		memcpy(&distance, jump->jump + 1, sizeof distance);
		if (!shim_pad_write(at + SHIM_PLAN_JUMP + (uintptr_t)(intptr_t)distance,
				    (uintptr_t)entry))
			return "the memory to which a jump at the probe leads is in use";
	} else if (!shim_put_distance(jump->jump + 1, at + SHIM_PLAN_JUMP, (uintptr_t)entry)) {
		return "its trampoline is out of reach";
	}
	work->jumps++;
	return NULL;
}

/* Returns whether a site is a function whose arguments or result are recorded. */
static bool has_values(const struct shim_plan_site *site)
{
	return site->kind == SHIM_SITE_FUNCTION && site->has_type;
}

/* Returns whether a site has an event type of its own. Such a site has a struct shim_probe. */
static bool has_probe(const struct shim_plan_site *site)
{
	return site->kind == SHIM_SITE_PROBE || has_values(site);
}

/* Returns the number of sites of a module that have a struct shim_probe. */
static uint32_t probes_of(const struct shim_work *work, const struct shim_plan_module *module)
{
	uint32_t probes = 0;

	for (uint32_t i = 0; i < module->sites; i++)
		probes += has_probe(&work->plan.site[module->first + i]);
	return probes;
}

/*
 * Returns whether the moved instructions have a call: such a moved call pushes its return address
 * and jumps, so the return address is missing on a shadow stack.
 */
static bool moves_call(const struct shim_plan_site *site)
{
	for (unsigned i = 0; i < site->fixes && i < SHIM_PLAN_FIXES; i++)
		if (site->fix[i].end == SHIM_PLAN_ABSOLUTE)
			return true;
	return false;
}

/*
 * Writes the trampolines of a module. Returns NULL if that is impossible; the sites are then
 * counted as refused. The member `function` of a trampoline that is not usable is 0.
 */
static struct batch *write_trampolines(struct shim_work *work, const struct loaded *loaded)
{
	const struct shim_plan_site *site = work->plan.site + loaded->module->first;
	const void *const pointers[2] = { (const void *)shim_patch_enter,
					  (const void *)shim_patch_probe };
	uint32_t sites = loaded->module->sites;
	size_t bytes = (POINTERS + (size_t)sites * sizeof(struct shim_trampoline) + PAGE - 1) &
		       ~(size_t)(PAGE - 1);
	size_t probe_bytes = (probes_of(work, loaded->module) + 1) * sizeof(struct shim_probe);
	unsigned char *memory = shim_trampolines_map(loaded->begin, loaded->end, bytes);
	struct shim_probe *const probes = mmap(NULL, probe_bytes, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct shim_probe *probe = probes;
	const uint32_t refused = work->refused;
	struct shim_trampoline *trampoline;

	if (!memory || probes == MAP_FAILED || batch_count == BATCHES) {
		shim_work_refuse(work, sites, "there is no free memory near the module");
		if (memory)
			munmap(memory, bytes);
		if (probes != MAP_FAILED)
			munmap(probes, probe_bytes);
		return NULL;
	}
	/*
	 * All trampolines of the module call through these pointers, because the shim may be out of
	 * reach of a direct call.
	 */
	memcpy(memory, pointers, sizeof pointers);
	trampoline = (void *)(memory + POINTERS);
	/*
	 * The loop goes from the last site to the first, because a site may continue with the next
	 * site. If the next site is not usable, this site is not usable, either. A site with an
	 * event type of its own gets the next free struct shim_probe.
	 */
	for (uint32_t i = sites; i-- > 0;) {
		bool is_probe = has_probe(&site[i]);
		bool has_next = i + 1 < sites && trampoline[i + 1].function &&
				site[i + 1].kind == SHIM_SITE_PROBE;

		if (is_probe)
			*probe = (struct shim_probe){
				.id = work->type[site[i].type], .arguments = site[i].arguments,
				.argument = work->plan.argument + site[i].first,
				.results = site[i].has_result,
				.base = loaded->base,
			};
		if (moves_call(&site[i]) && shim_has_shadow_stack()) {
			trampoline[i].function = 0;
			shim_work_refuse(work, 1, "it has a call among its instructions, and the "
						  "process a shadow stack");
		} else if ((site[i].continues && !has_next) ||
			   !shim_trampoline_write(&trampoline[i], (const void *)memory, &site[i],
						  loaded->base,
						  is_probe ? probe++ : NULL, &trampoline[i + 1])) {
			trampoline[i].function = 0;
			shim_work_refuse(work, 1, "the code in memory is not that of the file");
		}
	}
	if (mprotect(memory, bytes, PROT_READ | PROT_EXEC)) {
		/* `sites` includes the sites that the loop has refused. */
		work->refused = refused;
		shim_work_refuse(work, sites, "memory cannot be made executable");
		munmap(memory, bytes);
		munmap(probes, probe_bytes);
		return NULL;
	}
	batches[batch_count] = (struct batch){ .hash = work->plan.head->hash,
					       .base = loaded->base, .trampoline = trampoline,
					       .module = *loaded->module };
	work->batches++;
	return &batches[batch_count++];
}

/*
 * Returns the trampolines of a module, NULL if it has none. They are found by the plan's hash, the
 * module's address and its identity. A library may be loaded again at its former address, or
 * another library of the plan may be loaded there.
 */
static struct batch *batch_of(const struct shim_work *work, const struct loaded *loaded)
{
	for (unsigned i = 0; i < batch_count; i++)
		if (batches[i].hash == work->plan.head->hash && batches[i].base == loaded->base &&
		    !memcmp(&batches[i].module, loaded->module, sizeof *loaded->module))
			return &batches[i];
	return NULL;
}

/*
 * Returns whether the jumps of the module are written. The jumps of a module are all written or all
 * not written, so the function examines one site. A library that was loaded again has its original
 * bytes.
 */
static bool is_patched(const struct shim_work *work, const struct loaded *loaded,
		       const struct batch *batch)
{
	const struct shim_plan_site *site = work->plan.site + loaded->module->first;

	for (uint32_t i = 0; batch && i < loaded->module->sites; i++)
		if (batch->trampoline[i].function && !site[i].is_chained)
			return memcmp((const void *)(loaded->base + site[i].site),
				      site[i].original, site[i].replaced) != 0;
	return false;
}

/*
 * Marks jumps as wanted, for a module that already has jumps in the list. If the library was
 * unloaded and loaded again at the same address, its code has no jump and its semaphores are 0. Its
 * jumps are then marked as not written.
 */
static void mark_wanted(struct shim_jump *jump, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		jump[i].is_wanted = true;
		if (jump[i].bytes &&
		    !memcmp((const void *)jump[i].at, jump[i].original, SHIM_PLAN_JUMP))
			jump[i].is_written = false;
		/* A chained site has the state of the jump before it. */
		else if (!jump[i].bytes && i)
			jump[i].is_written &= jump[i - 1].is_written;
	}
}

/* Finds or writes the trampolines of a module, and prepares its jumps. */
static void prepare_module(struct shim_work *work, const struct loaded *loaded)
{
	const struct shim_plan_site *site = work->plan.site + loaded->module->first;
	struct batch *batch = batch_of(work, loaded);
	uint32_t first = work->jumps;
	const char *why = NULL;
	bool is_added = false;

	/*
	 * All modules are examined after each dlopen(), so the jumps of this module may be written
	 * already.
	 */
	if (!work->is_late && is_patched(work, loaded, batch))
		return;
	if (batch && batch->jumps) {
		mark_wanted(&work->jump[batch->first], batch->jumps);
		return;
	}
	if (!batch)
		batch = write_trampolines(work, loaded);
	for (uint32_t i = 0; batch && i < loaded->module->sites; i++) {
		/*
		 * A chained site is reached only by the jump of the site before it. If that site
		 * got no jump, the chained site is refused for the same reason.
		 */
		if (!site[i].is_chained || is_added) {
			why = NULL;
			is_added = false;
			/*
			 * The trampolines may be older than this mapping of the module, so the
			 * bytes are compared again.
			 */
			if (batch->trampoline[i].function &&
			    !memcmp((const void *)(loaded->base + site[i].site), site[i].original,
				    site[i].replaced)) {
				why = add_jump(work, &site[i], loaded, &batch->trampoline[i]);
				is_added = !why;
			}
		}
		/*
		 * A site of the kind SHIM_SITE_BEFORE belongs to a probe; only the probe is
		 * counted.
		 */
		if (why && site[i].kind != SHIM_SITE_BEFORE)
			shim_work_refuse(work, 1, why);
	}
	if (!shim_pads_end()) {
		shim_work_refuse(work, work->jumps - first, "memory cannot be made executable");
		work->jumps = first;
	}
	if (batch && work->is_late) {
		batch->first = first;
		batch->jumps = work->jumps - first;
	}
}

/*
 * Determines whether the plan has a loaded object, and where the object is: from its first segment
 * to the end of its last segment. Returns false if the object is not in the plan.
 */
static bool find_object(const struct shim_work *work, struct loaded *loaded,
			const struct dl_phdr_info *object)
{
	*loaded = (struct loaded){ .object = object, .base = object->dlpi_addr,
				   .begin = UINTPTR_MAX,
				   .module = shim_plan_module_of(&work->plan, object) };
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

/* For an object that is not in the plan, the function only compares identities. */
bool shim_work_object(struct shim_work *work, const struct dl_phdr_info *object)
{
	struct loaded loaded;

	if (!find_object(work, &loaded, object))
		return false;
	prepare_module(work, &loaded);
	return true;
}

/*
 * Finds the vector registers that programs may use: those that processor and kernel support. The
 * macros of the C library consider both. The compiler has functions for that, too, but they add a
 * constructor that executes CPUID a dozen times at the start of every program. Under a hypervisor
 * each CPUID costs microseconds.
 */
static void find_vectors(const struct shim_work *work)
{
	int vectors = SHIM_SSE;

	if (CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW))
		vectors = SHIM_AVX512;
	else if (CPU_FEATURE_ACTIVE(AVX))
		vectors = SHIM_AVX;
	if (work->plan.head->vectors < (uint32_t)vectors)
		vectors = (int)work->plan.head->vectors;
	/* The value never shrinks, because another plan may need more registers. */
	if (vectors > shim_vectors)
		shim_vectors = vectors;
}

/* Sites that would be refused are included, so the result is an upper limit. */
uint32_t shim_work_missing(const struct shim_work *work, const struct dl_phdr_info *object)
{
	struct loaded loaded;

	if (!find_object(work, &loaded, object) ||
	    is_patched(work, &loaded, batch_of(work, &loaded)))
		return 0;
	return loaded.module->sites;
}

/*
 * Callback of dl_iterate_phdr(): notes which batches belong to the object. Several plans may have
 * made batches for one module.
 */
static int note_loaded(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (unsigned i = 0; i < batch_count; i++)
		if (batches[i].jumps && batches[i].base == object->dlpi_addr)
			batches[i].is_loaded |= shim_plan_is_module(&batches[i].module, object);
	return 0;
}

/*
 * Comparing the bytes at a jump's address would not be enough: two builds of a library may have the
 * same bytes at the same address.
 */
void shim_work_forget(struct shim_work *work)
{
	for (unsigned i = 0; i < batch_count; i++)
		batches[i].is_loaded = false;
	dl_iterate_phdr(note_loaded, NULL);
	for (unsigned i = 0; i < batch_count; i++)
		for (uint32_t k = 0; k < batches[i].jumps && !batches[i].is_loaded; k++) {
			work->jump[batches[i].first + k].is_wanted = false;
			work->jump[batches[i].first + k].is_written = false;
		}
}

/* The vector registers are determined here, because this function runs once for each plan. */
bool shim_work_types(struct shim_work *work)
{
	const struct shim_plan *plan = &work->plan;
	bool good = true;

	find_vectors(work);
	for (uint32_t i = 0; i < plan->head->types; i++) {
		work->type[i] = shim_probe_open(plan->text + plan->type[i].name,
						plan->text + plan->type[i].schema);
		good &= work->type[i] != 0;
	}
	return good;
}

/*
 * The list has one element more than needed, so that it is never empty. It is never unmapped,
 * because posixtrace may read it.
 */
bool shim_work_list(struct shim_work *work, uint32_t room)
{
	void *memory = mmap(NULL, ((size_t)room + 1) * sizeof *work->jump, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	work->jumps = 0;
	work->room = room;
	work->jump = memory == MAP_FAILED ? NULL : memory;
	return work->jump;
}

bool shim_work_has_values(const struct shim_work *work)
{
	for (uint32_t i = 0; i < work->plan.head->sites; i++)
		if (has_values(&work->plan.site[i]))
			return true;
	return false;
}

/* The hooks of exceptions and of longjmp() count as functions, because they need the slots, too. */
bool shim_work_has_functions(const struct shim_work *work)
{
	for (uint32_t i = 0; i < work->plan.head->sites; i++)
		if (work->plan.site[i].kind != SHIM_SITE_PROBE &&
		    work->plan.site[i].kind != SHIM_SITE_BEFORE)
			return true;
	return false;
}

#endif
