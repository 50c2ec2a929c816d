/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shorten.c - shortens the names of C++ functions, as __cxa_demangle() writes them.
 *
 * A copy of the name is read once from left to right. The part that is kept is never longer than
 * the part that was read, so the kept part fits into the memory of the name. Names come from files
 * that anyone may have made: each search stops at the end of the name, and a name of an unknown
 * form is not changed.
 */
#include "symbols/shorten.h"

#include <stdlib.h>
#include <string.h>

struct shortening {
	const char *at; /* the text that is not read yet */
	char *begin;    /* the qualified name begins here; before it, a prefix may be kept */
	char *end;      /* the end of the kept text */
	bool is_function;
	bool has_type;  /* text before a blank was dropped as the type of the result */
};

/* Names that the compiler makes from the name of a function or class begin with these words. */
static const char *const prefixes[] = {
	"guard variable for ", "non-virtual thunk to ", "virtual thunk to ",
	"covariant return thunk to ", "vtable for ", "VTT for ", "typeinfo for ",
	"typeinfo name for ", "TLS init function for ", "TLS wrapper function for ",
};

/*
 * The symbols of operators. A longer symbol precedes the symbols with which it begins: "<<="
 * precedes "<<", and "<<" precedes "<".
 */
static const char *const operators[] = {
	"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&",
	"||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "=", "!", "+",
	"-", "*", "/", "%", "^", "&", "|", "~", ",",
};

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

static void keep_bytes(struct shortening *name, size_t bytes)
{
	memcpy(name->end, name->at, bytes);
	name->end += bytes;
	name->at += bytes;
}

/*
 * Moves behind the bracket that closes the bracket at name->at. Inside of round brackets, < and >
 * may be operators, so only round brackets are counted there. Returns false if the bracket is not
 * closed.
 */
static bool skip_brackets(struct shortening *name)
{
	size_t round = 0, angle = 0;

	for (; *name->at; name->at++) {
		if (*name->at == '(')
			round++;
		else if (*name->at == ')' && round)
			round--;
		else if (*name->at == '<' && !round)
			angle++;
		else if (*name->at == '>' && !round && angle)
			angle--;
		else
			continue;
		if (!round && !angle) {
			name->at++;
			return true;
		}
	}
	return false;
}

/* Keeps "operator" and its symbol or type. Returns false if the type is not closed. */
static bool keep_operator(struct shortening *name)
{
	keep_bytes(name, strlen("operator"));
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (!begins_with(name->at, operators[i]))
			continue;
		keep_bytes(name, strlen(operators[i]));
		/* A blank separates the symbol from the arguments of a template. */
		if (begins_with(name->at, " <"))
			name->at++;
		return true;
	}
	/* The name of a type, "new", "delete", or a suffix of literals precedes the parameters. */
	while (*name->at && *name->at != '(') {
		if (*name->at != '<')
			keep_bytes(name, 1);
		else if (!skip_brackets(name))
			return false;
	}
	return *name->at == '(';
}

/* Keeps a name in braces, such as {lambda(int)#1}, without its parameters. */
static bool keep_braces(struct shortening *name)
{
	while (*name->at && *name->at != '}') {
		if (*name->at != '(')
			keep_bytes(name, 1);
		else if (!skip_brackets(name))
			return false;
	}
	if (!*name->at)
		return false;
	keep_bytes(name, 1);
	return true;
}

/* The compiler's parts of a function, such as "f() [clone .cold]", remain distinguishable. */
static const char clone[] = " [clone ";

/*
 * Skips the parameters of a function and the qualifiers behind them. The name may end there. It may
 * continue with an entity inside of the function, or with a part that the compiler made. Returns
 * false for any other text.
 */
static bool skip_parameters(struct shortening *name)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };

	/*
	 * If a function returns the address of a function, its own name is inside of the brackets.
	 */
	if (name->at[1] == '*' || name->at[1] == '&' || name->end == name->begin ||
	    !skip_brackets(name))
		return false;
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
		if (begins_with(name->at, qualifiers[i]))
			name->at += strlen(qualifiers[i]);
	name->is_function = true;
	return !*name->at || begins_with(name->at, "::") || begins_with(name->at, clone);
}

/* Keeps or skips the next part of the name. Returns false if its form is not known. */
static bool shorten_next(struct shortening *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const bool is_begin = name->end == name->begin || !is_letter(name->end[-1]);

	if (begins_with(name->at, anonymous)) {
		keep_bytes(name, sizeof(anonymous) - 1);
	} else if (is_begin && begins_with(name->at, "operator") &&
		   !is_letter(name->at[strlen("operator")])) {
		return keep_operator(name);
	} else if (*name->at == '{') {
		return keep_braces(name);
	} else if (*name->at == '(') {
		return skip_parameters(name);
	} else if (*name->at == '<') {
		return name->end != name->begin && skip_brackets(name);
	} else if (name->end != name->begin && begins_with(name->at, clone)) {
		keep_bytes(name, strlen(name->at));
	} else if (*name->at == ' ') {
		/* The text before a blank belongs to the type of the result. */
		name->at++;
		name->end = name->begin;
		name->has_type = true;
	} else if (strchr(")>}", *name->at)) {
		return false; /* closes a bracket that was not opened */
	} else {
		keep_bytes(name, 1);
	}
	return true;
}

bool shorten(char *text)
{
	char *copy = strdup(text);
	struct shortening name = { .at = copy, .begin = text, .end = text };
	bool is_prefixed = false, fits = copy != NULL;

	for (size_t i = 0; fits && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins_with(name.at, prefixes[i])) {
			keep_bytes(&name, strlen(prefixes[i]));
			name.begin = name.end;
			is_prefixed = true;
			break;
		}
	while (fits && *name.at)
		fits = shorten_next(&name);
	/* The name of a variable has no type before it. If it has a blank, the form is unknown. */
	fits = fits && name.end != name.begin &&
	       (name.is_function || (is_prefixed && !name.has_type) || !strchr(copy, ' '));
	if (fits)
		*name.end = '\0';
	else if (copy)
		memcpy(text, copy, strlen(copy) + 1);
	free(copy);
	return fits;
}
