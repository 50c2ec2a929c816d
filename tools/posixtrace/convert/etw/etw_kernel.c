/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_kernel.c - the fields of the public event classes of the Windows kernel.
 *
 * The names of fields come from Microsoft's documentation of the MOF classes ("NT Kernel Logger").
 * A row is valid for its version of the class and for later versions, up to the version of the next
 * row for the same type. A payload that is longer than its row may come from a later version; only
 * its first fields are decoded. A payload that is shorter than its row is not decoded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_value.h"
#include "convert/octets.h"

/*
 * Fields are "TYPE NAME" with commas between. These are the types:
 *
 *	uN sN xN   a number of N bits: unsigned, signed, hexadecimal
 *	p  z       a pointer; a size
 *	w  a       a text up to its NUL: in UTF-16, in ANSI; w[N] and a[N] have N characters
 *	sid        a TOKEN_USER with its SID
 *	ip4 ip6 port
 *	b  guid    a BOOL of four bytes; a GUID
 *
 * [] after a type makes an array up to the end of the payload.
 */
struct row {
	const char *class;
	const char *types;      /* type numbers, with a blank around each */
	unsigned version;
	const char *fields;
};

#define IP4 "u32 PID,u32 size,ip4 daddr,ip4 saddr,port dport,port sport"
#define IP6 "u32 PID,u32 size,ip6 daddr,ip6 saddr,port dport,port sport"
#define SENT "u32 startime,u32 endtime"
#define CONNECTED \
	"u16 mss,u16 sackopt,u16 tsopt,u16 wsopt,u32 rcvwin,s16 rcvwinscale,s16 sndwinscale"
#define THREAD                                                                                     \
	"u32 ProcessId,u32 TThreadId,p StackBase,p StackLimit,p UserStackBase,p UserStackLimit"
#define REGISTRY " 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 "

