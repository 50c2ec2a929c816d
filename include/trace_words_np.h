/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_words_np.h - the words of a trace point in one line: the types of its fields and its
 * attributes. <trace_point_np.h> has the macros that programs use. Names with a _ at the end or at
 * the beginning are not part of the interface.
 *
 * A word is a list in parentheses, such as (s32, fd, sock). The preprocessor applies a macro to
 * each word of a line. This macro adds a prefix to the first item of the word. The result is the
 * name of a macro for that item:
 *
 *	ITEMS_s32    the least number of items in the word
 *	SCHEMA_s32   the text for the schema of the event type
 *	DECLARE_s32  a variable with the value, and the check of the value's type
 *	BYTES_s32    the least number of bytes in the payload
 *	PUT_s32      appends the variable to the payload
 *	PROBE_s32    (SIZE, VALUE): an argument of a USDT probe, which is the value in the payload.
 *	             SIZE is the number of bytes, with a - if the value has a sign. It is 4 or 8,
 *	             because gdb does not know the names of some registers of 8 and 16 bits.
 *
 * The preprocessor must not expand a word before it selects the macro of the word: errno and bool
 * are macros, and a field may have the name of a macro. The preprocessor does not expand an operand
 * of ##. All lists are therefore passed as e##__VA_ARGS__, where `e` is an empty argument. For the
 * same reason the name of the event gets the prefix no_quotes_. The pointer to the name skips it.
 */
#ifndef _TRACE_WORDS_NP_H
#define _TRACE_WORDS_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>
#include "trace_schema_np.h"

#if defined __GNUC__ && \
	(defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 201112L)

/*
 * Lists of up to 32 words with an empty word behind them. COUNT is the number of words. For 33 to
 * 40 words it is more_than_32, which the compiler then names in its error.
 */
#define POSIX_TRACE_CAT_(a, b)  POSIX_TRACE_CAT2_(a, b)
#define POSIX_TRACE_CAT2_(a, b) a##b
#define POSIX_TRACE_FIRST_(a, ...) a
/* The name of the macro POSIX_TRACE_EACH_N_(e, X, ...), which applies X to each of N words. */
#define POSIX_TRACE_EACH_OF_(...) \
	POSIX_TRACE_CAT_(POSIX_TRACE_CAT_(POSIX_TRACE_EACH_, POSIX_TRACE_COUNT_(__VA_ARGS__)), _)
#define POSIX_TRACE_COUNT_(...) POSIX_TRACE_COUNTED_(__VA_ARGS__, \
	more_than_32, more_than_32, more_than_32, more_than_32, more_than_32, more_than_32, \
	more_than_32, more_than_32, \
	32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, \
	11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define POSIX_TRACE_COUNTED_( \
	p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, \
	p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, \
	p33, p34, p35, p36, p37, p38, p39, p40, p41, n, ...) n
#define POSIX_TRACE_EACH_0_(e, X, ...)
#define POSIX_TRACE_EACH_1_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_0_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_2_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_1_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_3_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_2_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_4_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_3_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_5_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_4_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_6_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_5_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_7_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_6_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_8_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_7_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_9_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_8_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_10_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_9_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_11_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_10_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_12_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_11_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_13_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_12_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_14_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_13_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_15_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_14_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_16_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_15_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_17_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_16_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_18_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_17_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_19_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_18_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_20_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_19_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_21_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_20_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_22_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_21_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_23_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_22_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_24_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_23_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_25_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_24_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_26_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_25_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_27_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_26_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_28_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_27_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_29_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_28_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_30_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_29_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_31_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_30_(e, X, e##__VA_ARGS__)
#define POSIX_TRACE_EACH_32_(e, X, a, ...) \
	X e##a POSIX_TRACE_EACH_31_(e, X, e##__VA_ARGS__)

/* Call the macro of a word. The argument `type` has the prefix T_. */
#define POSIX_TRACE_SCHEMA_(...)  POSIX_TRACE_SCHEMA2_(, T_##__VA_ARGS__)
#define POSIX_TRACE_SCHEMA2_(e, type, ...)  POSIX_TRACE_SCHEMA_##type(e##__VA_ARGS__)
#define POSIX_TRACE_DECLARE_(...) POSIX_TRACE_DECLARE2_(, T_##__VA_ARGS__)
#define POSIX_TRACE_DECLARE2_(e, type, ...) POSIX_TRACE_DECLARE_##type(e##__VA_ARGS__)
#define POSIX_TRACE_BYTES_(...)   POSIX_TRACE_BYTES2_(, T_##__VA_ARGS__)
#define POSIX_TRACE_BYTES2_(e, type, ...)   POSIX_TRACE_BYTES_##type(e##__VA_ARGS__)
#define POSIX_TRACE_PUT_(...)     POSIX_TRACE_PUT2_(, T_##__VA_ARGS__)
#define POSIX_TRACE_PUT2_(e, type, ...)     POSIX_TRACE_PUT_##type(e##__VA_ARGS__)
#define POSIX_TRACE_PROBE_(...)   POSIX_TRACE_PROBE2_(, T_##__VA_ARGS__)
#define POSIX_TRACE_PROBE2_(e, type, ...)   POSIX_TRACE_PROBE_##type(e##__VA_ARGS__)

