/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/dl.c - family dl: libraries are loaded and unloaded while the program runs.
 *
 * dlopen() looks at who called it: that object's DT_RPATH and DT_RUNPATH say where the library is
 * searched, its place is $ORIGIN, and it is the new library's loader, whose DT_RPATH serves for
 * what that one needs. So a wrapper must not be the caller. Only a path, without $, in a program in
 * which no object has a DT_RPATH, is opened the same whoever asks; then the call is timed and its
 * result told. Everything else goes to dlopen() by a jump, and the event comes before.
 *
 * What is mapped is told whatever family is chosen: before a library goes, so that its addresses
 * are known even if nobody looked while it was there, after that, so that they are free again, and
 * after one came, where the call comes back here.
 *
 * On other processors than x86-64 dlopen() is the C library's, and not seen. Nor is dlmopen().
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/shim.h"
#include "preload/text.h"

static void tell_mappings(void)
{
	int saved = errno;

	if (*posix_trace_active_np && !shim_is_blind)
		posix_trace_mapping_tell_np();
	errno = saved;
}

SHIM_NEXT(dlclose, shim_no_number);

static int close_timed(void *handle, const void *caller)
{
	struct dlclose_data {
		uint64_t time;
		uint64_t handle;
		int32_t result;
	} data = { .handle = (uint64_t)(uintptr_t)handle, .result = -1 };

	SHIM_CALL(DL_CLOSE, data);
	call.caller = caller;
	call.len = offsetof(struct dlclose_data, result) + 4;
	data.result = next(dlclose)(handle);
	return data.result;
}

SHIM_WRAPPER int dlclose(void *handle)
{
	int result;

	tell_mappings();
	result = shim_on(DL_CLOSE) ? close_timed(handle, shim_caller()) : next(dlclose)(handle);
	tell_mappings();
	return result;
}

#if defined __x86_64__

SHIM_NEXT(dlopen, shim_no_pointer);

struct opening {
	void *jump;   /* to where, or NULL */
	void *handle;
};

/* Called by the code below. */
__attribute__((used)) struct opening shim_dlopen(const char *path, int mode, const void *caller);

static int has_rpath(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	(void)bytes, (void)arg;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		const ElfW(Dyn) *entry;

		if (header->p_type != PT_DYNAMIC)
			continue;
		entry = (const void *)(uintptr_t)(object->dlpi_addr + header->p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_RPATH)
				return 1;
	}
	return 0;
}

static bool is_same_for_all(const char *path)
{
	return path && strchr(path, '/') && !strchr(path, '$') && !dl_iterate_phdr(has_rpath, NULL);
}

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

struct opening shim_dlopen(const char *path, int mode, const void *caller)
{
	struct {
		uint32_t mode;
		char path[SHIM_TEXT];
	} data;

	if (!*shim_switch[DL_OPEN] || !shim_is_wanted(DL_OPEN, caller))
		return (struct opening){ .jump = (void *)next(dlopen) };
	if (is_same_for_all(path)) {
		struct opening opening = { .handle = open_timed(path, mode, caller) };

		tell_mappings();
		return opening;
	}
	data.mode = (uint32_t)mode;
	shim_put(DL_OPEN, &data, 4 + shim_text(data.path, sizeof data.path, path), caller);
	return (struct opening){ .jump = (void *)next(dlopen) };
}

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

#endif