static const struct row rows[] = {
	{ "process", " 1 2 3 4 ", 0, "z ProcessId,z ParentId,sid UserSID,a ImageFileName" },
	{ "process", " 1 2 3 4 ", 1,
	  "p PageDirectoryBase,u32 ProcessId,u32 ParentId,u32 SessionId,s32 ExitStatus,sid UserSID,"
	  "a ImageFileName" },
	{ "process", " 1 2 3 4 39 ", 2,
	  "p UniqueProcessKey,u32 ProcessId,u32 ParentId,u32 SessionId,s32 ExitStatus,sid UserSID,"
	  "a ImageFileName,w CommandLine" },
	{ "process", " 1 2 3 4 39 ", 3,
	  "p UniqueProcessKey,u32 ProcessId,u32 ParentId,u32 SessionId,s32 ExitStatus,"
	  "p DirectoryTableBase,sid UserSID,a ImageFileName,w CommandLine" },
	{ "process", " 1 2 3 4 39 ", 4,
	  "p UniqueProcessKey,u32 ProcessId,u32 ParentId,u32 SessionId,s32 ExitStatus,"
	  "p DirectoryTableBase,x32 Flags,sid UserSID,a ImageFileName,w CommandLine,"
	  "w PackageFullName,w ApplicationId" },
	{ "process", " 32 33 ", 2,
	  "u32 ProcessId,u32 PageFaultCount,u32 HandleCount,u32 Reserved,z PeakVirtualSize,"
	  "z PeakWorkingSetSize,z PeakPagefileUsage,z QuotaPeakPagedPoolUsage,"
	  "z QuotaPeakNonPagedPoolUsage,z VirtualSize,z WorkingSetSize,z PagefileUsage,"
	  "z QuotaPagedPoolUsage,z QuotaNonPagedPoolUsage,z PrivatePageCount" },

	{ "thread", " 1 2 3 4 ", 0, "u32 TThreadId,u32 ProcessId" },
	{ "thread", " 1 3 ", 1, THREAD ",p StartAddr,p Win32StartAddr,s8 WaitMode" },
	{ "thread", " 2 4 ", 1, "u32 ProcessId,u32 TThreadId" },
	{ "thread", " 1 2 3 4 ", 2,
	  THREAD ",p StartAddr,p Win32StartAddr,p TebBase,u32 SubProcessTag" },
	{ "thread", " 1 2 3 4 ", 3,
	  THREAD ",p Affinity,p Win32StartAddr,p TebBase,u32 SubProcessTag,u8 BasePriority,"
		 "u8 PagePriority,u8 IoPriority,u8 ThreadFlags" },
	{ "thread", " 36 ", 1,
	  "u32 NewThreadId,u32 OldThreadId,s8 NewThreadPriority,s8 OldThreadPriority,"
	  "s8 NewThreadQuantum,s8 OldThreadQuantum,s8 OldThreadWaitReason,s8 OldThreadWaitMode,"
	  "s8 OldThreadState,s8 OldThreadWaitIdealProcessor,u32 NewThreadWaitTime" },
	{ "thread", " 36 ", 2,
	  "u32 NewThreadId,u32 OldThreadId,s8 NewThreadPriority,s8 OldThreadPriority,"
	  "u8 PreviousCState,s8 SpareByte,s8 OldThreadWaitReason,s8 OldThreadWaitMode,"
	  "s8 OldThreadState,s8 OldThreadWaitIdealProcessor,u32 NewThreadWaitTime,u32 Reserved" },
	{ "thread", " 50 ", 2,
	  "u32 TThreadId,s8 AdjustReason,s8 AdjustIncrement,s8 Flag,s8 Reserved" },
	{ "thread", " 57 ", 1, "u32 TThreadId,u64 StartTime,p ThreadRoutine" },

	{ "image", " 10 ", 0, "p BaseAddress,u32 ModuleSize,w ImageFileName" },
	{ "image", " 2 3 4 10 ", 1, "p ImageBase,p ImageSize,u32 ProcessId,w FileName" },
	{ "image", " 2 3 4 10 ", 2,
	  "p ImageBase,p ImageSize,u32 ProcessId,u32 ImageChecksum,u32 TimeDateStamp,"
	  "u8 SignatureLevel,u8 SignatureType,u16 Reserved0,p DefaultBase,u32 Reserved1,"
	  "u32 Reserved2,u32 Reserved3,u32 Reserved4,w FileName" },

	{ "diskio", " 10 11 ", 0,
	  "u32 DiskNumber,x32 IrpFlags,u32 TransferSize,u32 Reserved,u64 ByteOffset,p FileObject,"
	  "p Irp,u64 HighResResponseTime" },
	{ "diskio", " 10 11 ", 3,
	  "u32 DiskNumber,x32 IrpFlags,u32 TransferSize,u32 Reserved,u64 ByteOffset,p FileObject,"
	  "p Irp,u64 HighResResponseTime,u32 IssuingThreadId" },
	{ "diskio", " 12 13 15 ", 0, "p Irp" },
	{ "diskio", " 12 13 15 ", 3, "p Irp,u32 IssuingThreadId" },
	{ "diskio", " 14 ", 0, "u32 DiskNumber,x32 IrpFlags,u64 HighResResponseTime,p Irp" },
	{ "diskio", " 14 ", 3,
	  "u32 DiskNumber,x32 IrpFlags,u64 HighResResponseTime,p Irp,u32 IssuingThreadId" },
	{ "diskio", " 34 ", 0,
	  "u32 MajorFunction,u32 MinorFunction,p RoutineAddr,p FileObject,p Irp,u32 UniqMatchId" },
	{ "diskio", " 35 53 ", 0, "p Irp,u32 UniqMatchId" },
	{ "diskio", " 37 52 ", 0, "p RoutineAddr,p Irp,u32 UniqMatchId" },

	{ "fileio", " 0 32 35 36 ", 0, "p FileObject,w FileName" },
	{ "fileio", " 64 ", 2,
	  "p IrpPtr,p TTID,p FileObject,x32 CreateOptions,x32 FileAttributes,x32 ShareAccess,"
	  "w OpenPath" },
	{ "fileio", " 64 ", 3,
	  "p IrpPtr,p FileObject,u32 IssuingThreadId,x32 CreateOptions,x32 FileAttributes,"
	  "x32 ShareAccess,w OpenPath" },
	{ "fileio", " 65 66 73 ", 2, "p IrpPtr,p TTID,p FileObject,p FileKey" },
	{ "fileio", " 65 66 73 ", 3, "p IrpPtr,p FileObject,p FileKey,u32 IssuingThreadId" },
	{ "fileio", " 67 68 ", 2,
	  "u64 Offset,p IrpPtr,p TTID,p FileObject,p FileKey,u32 IoSize,x32 IoFlags" },
	{ "fileio", " 67 68 ", 3,
	  "u64 Offset,p IrpPtr,p FileObject,p FileKey,u32 IssuingThreadId,u32 IoSize,x32 IoFlags" },
	{ "fileio", " 69 70 71 74 75 ", 2,
	  "p IrpPtr,p TTID,p FileObject,p FileKey,p ExtraInfo,u32 InfoClass" },
	{ "fileio", " 69 70 71 74 75 ", 3,
	  "p IrpPtr,p FileObject,p FileKey,p ExtraInfo,u32 IssuingThreadId,u32 InfoClass" },
	{ "fileio", " 72 77 ", 2,
	  "p IrpPtr,p TTID,p FileObject,p FileKey,u32 Length,u32 InfoClass,u32 FileIndex,w "
	  "FileName" },
	{ "fileio", " 72 77 ", 3,
	  "p IrpPtr,p FileObject,p FileKey,u32 IssuingThreadId,u32 Length,u32 InfoClass,"
	  "u32 FileIndex,w FileName" },
	{ "fileio", " 76 ", 2, "p IrpPtr,p ExtraInfo,x32 NtStatus" },

	{ "pagefault", " 10 11 12 13 14 15 ", 0, "p VirtualAddress,p ProgramCounter" },
	{ "pagefault", " 32 ", 0,
	  "u64 InitialTime,x64 ReadOffset,p VirtualAddress,p FileObject,u32 TThreadId,u32 "
	  "ByteCount" },
	{ "pagefault", " 98 99 ", 2, "p BaseAddress,z RegionSize,u32 ProcessId,x32 Flags" },
	{ "pagefault", " 105 ", 0, "p FileObject,x32 DeviceChar,x16 FileChar,x16 LoadFlags" },

	{ "perfinfo", " 46 ", 2, "p InstructionPointer,u32 ThreadId,u32 Count" },
	{ "perfinfo", " 51 ", 0, "p SysCallAddress" },
	{ "perfinfo", " 52 ", 0, "x32 SysCallNtStatus" },
	{ "perfinfo", " 67 ", 1, "u64 InitialTime,p Routine,u32 ReturnValue" },
	{ "perfinfo", " 67 ", 2,
	  "u64 InitialTime,p Routine,u8 ReturnValue,u8 Vector,u16 Reserved" },
	{ "perfinfo", " 66 68 69 ", 1, "u64 InitialTime,p Routine" },
	{ "perfinfo", " 72 73 74 ", 2, "u32 Source,u32 NewInterval,u32 OldInterval" },

	{ "stackwalk", " 32 ", 0, "u64 EventTimeStamp,u32 StackProcess,u32 StackThread,p[] Stack" },
	{ "stackwalk", " 35 36 ", 0, "p StackKey,p[] Stack" },
	{ "stackwalk", " 37 38 ", 0,
	  "u64 EventTimeStamp,u32 StackProcess,u32 StackThread,p StackKey" },

	{ "tcpip", " 10 ", 2, IP4 "," SENT ",u32 seqnum,p connid" },
	{ "tcpip", " 11 13 14 16 18 ", 2, IP4 ",u32 seqnum,p connid" },
	{ "tcpip", " 12 15 ", 2, IP4 "," CONNECTED ",u32 seqnum,p connid" },
	{ "tcpip", " 17 ", 2, "u16 Proto,u16 FailureCode" },
	{ "tcpip", " 26 ", 2, IP6 "," SENT ",u32 seqnum,p connid" },
	{ "tcpip", " 27 29 30 32 34 ", 2, IP6 ",u32 seqnum,p connid" },
	{ "tcpip", " 28 31 ", 2, IP6 "," CONNECTED ",u32 seqnum,p connid" },
	{ "udpip", " 10 11 ", 1, IP4 },
	{ "udpip", " 10 11 ", 2, IP4 ",u32 seqnum,p connid" },
	{ "udpip", " 17 ", 2, "u16 Proto,u16 FailureCode" },
	{ "udpip", " 26 27 ", 2, IP6 ",u32 seqnum,p connid" },

	{ "registry", REGISTRY, 2, "s64 InitialTime,x32 Status,u32 Index,p KeyHandle,w KeyName" },

	{ "alpc", " 33 34 35 ", 0, "u32 MessageID" },
	{ "alpc", " 36 ", 0, "b IsServerPort,a PortName" },
	{ "alpc", " 37 ", 0, "x32 Status" },
	{ "splitio", " 32 ", 0, "p ParentIrp,p ChildIrp" },

	{ "heap", " 32 ", 0, "p HeapHandle,x32 HeapFlags" },
	{ "heap", " 33 ", 0, "p HeapHandle,z AllocSize,p AllocAddress,u32 SourceId" },
	{ "heap", " 34 ", 0,
	  "p HeapHandle,p NewAllocAddress,p OldAllocAddress,z NewAllocSize,z OldAllocSize,"
	  "u32 SourceId" },
	{ "heap", " 36 ", 0, "p HeapHandle,p FreeAddress,u32 SourceId" },
	{ "heap", " 35 43 44 45 46 ", 0, "p HeapHandle" },

	{ "imageid", " 0 ", 0,
	  "p ImageBase,z ImageSize,u32 ProcessId,u32 TimeDateStamp,w OriginalFileName" },
	{ "imageid", " 32 ", 0, "p ImageBase,u32 ProcessId" },
	{ "imageid", " 36 37 ", 0, "p ImageBase,u32 ProcessId,guid GuidSig,u32 Age,a PdbFileName" },
	{ "imageid", " 64 ", 0,
	  "u32 ImageSize,u32 TimeDateStamp,w OrigFileName,w FileDescription,w FileVersion,"
	  "w BinFileVersion,w VerLanguage,w ProductName,w CompanyName,w ProductVersion,w FileId,"
	  "w ProgramId" },

	{ "config", " 10 ", 2,
	  "u32 MHz,u32 NumberOfProcessors,u32 MemSize,u32 PageSize,u32 AllocationGranularity,"
	  "w[256] ComputerName,w[134] DomainName,z HyperThreadingFlag" },
	{ "config", " 11 ", 2,
	  "u32 DiskNumber,u32 BytesPerSector,u32 SectorsPerTrack,u32 TracksPerCylinder,"
	  "u64 Cylinders,u32 SCSIPort,u32 SCSIPath,u32 SCSITarget,u32 SCSILun,"
	  "w[256] Manufacturer,u32 PartitionCount,u8 WriteCacheEnabled,u8 Pad,"
	  "w[3] BootDriveLetter,w[2] Spare" },
	{ "config", " 12 ", 2,
	  "u64 StartOffset,u64 PartitionSize,u32 DiskNumber,u32 Size,u32 DriveType,"
	  "w[4] DriveLetterString,u32 Pad1,u32 PartitionNumber,u32 SectorsPerCluster,"
	  "u32 BytesPerSector,u32 Pad2,s64 NumberOfFreeClusters,s64 TotalNumberOfClusters,"
	  "w[16] FileSystem,u32 VolumeExt,u32 Pad3" },
	{ "config", " 13 ", 2,
	  "x64 PhysicalAddr,u32 PhysicalAddrLen,u32 Ipv4Index,u32 Ipv6Index,w NICDescription,"
	  "w IpAddresses,w DnsServerAddresses" },
	{ "config", " 15 ", 2,
	  "u32 ProcessId,x32 ServiceState,u32 SubProcessTag,w ServiceName,w DisplayName,"
	  "w ProcessName" },
	{ "config", " 16 ", 2, "u8 S1,u8 S2,u8 S3,u8 S4,u8 S5" },
	{ "config", " 17 ", 2, "u32 TcbTablePartitions,u32 MaxHashTableSize,u32 MaxUserPort" },
	{ "config", " 21 ", 2,
	  "x64 IRQAffinity,u32 IRQNum,u32 DeviceDescriptionLen,w DeviceDescription" },
	{ "config", " 23 ", 2,
	  "u32 TargetId,x32 DeviceType,u32 DeviceTimingMode,u32 LocationInformationLen,"
	  "w LocationInformation" },
};

