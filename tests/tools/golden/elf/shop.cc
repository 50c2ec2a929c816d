// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The part of shop.so with C++ names and lines, for the commands that read ELF files. README
 * says how shop.so was made.
 */
namespace shop {

struct item {
	int price, count;
	int total() const;
};

static inline __attribute__((always_inline)) int twice(int n)
{
	return n * 2 +
	       1;
}

__attribute__((noinline)) int item::total() const
{
	return twice(price) * count;
}

template <typename T> __attribute__((noinline)) T most(T a, T b)
{
	return a > b ? a : b;
}

template int most<int>(int, int);
template long most<long>(long, long);

} // namespace shop

extern "C" int shop_sell(const shop::item *item, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += item[i].total();
	return sum;
}

extern "C" __attribute__((patchable_function_entry(5))) int shop_room(int n)
{
	return n + 1;
}
