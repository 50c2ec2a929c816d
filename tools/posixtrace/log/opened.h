/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.h - the event of a descriptor that a process had open before its trace began. The command
 * attach records one for each descriptor, and the command record one for each descriptor that the
 * program gets at its start.
 */
#ifndef POSIXTRACE_LOG_OPENED_H
#define POSIXTRACE_LOG_OPENED_H

#define OPENED_EVENT "posixtrace_descriptor"
/*
 * looked_ns: the recorder found the descriptor at some moment in this span before the event. So if
 * the program changed the descriptor in this span, the facts may be older than the change.
 * inherited: 1 if a program got the descriptor at its start. Then the descriptor had this name at
 * the begin of this span, before each change by the program. closes_at_exec: 1 if execve(2) closes
 * the descriptor, otherwise 0. kind: file, pipe, listener (a socket that accepts connections),
 * accepted (a connection that a client made), tcp, udp, unix and socket for other sockets, or the
 * name of another object, such as eventfd. name: a path, "pipe:[INODE]", or the protocol and the
 * addresses of a socket. client: the address of the client of an accepted connection. peer: the
 * address to which another socket is connected.
 */
#define OPENED_SCHEMA \
	"s32 pid; s32 fd; u64 looked_ns; u8 inherited; u8 closes_at_exec; str kind; str name; " \
	"str client; str peer"

#endif
