/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * codes.c - reads the format codes of templates and checks their lengths and widths. The table
 * "Codes" in posixtrace-template(5) has the rules. This file does not read events.
 */
#include "report/template/codes.h"

#include <string.h>

/*
 * A number that is greater than each length and width that a code accepts. codes_digits() returns
 * TOO_LARGE for each number that is not less, so that the number is refused.
 */
#define TOO_LARGE 100000u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns whether m is a length that integers may have, in bytes. */
static bool is_length(unsigned m)
{
	return m == 1 || m == 2 || m == 4 || m == 8;
}

/*
 * Returns whether the text consists of digits. Returns false for an empty text, because a code
 * needs a length, and a dot needs a number behind it.
 */
static bool all_digits(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_digit(p[i]))
			return false;
	return len > 0;
}

/*
 * Returns the value of a text of digits. The template file may contain any number of digits. So a
 * value that is too large becomes TOO_LARGE and does not wrap into a valid length.
 */
static unsigned codes_digits(const char *p, size_t len)
{
	unsigned value = 0;

	for (size_t i = 0; i < len && value < TOO_LARGE; i++)
		value = value * 10 + (unsigned)(p[i] - '0');
	return value < TOO_LARGE ? value : TOO_LARGE;
}

/* Returns whether a width is valid or absent. The field of a code is at most 255 columns wide. */
static bool has_width(unsigned n, bool has_n)
{
	return !has_n || (n >= 1 && n <= 255);
}

/*
 * Returns whether a code with this letter may have the length m and, behind the dot, the number n.
 * "word" is true for the length W. Later steps rely on these bounds: reader_bytes() reads at most
 * 16 bytes, and print_number() prints at most 64 bits.
 */
static bool is_valid(char letter, unsigned m, unsigned n, bool has_n, bool word)
{
	switch (letter) {
	case 'A':
		return !word && m <= 4096 && has_width(n, has_n);
	case 'S':
		return is_length(m) && has_width(n, has_n);
	case 'B':
		return !word && m <= 8 && n <= 64 && 8 * m + n >= 1 && 8 * m + n <= 64;
	case 'X':
		return m <= 16 && !has_n;
	case 'D':
	case 'U':
	case 'o':
		return is_length(m) && !has_n;
	case 'E':
		return !word && is_length(m) && !has_n;
	case 'F':
	case 'T':
	case 'P':
		return !word && (m == 4 || m == 8) && !has_n;
	case 'G':
	case 'O':
		return !word && m <= 65535 && n <= 7;
	default: /* R and W */
		return !word && m <= 65535 && !has_n;
	}
}

/*
 * Reads the length behind the letter, and the number behind the dot, if there is one. Returns false
 * if something other than digits follows the dot.
 */
static bool read_parts(const char *word, size_t len, const char *n, size_t n_len, unsigned *m_value,
		       unsigned *n_value, bool *is_word)
{
	*is_word = len == 2 && word[1] == 'W';
	*m_value = *is_word ? 8 : codes_digits(word + 1, len - 1);
	*n_value = 0;
	if (!n)
		return true;
	if (!all_digits(n, n_len))
		return false;
	*n_value = codes_digits(n, n_len);
	return true;
}

/*
 * Returns whether a word consists of one of these letters and, behind it, either digits or a single
 * W. Other words are keywords or function names.
 */
static bool has_form(const char *word, size_t len, const char *letters)
{
	return len >= 2 && word[0] && strchr(letters, word[0]) &&
	       ((len == 2 && word[1] == 'W') || all_digits(word + 1, len - 1));
}

/*
 * Stores a valid code. B has a length of m bytes and n bits; only their sum, 1 to 64, is used
 * later.
 */
static void codes_keep(struct code *code, char letter, unsigned m, unsigned n, bool has_n)
{
	if (letter == 'B') {
		m = 8 * m + n;
		n = 0;
	}
	*code = (struct code){ letter, (uint16_t)m, (uint16_t)n, has_n };
}

/*
 * HB and HT have no length. The member "letter" has 'H' for HB and 'h' for HT. No other code has
 * these letters, so later steps need only one switch over the letter.
 */
enum code_answer code_read(const char *word, size_t len, const char *n, size_t n_len,
			   struct code *code)
{
	unsigned m_value, n_value;
	bool is_word;

	if (len == 2 && word[0] == 'H' && (word[1] == 'B' || word[1] == 'T')) {
		codes_keep(code, word[1] == 'B' ? CODE_DATA_BYTES : CODE_HOOK_TYPE, 0, 0, false);
		return CODE_OK;
	}
	if (!has_form(word, len, "ASBXDUoFTEPGORW"))
		return CODE_NONE;
	if (!read_parts(word, len, n, n_len, &m_value, &n_value, &is_word) ||
	    !is_valid(word[0], m_value, n_value, n != NULL, is_word))
		return CODE_BAD;
	codes_keep(code, word[0], m_value, n_value, n != NULL);
	return CODE_OK;
}

/*
 * The formats of macros use a number of 64 bits, so most formats allow less than the codes that
 * read data. There is no text A, no length is greater than 8 bytes, and times and processes have
 * exactly 4 bytes. Only E allows more: the length W. In a format, the letter W has a different
 * meaning: a range of bits, where bit 0 is the least significant bit.
 */
static bool is_valid_format(char letter, unsigned m, unsigned n, bool has_n, bool word)
{
	switch (letter) {
	case 'W': /* the bits m to n */
		return !word && has_n && m <= n && n <= 63;
	case 'X':
		return m >= 1 && m <= 8 && !has_n;
	case 'E':
		return is_length(m) && !has_n;
	case 'T':
	case 'P':
		return !word && m == 4 && !has_n;
	default:
		return is_valid(letter, m, n, has_n, word);
	}
}

/* The function never returns CODE_NONE, because only a format may follow a percent sign. */
enum code_answer code_read_format(const char *word, size_t len, const char *n, size_t n_len,
				  struct code *code)
{
	unsigned m_value, n_value;
	bool is_word;

	if (!has_form(word, len, "SBXDUoFTEPW") ||
	    !read_parts(word, len, n, n_len, &m_value, &n_value, &is_word) ||
	    !is_valid_format(word[0], m_value, n_value, n != NULL, is_word))
		return CODE_BAD;
	codes_keep(code, word[0], m_value, n_value, n != NULL);
	return CODE_OK;
}

bool code_is_move(const struct code *code)
{
	return code->letter && strchr("GORW", code->letter);
}

/*
 * A code X of 1, 2, 4 or 8 bytes reads a number. A code X of another length is printed byte by
 * byte.
 */
bool code_is_integer(const struct code *code)
{
	switch (code->letter) {
	case 'X':
		return is_length(code->m);
	case 'B':
	case 'D':
	case 'U':
	case 'o':
	case 'E':
	case CODE_DATA_BYTES:
	case CODE_HOOK_TYPE:
		return true;
	default:
		return false;
	}
}

bool code_is_text(const struct code *code)
{
	return code->letter == 'A' || code->letter == 'S';
}

/*
 * Returns the radix in which the code prints its numbers, but 16 for B, which prints binary digits.
 * A template writes the values of a switch in this radix.
 */
unsigned code_radix(const struct code *code)
{
	switch (code->letter) {
	case 'U':
	case 'D':
	case 'E':
	case CODE_DATA_BYTES:
		return 10;
	case 'o':
		return 8;
	default:
		return 16;
	}
}