/*
 * Returns the row for the type and version of an event: the row of the type with the greatest
 * version up to the event's version. Returns NULL if there is no such row.
 */
static const struct row *find_row(const char *class, unsigned type, unsigned version)
{
	const struct row *found = NULL;
	char number[16];

	snprintf(number, sizeof(number), " %u ", type);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].version <= version && !strcmp(rows[i].class, class) &&
		    strstr(rows[i].types, number) &&
		    (!found || rows[i].version >= found->version))
			found = &rows[i];
	return found;
}

static const struct {
	const char *word;
	unsigned in, out;
} words[] = {
	{ "u8", ETW_IN_U8, 0 }, { "u16", ETW_IN_U16, 0 }, { "u32", ETW_IN_U32, 0 },
	{ "u64", ETW_IN_U64, 0 }, { "s8", ETW_IN_S8, 0 }, { "s16", ETW_IN_S16, 0 },
	{ "s32", ETW_IN_S32, 0 }, { "s64", ETW_IN_S64, 0 }, { "x16", ETW_IN_U16, 17 },
	{ "x32", ETW_IN_HEX32, 0 }, { "x64", ETW_IN_HEX64, 0 }, { "p", ETW_IN_POINTER, 0 },
	{ "z", ETW_IN_SIZE, 0 }, { "w", ETW_IN_UTF16, 0 }, { "a", ETW_IN_ANSI, 0 },
	{ "sid", ETW_IN_WBEM_SID, 0 }, { "ip4", ETW_IN_U32, ETW_OUT_IPV4 },
	{ "ip6", ETW_IN_BINARY, ETW_OUT_IPV6 }, { "port", ETW_IN_U16, ETW_OUT_PORT },
	{ "b", ETW_IN_BOOL32, 0 }, { "guid", ETW_IN_GUID, 0 },
};

