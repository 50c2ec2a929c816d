/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lex.c - reads blanks, words, strings and numbers of a logical line. The file is hostile: no
 * function reads at or behind lex->end, and a byte of 0 is a byte like any other.
 */
#include "report/template/lex.h"

#include <string.h>

#include "base/text.h"

/* A file has at most TEMPLATE_FILE_BYTES, so the offset fits in 32 bits. */
struct diag_place lex_place(const struct lex *lex, const char *at)
{
	return (struct diag_place){ lex->file, (uint32_t)(at - lex->base) };
}

bool lex_fail(struct lex *lex, const char *at, const char *code, const char *text)
{
	if (!lex->failed) {
		lex->failed = true;
		lex->failed_at = lex_place(lex, at);
		lex->failed_code = code;
		lex->failed_text = text;
	}
	return false;
}

bool lex_expected(struct lex *lex, const char *what)
{
	return lex_fail(lex, lex->p, "E14", what);
}

/* Returns the length of the line end at p: 1 for \n, 2 for \r\n, or 0 if p is not at a line end. */
static size_t line_end(const char *p, const char *end)
{
	if (p < end && *p == '\n')
		return 1;
	return end - p >= 2 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

/*
 * Returns the length of a continuation at p, or 0 if there is none. Blanks behind the backslash are
 * accepted here, because load_logical() has noted them, and head_report() reports them. A backslash
 * at the end of the file counts too, although no line end follows it.
 */
static size_t lex_continuation(const char *p, const char *end)
{
	const char *q = p + 1;
	size_t n;

	if (*p != '\\')
		return 0;
	while (q < end && (*q == ' ' || *q == '\t'))
		q++;
	if (q == end)
		return (size_t)(q - p);
	n = line_end(q, end);
	return n ? (size_t)(q - p) + n : 0;
}

/*
 * Skips blanks, tabs and continuations. A backslash that begins no continuation is not skipped,
 * because it may begin \n, \t or \*.
 */
void lex_blanks(struct lex *lex)
{
	while (lex->p < lex->end) {
		size_t n =
			*lex->p == ' ' || *lex->p == '\t' ? 1 : lex_continuation(lex->p, lex->end);

		if (!n)
			return;
		lex->p += n;
	}
}

bool lex_at_end(struct lex *lex)
{
	lex_blanks(lex);
	return lex->p == lex->end;
}

bool lex_is(struct lex *lex, char c)
{
	lex_blanks(lex);
	return lex->p < lex->end && *lex->p == c;
}

bool lex_take(struct lex *lex, char c)
{
	if (!lex_is(lex, c))
		return false;
	lex->p++;
	return true;
}

bool lex_take_two(struct lex *lex, char c)
{
	if (!lex_is(lex, c) || lex->end - lex->p < 2 || lex->p[1] != c)
		return false;
	lex->p += 2;
	return true;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

/*
 * Returns the word and does not move lex->p, because the caller first decides whether the word is a
 * code, a keyword or a name.
 */
struct word lex_peek_word(const struct lex *lex)
{
	struct word word = { lex->p, 0 };

	while (word.at + word.len < lex->end && is_word_byte(word.at[word.len]))
		word.len++;
	return word;
}

bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.len && !memcmp(word.at, text, word.len);
}

/*
 * Returns the character that the program stores for a byte of a string. If the string will be
 * printed, each byte that is not printable ASCII becomes a dot. The conversion is done here, once,
 * and not at each printing.
 */
static char lex_shown(char c, bool for_print)
{
	return for_print && ((unsigned char)c < 0x20 || (unsigned char)c > 0x7e) ? '.' : c;
}

/* Reads one character of a string. Returns false for an unknown escape. */
static bool lex_character(const char **p, const char *end, bool for_print, char *c)
{
	if (**p != '\\') {
		*c = lex_shown(*(*p)++, for_print);
		return true;
	}
	if (end - *p < 2)
		return false;
	switch ((*p)[1]) {
	case '\\':
	case '"':
		*c = (*p)[1];
		break;
	case 'n':
		*c = '\n';
		break;
	case 't':
		*c = '\t';
		break;
	default:
		return false;
	}
	*p += 2;
	return true;
}

/* Returns the quote that closes the string at p, or NULL if the physical line has no such quote. */
static const char *closing_quote(const char *p, const char *end)
{
	for (; p < end && !line_end(p, end); p++) {
		if (*p == '"')
			return p;
		if (*p == '\\' && end - p >= 2 && !line_end(p + 1, end))
			p++;
	}
	return NULL;
}

/*
 * An escape is one byte of the text, so the string in the file may be longer than the text. The
 * limit LEX_STRING_BYTES is for the text. Therefore the length of the text fits in the 16 bits that
 * an instruction has for it.
 */
bool lex_string(struct lex *lex, struct program *program, bool for_print, struct text_ref *ref)
{
	char text[LEX_STRING_BYTES], *kept;
	const char *open, *close;
	size_t len = 0;

	if (!lex_is(lex, '"'))
		return lex_expected(lex, "a string was expected");
	open = lex->p;
	close = closing_quote(open + 1, lex->end);
	if (!close)
		return lex_fail(lex, open, "E03", "this string is not closed on its line");
	for (const char *p = open + 1; p < close; len++) {
		if (len == LEX_STRING_BYTES)
			return lex_fail(lex, open, "E21", "a string of more than 1023 bytes");
		if (!lex_character(&p, close, for_print, &text[len]))
			return lex_fail(lex, p, "E04", "the only escapes are \\\\ \\\" \\n \\t");
	}
	kept = program_text(program, len, ref);
	if (!kept)
		return lex_fail(lex, open, "E21", "out of memory");
	memcpy(kept, text, len);
	lex->p = close + 1;
	return true;
}

/*
 * All bytes of the word must be digits, so 12ab is an error in base 10 and not the number 12. After
 * an error, *number is undefined.
 */
bool lex_number(struct lex *lex, unsigned radix, uint64_t *number)
{
	struct word word;
	size_t i = 0;

	lex_blanks(lex);
	word = lex_peek_word(lex);
	if (!word.len)
		return lex_expected(lex, "a number was expected");
	if (word.len >= 2 && word.at[0] == '0' && word.at[1] == 'x') {
		radix = 16;
		i = 2;
	} else if (word.at[0] == 'o') {
		radix = 8;
		i = 1;
	}
	if (i == word.len)
		return lex_fail(lex, word.at, "E15", "a number without digits");
	for (*number = 0; i < word.len; i++) {
		unsigned digit = text_digit(word.at[i]);

		if (digit >= radix)
			return lex_fail(lex, word.at, "E15",
					radix == 16 ? "not a hexadecimal number" :
					radix == 10 ? "not a decimal number" :
					"not an octal number");
		if (__builtin_mul_overflow(*number, radix, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return lex_fail(lex, word.at, "E15", "a number of more than 64 bits");
	}
	lex->p += word.len;
	return true;
}
