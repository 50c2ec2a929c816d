/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/types.h - the event types of the shim, one line each. No other file lists them.
 *
 * 	X(TYPE, FAMILY, "name", "schema")
 *
 * A schema names the fields of the data in their order, without gaps. If there is a field "time",
 * this is the first field and has the duration of the call; the time stamp of the event is the
 * moment at which the call returned. The field "error" is errno if the call failed, else 0;
 * ECANCELED means that the thread was cancelled in the call.
 */
#ifndef PTX_PRELOAD_TYPES_H
#define PTX_PRELOAD_TYPES_H

/*
 * Names of values that fields of several types have. Some values of <fcntl.h> depend on the
 * processor. A schema has at most 1023 bytes, and each log has the schemas of all chosen types.
 * Rare values therefore have no names and are shown as numbers.
 */
#if defined __aarch64__
#define SHIM_OPEN_BY_PROCESSOR \
	"0x404000=O_TMPFILE,0x4000=O_DIRECTORY,0x8000=O_NOFOLLOW,0x10000=O_DIRECT"
#else
#define SHIM_OPEN_BY_PROCESSOR \
	"0x410000=O_TMPFILE,0x10000=O_DIRECTORY,0x20000=O_NOFOLLOW,0x4000=O_DIRECT"
#endif
#define SHIM_OPEN_FLAGS \
	"{|3:0=O_RDONLY,3:1=O_WRONLY,3:2=O_RDWR,0x40=O_CREAT,0x80=O_EXCL,0x100=O_NOCTTY," \
	"0x200=O_TRUNC,0x400=O_APPEND,0x800=O_NONBLOCK,0x101000=O_SYNC,0x1000=O_DSYNC," \
	"0x2000=O_ASYNC," SHIM_OPEN_BY_PROCESSOR ",0x40000=O_NOATIME,0x80000=O_CLOEXEC," \
	"0x200000=O_PATH}"
/*
 * The flags that fcntl() sets or returns. There are two kinds of flags, and 0 is a valid value of
 * both. So one further bit says the kind: SHIM_FCNTL_STATUS is added to the flags of F_GETFL and
 * F_SETFL, and SHIM_FCNTL_CLOSING to those of F_GETFD and F_SETFD. No flag has one of these bits.
 * The kernel returns O_LARGEFILE for each file that a program of 64 bits has opened.
 */
#define SHIM_FCNTL_STATUS  4
#define SHIM_FCNTL_CLOSING 8
#if defined __aarch64__
#define SHIM_FCNTL_BY_PROCESSOR \
	"0x4000=O_DIRECTORY,0x8000=O_NOFOLLOW,0x10000=O_DIRECT,0x20000=O_LARGEFILE"
#else
#define SHIM_FCNTL_BY_PROCESSOR \
	"0x10000=O_DIRECTORY,0x20000=O_NOFOLLOW,0x4000=O_DIRECT,0x8000=O_LARGEFILE"
#endif
#define SHIM_FCNTL_FLAGS \
	"{|0=none,15:8=0,15:9=FD_CLOEXEC,15:4=O_RDONLY,15:5=O_WRONLY,15:6=O_RDWR,0x400=O_APPEND," \
	"0x800=O_NONBLOCK,0x101000=O_SYNC,0x1000=O_DSYNC,0x2000=O_ASYNC,0x40000=O_NOATIME," \
	SHIM_FCNTL_BY_PROCESSOR ",0x200000=O_PATH}"
/* The limit of a wait. A wait without limit has -1, which is the greatest value of the type. */
#define SHIM_TIMEOUT "ns timeout{0xffffffffffffffff=forever}"
/*
 * The flags of descriptors that are made without a file. They have the values of O_NONBLOCK and
 * O_CLOEXEC.
 */
#define SHIM_FD_FLAGS "{|0=0,0x800=NONBLOCK,0x80000=CLOEXEC}"
/*
 * With O_DIRECT, each read from the pipe returns the bytes of one write. For pipe() the flags are
 * 0.
 */
#if defined __aarch64__
#define SHIM_PIPE_FLAGS \
	"{|0=0,0x80=O_NOTIFICATION_PIPE,0x800=O_NONBLOCK,0x10000=O_DIRECT,0x80000=O_CLOEXEC}"
#else
#define SHIM_PIPE_FLAGS \
	"{|0=0,0x80=O_NOTIFICATION_PIPE,0x800=O_NONBLOCK,0x4000=O_DIRECT,0x80000=O_CLOEXEC}"
#endif
/* Flags of clone(2), with the signal for the parent in the lowest byte. */
#define SHIM_CLONE_FLAGS \
	"{|0=0,0x100=CLONE_VM,0x200=CLONE_FS,0x400=CLONE_FILES,0x800=CLONE_SIGHAND," \
	"0x1000=CLONE_PIDFD,0x2000=CLONE_PTRACE,0x4000=CLONE_VFORK,0x8000=CLONE_PARENT," \
	"0x10000=CLONE_THREAD,0x20000=CLONE_NEWNS,0x40000=CLONE_SYSVSEM,0x80000=CLONE_SETTLS," \
	"0x100000=CLONE_PARENT_SETTID,0x200000=CLONE_CHILD_CLEARTID,0x800000=CLONE_UNTRACED," \
	"0x1000000=CLONE_CHILD_SETTID,0x2000000=CLONE_NEWCGROUP,0x4000000=CLONE_NEWUTS," \
	"0x8000000=CLONE_NEWIPC,0x10000000=CLONE_NEWUSER,0x20000000=CLONE_NEWPID," \
	"0x40000000=CLONE_NEWNET,0x80000000=CLONE_IO,0x100000000=CLONE_CLEAR_SIGHAND," \
	"0x200000000=CLONE_INTO_CGROUP,255:17=SIGCHLD}"
/* Flags of the functions whose names end in "at". 0x200 has several meanings and is not here. */
#define SHIM_AT_FLAGS \
	"{|0=0,0x100=AT_SYMLINK_NOFOLLOW,0x400=AT_SYMLINK_FOLLOW,0x800=AT_NO_AUTOMOUNT," \
	"0x1000=AT_EMPTY_PATH,0x2000=AT_STATX_FORCE_SYNC,0x4000=AT_STATX_DONT_SYNC}"
/* The descriptor of the folder at which a relative path begins. */
#define SHIM_FOLDER "fd folder{-100=AT_FDCWD}"
/* The families of addresses that programs commonly use. Others are shown as numbers. */
#define SHIM_DOMAIN \
	"{0=AF_UNSPEC,1=AF_UNIX,2=AF_INET,10=AF_INET6,16=AF_NETLINK,17=AF_PACKET,29=AF_CAN," \
	"31=AF_BLUETOOTH,38=AF_ALG,40=AF_VSOCK,44=AF_XDP}"
/* The type of a socket is in the lowest bits, and flags of its descriptor are above. */
#define SHIM_SOCKET_TYPE \
	"{|15:1=SOCK_STREAM,15:2=SOCK_DGRAM,15:3=SOCK_RAW,15:4=SOCK_RDM,15:5=SOCK_SEQPACKET," \
	"0x800=SOCK_NONBLOCK,0x80000=SOCK_CLOEXEC}"
/*
 * The field `option` is the level times 2^32 plus the number of the option, because a number has
 * another meaning at each level. The field `value` is 0 for options that do not have 1, 2, 4 or 8
 * bytes.
 */
#define SHIM_SOCKET_OPTION \
	"s32 level{0=IPPROTO_IP,1=SOL_SOCKET,6=IPPROTO_TCP,17=IPPROTO_UDP,41=IPPROTO_IPV6," \
	"270=SOL_NETLINK}; u32 bytes; x64 option{1=IP_TOS,2=IP_TTL,10=IP_MTU_DISCOVER," \
	"11=IP_RECVERR,0x100000002=SO_REUSEADDR,0x100000003=SO_TYPE,0x100000004=SO_ERROR," \
	"0x100000006=SO_BROADCAST,0x100000007=SO_SNDBUF,0x100000008=SO_RCVBUF," \
	"0x100000009=SO_KEEPALIVE,0x10000000d=SO_LINGER,0x10000000f=SO_REUSEPORT," \
	"0x100000010=SO_PASSCRED,0x100000011=SO_PEERCRED,0x100000014=SO_RCVTIMEO," \
	"0x100000015=SO_SNDTIMEO,0x100000019=SO_BINDTODEVICE,0x10000001a=SO_ATTACH_FILTER," \
	"0x10000001d=SO_TIMESTAMP,0x10000001e=SO_ACCEPTCONN," \
	"0x100000026=SO_PROTOCOL,0x100000027=SO_DOMAIN,0x600000001=TCP_NODELAY," \
	"0x600000002=TCP_MAXSEG,0x600000003=TCP_CORK,0x600000004=TCP_KEEPIDLE," \
	"0x600000005=TCP_KEEPINTVL,0x600000006=TCP_KEEPCNT,0x600000009=TCP_DEFER_ACCEPT," \
	"0x60000000b=TCP_INFO,0x60000000c=TCP_QUICKACK,0x60000000d=TCP_CONGESTION," \
	"0x600000012=TCP_USER_TIMEOUT," \
	"0x600000017=TCP_FASTOPEN,0x290000001a=IPV6_V6ONLY}; s64 value"