/* The kinds of values. POSIX_TRACE_IS_KIND_(x) is a constant, 1 if `x` is of the KIND, else 0. */
#ifdef __cplusplus
extern "C++" {
template <class T> struct _posix_trace_kind_np {
	enum {
		is_float = 0,
		is_pointer = 0,
		is_string = 0,
		is_integer = __is_enum(T)
	};
};
#define POSIX_TRACE_KIND_(type, f, i, p, s) \
	template <> struct _posix_trace_kind_np<type> { \
		enum { is_float = f, is_integer = i, is_pointer = p, is_string = s }; \
	}
POSIX_TRACE_KIND_(bool, 0, 1, 0, 0);
POSIX_TRACE_KIND_(char, 0, 1, 0, 0);
POSIX_TRACE_KIND_(signed char, 0, 1, 0, 0);
POSIX_TRACE_KIND_(unsigned char, 0, 1, 0, 0);
POSIX_TRACE_KIND_(wchar_t, 0, 1, 0, 0);
POSIX_TRACE_KIND_(char16_t, 0, 1, 0, 0);
POSIX_TRACE_KIND_(char32_t, 0, 1, 0, 0);
POSIX_TRACE_KIND_(short, 0, 1, 0, 0);
POSIX_TRACE_KIND_(unsigned short, 0, 1, 0, 0);
POSIX_TRACE_KIND_(int, 0, 1, 0, 0);
POSIX_TRACE_KIND_(unsigned, 0, 1, 0, 0);
POSIX_TRACE_KIND_(long, 0, 1, 0, 0);
POSIX_TRACE_KIND_(unsigned long, 0, 1, 0, 0);
POSIX_TRACE_KIND_(long long, 0, 1, 0, 0);
POSIX_TRACE_KIND_(unsigned long long, 0, 1, 0, 0);
POSIX_TRACE_KIND_(float, 1, 0, 0, 0);
POSIX_TRACE_KIND_(double, 1, 0, 0, 0);
POSIX_TRACE_KIND_(long double, 1, 0, 0, 0);
POSIX_TRACE_KIND_(char *, 0, 0, 1, 1);
POSIX_TRACE_KIND_(const char *, 0, 0, 1, 1);
POSIX_TRACE_KIND_(signed char *, 0, 0, 1, 1);
POSIX_TRACE_KIND_(const signed char *, 0, 0, 1, 1);
POSIX_TRACE_KIND_(unsigned char *, 0, 0, 1, 1);
POSIX_TRACE_KIND_(const unsigned char *, 0, 0, 1, 1);
#if defined __cpp_char8_t
POSIX_TRACE_KIND_(char8_t, 0, 1, 0, 0);
POSIX_TRACE_KIND_(const char8_t *, 0, 0, 1, 1);
#endif
template <class T> struct _posix_trace_kind_np<T *> {
	enum { is_float = 0, is_integer = 0, is_pointer = 1, is_string = 0 };
};
template <> struct _posix_trace_kind_np<decltype(nullptr)> {
	enum { is_float = 0, is_integer = 0, is_pointer = 1, is_string = 1 };
};
} /* extern "C++" */
#undef POSIX_TRACE_KIND_
#define POSIX_TRACE_IS_INTEGER_(x) _posix_trace_kind_np<decltype(x)>::is_integer
#define POSIX_TRACE_IS_FLOAT_(x)   _posix_trace_kind_np<decltype(x)>::is_float
#define POSIX_TRACE_IS_STRING_(x)  _posix_trace_kind_np<decltype(x)>::is_string
#define POSIX_TRACE_IS_POINTER_(x) _posix_trace_kind_np<decltype(x)>::is_pointer
#define POSIX_TRACE_ASSERT_(is_true, text) static_assert(is_true, text)
#define POSIX_TRACE_VARIABLE_(x, value)    auto x = (value);
/*
 * NULL has an integer type, that of __null. A null pointer constant of this type can become a
 * nullptr, another value of this type can not: it then becomes a type that no field accepts. The
 * functions are evaluated once with the value, because C++11 forbids a lambda in sizeof.
 */
extern "C++" {
struct _posix_trace_integer_np {};
template <class T, class Null> struct _posix_trace_unless_np {
	typedef T type;
};
template <class T> struct _posix_trace_unless_np<T, T> {};
template <class T>
static __inline __attribute__((always_inline, unused))
typename _posix_trace_unless_np<T, decltype(__null)>::type
_posix_trace_pointer_np(T value)
{
	return value;
}
static __inline __attribute__((always_inline, unused)) decltype(nullptr)
_posix_trace_pointer_np(decltype(nullptr))
{
	return nullptr;
}
static __inline __attribute__((unused)) _posix_trace_integer_np _posix_trace_pointer_np(...)
{
	return _posix_trace_integer_np();
}
} /* extern "C++" */
#define POSIX_TRACE_NULL_(value, type)     (_posix_trace_pointer_np(value))
#else
/*
 * The class of a type, as gcc and clang number it. _Generic cannot list all integers: in gcc, each
 * width of a bit-field is a type of its own. 1 is an integer, 2 to 4 are characters, enumerations
 * and booleans, 18 is _BitInt, 8 is a number with a fraction, and 5 is a pointer. No field has
 * room for an integer of more than 8 bytes. gcc does not warn about the promotion of an argument
 * (-Wdouble-promotion) in an operand of sizeof. The least class is -1.
 */
#define POSIX_TRACE_CLASS_(x)      ((int)sizeof(char[2 + __builtin_classify_type(x)]) - 2)
#define POSIX_TRACE_IS_INTEGER_(x) \
	(((POSIX_TRACE_CLASS_(x) >= 1 && POSIX_TRACE_CLASS_(x) <= 4) || \
	  POSIX_TRACE_CLASS_(x) == 18) && sizeof(x) <= 8)
