/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that the table of symbols has the same answer as elfutils for each address where an answer
 * may change: at the begin and the end of each symbol, and one byte before and behind them. The
 * symbols are those of this program, which has symbols that overlap, that have several names or no
 * size, and those of its libraries.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "support/support.h"
#include "symbols/elf_names.c"

/* NAME at BEGIN of the 4096 bytes that begin at odd_names. */
#define ODD_NAME(binding, name, begin, size)                                                      \
	binding " " name "\n.set " name ", odd_names + " #begin "\n.type " name ", %function\n"   \
	".size " name ", " #size "\n"
#define ODD_LABEL(binding, name, begin)                                                           \
	binding " " name "\n.set " name ", odd_names + " #begin "\n"

__asm__(".text\n.globl odd_names\nodd_names:\n.zero 4096\n"
	ODD_NAME(".globl", "odd_whole", 0, 2048)
	ODD_NAME(".globl", "odd_small", 16, 16)
	ODD_NAME(".globl", "odd_alias", 16, 16)
	ODD_NAME(".weak", "odd_weak", 16, 16)
	ODD_NAME(".weak", "odd_weak_small", 20, 4)
	ODD_NAME(".local", "odd_local", 18, 2)
	ODD_NAME(".globl", "odd_long", 16, 64)
	ODD_NAME(".weak", "odd_weak_long", 40, 100)
	/* equal begins and bindings, in both orders of the sizes */
	ODD_NAME(".globl", "odd_one", 200, 8)
	ODD_NAME(".globl", "odd_two", 200, 16)
	ODD_NAME(".globl", "odd_three", 200, 8)
	ODD_NAME(".globl", "odd_four", 200, 24)
	ODD_NAME(".globl", "odd_five", 200, 4)
	ODD_NAME(".local", "odd_only_local", 2100, 50)
	ODD_NAME(".local", "odd_local_inner", 2110, 10)
	ODD_NAME(".local", "odd_local_alias", 2110, 10)
	ODD_LABEL(".globl", "odd_label", 2100)
	ODD_LABEL(".globl", "odd_label_at_end", 2150)
	ODD_LABEL(".local", "odd_label_local", 2150)
	ODD_LABEL(".globl", "odd_label_inside", 2120)
	ODD_LABEL(".globl", "odd_label_alone", 2500)
	ODD_LABEL(".weak", "odd_label_weak", 2500)
	ODD_NAME(".globl", "odd_next", 2600, 40)
	".altmacro\n.macro odd_many number\n"
	".globl odd_many_\\number\n.set odd_many_\\number, odd_names + 3000 + \\number\n"
	".size odd_many_\\number, 200 - 2 * \\number\n.endm\n"
	".set odd_count, 0\n.rept 50\nodd_many %odd_count\n.set odd_count, odd_count + 1\n.endr\n"
	".noaltmacro\n");

static int find_no_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		       char **file, Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static int find_no_debug(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			 const char *main_file, const char *link, GElf_Word crc, char **file)
{
	(void)module, (void)user, (void)name, (void)base, (void)main_file, (void)link, (void)crc;
	(void)file;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf, .find_debuginfo = find_no_debug,
};

/* The number of addresses that were compared, and of those that have a name. */
static struct {
	unsigned all, named;
} compared;

static void compare(struct elf_names *names, Dwfl_Module *module, GElf_Addr address)
{
	GElf_Off offset = 0, right_offset = 0;
	GElf_Sym symbol = { 0 }, right_symbol = { 0 };
	const char *name = elf_names_find(names, module, address, &offset, &symbol);
	const char *right = dwfl_module_addrinfo(module, address, &right_offset, &right_symbol,
						 NULL, NULL, NULL);

	compared.all++;
	compared.named += right != NULL;
	if (!right) {
		ck_assert_msg(!name, "%#lx: %s", (unsigned long)address, name);
		return;
	}
	ck_assert_msg(name && !strcmp(name, right), "%#lx: %s instead of %s",
		      (unsigned long)address, name ? name : "no name", right);
	ck_assert_uint_eq(offset, right_offset);
	ck_assert_uint_eq(symbol.st_value, right_symbol.st_value);
	ck_assert_uint_eq(symbol.st_size, right_symbol.st_size);
	ck_assert_uint_eq(symbol.st_info, right_symbol.st_info);
}

static Dwfl *open_file(const char *path, Dwfl_Module **module)
{
	Dwfl *session = dwfl_begin(&callbacks);
	int fd = open(path, O_RDONLY);

	ck_assert_ptr_nonnull(session);
	ck_assert_int_ge(fd, 0);
	dwfl_report_begin(session);
	*module = dwfl_report_elf(session, path, path, fd, 0, true);
	ck_assert_ptr_nonnull(*module);
	dwfl_report_end(session, NULL, NULL);
	return session;
}

/* Compares about "most" addresses of a file. elfutils compares each with all symbols. */
static void compare_file(const char *path, unsigned most)
{
	struct elf_names names = { .name = NULL };
	Dwfl_Module *module;
	Dwfl *session = open_file(path, &module);
	const int symbols = dwfl_module_getsymtab(module);
	unsigned long step;
	uint64_t random = 1;
	GElf_Addr begin;
	GElf_Sym symbol;

	ck_assert_int_gt(symbols, 1);
	step = (unsigned long)symbols * 6 / most + 1;
	for (int i = (int)random_between(&random, 1, step); i < symbols;
	     i += (int)random_between(&random, 1, 2 * step - 1)) {
		if (!dwfl_module_getsym_info(module, i, &symbol, &begin, NULL, NULL, NULL))
			continue;
		for (GElf_Addr near = 0; near < 3; near++) {
			compare(&names, module, begin + near - 1);
			compare(&names, module, begin + symbol.st_size + near - 1);
		}
		compare(&names, module, begin + symbol.st_size / 2);
	}
	/* Otherwise elfutils was compared with itself. */
	ck_assert(names.is_usable);
	elf_names_free(&names);
	dwfl_end(session);
}

START_TEST(this_program)
{
	compare_file("/proc/self/exe", 100000);
	ck_assert_uint_gt(compared.named, 500);
}
END_TEST

/* Each byte of the overlapping symbols. */
START_TEST(odd_symbols)
{
	struct elf_names names = { .name = NULL };
	Dwfl_Module *module;
	Dwfl *session = open_file("/proc/self/exe", &module);
	GElf_Addr begin = 0;
	GElf_Sym symbol;
	const char *name;

	for (int i = 1; !begin && i < dwfl_module_getsymtab(module); i++) {
		GElf_Addr at;

		name = dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL, NULL);
		begin = name && !strcmp(name, "odd_names") ? at : 0;
	}
	ck_assert_uint_ne(begin, 0);
	for (GElf_Addr at = 0; at < 4200; at++)
		compare(&names, module, begin + at);
	elf_names_free(&names);
	dwfl_end(session);
}
END_TEST

/* Libraries without local symbols, if they are stripped. */
START_TEST(libraries)
{
	void *const functions[] = { (void *)(uintptr_t)printf, (void *)(uintptr_t)dwfl_begin };
	Dl_info info;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (dladdr(functions[i], &info) && *info.dli_fname == '/')
			compare_file(info.dli_fname, 2000);
	ck_assert_uint_gt(compared.named, 200);
}
END_TEST

SUITE_MAIN("elf_names", this_program, odd_symbols, libraries)