/* The flags of send(2), recv(2) and the related functions. */
#define SHIM_MESSAGE_FLAGS \
	"{|0=0,1=MSG_OOB,2=MSG_PEEK,4=MSG_DONTROUTE,8=MSG_CTRUNC,0x10=MSG_PROXY,0x20=MSG_TRUNC," \
	"0x40=MSG_DONTWAIT,0x80=MSG_EOR,0x100=MSG_WAITALL,0x800=MSG_CONFIRM,0x2000=MSG_ERRQUEUE," \
	"0x4000=MSG_NOSIGNAL,0x8000=MSG_MORE,0x10000=MSG_WAITFORONE,0x4000000=MSG_ZEROCOPY," \
	"0x20000000=MSG_FASTOPEN,0x40000000=MSG_CMSG_CLOEXEC}"

/* How memory may be used, for mmap(2) and mprotect(2). */
#define SHIM_PROTECTION "{|0=PROT_NONE,1=PROT_READ,2=PROT_WRITE,4=PROT_EXEC}"
#define SHIM_MAP_FLAGS \
	"{|15:1=MAP_SHARED,15:2=MAP_PRIVATE,15:3=MAP_SHARED_VALIDATE,0x10=MAP_FIXED," \
	"0x20=MAP_ANONYMOUS,0x100=MAP_GROWSDOWN,0x2000=MAP_LOCKED,0x4000=MAP_NORESERVE," \
	"0x8000=MAP_POPULATE,0x10000=MAP_NONBLOCK,0x20000=MAP_STACK,0x40000=MAP_HUGETLB," \
	"0x100000=MAP_FIXED_NOREPLACE}"

/* Requests of io_uring(7) that programs commonly use. Others are shown as numbers. */
#define SHIM_URING_OPCODES \
	"{0=NOP,1=READV,2=WRITEV,3=FSYNC,4=READ_FIXED,5=WRITE_FIXED,6=POLL_ADD,7=POLL_REMOVE," \
	"8=SYNC_FILE_RANGE,9=SENDMSG,10=RECVMSG,11=TIMEOUT,12=TIMEOUT_REMOVE,13=ACCEPT," \
	"14=ASYNC_CANCEL,15=LINK_TIMEOUT,16=CONNECT,17=FALLOCATE,18=OPENAT,19=CLOSE," \
	"20=FILES_UPDATE,21=STATX,22=READ,23=WRITE,24=FADVISE,25=MADVISE,26=SEND,27=RECV," \
	"28=OPENAT2,29=EPOLL_CTL,30=SPLICE,31=PROVIDE_BUFFERS,32=REMOVE_BUFFERS,33=TEE," \
	"34=SHUTDOWN,35=RENAMEAT,36=UNLINKAT,37=MKDIRAT,38=SYMLINKAT,39=LINKAT,40=MSG_RING," \
	"45=SOCKET,46=URING_CMD,47=SEND_ZC,48=SENDMSG_ZC,49=READ_MULTISHOT,50=WAITID," \
	"51=FUTEX_WAIT,52=FUTEX_WAKE,53=FUTEX_WAITV,55=FTRUNCATE,56=BIND,57=LISTEN}"

/* Operations of futex(2) that wait or wake. The two flags are above the operation. */
#define SHIM_FUTEX_OPERATIONS \
	"{|127:0=WAIT,127:1=WAKE,127:3=REQUEUE,127:4=CMP_REQUEUE,127:5=WAKE_OP,127:6=LOCK_PI," \
	"127:7=UNLOCK_PI,127:9=WAIT_BITSET,127:10=WAKE_BITSET,127:11=WAIT_REQUEUE_PI," \
	"127:13=LOCK_PI2,0x80=PRIVATE,0x100=CLOCK_REALTIME}"

/*
 * A list of families may have an entry such as data=64. Its number is how many bytes of data the
 * shim records of each call, at most SHIM_CONTENT_MAX.
 */
#define SHIM_CONTENT_NAME "data="
#define SHIM_CONTENT_MAX  4096

/*
 * posixtrace adds this entry with the number 1 to the list for a running process whose children it
 * records. The shim then also passes itself on to programs that the children execute (inject.h).
 */
#define SHIM_FOLLOW_NAME "follow="

#define SHIM_TYPES_SHIM(X) \
	X(SHIM_LOST, SHIM, "posixtrace_shim_lost", \
	  "u64 early; u64 unnamed; u64 holds; u64 early_alloc; @level 3") \
	X(SHIM_PATCHED, SHIM, "posixtrace_shim_patched", "u32 patched; u32 refused; str why")

/*
 * The events of functions that return memory follow the call. The event of free() precedes the
 * call, because another thread may get the same address immediately after the call.
 */
#define SHIM_TYPES_ALLOC(X) \
	X(ALLOC_MALLOC, ALLOC, "alloc.malloc", "u64 size; ptr result") \
	/* `count` elements of `size` bytes each. */ \
	X(ALLOC_CALLOC, ALLOC, "alloc.calloc", "u64 count; u64 size; ptr result") \
	/* If `result` is NULL and `size` is not 0, `old` stays valid. */ \
	X(ALLOC_REALLOC, ALLOC, "alloc.realloc", "ptr old; u64 size; ptr result") \
	/* All functions that return memory at a multiple of `alignment`. */ \
	X(ALLOC_ALIGNED, ALLOC, "alloc.aligned", "u64 alignment; u64 size; ptr result") \
	X(ALLOC_FREE, ALLOC, "alloc.free", "ptr old") \
	X(ALLOC_MMAP, ALLOC, "alloc.mmap", \
	  "ns time; u64 size; x32 protection" SHIM_PROTECTION "; x32 flags" SHIM_MAP_FLAGS \
	  "; fd fd; errno error; s64 offset; ptr result") \
	/* If `result` differs from `old`, the memory has moved. */ \
	X(ALLOC_MREMAP, ALLOC, "alloc.mremap", \
	  "ns time; ptr old; u64 old_size; u64 size; x32 flags{|0=0,1=MREMAP_MAYMOVE," \
	  "2=MREMAP_FIXED,4=MREMAP_DONTUNMAP}; errno error; ptr result") \
	X(ALLOC_MUNMAP, ALLOC, "alloc.munmap", "ns time; ptr old; u64 size; errno error") \
	X(ALLOC_MPROTECT, ALLOC, "alloc.mprotect", \
	  "ns time; errno error; x32 protection" SHIM_PROTECTION "; ptr address; u64 size") \
	/* MADV_DONTNEED (4) and MADV_FREE (8) give the memory back to the kernel. */ \
	X(ALLOC_MADVISE, ALLOC, "alloc.madvise", \
	  "ns time; errno error; s32 advice{0=MADV_NORMAL,1=MADV_RANDOM,2=MADV_SEQUENTIAL," \
	  "3=MADV_WILLNEED,4=MADV_DONTNEED,8=MADV_FREE,9=MADV_REMOVE,10=MADV_DONTFORK," \
	  "11=MADV_DOFORK,12=MADV_MERGEABLE,13=MADV_UNMERGEABLE,14=MADV_HUGEPAGE," \
	  "15=MADV_NOHUGEPAGE,16=MADV_DONTDUMP,17=MADV_DODUMP,18=MADV_WIPEONFORK," \
	  "19=MADV_KEEPONFORK,20=MADV_COLD,21=MADV_PAGEOUT,22=MADV_POPULATE_READ," \
	  "23=MADV_POPULATE_WRITE,24=MADV_DONTNEED_LOCKED,25=MADV_COLLAPSE,100=MADV_HWPOISON," \
	  "101=MADV_SOFT_OFFLINE,102=MADV_GUARD_INSTALL,103=MADV_GUARD_REMOVE}; ptr address; " \
	  "u64 size") \
	/* msync() writes memory to its file. mlock() keeps memory in RAM until munlock(). */ \
	X(ALLOC_MSYNC, ALLOC, "alloc.msync", \
	  "ns time; errno error; x32 flags{|0=0,1=MS_ASYNC,2=MS_INVALIDATE,4=MS_SYNC}; " \
	  "ptr address; u64 size") \
	X(ALLOC_MLOCK, ALLOC, "alloc.mlock", \
	  "ns time; errno error; s32 lock{0=unlock,1=lock}; x32 flags; ptr address; u64 size")