#define POSIX_TRACE_IS_FLOAT_(x)   (POSIX_TRACE_CLASS_(x) == 8)
#define POSIX_TRACE_IS_STRING_(x) \
	_Generic((x), char *: 1, const char *: 1, signed char *: 1, const signed char *: 1, \
		unsigned char *: 1, const unsigned char *: 1, default: 0)
#define POSIX_TRACE_IS_POINTER_(x) (POSIX_TRACE_CLASS_(x) == 5)
#define POSIX_TRACE_ASSERT_(is_true, text) _Static_assert(is_true, text)
/* A compiler deduces no type from a bit-field. The comma operator makes a plain value of it. */
#define POSIX_TRACE_VARIABLE_(x, value) \
	__extension__ __auto_type x = ((void)0, POSIX_TRACE_POINTER_(value));
/*
 * In C23, nullptr has a type of its own, which is no pointer and cannot become an integer. A field
 * of type str, ptr or bytes has a null pointer instead. gcc 12 and clang 15 do not know nullptr,
 * although their __STDC_VERSION__ for C23 is the same as that of newer versions.
 */
#if __STDC_VERSION__ > 201710L && \
	(defined __clang__ ? __clang_major__ >= 16 : __GNUC__ >= 13)
#define POSIX_TRACE_POINTER_(value) \
	_Generic((value), __typeof__(nullptr): (char *)0, default: (value))
#else
#define POSIX_TRACE_POINTER_(value) (value)
#endif
/*
 * NULL is (void *)0, whose type is that of any pointer to void. Only a null pointer constant
 * becomes a pointer of the other type in a conditional expression.
 */
struct _posix_trace_null_np;
#define POSIX_TRACE_NULL_(value, type) \
	_Generic(1 ? _Generic((value), void *: (value), default: (void *)1) : \
			 (struct _posix_trace_null_np *)0, \
		struct _posix_trace_null_np *: (type)0, default: (value))
#endif

/*
 * Checks the first item of a word and the number of its items. A wrong word makes the rest of the
 * line unreadable for the compiler, so this check precedes all else: the first error of the
 * compiler is then a sentence about the word. If a word lacks its parentheses, or is empty, the
 * compiler does not find the macro, and prints its name.
 *
 * ITEMS is the least number of items. For an unknown word, ITEMS is no macro, and the number is 99.
 * `rest` has the tokens behind the name of a type, as in (char *, name, value).
 */
