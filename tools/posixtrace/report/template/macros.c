/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * macros.c - the table of predefined macros. Macros that only AIX can fill are in the table, too,
 * so that the message for such a macro is not the message for an unknown name.
 */
#include "report/template/macros.h"

#include <string.h>

#define NUMBER(name, id, print) { name, id, MACRO_INTEGER, print, false }
#define STRING(name, id) { name, id, MACRO_STRING, PRINT_SHORTEST, false }
#define ACTION(name, id) { name, id, MACRO_ACTION, PRINT_SHORTEST, false }
#define AIX(name) { name, MACRO_AIX_ONLY, MACRO_NONE, PRINT_SHORTEST, false }

/*
 * Only the parser searches this table, so a linear search is fast enough. $L1 to $L5 are other
 * names of $D1 to $D5.
 */
static const struct macro macros[] = {
	{ "DATAPOINTER", MACRO_DATAPOINTER, MACRO_INTEGER, PRINT_DECIMAL, true },
	{ "BASEPOINTER", MACRO_BASEPOINTER, MACRO_INTEGER, PRINT_DECIMAL, true },
	NUMBER("HOOKENV", MACRO_BITS, PRINT_DECIMAL),
	NUMBER("TRACEENV", MACRO_BITS, PRINT_DECIMAL),
	NUMBER("WORDSIZE", MACRO_WORDSIZE, PRINT_DECIMAL),
	NUMBER("GENERIC", MACRO_ZERO, PRINT_DECIMAL),
	NUMBER("HD", MACRO_ZERO, PRINT_SHORTEST),
	NUMBER("HL", MACRO_HL, PRINT_DECIMAL),
	NUMBER("HT", MACRO_HT, PRINT_SHORTEST),
	NUMBER("D1", MACRO_D1, PRINT_SHORTEST),
	NUMBER("D2", MACRO_D2, PRINT_SHORTEST),
	NUMBER("D3", MACRO_D3, PRINT_SHORTEST),
	NUMBER("D4", MACRO_D4, PRINT_SHORTEST),
	NUMBER("D5", MACRO_D5, PRINT_SHORTEST),
	NUMBER("L1", MACRO_D1, PRINT_SHORTEST),
	NUMBER("L2", MACRO_D2, PRINT_SHORTEST),
	NUMBER("L3", MACRO_D3, PRINT_SHORTEST),
	NUMBER("L4", MACRO_D4, PRINT_SHORTEST),
	NUMBER("L5", MACRO_D5, PRINT_SHORTEST),
	NUMBER("TRACEID", MACRO_TRACEID, PRINT_ID),
	NUMBER("PID", MACRO_PID, PRINT_DECIMAL),
	NUMBER("TID", MACRO_TID, PRINT_UNSIGNED),
	NUMBER("PROGADDR", MACRO_PROGADDR, PRINT_ADDRESS),
	NUMBER("TRUNC", MACRO_TRUNC, PRINT_DECIMAL),
	NUMBER("SEC", MACRO_SEC, PRINT_DECIMAL),
	NUMBER("NSEC", MACRO_NSEC, PRINT_DECIMAL),
	NUMBER("RELLINENO", MACRO_RELLINENO, PRINT_DECIMAL),
	STRING("EVENT", MACRO_EVENT),
	STRING("EXECPATH", MACRO_EXECPATH),
	STRING("LOGFILE", MACRO_LOGFILE),
	ACTION("NOPRINT", MACRO_NOPRINT),
	ACTION("SKIP", MACRO_SKIP),
	ACTION("BREAK", MACRO_BREAK),
	ACTION("STOP", MACRO_STOP),
	ACTION("ERROR", MACRO_ERROR),
	ACTION("DEFAULT", MACRO_DEFAULT),
	AIX("CPUID"), AIX("PRI"), AIX("SVC"), AIX("IPADDR"), AIX("BUFF"), AIX("TOTALCPUS"),
	AIX("TRACEDCPUS"), AIX("REPORTEDCPUS"), AIX("LARGEDATATYPES"), AIX("LOGIDX"),
	AIX("LOGIDX0"), AIX("LINENO"), AIX("PROCPID"),
};

/* "name" need not end with a null byte. */
const struct macro *macro_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
		if (!strncmp(macros[i].name, name, len) && !macros[i].name[len])
			return &macros[i];
	return NULL;
}