/*
 * Adds the field that one text "TYPE NAME" describes. The text is part of the table above, so its
 * syntax is not checked.
 */
static bool add_field(struct etw_layout *layout, const char *text, size_t len)
{
	size_t word = strcspn(text, "[ ");
	const char *name = (const char *)memchr(text, ' ', len) + 1;
	struct etw_field *field = etw_layout_add(layout, name, (size_t)(text + len - name));

	if (!field)
		return false;
	field->next = layout->fields;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == word && !strncmp(words[i].word, text, word)) {
			field->in = words[i].in;
			field->out = words[i].out;
		}
	if (text[word] != '[')
		return true;
	if (text[word + 1] == ']') {
		field->count_rule = ETW_RULE_REST;
	} else {
		field->length_rule = ETW_RULE_FIXED;
		field->length = (unsigned)strtoul(text + word + 1, NULL, 10);
	}
	return true;
}

/*
 * Each call builds the layout from the text of the row. etw_types.c makes one call for each event
 * type, and etw_spans.c one call for each record that begins or ends a span with a key.
 */
bool etw_kernel_layout(const char *class, unsigned type, unsigned version,
		       struct etw_layout **layout)
{
	const struct row *row = find_row(class, type, version);
	struct etw_layout *made = row ? etw_layout_new() : NULL;