#define POSIX_TRACE_parentheses_around_each_word_(...) \
	POSIX_TRACE_CHECK2_(#__VA_ARGS__, POSIX_TRACE_COUNT_(__VA_ARGS__, ), T_##__VA_ARGS__, )
#define POSIX_TRACE_CHECK2_(text, n, type, ...) \
	POSIX_TRACE_CHECK3_(text, n, POSIX_TRACE_ITEMS_##type, 99, , )
#define POSIX_TRACE_CHECK3_(...) POSIX_TRACE_CHECK4_(__VA_ARGS__)
#define POSIX_TRACE_CHECK4_(text, n, e, least, rest, ...) \
	POSIX_TRACE_ASSERT_(least != 99 && sizeof(#rest) == 1, \
			    "(" text "): a word begins with a type such as s32 or str, or with " \
			    "level, begin, end, key or counter"); \
	POSIX_TRACE_ASSERT_(least == 99 || n >= least, "(" text "): an item is missing");
#define POSIX_TRACE_ITEMS_T_u8       , 3,
#define POSIX_TRACE_ITEMS_T_u16      , 3,
#define POSIX_TRACE_ITEMS_T_u32      , 3,
#define POSIX_TRACE_ITEMS_T_u64      , 3,
#define POSIX_TRACE_ITEMS_T_s8       , 3,
#define POSIX_TRACE_ITEMS_T_s16      , 3,
#define POSIX_TRACE_ITEMS_T_s32      , 3,
#define POSIX_TRACE_ITEMS_T_s64      , 3,
#define POSIX_TRACE_ITEMS_T_x8       , 3,
#define POSIX_TRACE_ITEMS_T_x16      , 3,
#define POSIX_TRACE_ITEMS_T_x32      , 3,
#define POSIX_TRACE_ITEMS_T_x64      , 3,
#define POSIX_TRACE_ITEMS_T_char     , 3,
#define POSIX_TRACE_ITEMS_T_ns       , 3,
#define POSIX_TRACE_ITEMS_T_time     , 3,
#define POSIX_TRACE_ITEMS_T_errno    , 3,
#define POSIX_TRACE_ITEMS_T_o8       , 3,
#define POSIX_TRACE_ITEMS_T_o16      , 3,
#define POSIX_TRACE_ITEMS_T_o32      , 3,
#define POSIX_TRACE_ITEMS_T_o64      , 3,
#define POSIX_TRACE_ITEMS_T_fd       , 3,
#define POSIX_TRACE_ITEMS_T_signal   , 3,
#define POSIX_TRACE_ITEMS_T_wait     , 3,
#define POSIX_TRACE_ITEMS_T_bool     , 3,
#define POSIX_TRACE_ITEMS_T_f32      , 3,
#define POSIX_TRACE_ITEMS_T_f64      , 3,
#define POSIX_TRACE_ITEMS_T_ptr      , 3,
#define POSIX_TRACE_ITEMS_T_str      , 3,
#define POSIX_TRACE_ITEMS_T_bytes    , 4,
#define POSIX_TRACE_ITEMS_T_array    , 5,
#define POSIX_TRACE_ITEMS_T_level    , 2,
#define POSIX_TRACE_ITEMS_T_begin    , 2,
#define POSIX_TRACE_ITEMS_T_end      , 2,
#define POSIX_TRACE_ITEMS_T_key      , 2,
#define POSIX_TRACE_ITEMS_T_counter  , 2,
#define POSIX_TRACE_ITEMS_T__Bool    , 3,

/* The text for the names of values, which a field may have as its last item. */
#define POSIX_TRACE_NAMES_(...) \
	POSIX_TRACE_CAT_(POSIX_TRACE_NAMES, POSIX_TRACE_COUNT_(__VA_ARGS__, ))(__VA_ARGS__)
#define POSIX_TRACE_NAMES1(value)        ""
#define POSIX_TRACE_NAMES2(value, names) "{" names "}"

/* Declares the variable of a field. The compiler checks the kind and the length of the name. */
#define POSIX_TRACE_FIELD_(variable, name, type, is_kind, needs, value) \
	POSIX_TRACE_VARIABLE_(variable, value) \
	POSIX_TRACE_ASSERT_(is_kind(variable), \
			    "field " name ": the type " type " needs " needs); \
	POSIX_TRACE_ASSERT_(sizeof(name) <= POSIX_TRACE_FIELD_NAME_MAX_NP + 1, \
			    "field " name ": the name is too long");
#define POSIX_TRACE_IS_NUMBER_(x) (POSIX_TRACE_IS_INTEGER_(x) || POSIX_TRACE_IS_FLOAT_(x))
#define POSIX_TRACE_INTEGER_(variable, name, type, value) \
	POSIX_TRACE_FIELD_(variable, name, type, POSIX_TRACE_IS_INTEGER_, "an integer", value)
#define POSIX_TRACE_NUMBER_(variable, name, type, value) \
	POSIX_TRACE_FIELD_(variable, name, type, POSIX_TRACE_IS_NUMBER_, "a number", value)
#define POSIX_TRACE_PUT_AS_(variable, ctype) \
	{ \
		const ctype posix_trace_x_ = (ctype)(variable); \
		posix_trace_to_ = _posix_trace_put_np(posix_trace_to_, &posix_trace_x_, \
						      sizeof(posix_trace_x_)); \
	}
/* Integers. The compiler converts them as in an assignment. */
#define POSIX_TRACE_SCHEMA_T_u8(name, ...) "u8 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_u8(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "u8", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_u8(...) + 1
#define POSIX_TRACE_PUT_T_u8(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint8_t)
#define POSIX_TRACE_PROBE_T_u8(name, ...) , ("-4", +(uint8_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_u16(name, ...) "u16 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_u16(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "u16", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_u16(...) + 2
#define POSIX_TRACE_PUT_T_u16(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint16_t)
#define POSIX_TRACE_PROBE_T_u16(name, ...) , ("-4", +(uint16_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_u32(name, ...) "u32 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_u32(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "u32", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_u32(...) + 4
#define POSIX_TRACE_PUT_T_u32(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint32_t)
#define POSIX_TRACE_PROBE_T_u32(name, ...) , ("4", +(uint32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_u64(name, ...) "u64 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_u64(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "u64", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_u64(...) + 8
#define POSIX_TRACE_PUT_T_u64(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint64_t)
#define POSIX_TRACE_PROBE_T_u64(name, ...) , ("8", +(uint64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_s8(name, ...) "s8 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_s8(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "s8", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_s8(...) + 1
#define POSIX_TRACE_PUT_T_s8(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int8_t)
#define POSIX_TRACE_PROBE_T_s8(name, ...) , ("-4", +(int8_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_s16(name, ...) "s16 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_s16(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "s16", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_s16(...) + 2
#define POSIX_TRACE_PUT_T_s16(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int16_t)
#define POSIX_TRACE_PROBE_T_s16(name, ...) , ("-4", +(int16_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_s32(name, ...) "s32 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_s32(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "s32", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_s32(...) + 4
#define POSIX_TRACE_PUT_T_s32(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int32_t)
#define POSIX_TRACE_PROBE_T_s32(name, ...) , ("-4", +(int32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_s64(name, ...) "s64 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_s64(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "s64", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_s64(...) + 8
#define POSIX_TRACE_PUT_T_s64(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int64_t)
#define POSIX_TRACE_PROBE_T_s64(name, ...) , ("-8", +(int64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_x8(name, ...) "x8 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_x8(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "x8", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_x8(...) + 1
#define POSIX_TRACE_PUT_T_x8(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint8_t)
#define POSIX_TRACE_PROBE_T_x8(name, ...) , ("-4", +(uint8_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_x16(name, ...) "x16 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_x16(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "x16", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_x16(...) + 2
#define POSIX_TRACE_PUT_T_x16(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint16_t)
#define POSIX_TRACE_PROBE_T_x16(name, ...) , ("-4", +(uint16_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_x32(name, ...) "x32 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_x32(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "x32", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_x32(...) + 4
#define POSIX_TRACE_PUT_T_x32(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint32_t)
#define POSIX_TRACE_PROBE_T_x32(name, ...) , ("4", +(uint32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_x64(name, ...) "x64 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_x64(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "x64", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_x64(...) + 8
#define POSIX_TRACE_PUT_T_x64(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint64_t)
#define POSIX_TRACE_PROBE_T_x64(name, ...) , ("8", +(uint64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_char(name, ...) "char " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_char(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "char", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_char(...) + 1
#define POSIX_TRACE_PUT_T_char(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint8_t)
#define POSIX_TRACE_PROBE_T_char(name, ...) , ("-4", +(uint8_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_ns(name, ...) "ns " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_ns(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "ns", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_ns(...) + 8
#define POSIX_TRACE_PUT_T_ns(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint64_t)
#define POSIX_TRACE_PROBE_T_ns(name, ...) , ("8", +(uint64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_time(name, ...) "time " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_time(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "time", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_time(...) + 8
#define POSIX_TRACE_PUT_T_time(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int64_t)
#define POSIX_TRACE_PROBE_T_time(name, ...) , ("-8", +(int64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_errno(name, ...) "errno " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_errno(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "errno", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_errno(...) + 4
#define POSIX_TRACE_PUT_T_errno(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int32_t)
#define POSIX_TRACE_PROBE_T_errno(name, ...) , ("-4", +(int32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_o8(name, ...) "o8 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_o8(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "o8", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_o8(...) + 1
#define POSIX_TRACE_PUT_T_o8(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint8_t)
#define POSIX_TRACE_PROBE_T_o8(name, ...) , ("-4", +(uint8_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_o16(name, ...) "o16 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_o16(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "o16", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_o16(...) + 2
#define POSIX_TRACE_PUT_T_o16(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint16_t)
#define POSIX_TRACE_PROBE_T_o16(name, ...) , ("-4", +(uint16_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_o32(name, ...) "o32 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_o32(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "o32", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_o32(...) + 4
#define POSIX_TRACE_PUT_T_o32(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint32_t)
#define POSIX_TRACE_PROBE_T_o32(name, ...) , ("4", +(uint32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_o64(name, ...) "o64 " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_o64(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "o64", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_o64(...) + 8
#define POSIX_TRACE_PUT_T_o64(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, uint64_t)
#define POSIX_TRACE_PROBE_T_o64(name, ...) , ("8", +(uint64_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_fd(name, ...) "fd " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_fd(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "fd", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_fd(...) + 4
#define POSIX_TRACE_PUT_T_fd(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int32_t)
#define POSIX_TRACE_PROBE_T_fd(name, ...) , ("-4", +(int32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_signal(name, ...) "signal " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_signal(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "signal", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_signal(...) + 4
#define POSIX_TRACE_PUT_T_signal(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int32_t)
#define POSIX_TRACE_PROBE_T_signal(name, ...) , ("-4", +(int32_t)posix_trace_F_##name)
#define POSIX_TRACE_SCHEMA_T_wait(name, ...) "wait " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_wait(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "wait", \
			     POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_wait(...) + 4
#define POSIX_TRACE_PUT_T_wait(name, ...) POSIX_TRACE_PUT_AS_(posix_trace_F_##name, int32_t)
#define POSIX_TRACE_PROBE_T_wait(name, ...) , ("-4", +(int32_t)posix_trace_F_##name)
/* bool: any number that is not 0 is true. */
#define POSIX_TRACE_SCHEMA_T_bool(name, ...) "bool " #name POSIX_TRACE_NAMES_(__VA_ARGS__) ";"
#define POSIX_TRACE_DECLARE_T_bool(name, ...) \
	POSIX_TRACE_INTEGER_(posix_trace_F_##name, #name, "bool", POSIX_TRACE_FIRST_(__VA_ARGS__, ))
#define POSIX_TRACE_BYTES_T_bool(...) + 1
#define POSIX_TRACE_PUT_T_bool(name, ...) \
	*posix_trace_to_++ = (unsigned char)(posix_trace_F_##name ? 1 : 0);
#define POSIX_TRACE_PROBE_T_bool(name, ...) , ("-4", posix_trace_F_##name ? 1 : 0)
/*
 * In C before C23, <stdbool.h> makes bool a macro. If a macro of the program passes the word on,
 * the preprocessor has already expanded bool to _Bool.
 */
#define POSIX_TRACE_SCHEMA_T__Bool(...)  POSIX_TRACE_SCHEMA_T_bool(__VA_ARGS__)
#define POSIX_TRACE_DECLARE_T__Bool(...) POSIX_TRACE_DECLARE_T_bool(__VA_ARGS__)
#define POSIX_TRACE_BYTES_T__Bool(...)   POSIX_TRACE_BYTES_T_bool(__VA_ARGS__)
#define POSIX_TRACE_PUT_T__Bool(...)     POSIX_TRACE_PUT_T_bool(__VA_ARGS__)
#define POSIX_TRACE_PROBE_T__Bool(...)   POSIX_TRACE_PROBE_T_bool(__VA_ARGS__)

/* f32 and f64: a float or an integer. */
#define POSIX_TRACE_SCHEMA_T_f32(name, value)  "f32 " #name ";"
#define POSIX_TRACE_DECLARE_T_f32(name, value) \
	POSIX_TRACE_NUMBER_(posix_trace_F_##name, #name, "f32", value)
#define POSIX_TRACE_BYTES_T_f32(...)           + 4
#define POSIX_TRACE_PUT_T_f32(name, value)     POSIX_TRACE_PUT_AS_(posix_trace_F_##name, float)
#define POSIX_TRACE_PROBE_T_f32(name, value)   \
	, ("4", _posix_trace_bits32_np((float)posix_trace_F_##name))
#define POSIX_TRACE_SCHEMA_T_f64(name, value)  "f64 " #name ";"
#define POSIX_TRACE_DECLARE_T_f64(name, value) \
	POSIX_TRACE_NUMBER_(posix_trace_F_##name, #name, "f64", value)
#define POSIX_TRACE_BYTES_T_f64(...)           + 8
#define POSIX_TRACE_PUT_T_f64(name, value)     POSIX_TRACE_PUT_AS_(posix_trace_F_##name, double)
#define POSIX_TRACE_PROBE_T_f64(name, value)   \
	, ("8", _posix_trace_bits64_np((double)posix_trace_F_##name))

/* ptr: any pointer. */
#define POSIX_TRACE_SCHEMA_T_ptr(name, value)  "ptr " #name ";"
#define POSIX_TRACE_DECLARE_T_ptr(name, value) \
	POSIX_TRACE_FIELD_(posix_trace_F_##name, #name, "ptr", POSIX_TRACE_IS_POINTER_, \
			   "a pointer", POSIX_TRACE_NULL_(value, void *))
#define POSIX_TRACE_BYTES_T_ptr(...)           + 8
#define POSIX_TRACE_PUT_T_ptr(name, value) \
	{ \
		const uint64_t posix_trace_x_ = (uint64_t)(uintptr_t)(posix_trace_F_##name); \
		posix_trace_to_ = _posix_trace_put_np(posix_trace_to_, &posix_trace_x_, \
						      sizeof(posix_trace_x_)); \
	}
#define POSIX_TRACE_PROBE_T_ptr(name, value)   , ("8", (uintptr_t)posix_trace_F_##name)

/* str: a string. BYTES adds VARIES for each field that may need more than its least size. */
#define POSIX_TRACE_VARIES_()                  0x10000000ul
#define POSIX_TRACE_SCHEMA_T_str(name, value)  "str " #name ";"
#define POSIX_TRACE_DECLARE_T_str(name, value) \
	POSIX_TRACE_FIELD_(posix_trace_F_##name, #name, "str", POSIX_TRACE_IS_STRING_, \
			   "a string", POSIX_TRACE_NULL_(value, char *))
#define POSIX_TRACE_BYTES_T_str(...)           + 1 + POSIX_TRACE_VARIES_()
#define POSIX_TRACE_PUT_T_str(name, value) \
	posix_trace_to_ = _posix_trace_put_str_np(posix_trace_to_, &posix_trace_room_, \
						  (const char *)posix_trace_F_##name);
#define POSIX_TRACE_PROBE_T_str(name, value)   , ("8", (uintptr_t)posix_trace_F_##name)

/* bytes: a pointer and a number of bytes. */
#define POSIX_TRACE_SCHEMA_T_bytes(name, pointer, len)  "bytes " #name ";"
#define POSIX_TRACE_DECLARE_T_bytes(name, pointer, len) \
	POSIX_TRACE_FIELD_(posix_trace_F_##name, #name, "bytes", POSIX_TRACE_IS_POINTER_, \
			   "a pointer", POSIX_TRACE_NULL_(pointer, void *)) \
	const size_t posix_trace_N_##name = (size_t)(len);
#define POSIX_TRACE_BYTES_T_bytes(...)                  + 4 + POSIX_TRACE_VARIES_()
#define POSIX_TRACE_PUT_T_bytes(name, pointer, len) \
	posix_trace_to_ = _posix_trace_put_bytes_np(posix_trace_to_, &posix_trace_room_, \
						    posix_trace_F_##name, \
						    posix_trace_N_##name);
#define POSIX_TRACE_PROBE_T_bytes(name, pointer, len) \
	, ("8", (uintptr_t)posix_trace_F_##name), ("8", posix_trace_N_##name)

/* array: `n` elements of a type at a pointer; for the types str and bytes: `n` bytes. */
#define POSIX_TRACE_SCHEMA_T_array(type, n, name, pointer) \
	#type "[" POSIX_TRACE_TEXT_(n) "]" #name ";"
#define POSIX_TRACE_TEXT_(n)  POSIX_TRACE_TEXT2_(n)
#define POSIX_TRACE_TEXT2_(n) #n
/* The number of decimal digits of a size. The schema has the text of `n`, so `n` must be digits. */
#define POSIX_TRACE_DIGITS_(n) \
	((n) < 10 ? 1u : (n) < 100 ? 2u : (n) < 1000 ? 3u : (n) < 10000 ? 4u : 5u)
#define POSIX_TRACE_DECLARE_T_array(type, n, name, pointer) \
	POSIX_TRACE_FIELD_(posix_trace_F_##name, #name, "array", POSIX_TRACE_IS_POINTER_, \
			   "a pointer", pointer) \
	POSIX_TRACE_ASSERT_(sizeof(*posix_trace_F_##name) == POSIX_TRACE_ELEMENT_##type, \
			    "field " #name ": elements of another size than " #type); \
	POSIX_TRACE_ASSERT_(sizeof(POSIX_TRACE_TEXT_(n)) == 1 + POSIX_TRACE_DIGITS_(n), \
			    "field " #name ": the number of elements is a decimal number"); \
	POSIX_TRACE_ASSERT_((n) > 0 && (n) <= POSIX_TRACE_ELEMENTS_MAX_NP, \
			    "field " #name ": an array has 1 to 65535 elements");
#define POSIX_TRACE_BYTES_T_array(type, n, name, pointer) + (n) * POSIX_TRACE_ELEMENT_##type
#define POSIX_TRACE_PUT_T_array(type, n, name, pointer) \
	posix_trace_to_ = POSIX_TRACE_PUT_ARRAY_##type(posix_trace_to_, posix_trace_F_##name, \
						       (n) * POSIX_TRACE_ELEMENT_##type);
#define POSIX_TRACE_PROBE_T_array(type, n, name, pointer) \
	, ("8", (uintptr_t)posix_trace_F_##name)
#define POSIX_TRACE_ELEMENT_u8      1
#define POSIX_TRACE_ELEMENT_u16     2
#define POSIX_TRACE_ELEMENT_u32     4
#define POSIX_TRACE_ELEMENT_u64     8
#define POSIX_TRACE_ELEMENT_s8      1
#define POSIX_TRACE_ELEMENT_s16     2
#define POSIX_TRACE_ELEMENT_s32     4
#define POSIX_TRACE_ELEMENT_s64     8
#define POSIX_TRACE_ELEMENT_x8      1
#define POSIX_TRACE_ELEMENT_x16     2
#define POSIX_TRACE_ELEMENT_x32     4
#define POSIX_TRACE_ELEMENT_x64     8
#define POSIX_TRACE_ELEMENT_char    1
#define POSIX_TRACE_ELEMENT_ns      8
#define POSIX_TRACE_ELEMENT_time    8
#define POSIX_TRACE_ELEMENT_errno   4
#define POSIX_TRACE_ELEMENT_o8      1
#define POSIX_TRACE_ELEMENT_o16     2
#define POSIX_TRACE_ELEMENT_o32     4
#define POSIX_TRACE_ELEMENT_o64     8
#define POSIX_TRACE_ELEMENT_fd      4
#define POSIX_TRACE_ELEMENT_signal  4
#define POSIX_TRACE_ELEMENT_wait    4
#define POSIX_TRACE_ELEMENT_bool    1
#define POSIX_TRACE_ELEMENT_f32     4
#define POSIX_TRACE_ELEMENT_f64     8
#define POSIX_TRACE_ELEMENT_ptr     8
#define POSIX_TRACE_ELEMENT_bytes   1
#define POSIX_TRACE_ELEMENT_str     1
#define POSIX_TRACE_PUT_ARRAY_u8(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_u16(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_u32(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_u64(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_s8(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_s16(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_s32(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_s64(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_x8(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_x16(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_x32(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_x64(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_char(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_ns(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_time(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_errno(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_o8(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_o16(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_o32(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_o64(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_fd(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_signal(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_wait(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_bool(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_f32(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_f64(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_ptr(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_bytes(to, from, len) \
	_posix_trace_put_memory_np(to, from, len)
#define POSIX_TRACE_PUT_ARRAY_str(to, from, len) \
	_posix_trace_put_text_np(to, from, len)

/*
 * Words that are not fields. BYTES counts levels, spans and keys in the upper bits of the sum, six
 * bits for each of these three kinds. So the compiler can check that an event has at most one word
 * of each of these kinds. Counters are not counted.
 */
#define POSIX_TRACE_LEVELS_()          0x10000000000ul
#define POSIX_TRACE_SPANS_()           0x400000000000ul
#define POSIX_TRACE_KEYED_()           0x10000000000000ul
#define POSIX_TRACE_WORDS_(bytes, of)  ((bytes) / of & 63)
/* `n` may be a macro, but no enumerator: the schema has its text. */
#define POSIX_TRACE_SCHEMA_T_level(n)  "@level " POSIX_TRACE_TEXT_(n) ";"
#define POSIX_TRACE_DECLARE_T_level(n) \
	POSIX_TRACE_ASSERT_((n) >= 1 && (n) <= 5 && sizeof(POSIX_TRACE_TEXT_(n)) == 2, \
			    "a level is a digit, 1 to 5");
#define POSIX_TRACE_BYTES_T_level(n)   + POSIX_TRACE_LEVELS_()
#define POSIX_TRACE_PUT_T_level(n)
#define POSIX_TRACE_PROBE_T_level(n)
#define POSIX_TRACE_SCHEMA_T_begin(span)  "@begin " #span ";"
#define POSIX_TRACE_DECLARE_T_begin(span)
#define POSIX_TRACE_BYTES_T_begin(span)   + POSIX_TRACE_SPANS_()
#define POSIX_TRACE_PUT_T_begin(span)
#define POSIX_TRACE_PROBE_T_begin(span)
#define POSIX_TRACE_SCHEMA_T_end(span)    "@end " #span ";"
#define POSIX_TRACE_DECLARE_T_end(span)
#define POSIX_TRACE_BYTES_T_end(span)     + POSIX_TRACE_SPANS_()
#define POSIX_TRACE_PUT_T_end(span)
#define POSIX_TRACE_PROBE_T_end(span)
/* A key uses the variables of its fields, so the compiler accepts only earlier fields. */
#define POSIX_TRACE_SCHEMA_T_key(...)  "@key " #__VA_ARGS__ ";"
#define POSIX_TRACE_DECLARE_T_key(...) \
	POSIX_TRACE_KEYS_(, POSIX_TRACE_CAT_(POSIX_TRACE_KEYS, \
					     POSIX_TRACE_COUNT_(__VA_ARGS__, )), F_##__VA_ARGS__)
#define POSIX_TRACE_KEYS_(e, X, ...)   X(e##__VA_ARGS__)
/*
 * The checks are declarations, because a program may request a warning about a declaration behind a
 * statement. Lists pass names on with ##, which prevents the expansion of the names.
 */
#define POSIX_TRACE_IS_KEY_(variable) \
	POSIX_TRACE_ASSERT_(sizeof(variable) > 0, "a key is a field");
#define POSIX_TRACE_KEYS1(a) POSIX_TRACE_IS_KEY_(posix_trace_##a)
#define POSIX_TRACE_KEYS2(a, b) \
	POSIX_TRACE_IS_KEY_(posix_trace_##a) POSIX_TRACE_IS_KEY_(posix_trace_F_##b)
#define POSIX_TRACE_KEYS3(a, b, c) \
	POSIX_TRACE_IS_KEY_(posix_trace_##a) POSIX_TRACE_IS_KEY_(posix_trace_F_##b) \
	POSIX_TRACE_IS_KEY_(posix_trace_F_##c)
#define POSIX_TRACE_KEYS4(a, b, c, d) \
	POSIX_TRACE_IS_KEY_(posix_trace_##a) POSIX_TRACE_IS_KEY_(posix_trace_F_##b) \
	POSIX_TRACE_IS_KEY_(posix_trace_F_##c) POSIX_TRACE_IS_KEY_(posix_trace_F_##d)
#define POSIX_TRACE_BYTES_T_key(...)   + POSIX_TRACE_KEYED_()
#define POSIX_TRACE_PUT_T_key(...)
#define POSIX_TRACE_PROBE_T_key(...)
/*
 * A counter uses the variables of its fields, as a key does. A counter must be a number: the check
 * multiplies the variable, which the compiler accepts only for numbers.
 */
#define POSIX_TRACE_SCHEMA_T_counter(...)  "@counter " #__VA_ARGS__ ";"
#define POSIX_TRACE_DECLARE_T_counter(...) \
	POSIX_TRACE_KEYS_(, POSIX_TRACE_CAT_(POSIX_TRACE_COUNTERS, \
					     POSIX_TRACE_COUNT_(__VA_ARGS__, )), F_##__VA_ARGS__)
#define POSIX_TRACE_IS_COUNTER_(variable) \
	POSIX_TRACE_ASSERT_(sizeof(variable * 1) > 0, "a counter is a number");
#define POSIX_TRACE_COUNTERS1(a) POSIX_TRACE_IS_COUNTER_(posix_trace_##a)
#define POSIX_TRACE_COUNTERS2(a, b) \
	POSIX_TRACE_IS_COUNTER_(posix_trace_##a) POSIX_TRACE_IS_COUNTER_(posix_trace_F_##b)
#define POSIX_TRACE_COUNTERS3(a, b, c) \
	POSIX_TRACE_IS_COUNTER_(posix_trace_##a) POSIX_TRACE_IS_COUNTER_(posix_trace_F_##b) \
	POSIX_TRACE_IS_COUNTER_(posix_trace_F_##c)
#define POSIX_TRACE_COUNTERS4(a, b, c, d) \
	POSIX_TRACE_IS_COUNTER_(posix_trace_##a) POSIX_TRACE_IS_COUNTER_(posix_trace_F_##b) \
	POSIX_TRACE_IS_COUNTER_(posix_trace_F_##c) POSIX_TRACE_IS_COUNTER_(posix_trace_F_##d)
#define POSIX_TRACE_BYTES_T_counter(...)
#define POSIX_TRACE_PUT_T_counter(...)
#define POSIX_TRACE_PROBE_T_counter(...)

/*
 * The bits of a float and a double, for the arguments of probes. bpftrace and gdb cannot read a
 * probe that has an argument with a fraction, not even its other arguments.
 */
static __inline __attribute__((always_inline, unused)) uint32_t _posix_trace_bits32_np(float x)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static __inline __attribute__((always_inline, unused)) uint64_t _posix_trace_bits64_np(double x)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* Appends `len` bytes to a payload that has room for them. */
static __inline __attribute__((always_inline, unused)) unsigned char *
_posix_trace_put_np(unsigned char *to, const void *from, size_t len)
{
	__builtin_memcpy(to, from, len);
	return to + len;
}

/*
 * Appends a field of type str. All fields of the types str and bytes together may still use *room
 * bytes in addition to their least sizes.
 */
static __inline __attribute__((unused)) unsigned char *
_posix_trace_put_str_np(unsigned char *to, size_t *room, const char *string)
{
	size_t len = string ? __builtin_strlen(string) : 0;

	if (len > *room)
		len = *room;
	if (len)
		__builtin_memcpy(to, string, len);
	to[len] = '\0';
	*room -= len;
	return to + len + 1;
}

static __inline __attribute__((unused)) unsigned char *
_posix_trace_put_bytes_np(unsigned char *to, size_t *room, const void *from, size_t len)
{
	uint32_t count;

	if (!from)
		len = 0;
	if (len > *room)
		len = *room;
	count = (uint32_t)len;
	__builtin_memcpy(to, &count, sizeof(count));
	if (len)
		__builtin_memcpy(to + sizeof(count), from, len);
	*room -= len;
	return to + sizeof(count) + len;
}

/* Appends bytes[len] or an array of len bytes; a null pointer counts as zeros. */
static __inline __attribute__((unused)) unsigned char *
_posix_trace_put_memory_np(unsigned char *to, const void *from, size_t len)
{
	if (from)
		__builtin_memcpy(to, from, len);
	else
		__builtin_memset(to, 0, len);
	return to + len;
}

/* Appends str[len]: the bytes behind the string are 0. */
static __inline __attribute__((unused)) unsigned char *
_posix_trace_put_text_np(unsigned char *to, const void *from, size_t len)
{
	const char *string = (const char *)from;
	size_t used = 0;

	for (; used < len && string && string[used]; used++)
		to[used] = (unsigned char)string[used];
	__builtin_memset(to + used, 0, len - used);
	return to + len;
}

#endif

#endif
