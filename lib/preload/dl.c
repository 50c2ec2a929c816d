/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/dl.c - family dl: libraries are loaded and unloaded while the program runs.
 *
 * The result of dlopen() depends on the object that calls it. The dynamic linker searches the
 * DT_RPATH and the DT_RUNPATH of this object, and $ORIGIN means the folder of this object. Its
 * DT_RPATH is also searched for the libraries that the new library needs. The wrapper may therefore
 * call dlopen() only if the result is the same for every caller. For that, the name must have no $,
 * and no library in the program may have a DT_RPATH. If the name has no slash, the caller, the shim
 * and the program must also have no DT_RUNPATH. The DT_RPATH of the program itself is used for all
 * callers, so it does not matter. If these conditions hold, the shim calls dlopen(), times the call
 * and records the result. Otherwise the shim records the event first and jumps to dlopen().
 *
 * The mapped files are reported independently of the chosen families. They are reported before a
 * library is unloaded, so that its addresses are in the log even if no observer looked while it was
 * loaded. They are reported again afterwards, to show that the addresses are free. They are also
 * reported after a library was loaded, if the call returns to the shim.
 *
 * If the shim was loaded into a running process, a new library does not call the wrappers by
 * itself. The shim redirects the library's slots after the call of dlopen(), or at the next dlsym()
 * if dlopen() did not return to the shim (inject.c).
 *
 * On other processors than x86-64 and arm64, the shim does not wrap dlopen(). It never wraps
 * dlmopen().
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/inject.h"
#include "preload/io.h"
#include "preload/patch.h"
#include "preload/shim.h"
#include "preload/text.h"

/*
 * Reports the files that are mapped now, if the process is traced and this thread may record
 * events. Keeps errno, which belongs to the program's call.
 */
static void report_mappings(void)
{
	int saved = errno;

	if (*posix_trace_active_np && !shim_is_blind)
		posix_trace_mapping_publish_np();
	errno = saved;
}

SHIM_NEXT(dlclose, shim_no_number);

/* Calls dlclose() and records it. The struct ends in padding, which is not part of the event. */
static int close_timed(void *handle, const void *caller)
{
	struct dlclose_data {
		uint64_t time;
		uint64_t handle;
		int32_t result;
	} data = { .handle = (uint64_t)(uintptr_t)handle, .result = -1 };

	SHIM_CALL(DL_CLOSE, data);
	/*
	 * The event's address is that of the program's call, not the address of this function's
	 * caller.
	 */
	call.caller = caller;
	call.len = offsetof(struct dlclose_data, result) + 4;
	data.result = next(dlclose)(handle);
	return data.result;
}

/* dlclose(3). */
SHIM_WRAPPER int dlclose(void *handle)
{
	/*
	 * If the shim itself calls dlclose(), no object is unloaded, because the shim closes only
	 * objects that others have opened as well.
	 */
	const bool may_unload = !shim_is_own(shim_caller());
	int result;

	report_mappings();
	if (may_unload)
		shim_uring_unloaded();
	result = shim_on(DL_CLOSE) ? close_timed(handle, shim_caller()) : next(dlclose)(handle);
	/* A destructor of the object may have called a function of liburing since. */
	if (may_unload)
		shim_uring_unloaded();
	report_mappings();
	return result;
}

#if defined __x86_64__ || defined __aarch64__

SHIM_NEXT(dlopen, shim_no_pointer);

/* Two registers return these values to the assembly. */
struct opening {
	void *jump;   /* the function to jump to, or NULL if `handle` is the result */
	void *handle;
};

/* The assembly below calls this function. */
__attribute__((used)) struct opening shim_dlopen(const char *path, int mode, const void *caller);

/* The properties of a call of dlopen() that has_rpath() needs. */
struct name {
	const void *caller;
	bool is_searched; /* the name has no slash */
};

/* Returns whether a loaded object has this entry in its dynamic section. */
static bool has_entry(const struct dl_phdr_info *object, const ElfW(Phdr) *header, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *entry = (const void *)(uintptr_t)(object->dlpi_addr + header->p_vaddr);

	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return true;
	return false;
}