#define SHIM_TYPES_IO(X) \
	/* fd is -1 after an error. A relative path begins at `folder`. */ \
	X(IO_OPEN, IO, "io.open", \
	  "ns time; fd fd; errno error; " SHIM_FOLDER "; x32 flags" SHIM_OPEN_FLAGS \
	  "; o32 mode; str path") \
	/* When the event is recorded, the number of fd may already belong to another file. */ \
	X(IO_CLOSE, IO, "io.close", "ns time; fd fd; errno error") \
	/* A result of 0 is the end of the file. `data` is recorded only on request: content.h. */ \
	X(IO_READ, IO, "io.read", \
	  "ns time; fd fd; errno error; u64 size; s64 result; bytes data") \
	/* A result that is less than `size` is no error. */ \
	X(IO_WRITE, IO, "io.write", \
	  "ns time; fd fd; errno error; u64 size; s64 result; bytes data") \
	/* The same transfers at an offset; the position of the file does not change. */ \
	X(IO_PREAD, IO, "io.pread", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 offset; bytes data") \
	X(IO_PWRITE, IO, "io.pwrite", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 offset; bytes data") \
	/* These calls move `parts` parts of memory. Their total size is not recorded. */ \
	X(IO_READV, IO, "io.readv", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; bytes data") \
	X(IO_WRITEV, IO, "io.writev", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; bytes data") \
	X(IO_PREADV, IO, "io.preadv", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; s64 offset; bytes data") \
	X(IO_PWRITEV, IO, "io.pwritev", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; s64 offset; bytes data") \
	/* The call reads from the descriptor `from` and writes to fd. */ \
	X(IO_SENDFILE, IO, "io.sendfile", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 from") \
	/* These calls wait until the device has the data. */ \
	X(IO_FSYNC, IO, "io.fsync", "ns time; fd fd; errno error") \
	X(IO_FDATASYNC, IO, "io.fdatasync", "ns time; fd fd; errno error") \
	/* These events concern streams of <stdio.h>; fd is the descriptor of the stream. */ \
	X(IO_FOPEN, IO, "io.fopen", \
	  "ns time; fd fd; errno error; ptr file; str mode; str path") \
	X(IO_FCLOSE, IO, "io.fclose", "ns time; fd fd; errno error; ptr file") \
	/* \
	 * The stream's buffer lacked the bytes that the program wanted, so the function `by` has \
	 * read the file. `result` is the number of bytes that were read. \
	 */ \
	X(IO_FILL, IO, "io.fill", \
	  "ns time; fd fd; errno error; ptr file; s64 result; str by") \
	/* \
	 * `copy` is the new descriptor; after an error `copy` is the number that the program \
	 * asked for. \
	 */ \
	X(IO_DUP, IO, "io.dup", "ns time; errno error; fd fd; fd copy; x32 flags" SHIM_FD_FLAGS) \
	/* The program reads from fd and writes to `write`. */ \
	X(IO_PIPE, IO, "io.pipe", \
	  "ns time; errno error; fd fd; fd write; x32 flags" SHIM_PIPE_FLAGS) \
	/* \
	 * `command` decides whether `value` is a number or an address. `lock` is the type of the \
	 * lock that a call has set or removed. `flags` are those that F_SETFL or F_SETFD was to \
	 * set, or those that F_GETFL or F_GETFD has returned. \
	 */ \
	X(IO_FCNTL, IO, "io.fcntl", \
	  "ns time; errno error; fd fd; s32 command{0=F_DUPFD,1=F_GETFD,2=F_SETFD,3=F_GETFL," \
	  "4=F_SETFL,5=F_GETLK,6=F_SETLK,7=F_SETLKW,8=F_SETOWN,9=F_GETOWN,10=F_SETSIG," \
	  "11=F_GETSIG,15=F_SETOWN_EX,16=F_GETOWN_EX,17=F_GETOWNER_UIDS,36=F_OFD_GETLK," \
	  "37=F_OFD_SETLK,38=F_OFD_SETLKW,1024=F_SETLEASE,1025=F_GETLEASE,1026=F_NOTIFY," \
	  "1027=F_DUPFD_QUERY,1028=F_CREATED_QUERY,1029=F_CANCELLK,1030=F_DUPFD_CLOEXEC," \
	  "1031=F_SETPIPE_SZ,1032=F_GETPIPE_SZ,1033=F_ADD_SEALS,1034=F_GET_SEALS," \
	  "1035=F_GET_RW_HINT,1036=F_SET_RW_HINT,1037=F_GET_FILE_RW_HINT," \
	  "1038=F_SET_FILE_RW_HINT,1039=F_GETDELEG,1040=F_SETDELEG}; s32 result; " \
	  "s32 lock{-1=none,0=F_RDLCK,1=F_WRLCK,2=F_UNLCK}; x32 flags" SHIM_FCNTL_FLAGS "; " \
	  "s64 value") \
	/* Requests depend on the device. Those of terminals, files and networks have names. */ \
	X(IO_IOCTL, IO, "io.ioctl", \
	  "ns time; errno error; fd fd; s32 result; x64 request{0x5401=TCGETS,0x5402=TCSETS," \
	  "0x5403=TCSETSW,0x5404=TCSETSF,0x5409=TCSBRK,0x540a=TCXONC,0x540b=TCFLSH," \
	  "0x540c=TIOCEXCL,0x540d=TIOCNXCL,0x540e=TIOCSCTTY,0x540f=TIOCGPGRP,0x5410=TIOCSPGRP," \
	  "0x5411=TIOCOUTQ,0x5412=TIOCSTI,0x5413=TIOCGWINSZ,0x5414=TIOCSWINSZ,0x5415=TIOCMGET," \
	  "0x5418=TIOCMSET,0x541b=FIONREAD,0x5421=FIONBIO,0x5422=TIOCNOTTY,0x5425=TCSBRKP," \
	  "0x5429=TIOCGSID,0x5441=TIOCGPTPEER,0x5450=FIONCLEX,0x5451=FIOCLEX,0x5452=FIOASYNC," \
	  "0x8905=SIOCATMARK,0x8910=SIOCGIFNAME,0x8912=SIOCGIFCONF,0x8913=SIOCGIFFLAGS," \
	  "0x8915=SIOCGIFADDR,0x8921=SIOCGIFMTU,0x8927=SIOCGIFHWADDR,0x8933=SIOCGIFINDEX," \
	  "0x8946=SIOCETHTOOL,0x40045431=TIOCSPTLCK,0x40049409=FICLONE,0x4020940d=FICLONERANGE," \
	  "0x40086602=FS_IOC_SETFLAGS,0x802c542a=TCGETS2,0x402c542b=TCSETS2," \
	  "0x402c542c=TCSETSW2,0x80045430=TIOCGPTN,0x80081272=BLKGETSIZE64," \
	  "0x80086601=FS_IOC_GETFLAGS,0xc0189436=FIDEDUPERANGE,0xc020660b=FS_IOC_FIEMAP}; " \
	  "x64 value") \
	/* The duration is the wait for the lock of another process. */ \
	X(IO_FLOCK, IO, "io.flock", \
	  "ns time; errno error; fd fd; x32 operation{|1=LOCK_SH,2=LOCK_EX,8=LOCK_UN,4=LOCK_NB}") \
	/* These calls move bytes between descriptors without memory of the program. */ \
	X(IO_SPLICE, IO, "io.splice", \
	  "ns time; errno error; fd fd; fd to; x32 flags{|0=0,1=SPLICE_F_MOVE," \
	  "2=SPLICE_F_NONBLOCK,4=SPLICE_F_MORE,8=SPLICE_F_GIFT}; u64 size; s64 result") \
	X(IO_COPY, IO, "io.copy_file_range", \
	  "ns time; errno error; fd fd; fd to; u64 size; s64 result") \
	/* The next events concern descriptors without a file in any folder. */ \
	X(IO_MEMFD, IO, "io.memfd_create", \
	  "ns time; errno error; fd fd; x32 flags{|0=0,1=MFD_CLOEXEC,2=MFD_ALLOW_SEALING," \
	  "4=MFD_HUGETLB,8=MFD_NOEXEC_SEAL,0x10=MFD_EXEC}; str name") \
	X(IO_EVENTFD, IO, "io.eventfd", \
	  "ns time; errno error; fd fd; u32 value; x32 flags{|0=0,1=EFD_SEMAPHORE," \
	  "0x800=EFD_NONBLOCK,0x80000=EFD_CLOEXEC}") \
	X(IO_TIMERFD, IO, "io.timerfd_create", \
	  "ns time; errno error; fd fd; s32 clock{0=CLOCK_REALTIME,1=CLOCK_MONOTONIC," \
	  "7=CLOCK_BOOTTIME}; x32 flags" SHIM_FD_FLAGS) \
	X(IO_TIMERSET, IO, "io.timerfd_settime", \
	  "ns time; errno error; fd fd; x32 flags{|0=0,1=TFD_TIMER_ABSTIME," \
	  "2=TFD_TIMER_CANCEL_ON_SET}; s64 asked; s64 interval") \
	X(IO_SIGNALFD, IO, "io.signalfd", "ns time; errno error; fd fd; fd old; x32 flags" \
	  SHIM_FD_FLAGS) \
	/* fd is the new descriptor of the FILE; `old`, which is closed, is usually the same. */ \
	X(IO_FREOPEN, IO, "io.freopen", \
	  "ns time; fd fd; errno error; ptr file; fd old; str mode; str path") \
	/* `result` is the position from the beginning of the file. */ \
	X(IO_LSEEK, IO, "io.lseek", \
	  "ns time; errno error; fd fd; s32 whence{0=SEEK_SET,1=SEEK_CUR,2=SEEK_END,3=SEEK_DATA," \
	  "4=SEEK_HOLE}; s64 offset; s64 result") \
	/* The range includes `last`, which is 4294967295 for all descriptors from `first` on. */ \
	X(IO_CLOSE_RANGE, IO, "io.close_range", \
	  "ns time; errno error; u32 first; u32 last; " \
	  "x32 flags{|0=0,2=CLOSE_RANGE_UNSHARE,4=CLOSE_RANGE_CLOEXEC}") \
	/* For posix_fallocate() the mode is 0. */ \
	X(IO_FALLOCATE, IO, "io.fallocate", \
	  "ns time; errno error; fd fd; x32 mode{|0=0,1=FALLOC_FL_KEEP_SIZE," \
	  "2=FALLOC_FL_PUNCH_HOLE,8=FALLOC_FL_COLLAPSE_RANGE,0x10=FALLOC_FL_ZERO_RANGE," \
	  "0x20=FALLOC_FL_INSERT_RANGE," \
	  "0x40=FALLOC_FL_UNSHARE_RANGE}; s64 offset; s64 length") \
	X(IO_FADVISE, IO, "io.fadvise", \
	  "ns time; errno error; fd fd; s32 advice{0=POSIX_FADV_NORMAL,1=POSIX_FADV_RANDOM," \
	  "2=POSIX_FADV_SEQUENTIAL,3=POSIX_FADV_WILLNEED,4=POSIX_FADV_DONTNEED," \
	  "5=POSIX_FADV_NOREUSE}; s64 offset; s64 length") \
	/* The lock begins at the position of the file. */ \
	X(IO_LOCKF, IO, "io.lockf", \
	  "ns time; errno error; fd fd; s32 operation{0=F_ULOCK,1=F_LOCK,2=F_TLOCK,3=F_TEST}; " \
	  "s64 length") \
	/* fd is -1 for sync(), which concerns all file systems. */ \
	X(IO_SYNC, IO, "io.sync", \
	  "ns time; errno error; fd fd; x32 flags{|0=0,1=SYNC_FILE_RANGE_WAIT_BEFORE," \
	  "2=SYNC_FILE_RANGE_WRITE,4=SYNC_FILE_RANGE_WAIT_AFTER}; s64 offset; s64 length") \
	/* Message queues of POSIX. `size` is that of the message, or of the memory for it. */ \
	X(IO_MQ_OPEN, IO, "io.mq_open", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_OPEN_FLAGS "; o32 mode; str name") \
	X(IO_MQ_CLOSE, IO, "io.mq_close", "ns time; errno error; fd fd") \
	X(IO_MQ_SEND, IO, "io.mq_send", "ns time; errno error; fd fd; s32 result; u64 size") \
	X(IO_MQ_RECEIVE, IO, "io.mq_receive", "ns time; errno error; fd fd; u64 size; s64 result") \
	/* Shared memory by name; `name` is no path. */ \
	X(IO_SHM, IO, "io.shm_open", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_OPEN_FLAGS "; o32 mode; str name") \
	X(IO_SHM_UNLINK, IO, "io.shm_unlink", "ns time; errno error; str name") \
	/* fd is the master of the terminal. */ \
	X(IO_OPENPTY, IO, "io.openpty", "ns time; errno error; fd fd; fd slave") \
	X(IO_TIMERGET, IO, "io.timerfd_gettime", "ns time; errno error; fd fd") \
	/* Rings of io_uring(7); user_data is the same in a request and its answer. */ \
	X(IO_URING_INIT, IO, "io.uring_init", \
	  "ns time; errno error; fd fd; u32 entries; x32 flags{|0=0,1=IOPOLL,2=SQPOLL,4=SQ_AFF," \
	  "8=CQSIZE,0x10=CLAMP,0x20=ATTACH_WQ,0x40=R_DISABLED,0x80=SUBMIT_ALL," \
	  "0x100=COOP_TASKRUN,0x200=TASKRUN_FLAG,0x400=SQE128,0x800=CQE32," \
	  "0x1000=SINGLE_ISSUER,0x2000=DEFER_TASKRUN,0x4000=NO_MMAP," \
	  "0x8000=REGISTERED_FD_ONLY,0x10000=NO_SQARRAY}") \
	X(IO_URING_EXIT, IO, "io.uring_exit", "ns time; errno error; fd fd") \
	X(IO_URING, IO, "io.uring", \
	  "ns time; errno error; fd ring; s32 result; u32 submitted; u32 completed; u32 unseen; " \
	  "str by") \
	X(IO_URING_SUBMIT, IO, "io.uring_submit", \
	  "fd ring; u32 opcode" SHIM_URING_OPCODES "; fd fd; x32 flags{|0=0,1=FIXED_FILE," \
	  "2=IO_DRAIN,4=IO_LINK,8=IO_HARDLINK,0x10=ASYNC,0x20=BUFFER_SELECT,0x40=CQE_SKIP}; " \
	  "s64 offset; u32 size; u32 priority; x64 user_data") \
	X(IO_URING_DONE, IO, "io.uring_complete", \
	  "fd ring; s32 result; errno error; x32 flags; x64 user_data")

/* Files by name. A relative path begins at the folder with the descriptor `folder`. */
#define SHIM_TYPES_FILE(X) \
	/* All forms of stat(). lstat() has the flag 0x100. */ \
	X(FILE_STAT, FILE, "file.stat", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags" SHIM_AT_FLAGS "; str path") \
	X(FILE_FSTAT, FILE, "file.fstat", "ns time; errno error; fd fd") \
	/* The `mode` 0 asks only whether the file exists. */ \
	X(FILE_ACCESS, FILE, "file.access", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 mode{|0=F_OK,4=R_OK,2=W_OK,1=X_OK}; " \
	  "x32 flags{|0=0,0x100=AT_SYMLINK_NOFOLLOW,0x200=AT_EACCESS}; str path") \
	/* rmdir() has the flag 0x200. */ \
	X(FILE_UNLINK, FILE, "file.unlink", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags{|0=0,0x200=AT_REMOVEDIR}; str path") \
	/* A relative path in the field `to` begins at to_folder. */ \
	X(FILE_RENAME, FILE, "file.rename", \
	  "ns time; errno error; " SHIM_FOLDER "; fd to_folder{-100=AT_FDCWD}; " \
	  "x32 flags{|0=0,1=RENAME_NOREPLACE,2=RENAME_EXCHANGE,4=RENAME_WHITEOUT}; " \
	  "str path; str to") \
	X(FILE_LINK, FILE, "file.link", \
	  "ns time; errno error; " SHIM_FOLDER "; fd to_folder{-100=AT_FDCWD}; " \
	  "x32 flags" SHIM_AT_FLAGS "; str path; str to") \
	/* `to` is the text of the link, which need not be a file. */ \
	X(FILE_SYMLINK, FILE, "file.symlink", \
	  "ns time; errno error; " SHIM_FOLDER "; str path; str to") \
	X(FILE_READLINK, FILE, "file.readlink", \
	  "ns time; errno error; " SHIM_FOLDER "; str path; str to") \
	/* The kernel removes the bits of umask(2) from `mode`. */ \
	X(FILE_MKDIR, FILE, "file.mkdir", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode; str path") \
	X(FILE_MKNOD, FILE, "file.mknod", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode{|0170000:0010000=S_IFIFO," \
	  "0170000:0020000=S_IFCHR,0170000:0060000=S_IFBLK,0170000:0100000=S_IFREG," \
	  "0170000:0140000=S_IFSOCK}; str path") \
	/* fd is the descriptor of the DIR, as in file.readdir and file.closedir. */ \
	X(FILE_OPENDIR, FILE, "file.opendir", "ns time; errno error; fd fd; str path") \
	X(FILE_READDIR, FILE, "file.readdir", "ns time; errno error; fd fd; str name") \
	X(FILE_CLOSEDIR, FILE, "file.closedir", "ns time; errno error; fd fd") \
	/* fd is -1 for a path, and the path is empty for a descriptor. */ \
	X(FILE_CHDIR, FILE, "file.chdir", "ns time; errno error; fd fd; str path") \
	X(FILE_GETCWD, FILE, "file.getcwd", "ns time; errno error; str path") \
	/* The forms for descriptors have the `flags` 0x1000, and the descriptor is `folder`. */ \
	X(FILE_CHMOD, FILE, "file.chmod", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode; x32 flags" SHIM_AT_FLAGS "; str path") \
	/* -1 leaves the user or the group unchanged. */ \
	X(FILE_CHOWN, FILE, "file.chown", \
	  "ns time; errno error; " SHIM_FOLDER "; s32 user; s32 group; x32 flags" SHIM_AT_FLAGS \
	  "; str path") \
	X(FILE_TRUNCATE, FILE, "file.truncate", \
	  "ns time; errno error; fd fd; s64 length; str path") \
	X(FILE_UTIMES, FILE, "file.utimes", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags" SHIM_AT_FLAGS "; str path") \
	X(FILE_STATFS, FILE, "file.statfs", "ns time; errno error; fd fd; str path") \
	/* `source` is a device, a folder or any text, as the file system requires. */ \
	X(FILE_MOUNT, FILE, "file.mount", \
	  "ns time; errno error; x64 flags{|0=0,1=MS_RDONLY,2=MS_NOSUID,4=MS_NODEV,8=MS_NOEXEC," \
	  "0x10=MS_SYNCHRONOUS,0x20=MS_REMOUNT,0x40=MS_MANDLOCK,0x80=MS_DIRSYNC," \
	  "0x100=MS_NOSYMFOLLOW,0x400=MS_NOATIME,0x800=MS_NODIRATIME,0x1000=MS_BIND," \
	  "0x2000=MS_MOVE,0x4000=MS_REC,0x8000=MS_SILENT,0x10000=MS_POSIXACL," \
	  "0x20000=MS_UNBINDABLE,0x40000=MS_PRIVATE,0x80000=MS_SLAVE,0x100000=MS_SHARED," \
	  "0x200000=MS_RELATIME,0x1000000=MS_STRICTATIME,0x2000000=MS_LAZYTIME}; str path; " \
	  "str source") \
	X(FILE_UMOUNT, FILE, "file.umount", \
	  "ns time; errno error; x32 flags{|0=0,1=MNT_FORCE,2=MNT_DETACH,4=MNT_EXPIRE," \
	  "8=UMOUNT_NOFOLLOW}; str path") \
	/* `to` is the path without links, or empty after an error. */ \
	X(FILE_REALPATH, FILE, "file.realpath", "ns time; errno error; str path; str to") \
	/* `path` has the letters that the C library chose. */ \
	X(FILE_MKSTEMP, FILE, "file.mkstemp", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_OPEN_FLAGS "; str path") \
	X(FILE_MKDTEMP, FILE, "file.mkdtemp", "ns time; errno error; str path") \
	/* `path` is the pattern. */ \
	X(FILE_GLOB, FILE, "file.glob", \
	  "ns time; errno error; s32 result{0=found,1=GLOB_NOSPACE,2=GLOB_ABORTED," \
	  "3=GLOB_NOMATCH}; x32 flags{|0=0,1=GLOB_ERR,2=GLOB_MARK,4=GLOB_NOSORT,8=GLOB_DOOFFS," \
	  "0x10=GLOB_NOCHECK,0x20=GLOB_APPEND,0x40=GLOB_NOESCAPE,0x80=GLOB_PERIOD," \
	  "0x200=GLOB_ALTDIRFUNC,0x400=GLOB_BRACE,0x800=GLOB_NOMAGIC,0x1000=GLOB_TILDE," \
	  "0x2000=GLOB_ONLYDIR,0x4000=GLOB_TILDE_CHECK}; str path") \
	/* The program watches files; it reads the changes from fd. */ \
	X(FILE_INOTIFY, FILE, "file.inotify_init", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_FD_FLAGS) \
	X(FILE_WATCH, FILE, "file.inotify_add_watch", \
	  "ns time; errno error; fd fd; s32 watch; x32 mask{|0=0,1=IN_ACCESS,2=IN_MODIFY," \
	  "4=IN_ATTRIB,8=IN_CLOSE_WRITE,0x10=IN_CLOSE_NOWRITE,0x20=IN_OPEN,0x40=IN_MOVED_FROM," \
	  "0x80=IN_MOVED_TO,0x100=IN_CREATE,0x200=IN_DELETE,0x400=IN_DELETE_SELF," \
	  "0x800=IN_MOVE_SELF,0x1000000=IN_ONLYDIR,0x2000000=IN_DONT_FOLLOW," \
	  "0x4000000=IN_EXCL_UNLINK,0x10000000=IN_MASK_CREATE,0x20000000=IN_MASK_ADD," \
	  "0x80000000=IN_ONESHOT}; str path") \
	X(FILE_UNWATCH, FILE, "file.inotify_rm_watch", "ns time; errno error; fd fd; s32 watch") \
	/* The program watches whole file systems; it reads the changes from fd. */ \
	X(FILE_FANOTIFY, FILE, "file.fanotify_init", \
	  "ns time; errno error; fd fd; x32 flags{|12:0=FAN_CLASS_NOTIF,12:4=FAN_CLASS_CONTENT," \
	  "12:8=FAN_CLASS_PRE_CONTENT,1=FAN_CLOEXEC,2=FAN_NONBLOCK,0x10=FAN_UNLIMITED_QUEUE," \
	  "0x20=FAN_UNLIMITED_MARKS,0x40=FAN_ENABLE_AUDIT,0x80=FAN_REPORT_PIDFD," \
	  "0x100=FAN_REPORT_TID,0x200=FAN_REPORT_FID,0x400=FAN_REPORT_DIR_FID," \
	  "0x800=FAN_REPORT_NAME,0x1000=FAN_REPORT_TARGET_FID}; x32 event_flags" \
	  SHIM_OPEN_FLAGS) \
	X(FILE_FANMARK, FILE, "file.fanotify_mark", \
	  "ns time; errno error; fd fd; x32 flags{|0=0,1=FAN_MARK_ADD,2=FAN_MARK_REMOVE," \
	  "4=FAN_MARK_DONT_FOLLOW,8=FAN_MARK_ONLYDIR,0x10=FAN_MARK_MOUNT," \
	  "0x20=FAN_MARK_IGNORED_MASK,0x40=FAN_MARK_IGNORED_SURV_MODIFY,0x80=FAN_MARK_FLUSH," \
	  "0x100=FAN_MARK_FILESYSTEM,0x200=FAN_MARK_EVICTABLE,0x400=FAN_MARK_IGNORE}; " \
	  SHIM_FOLDER "; x64 mask{|0=0,1=FAN_ACCESS,2=FAN_MODIFY,4=FAN_ATTRIB,8=FAN_CLOSE_WRITE," \
	  "0x10=FAN_CLOSE_NOWRITE,0x20=FAN_OPEN,0x40=FAN_MOVED_FROM,0x80=FAN_MOVED_TO," \
	  "0x100=FAN_CREATE,0x200=FAN_DELETE,0x400=FAN_DELETE_SELF,0x800=FAN_MOVE_SELF," \
	  "0x1000=FAN_OPEN_EXEC,0x10000=FAN_OPEN_PERM,0x20000=FAN_ACCESS_PERM," \
	  "0x40000=FAN_OPEN_EXEC_PERM,0x8000000=FAN_EVENT_ON_CHILD,0x10000000=FAN_RENAME," \
	  "0x40000000=FAN_ONDIR}; str path") \
	/* \
	 * These calls walk through folders and trees. `result` is the number of entries, or the \
	 * value that ended the walk. \
	 */ \
	X(FILE_SCANDIR, FILE, "file.scandir", \
	  "ns time; errno error; " SHIM_FOLDER "; s32 result; str path") \
	X(FILE_FTW, FILE, "file.ftw", \
	  "ns time; errno error; s32 result; x32 flags{|0=0,1=FTW_PHYS,2=FTW_MOUNT,4=FTW_CHDIR," \
	  "8=FTW_DEPTH,0x10=FTW_ACTIONRETVAL}; str path") \
	X(FILE_FTS_OPEN, FILE, "file.fts_open", \
	  "ns time; errno error; x32 flags{|0=0,1=FTS_COMFOLLOW,2=FTS_LOGICAL,4=FTS_NOCHDIR," \
	  "8=FTS_NOSTAT,0x10=FTS_PHYSICAL,0x20=FTS_SEEDOT,0x40=FTS_XDEV}; str paths") \
	X(FILE_FTS_READ, FILE, "file.fts_read", \
	  "ns time; errno error; s32 kind{0=end,1=FTS_D,2=FTS_DC,3=FTS_DEFAULT,4=FTS_DNR," \
	  "5=FTS_DOT,6=FTS_DP,7=FTS_ERR,8=FTS_F,9=FTS_INIT,10=FTS_NS,11=FTS_NSOK,12=FTS_SL," \
	  "13=FTS_SLNONE}; str path") \
	X(FILE_FTS_CLOSE, FILE, "file.fts_close", "ns time; errno error") \
	X(FILE_GETDENTS, FILE, "file.getdents", \
	  "ns time; errno error; fd fd; u64 size; s64 result") \
	X(FILE_CHROOT, FILE, "file.chroot", "ns time; errno error; str path") \
	X(FILE_PIVOT, FILE, "file.pivot_root", "ns time; errno error; str path; str to") \
	/* These events concern extended attributes. fd is -1 if the call got a path. */ \
	X(FILE_GETXATTR, FILE, "file.getxattr", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_AT_FLAGS "; u64 size; s64 result; " \
	  "str path; str name") \
	X(FILE_SETXATTR, FILE, "file.setxattr", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_AT_FLAGS "; " \
	  "x32 how{|0=0,1=XATTR_CREATE,2=XATTR_REPLACE}; u64 size; str path; str name") \
	X(FILE_LISTXATTR, FILE, "file.listxattr", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_AT_FLAGS \
	  "; u64 size; s64 result; str path") \
	X(FILE_DELXATTR, FILE, "file.removexattr", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_AT_FLAGS "; str path; str name") \
	X(FILE_HANDLE, FILE, "file.name_to_handle_at", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags" SHIM_AT_FLAGS "; str path") \
	/* fd is the new descriptor. The last field has the name of the function that made it. */ \
	X(FILE_FSOPEN, FILE, "file.fsopen", \
	  "ns time; errno error; fd fd; " SHIM_FOLDER "; x32 flags; str path; str by") \
	X(FILE_MOVE_MOUNT, FILE, "file.move_mount", \
	  "ns time; errno error; " SHIM_FOLDER "; fd to_folder{-100=AT_FDCWD}; x32 flags{" \
	  "|0=0,1=MOVE_MOUNT_F_SYMLINKS,2=MOVE_MOUNT_F_AUTOMOUNTS,4=MOVE_MOUNT_F_EMPTY_PATH," \
	  "0x10=MOVE_MOUNT_T_SYMLINKS,0x20=MOVE_MOUNT_T_AUTOMOUNTS," \
	  "0x40=MOVE_MOUNT_T_EMPTY_PATH,0x100=MOVE_MOUNT_SET_GROUP,0x200=MOVE_MOUNT_BENEATH}; " \
	  "str path; str to")

#define SHIM_TYPES_STDIO(X) \
	/* Each item has `size` bytes. */ \
	X(STDIO_FREAD, STDIO, "stdio.fread", \
	  "ns time; ptr file; u64 size; u64 items; u64 result") \
	X(STDIO_FWRITE, STDIO, "stdio.fwrite", \
	  "ns time; ptr file; u64 size; u64 items; u64 result")

#define SHIM_TYPES_NET(X) \
	/* `other` is the second descriptor of socketpair(), else -1. */ \
	X(NET_SOCKET, NET, "net.socket", \
	  "fd fd; errno error; s32 domain" SHIM_DOMAIN "; x32 type" SHIM_SOCKET_TYPE \
	  "; s32 protocol; fd other") \
	/* \
	 * connect() begins. The next event net.connect of the thread is the end of this call. If \
	 * the call does not return, only net.connecting has the address. \
	 */ \
	X(NET_CONNECTING, NET, "net.connecting", "fd fd; str address") \
	/* EINPROGRESS: the connection is made later, without an event. */ \
	X(NET_CONNECT, NET, "net.connect", "ns time; fd fd; errno error; str address") \
	X(NET_BIND, NET, "net.bind", "ns time; fd fd; errno error; str address") \
	X(NET_LISTEN, NET, "net.listen", "fd fd; errno error; s32 backlog") \
	/* The address is empty if the program did not ask for it. */ \
	X(NET_ACCEPT, NET, "net.accept", \
	  "ns time; fd fd; errno error; fd accepted; x32 flags" SHIM_FD_FLAGS "; str address") \
	X(NET_SHUTDOWN, NET, "net.shutdown", \
	  "fd fd; errno error; s32 how{0=SHUT_RD,1=SHUT_WR,2=SHUT_RDWR}") \
	/* \
	 * net.send and net.recv have no address, net.sendto and net.recvfrom have one. The \
	 * messages of net.sendmsg and net.recvmsg are structs; the address is that of the first. \
	 * `flags` are those that the program passed. With MSG_PEEK a later call receives the same \
	 * bytes again. \
	 */ \
	X(NET_SEND, NET, "net.send", \
	  "ns time; fd fd; errno error; u64 size; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; bytes data") \
	X(NET_RECV, NET, "net.recv", \
	  "ns time; fd fd; errno error; u64 size; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; bytes data") \
	X(NET_SENDTO, NET, "net.sendto", \
	  "ns time; fd fd; errno error; u64 size; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; str address; bytes data") \
	X(NET_RECVFROM, NET, "net.recvfrom", \
	  "ns time; fd fd; errno error; u64 size; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; str address; bytes data") \
	X(NET_SENDMSG, NET, "net.sendmsg", \
	  "ns time; fd fd; errno error; u64 messages; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; str address; bytes data") \
	X(NET_RECVMSG, NET, "net.recvmsg", \
	  "ns time; fd fd; errno error; u64 messages; s64 result; x64 flags" SHIM_MESSAGE_FLAGS \
	  "; str address; bytes data") \
	/* \
	 * The field `time` has the actual duration. `fds` of net.poll and net.select is the \
	 * number of descriptors. `fd` of net.poll is the first descriptor that is ready. If none \
	 * is ready, it is the first descriptor of the call, or -1 if the call has none. \
	 */ \
	X(NET_POLL, NET, "net.poll", \
	  "ns time; " SHIM_TIMEOUT "; u32 fds; s32 result; errno error; fd fd") \
	X(NET_SELECT, NET, "net.select", \
	  "ns time; " SHIM_TIMEOUT "; s32 fds; s32 result; errno error") \
	X(NET_EPOLL, NET, "net.epoll", \
	  "ns time; " SHIM_TIMEOUT "; fd fd; s32 result; errno error") \
	X(NET_EPOLL_CREATE, NET, "net.epoll_create", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_FD_FLAGS) \
	X(NET_EPOLL_CTL, NET, "net.epoll_ctl", \
	  "ns time; errno error; fd epoll; s32 operation{1=EPOLL_CTL_ADD,2=EPOLL_CTL_DEL," \
	  "3=EPOLL_CTL_MOD}; fd fd; x32 events{|0=0,1=EPOLLIN,2=EPOLLPRI,4=EPOLLOUT,8=EPOLLERR," \
	  "0x10=EPOLLHUP,0x2000=EPOLLRDHUP,0x10000000=EPOLLEXCLUSIVE,0x40000000=EPOLLONESHOT," \
	  "0x80000000=EPOLLET}") \
	/* \
	 * `error` is errno if `result` is EAI_SYSTEM, and 0 after any other result. After \
	 * EAI_AGAIN, `servers` has the name servers that the C library asks. \
	 */ \
	X(NET_LOOKUP, NET, "net.getaddrinfo", \
	  "ns time; errno error; s32 result{0=found,-2=EAI_NONAME,-3=EAI_AGAIN,-4=EAI_FAIL," \
	  "-6=EAI_FAMILY,-7=EAI_SOCKTYPE,-8=EAI_SERVICE,-10=EAI_MEMORY,-11=EAI_SYSTEM}; " \
	  "str node; str service; str servers") \
	X(NET_NAME, NET, "net.getnameinfo", \
	  "ns time; errno error; s32 result; str node; str service") \
	/* `result` is the value of h_errno. */ \
	X(NET_HOST, NET, "net.gethostbyname", \
	  "ns time; errno error; s32 result{0=found,1=HOST_NOT_FOUND,2=TRY_AGAIN,3=NO_RECOVERY," \
	  "4=NO_DATA}; str node") \
	X(NET_SETSOCKOPT, NET, "net.setsockopt", \
	  "ns time; fd fd; errno error; " SHIM_SOCKET_OPTION) \
	X(NET_GETSOCKOPT, NET, "net.getsockopt", \
	  "ns time; fd fd; errno error; " SHIM_SOCKET_OPTION) \
	X(NET_GETSOCKNAME, NET, "net.getsockname", "ns time; fd fd; errno error; str address") \
	X(NET_GETPEERNAME, NET, "net.getpeername", "ns time; fd fd; errno error; str address")

#define SHIM_TYPES_TIME(X) \
	X(TIME_SLEEP, TIME, "time.sleep", "ns time; s64 asked; errno error; str by") \
	/* A timer that sends a signal. `asked` is 0 if the timer is stopped. */ \
	X(TIME_TIMER, TIME, "time.timer", \
	  "ns time; errno error; x32 flags{|0=0,1=TIMER_ABSTIME}; s64 asked; s64 interval; str by")

/*
 * Objects of System V. `id` is the number of the object, which is the same in all processes; -1:
 * none. The low bits of the flags, the permissions of a new object, are the field `mode`.
 */
#define SHIM_IPC_GET \
	"x32 flags{|0=0,0x200=IPC_CREAT,0x400=IPC_EXCL}; o32 mode"
#define SHIM_TYPES_IPC(X) \
	X(IPC_SEMGET, IPC, "ipc.semget", \
	  "ns time; errno error; s32 id; x32 key{0=IPC_PRIVATE}; s32 count; " SHIM_IPC_GET) \
	/* \
	 * The event has the first of `operations` operations. If its change is less than 0, the \
	 * call waits until the value is great enough; if it is 0, the call waits until the value \
	 * is 0. \
	 */ \
	X(IPC_SEMOP, IPC, "ipc.semop", \
	  "ns time; errno error; s32 id; s32 semaphore; s32 change; " \
	  "x32 flags{|0=0,0x800=IPC_NOWAIT,0x1000=SEM_UNDO}; u32 operations") \
	X(IPC_SEMCTL, IPC, "ipc.semctl", \
	  "ns time; errno error; s32 id; s32 semaphore; s32 command{0=IPC_RMID,1=IPC_SET," \
	  "2=IPC_STAT,3=IPC_INFO,11=GETPID,12=GETVAL,13=GETALL,14=GETNCNT,15=GETZCNT,16=SETVAL," \
	  "17=SETALL,18=SEM_STAT,19=SEM_INFO,20=SEM_STAT_ANY}; s32 value") \
	X(IPC_MSGGET, IPC, "ipc.msgget", \
	  "ns time; errno error; s32 id; x32 key{0=IPC_PRIVATE}; " SHIM_IPC_GET) \
	/* `type` is the type of the message; 0: there is none. */ \
	X(IPC_MSGSND, IPC, "ipc.msgsnd", \
	  "ns time; errno error; s32 id; x32 flags{|0=0,0x800=IPC_NOWAIT}; u64 size; s64 type") \
	X(IPC_MSGRCV, IPC, "ipc.msgrcv", \
	  "ns time; errno error; s32 id; x32 flags{|0=0,0x800=IPC_NOWAIT,0x1000=MSG_NOERROR," \
	  "0x2000=MSG_EXCEPT,0x4000=MSG_COPY}; u64 size; s64 asked; s64 type; s64 result") \
	X(IPC_MSGCTL, IPC, "ipc.msgctl", \
	  "ns time; errno error; s32 id; s32 command{0=IPC_RMID,1=IPC_SET,2=IPC_STAT,3=IPC_INFO," \
	  "11=MSG_STAT,12=MSG_INFO,13=MSG_STAT_ANY}; s32 result") \
	X(IPC_SHMGET, IPC, "ipc.shmget", \
	  "ns time; errno error; s32 id; x32 key{0=IPC_PRIVATE}; x32 flags{|0=0,0x200=IPC_CREAT," \
	  "0x400=IPC_EXCL,0x800=SHM_HUGETLB,0x1000=SHM_NORESERVE}; o32 mode; u64 size") \
	X(IPC_SHMAT, IPC, "ipc.shmat", \
	  "ns time; errno error; s32 id; x32 flags{|0=0,0x1000=SHM_RDONLY,0x2000=SHM_RND," \
	  "0x4000=SHM_REMAP,0x8000=SHM_EXEC}; ptr address") \
	X(IPC_SHMDT, IPC, "ipc.shmdt", "ns time; errno error; ptr address") \
	X(IPC_SHMCTL, IPC, "ipc.shmctl", \
	  "ns time; errno error; s32 id; s32 command{0=IPC_RMID,1=IPC_SET,2=IPC_STAT,3=IPC_INFO," \
	  "11=SHM_LOCK,12=SHM_UNLOCK,13=SHM_STAT,14=SHM_INFO,15=SHM_STAT_ANY}; s32 result")

/*
 * A call of dlopen() has one of the first two events: dl.open if it does not return to the shim,
 * and otherwise dl.opened.
 */
#define SHIM_DL_MODE \
	"{|0=0,1=RTLD_LAZY,2=RTLD_NOW,4=RTLD_NOLOAD,8=RTLD_DEEPBIND,0x100=RTLD_GLOBAL," \
	"0x1000=RTLD_NODELETE}"
#define SHIM_TYPES_DL(X) \
	X(DL_OPEN, DL, "dl.open", "x32 mode" SHIM_DL_MODE "; str path") \
	X(DL_OPENED, DL, "dl.opened", "ns time; ptr handle; x32 mode" SHIM_DL_MODE "; str path") \
	X(DL_CLOSE, DL, "dl.close", "ns time; ptr handle; s32 result")

/*
 * Handlers of the program. `code` and `sender` are 0 if the handler was set without SA_SIGINFO. For
 * SIGCHLD of a child that has ended, stopped or continued, `sender` is the child. `sender` is also
 * 0 if no process has sent the signal.
 */
#define SHIM_TYPES_SIGNAL(X) \
	X(SIGNAL_ENTER, SIGNAL, "signal.enter", \
	  "ptr handler; signal signal; s32 code; s32 sender; @begin signal") \
	X(SIGNAL_LEAVE, SIGNAL, "signal.leave", "signal signal; @end signal")

/*
 * The first fields of the event of each call of a function. The types of functions with arguments
 * have the arguments behind these fields.
 */
#define SHIM_CALL_FIELDS "ns time; ptr function; u32 depth"

#define SHIM_TYPES_FUNC(X) \
	/* These two are for functions that were compiled with -finstrument-functions. */ \
	X(FUNC_ENTER, FUNC, "func.enter", "ptr function; @begin function") \
	X(FUNC_LEAVE, FUNC, "func.leave", "ptr function; @end function") \
	/* \
	 * A patched function has returned, or was left by an exception or a jump. `depth` is the \
	 * number of traced functions that were active in the thread when this function began. \
	 */ \
	X(FUNC_CALL, FUNC, "func.call", SHIM_CALL_FIELDS "; @span function") \
	/* A patched function had not returned when its thread, its process or the trace ended. */ \
	X(FUNC_OPEN, FUNC, "func.open", SHIM_CALL_FIELDS "; @span function")

/*
 * A thread waited for a lock that was in use. `owner` is the thread that held the lock when the
 * wait began; 0: unknown; -N: N readers held a read-write lock.
 */
#define SHIM_TYPES_LOCK(X) \
	X(LOCK_MUTEX, LOCK, "lock.mutex", "ns time; ptr lock; errno error; s32 owner") \
	X(LOCK_RDLOCK, LOCK, "lock.rwlock_read", "ns time; ptr lock; errno error; s32 owner") \
	X(LOCK_WRLOCK, LOCK, "lock.rwlock_write", "ns time; ptr lock; errno error; s32 owner") \
	X(LOCK_SPIN, LOCK, "lock.spin", "ns time; ptr lock; errno error") \
	X(LOCK_SEM, LOCK, "lock.sem", "ns time; ptr lock; errno error") \
	/* sem_post() while a thread may wait for the semaphore. */ \
	X(LOCK_SEM_POST, LOCK, "lock.sem_post", "ns time; ptr lock; errno error") \
	X(LOCK_SEM_OPEN, LOCK, "lock.sem_open", \
	  "ns time; errno error; x32 flags{|0=0,0x40=O_CREAT,0x80=O_EXCL}; o32 mode; ptr lock; " \
	  "str name") \
	/* futex(2) by syscall(2): a wait, and a call that has woken `result` threads. */ \
	X(LOCK_FUTEX, LOCK, "lock.futex", "ns time; ptr lock; errno error; x32 operation" \
	  SHIM_FUTEX_OPERATIONS) \
	X(LOCK_FUTEX_WAKE, LOCK, "lock.futex_wake", \
	  "ns time; ptr lock; errno error; x32 operation" SHIM_FUTEX_OPERATIONS "; s32 result") \
	/* This is a wait for a condition variable. It includes the wait for the mutex. */ \
	X(LOCK_COND, LOCK, "lock.cond", "ns time; ptr lock; ptr mutex; errno error") \
	/* pthread_cond_signal(), or with `all` pthread_cond_broadcast(), while a thread waits. */ \
	X(LOCK_COND_SIGNAL, LOCK, "lock.cond_signal", \
	  "ns time; ptr lock; errno error; s32 all{0=signal,1=broadcast}") \
	X(LOCK_BARRIER, LOCK, "lock.barrier", "ns time; ptr lock; errno error; s32 last") \
	/* A wait in pthread_once(); `owner` is the thread that executes the initialiser. */ \
	X(LOCK_ONCE, LOCK, "lock.once", "ns time; ptr lock; errno error; s32 owner")

/*
 * A lock was released. The field `time` has the duration for which the lock was held. A thread that
 * holds a lock records lock.waiting before it waits for another lock without a time limit. `taken`
 * is the address at which the thread acquired the held lock. `owner` is the thread that holds the
 * wanted lock, if that thread is known.
 */
#define SHIM_TYPES_HOLD(X) \
	X(LOCK_WAITING, HOLD, "lock.waiting", \
	  "ptr lock; ptr held; ptr taken; s32 owner; s32 rwlock") \
	X(HOLD_MUTEX, HOLD, "lock.mutex_held", "ns time; ptr lock") \
	X(HOLD_RWLOCK, HOLD, "lock.rwlock_held", "ns time; ptr lock")

#define SHIM_TYPES_THREAD(X) \
	/* `function` is the start function of the new thread, as in thread.begin. */ \
	X(THREAD_CREATE, THREAD, "thread.create", \
	  "ns time; ptr thread; ptr function; errno error; s32 detached") \
	X(THREAD_BEGIN, THREAD, "thread.begin", "ptr function; ptr creator; @begin thread") \
	X(THREAD_END, THREAD, "thread.end", "ptr function; @end thread") \
	/* \
	 * thread.exit is a call of pthread_exit(). A thread that returns from its function has \
	 * thread.end only. \
	 */ \
	X(THREAD_EXIT, THREAD, "thread.exit", "ptr value") \
	X(THREAD_JOIN, THREAD, "thread.join", "ns time; ptr thread; errno error") \
	X(THREAD_DETACH, THREAD, "thread.detach", "ptr thread; errno error") \
	X(THREAD_NAME, THREAD, "thread.name", "ptr thread; errno error; str name")

/*
 * The text is the second field, so that a person who reads the lines of a log finds it near the
 * beginning.
 */
#define SHIM_ENDED_NAME   "posixtrace_ended"
#define SHIM_ENDED_SCHEMA "s32 pid; str status; s32 code; s32 signal; bool core"

#define SHIM_TYPES_PROCESS(X) \
	/* A program begins. `program` is the path that execve(2) got. */ \
	X(PROCESS_START, PROCESS, "process.start", "s32 pid; s32 parent; str program") \
	/* This is the event of the parent; process.child is the event of the child. */ \
	X(PROCESS_FORK, PROCESS, "process.fork", \
	  "ns time; s32 child; errno error; x64 flags" SHIM_CLONE_FLAGS) \
	X(PROCESS_CHILD, PROCESS, "process.child", "s32 pid; s32 parent") \
	X(PROCESS_VFORK, PROCESS, "process.vfork", \
	  "ns time; s32 child; errno error; x64 flags" SHIM_CLONE_FLAGS) \
	X(PROCESS_VCHILD, PROCESS, "process.vchild", "s32 pid; s32 parent") \
	/* One call starts a program in a new process; `child` is the id of the process. */ \
	X(PROCESS_SPAWN, PROCESS, "process.spawn", \
	  "ns time; s32 child; errno error; str path; str arguments") \
	/* process.exec is recorded before the call, which does not return if it succeeds. */ \
	X(PROCESS_EXEC, PROCESS, "process.exec", "s32 pid; s32 fd; str path; str arguments") \
	/* \
	 * The process executes a program that will not load the shim; `why` has the reason. This \
	 * report of the shim does not depend on the family process. \
	 */ \
	X(PROCESS_UNTRACED, SHIM, "process.untraced", "s32 pid; str why; str program") \
	X(PROCESS_EXEC_FAILED, PROCESS, "process.exec_failed", "s32 pid; errno error") \
	/* `status` is valid if `known` is 1. */ \
	X(PROCESS_WAIT, PROCESS, "process.wait", \
	  "ns time; s32 child; errno error; s32 which; x32 options{|0=0,1=WNOHANG," \
	  "2=WUNTRACED,4=WEXITED,8=WCONTINUED,0x1000000=WNOWAIT}; " \
	  "wait status; s32 known") \
	/* \
	 * The end of a child, recorded by the parent's wait(). posixtrace record records the same \
	 * event for its own children. \
	 */ \
	X(PROCESS_ENDED, PROCESS, SHIM_ENDED_NAME, SHIM_ENDED_SCHEMA) \
	X(PROCESS_SYSTEM, PROCESS, "process.system", \
	  "ns time; wait status; errno error; str command") \
	/* `file` is the address of the FILE, as in process.pclose; fd is its pipe. */ \
	X(PROCESS_POPEN, PROCESS, "process.popen", \
	  "ns time; ptr file; errno error; fd fd; str mode; str command") \
	X(PROCESS_PCLOSE, PROCESS, "process.pclose", \
	  "ns time; ptr file; wait status; errno error; fd fd") \
	/* This event is recorded before the process ends; `by` is the called function. */ \
	X(PROCESS_EXIT, PROCESS, "process.exit", "s32 pid; s32 status; str by") \
	/* The last event of a program that ends by exit() or a return from main(). */ \
	X(PROCESS_END, PROCESS, "process.end", "s32 pid") \
	X(PROCESS_SECCOMP, PROCESS, "process.seccomp", "s32 mode; x32 flags; errno error") \
	/* \
	 * pid is the argument of kill(); a negative number is a group of processes. For a signal \
	 * to a thread, `tid` is the argument of tgkill(), or `thread` that of pthread_kill(). \
	 * Otherwise these two fields are 0. \
	 * If the signal can end the caller, the event precedes the call and has `time` and \
	 * `error` 0. If the call returns nevertheless, a second event has its time and error. \
	 */ \
	X(PROCESS_KILL, PROCESS, "process.kill", \
	  "ns time; errno error; s32 pid; signal signal; s32 tid; ptr thread") \
	/* \
	 * A thread waited for a signal. `signal` and `code` are 0 if the call does not return \
	 * them, and `sender` is 0 if no process has sent the signal. \
	 */ \
	X(PROCESS_SIGWAIT, PROCESS, "process.sigwait", \
	  "ns time; errno error; signal signal; s32 code; s32 sender; str by") \
	/* `limit` and `maximum` are the new limits, or those that the call has returned. */ \
	X(PROCESS_LIMIT, PROCESS, "process.limit", \
	  "ns time; errno error; s32 pid; s32 resource{0=RLIMIT_CPU,1=RLIMIT_FSIZE,2=RLIMIT_DATA," \
	  "3=RLIMIT_STACK,4=RLIMIT_CORE,5=RLIMIT_RSS,6=RLIMIT_NPROC,7=RLIMIT_NOFILE," \
	  "8=RLIMIT_MEMLOCK,9=RLIMIT_AS,10=RLIMIT_LOCKS,11=RLIMIT_SIGPENDING," \
	  "12=RLIMIT_MSGQUEUE,13=RLIMIT_NICE,14=RLIMIT_RTPRIO,15=RLIMIT_RTTIME}; " \
	  "s32 set{0=get,1=set}; s64 limit; s64 maximum") \
	/* The numbers of requests depend on the processor, except those from 0x4200 on. */ \
	X(PROCESS_PTRACE, PROCESS, "process.ptrace", \
	  "ns time; errno error; s32 request{0=PTRACE_TRACEME,1=PTRACE_PEEKTEXT," \
	  "2=PTRACE_PEEKDATA,3=PTRACE_PEEKUSER,4=PTRACE_POKETEXT,5=PTRACE_POKEDATA," \
	  "6=PTRACE_POKEUSER,7=PTRACE_CONT," \
	  "8=PTRACE_KILL,9=PTRACE_SINGLESTEP,12=PTRACE_GETREGS,13=PTRACE_SETREGS," \
	  "14=PTRACE_GETFPREGS,15=PTRACE_SETFPREGS,16=PTRACE_ATTACH,17=PTRACE_DETACH," \
	  "24=PTRACE_SYSCALL,31=PTRACE_SYSEMU,0x4200=PTRACE_SETOPTIONS," \
	  "0x4201=PTRACE_GETEVENTMSG,0x4202=PTRACE_GETSIGINFO,0x4203=PTRACE_SETSIGINFO," \
	  "0x4204=PTRACE_GETREGSET,0x4205=PTRACE_SETREGSET,0x4206=PTRACE_SEIZE," \
	  "0x4207=PTRACE_INTERRUPT,0x4208=PTRACE_LISTEN,0x4209=PTRACE_PEEKSIGINFO," \
	  "0x420a=PTRACE_GETSIGMASK,0x420b=PTRACE_SETSIGMASK,0x420c=PTRACE_SECCOMP_GET_FILTER," \
	  "0x420d=PTRACE_SECCOMP_GET_METADATA,0x420e=PTRACE_GET_SYSCALL_INFO," \
	  "0x420f=PTRACE_GET_RSEQ_CONFIGURATION,0x4212=PTRACE_SET_SYSCALL_INFO}; s32 pid; " \
	  "ptr address; ptr data; " \
	  "s64 result") \
	/* `value` is the second argument. `name` is the new name for PR_SET_NAME, else empty. */ \
	X(PROCESS_PRCTL, PROCESS, "process.prctl", \
	  "s32 option{1=PR_SET_PDEATHSIG,2=PR_GET_PDEATHSIG,3=PR_GET_DUMPABLE," \
	  "4=PR_SET_DUMPABLE,7=PR_GET_KEEPCAPS,8=PR_SET_KEEPCAPS,15=PR_SET_NAME,16=PR_GET_NAME," \
	  "21=PR_GET_SECCOMP,22=PR_SET_SECCOMP,23=PR_CAPBSET_READ,24=PR_CAPBSET_DROP," \
	  "25=PR_GET_TSC,26=PR_SET_TSC,27=PR_GET_SECUREBITS,28=PR_SET_SECUREBITS," \
	  "29=PR_SET_TIMERSLACK,30=PR_GET_TIMERSLACK,33=PR_MCE_KILL,34=PR_MCE_KILL_GET," \
	  "35=PR_SET_MM,36=PR_SET_CHILD_SUBREAPER,37=PR_GET_CHILD_SUBREAPER," \
	  "38=PR_SET_NO_NEW_PRIVS,39=PR_GET_NO_NEW_PRIVS,40=PR_GET_TID_ADDRESS," \
	  "41=PR_SET_THP_DISABLE,42=PR_GET_THP_DISABLE,47=PR_CAP_AMBIENT," \
	  "52=PR_GET_SPECULATION_CTRL,53=PR_SET_SPECULATION_CTRL,57=PR_SET_IO_FLUSHER," \
	  "58=PR_GET_IO_FLUSHER,59=PR_SET_SYSCALL_USER_DISPATCH,62=PR_SCHED_CORE," \
	  "65=PR_SET_MDWE,66=PR_GET_MDWE,67=PR_SET_MEMORY_MERGE,68=PR_GET_MEMORY_MERGE," \
	  "0x53564d41=PR_SET_VMA,0x59616d61=PR_SET_PTRACER}; " \
	  "s32 result; errno error; x64 value; str name") \
	/* These events concern processes that are named by a descriptor. */ \
	X(PROCESS_PIDFD, PROCESS, "process.pidfd_open", \
	  "ns time; errno error; fd fd; s32 pid; x32 flags" SHIM_FD_FLAGS) \
	X(PROCESS_PIDFD_GET, PROCESS, "process.pidfd_getfd", \
	  "ns time; errno error; fd fd; fd process; s32 of") \
	X(PROCESS_PIDFD_KILL, PROCESS, "process.pidfd_send_signal", \
	  "ns time; errno error; fd fd; signal signal")

#define SHIM_TYPES(X) \
	SHIM_TYPES_SHIM(X) \
	SHIM_TYPES_ALLOC(X) \
	SHIM_TYPES_IO(X) \
	SHIM_TYPES_FILE(X) \
	SHIM_TYPES_STDIO(X) \
	SHIM_TYPES_LOCK(X) \
	SHIM_TYPES_HOLD(X) \
	SHIM_TYPES_THREAD(X) \
	SHIM_TYPES_PROCESS(X) \
	SHIM_TYPES_NET(X) \
	SHIM_TYPES_TIME(X) \
	SHIM_TYPES_IPC(X) \
	SHIM_TYPES_DL(X) \
	SHIM_TYPES_SIGNAL(X) \
	SHIM_TYPES_FUNC(X)

enum shim_type {
#define SHIM_ENUM(type, family, name, schema) type,
	SHIM_TYPES(SHIM_ENUM)
#undef SHIM_ENUM
	SHIM_TYPE_COUNT
};

#endif
