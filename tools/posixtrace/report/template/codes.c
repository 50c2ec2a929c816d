/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/template/codes.h"

#include <string.h>

#define TOO_LARGE 100000u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_length(unsigned m)
{
	return m == 1 || m == 2 || m == 4 || m == 8;
}

static bool all_digits(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_digit(p[i]))
			return false;
	return len > 0;
}

static unsigned digits(const char *p, size_t len)
{
	unsigned value = 0;

	for (size_t i = 0; i < len && value < TOO_LARGE; i++)
		value = value * 10 + (unsigned)(p[i] - '0');
	return value < TOO_LARGE ? value : TOO_LARGE;
}

static bool has_width(unsigned n, bool has_n)
{
	return !has_n || (n >= 1 && n <= 255);
}

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

/* "X" and what follows as a length, and the part behind the dot. */
static bool read_parts(const char *word, size_t len, const char *n, size_t n_len, unsigned *m_value,
		       unsigned *n_value, bool *is_word)
{
	*is_word = len == 2 && word[1] == 'W';
	*m_value = *is_word ? 8 : digits(word + 1, len - 1);
	*n_value = 0;
	if (!n)
		return true;
	if (!all_digits(n, n_len))
		return false;
	*n_value = digits(n, n_len);
	return true;
}

static bool has_form(const char *word, size_t len, const char *letters)
{
	return len >= 2 && word[0] && strchr(letters, word[0]) &&
	       ((len == 2 && word[1] == 'W') || all_digits(word + 1, len - 1));
}

static void keep(struct code *code, char letter, unsigned m, unsigned n, bool has_n)
{
	if (letter == 'B') {
		m = 8 * m + n;
		n = 0;
	}
	*code = (struct code){ letter, (uint16_t)m, (uint16_t)n, has_n };
}

enum code_answer code_read(const char *word, size_t len, const char *n, size_t n_len,
			   struct code *code)
{
	unsigned m_value, n_value;
	bool is_word;

	if (len == 2 && word[0] == 'H' && (word[1] == 'B' || word[1] == 'T')) {
		keep(code, word[1] == 'B' ? CODE_DATA_BYTES : CODE_HOOK_TYPE, 0, 0, false);
		return CODE_OK;
	}
	if (!has_form(word, len, "ASBXDUoFTEPGORW"))
		return CODE_NONE;
	if (!read_parts(word, len, n, n_len, &m_value, &n_value, &is_word) ||
	    !is_valid(word[0], m_value, n_value, n != NULL, is_word))
		return CODE_BAD;
	keep(code, word[0], m_value, n_value, n != NULL);
	return CODE_OK;
}

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

enum code_answer code_read_format(const char *word, size_t len, const char *n, size_t n_len,
				  struct code *code)
{
	unsigned m_value, n_value;
	bool is_word;

	if (!has_form(word, len, "SBXDUoFTEPW") ||
	    !read_parts(word, len, n, n_len, &m_value, &n_value, &is_word) ||
	    !is_valid_format(word[0], m_value, n_value, n != NULL, is_word))
		return CODE_BAD;
	keep(code, word[0], m_value, n_value, n != NULL);
	return CODE_OK;
}

bool code_is_move(const struct code *code)
{
	return code->letter && strchr("GORW", code->letter);
}

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