/* Returns whether an address is in a segment of the object. */
static bool has_address(const struct dl_phdr_info *object, const void *address)
{
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    (uintptr_t)address - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr <
			    object->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/*
 * Callback of dl_iterate_phdr(): returns 1 if the object is a library with a DT_RPATH. For a name
 * without a slash, also returns 1 if the object has a DT_RUNPATH and is the caller's object, the
 * shim or the program. The program is included, because the dynamic linker treats a caller that is
 * in no object, such as generated code, as the program. The program headers and the dynamic section
 * of a loaded object are mapped. The program itself has an empty name.
 */
static int has_rpath(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const struct name *name = arg;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_DYNAMIC &&
		    ((*object->dlpi_name && has_entry(object, header, DT_RPATH)) ||
		     (name->is_searched && has_entry(object, header, DT_RUNPATH) &&
		      (!*object->dlpi_name || has_address(object, name->caller) ||
		       has_address(object, (const void *)has_rpath)))))
			return 1;
	}
	return 0;
}

/*
 * Returns whether dlopen() of the name gives the same result for this caller and for the shim.
 * Without DT_RPATH and DT_RUNPATH, a name without a slash is searched only in folders that are the
 * same for all callers: those of the environment, the cache and the system.
 */
static bool is_same_for_all(const char *path, const void *caller)
{
	struct name name = { caller, path && !strchr(path, '/') };

	return path && !strchr(path, '$') && !dl_iterate_phdr(has_rpath, &name);
}

/* Calls dlopen() and records it with its result. */
static void *open_timed(const char *path, int mode, const void *caller)
{
	struct opened_data {
		uint64_t time;
		uint64_t handle;
		uint32_t mode;
		char path[SHIM_TEXT];
	} data = { .mode = (uint32_t)mode };
	void *handle;

	SHIM_CALL(DL_OPENED, data);
	call.caller = caller;
	call.len =
		offsetof(struct opened_data, path) + shim_text(data.path, sizeof data.path, path);
	handle = next(dlopen)(path, mode);
	data.handle = (uint64_t)(uintptr_t)handle;
	return handle;
}

/*
 * Decides how to proceed with a call of dlopen(). `path` and `mode` are its arguments, `caller` is
 * its return address.
 */
struct opening shim_dlopen(const char *path, int mode, const void *caller)
{
	struct {
		uint32_t mode;
		char path[SHIM_TEXT];
	} data;
	bool is_wanted = *shim_switch[DL_OPEN] && shim_is_wanted(DL_OPEN, caller);

	if (!is_wanted && ((!shim_inject_is_attached() && !shim_patch_waits()) ||
			   shim_is_own(caller))) {
		shim_patch_may_load();
		return (struct opening){ .jump = (void *)next(dlopen) };
	}
	if (is_same_for_all(path, caller)) {
		struct opening opening = { .handle = is_wanted ? open_timed(path, mode, caller) :
								 next(dlopen)(path, mode) };

		report_mappings();
		/*
		 * After a failure the shim does not look for new modules, because the thread's
		 * message for dlerror() must stay.
		 */
		if (opening.handle) {
			shim_inject_loaded();
			shim_patch_loaded();
		}
		return opening;
	}
	/*
	 * The shim cannot act after a jump. If the shim was injected, the next call of dlsym()
	 * looks for new modules.
	 */
	shim_inject_may_load();
	shim_patch_may_load();
	if (!is_wanted)
		return (struct opening){ .jump = (void *)next(dlopen) };
	/*
	 * The call cannot be timed, because it does not return to the shim. The event is therefore
	 * recorded before the call.
	 */
	data.mode = (uint32_t)mode;
	shim_put(DL_OPEN, &data, 4 + shim_text(data.path, sizeof data.path, path), caller);
	return (struct opening){ .jump = (void *)next(dlopen) };
}

/*
 * The wrapper dlopen(). It saves the two arguments and calls shim_dlopen() with them and the return
 * address. Then it either jumps to the real dlopen(), with the stack as it was, or returns the
 * handle. The cfi directives let debuggers and exceptions unwind the frame.
 */
#if defined __x86_64__

/* The subtraction of 8 aligns the stack to 16 bytes at the call. */
__asm__(
	"	.text\n"
	"	.globl dlopen\n"
	"	.type dlopen, @function\n"
	"	.p2align 4\n"
	"dlopen:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	call shim_dlopen\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	jmp *%rax\n"
	"1:	movq %rdx, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size dlopen, . - dlopen\n");

#else

/* The jump is by x16, which `bti c` in front of the real function permits. */
__asm__(
	"	.text\n"
	"	.globl dlopen\n"
	"	.type dlopen, %function\n"
	"	.p2align 4\n"
	"dlopen:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	.cfi_offset 29, -32\n"
	"	.cfi_offset 30, -24\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	mov x2, x30\n"
	"	bl shim_dlopen\n"
	"	mov x16, x0\n"
	"	mov x2, x1\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	mov x0, x2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size dlopen, . - dlopen\n");

#endif

#endif
