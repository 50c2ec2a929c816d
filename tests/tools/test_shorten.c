/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that names of C++ functions are shortened to their qualified names, and that names of
 * unknown forms and cut names are not changed.
 */
#include <string.h>

#include "support/random.h"
#include "support/support.h"
#include "symbols/shorten.c"

static const char *const names[][2] = {
	{ "worker()", "worker" },
	{ "shop::item::total() const", "shop::item::total" },
	{ "shop::item::total() const &&", "shop::item::total" },
	{ "long shop::most<long>(long, long)", "shop::most" },
	{ "unsigned long const* shop::list<int, (kind)1>::find<char>(char const*)",
	  "shop::list::find" },
	{ "void std::this_thread::sleep_for<long, std::ratio<1l, 1000l> >(std::chrono::duration<"
	  "long, std::ratio<1l, 1000l> > const&)", "std::this_thread::sleep_for" },
	{ "std::map<int, std::vector<int> >::operator[](int const&)", "std::map::operator[]" },
	{ "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
	  "std::operator<<" },
	{ "bool operator< <int>(box<int> const&, box<int> const&)", "operator<" },
	{ "box<int>::operator->() const", "box::operator->" },
	{ "box<int>::operator<=>(box<int> const&)", "box::operator<=>" },
	{ "box<int>::operator()(int)", "box::operator()" },
	{ "box<int>::operator bool() const", "box::operator bool" },
	{ "box::operator std::vector<int>() const", "box::operator std::vector" },
	{ "operator new(unsigned long)", "operator new" },
	{ "operator delete[](void*, std::nothrow_t const&)", "operator delete[]" },
	{ "operator\"\" _km(long double)", "operator\"\" _km" },
	{ "operators::operator_of(int)", "operators::operator_of" },
	{ "my_operator(int)", "my_operator" },
	{ "(anonymous namespace)::hidden(int)", "(anonymous namespace)::hidden" },
	{ "void (anonymous namespace)::hidden<int>(int)", "(anonymous namespace)::hidden" },
	{ "main::{lambda(int, std::vector<int>)#2}::operator()(int, std::vector<int>) const",
	  "main::{lambda#2}::operator()" },
	{ "f(int)::{lambda()#1}::operator()() const", "f::{lambda#1}::operator()" },
	{ "void f<int>(int)::local::run(int)", "f::local::run" },
	{ "guard variable for f(int)::once", "guard variable for f::once" },
	{ "vtable for shop::list<int>", "vtable for shop::list" },
	{ "non-virtual thunk to shop::item::~item()", "non-virtual thunk to shop::item::~item" },
	{ "shop::item::total() [clone .cold]", "shop::item::total [clone .cold]" },
	{ "shop::name[abi:cxx11](int)", "shop::name[abi:cxx11]" },
	{ "shop::list<int>::first", "shop::list::first" },
	{ "fold<&(shop::item::get(int))>::run()", "fold::run" },
	{ "choose<((1)>(2))>::run()", "choose::run" },
	{ "f(int)::once [clone .cold]", "f::once [clone .cold]" },
	{ "typeinfo for int*", "typeinfo for int*" },
	{ "plain", "plain" },
};

/* Names that are not changed. */
static const char *const kept[] = {
	"void (*choose(int))(char)", "f(int", "f<int", "f<int>>", "{lambda(", "operator", "(int)",
	"<int>", "decltype (a+b) add<int>(int)", "unsigned long", "f(int) something", "",
	"typeinfo for unsigned long", "typeinfo for char const*",
};

START_TEST(names_are_short)
{
	char name[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		strcpy(name, names[i][0]);
		ck_assert_msg(shorten(name), "%s", names[i][0]);
		ck_assert_str_eq(name, names[i][1]);
	}
}
END_TEST

START_TEST(unknown_forms_are_kept)
{
	char name[100];

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		strcpy(name, kept[i]);
		ck_assert_msg(!shorten(name), "%s becomes %s", kept[i], name);
		ck_assert_str_eq(name, kept[i]);
	}
}
END_TEST

/* Random texts of the characters that matter: the result is not longer, or unchanged. */
START_TEST(hostile_names)
{
	static const char *const parts[] = { "(", ")", "<", ">", "{", "}", " ", "::", "a",
		"operator", "(anonymous namespace)", " const", " [clone ", "vtable for ", "&",
		"*" };
	uint64_t random = 1;
	char name[400], before[400];

	for (int round = 0; round < 20000; round++) {
		name[0] = '\0';
		for (size_t i = random_between(&random, 0, 12); i; i--)
			strcat(name, parts[random_between(&random, 0, 15)]);
		strcpy(before, name);
		if (shorten(name))
			ck_assert_uint_le(strlen(name), strlen(before));
		else
			ck_assert_str_eq(name, before);
	}
}
END_TEST

SUITE_MAIN("shorten", names_are_short, unknown_forms_are_kept, hostile_names)