	*layout = NULL;
	if (!made)
		return !row;
	for (const char *at = row->fields; *at;) {
		size_t len = strcspn(at, ",");

		if (!add_field(made, at, len)) {
			etw_layout_free(made);
			return false;
		}
		at += len + (at[len] == ',');
	}
	made->top = made->fields;
	*layout = made;
	return true;
}

/* ---- the subjects that events of a class begin and end */

static const struct {
	const char *class;
	unsigned begin, end;    /* types of events */
	const char *key;        /* the fields that identify the subject */
} lives[] = {
	{ "process", 1, 2, "ProcessId" },
	{ "thread", 1, 2, "TThreadId" },
	{ "image", 10, 2, "ImageBase,ProcessId" },
};

/*
 * Returns the key of a class whose subjects may begin in one thread and end in another, and stores
 * the role of the type. Returns NULL for any other class.
 */
const char *etw_kernel_key(const char *class, unsigned type, enum etw_role *role)
{
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		if (!strcmp(lives[i].class, class)) {
			*role = type == lives[i].begin ? ETW_ROLE_BEGIN :
				type == lives[i].end ? ETW_ROLE_END : ETW_ROLE_NONE;
			return lives[i].key;
		}
	return NULL;
}

/*
 * Returns the size of a field that is one integer or pointer. Returns 0 for all other fields, and
 * for a pointer of unknown size.
 */
static unsigned size_of(const struct etw_field *field, unsigned pointer_bytes)
{
	if (field->count_rule != ETW_RULE_NONE || field->length_rule != ETW_RULE_NONE)
		return 0;
	if (field->in == ETW_IN_POINTER || field->in == ETW_IN_SIZE)
		return pointer_bytes;
	return etw_value_kind(field).form <= ETW_FORM_HEX ? etw_value_kind(field).size : 0;
}

/*
 * The wanted field and all fields before it must be integers or pointers, which have a fixed size.
 * The search ends at any other field, such as a text.
 */
bool etw_kernel_value(const struct etw_layout *layout, const char *name, size_t len,
		      unsigned pointer_bytes, const unsigned char *payload, size_t size,
		      uint64_t *value)
{
	size_t at = 0;

	for (unsigned i = 0; i < layout->fields; i++) {
		const struct etw_field *field = &layout->field[i];
		unsigned bytes = size_of(field, pointer_bytes);

		if (!bytes || bytes > size - at)
			return false;
		if (strlen(field->name) == len && !memcmp(field->name, name, len)) {
			*value = octets_get(payload + at, bytes, false);
			return true;
		}
		at += bytes;
	}
	return false;
}
