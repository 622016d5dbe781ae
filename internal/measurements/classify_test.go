package measurements_test

import (
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
)

const none = -1 // on CPU

// waits are names as their engines have them, and the category of §4.6.
type waits struct {
	category int
	names    string // one a line
}

// classify holds Classify to a table, in the spelling of the engine, in capitals and
// in small letters.
func classify(t *testing.T, engine fleet.Engine, table []waits) {
	t.Helper()
	rows := 0
	for _, w := range table {
		for _, name := range strings.Split(strings.TrimSpace(w.names), "\n") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), "#")
			rows++
			for _, spelled := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
				category, ok := measurements.Classify(engine, spelled)
				if ok != (w.category != none) || ok && category != w.category {
					t.Errorf("%s: %q is in category %d (%t), want %d", engine, spelled, category, ok, w.category)
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("%s: %d names", engine, rows)
	}
}

// TestClassifySQLServer: names of sys.dm_os_wait_stats.
func TestClassifySQLServer(t *testing.T) {
	t.Parallel()
	classify(t, fleet.SQLServer, []waits{
		{none, ``},
		{waitclass.Locks, `
			LCK_M_S
			LCK_M_X
			LCK_M_U
			LCK_M_IX
			LCK_M_IS
			LCK_M_SCH_M
			LCK_M_SCH_S
			LCK_M_RIn_NL
			LCK_M_RS_U
			LCK_M_X_LOW_PRIORITY`},
		{waitclass.LightweightLocks, `
			LATCH_EX
			LATCH_SH
			LATCH_UP
			LATCH_DT
			LATCH_NL`},
		{waitclass.IO, `
			PAGEIOLATCH_SH
			PAGEIOLATCH_EX
			PAGEIOLATCH_UP
			PAGELATCH_EX
			PAGELATCH_SH
			PAGELATCH_UP
			WRITELOG
			IO_COMPLETION
			IO_RETRY
			IO_AUDIT_MUTEX
			IO_QUEUE_LIMIT
			HADR_SYNC_COMMIT
			HADR_WORK_QUEUE
			HADR_LOGCAPTURE_WAIT
			HADR_NETWORK_OF_A_LATER_VERSION
			LOGMGR
			LOGMGR_FLUSH
			LOGMGR_QUEUE
			LOGMGR_RESERVE_APPEND`},
		{waitclass.ClientNetwork, `
			ASYNC_NETWORK_IO
			EXTERNAL_SCRIPT_NETWORK_IOF
			NETWORK
			SNI_CRITICAL_SECTION
			SNI_HTTP_ACCEPT
			SNI_TASK_COMPLETION
			SNI_CONN_DUP`},
		{waitclass.Other, `
			CXPACKET
			CXCONSUMER
			SOS_SCHEDULER_YIELD
			ASYNC_IO_COMPLETION
			BACKUPIO
			BACKUPBUFFER
			WRITE_COMPLETION
			LOGBUFFER
			LOGPOOL_FREEPOOLS
			RESOURCE_SEMAPHORE
			RESOURCE_SEMAPHORE_QUERY_COMPILE
			THREADPOOL
			WAITFOR
			OLEDB
			MSQL_XP
			DTC
			TRACEWRITE
			SLEEP_TASK
			LAZYWRITER_SLEEP
			CHECKPOINT_QUEUE
			PREEMPTIVE_OS_AUTHENTICATIONOPS
			PREEMPTIVE_OS_WRITEFILE
			DBMIRROR_DBM_EVENT
			REPLICA_WRITES
			MISCELLANEOUS`},
	})
}

// TestClassifyPostgreSQL: of what pg_stat_activity says, only the type decides. The
// events are those of the versions 13 to 19 (C17).
func TestClassifyPostgreSQL(t *testing.T) {
	t.Parallel()
	classify(t, fleet.PostgreSQL, []waits{
		{none, ``},
		{waitclass.Locks, `
			Lock#relation
			Lock#extend
			Lock#page
			Lock#tuple
			Lock#transactionid
			Lock#virtualxid
			Lock#spectoken
			Lock#object
			Lock#userlock
			Lock#advisory
			Lock#frozenid
			Lock#applytransaction
			BufferPin#BufferPin
			Buffer#BufferPin
			Buffer#BufferCleanup
			Buffer#BufferExclusive
			Buffer#BufferShared
			Buffer#BufferShareExclusive`},
		{waitclass.LightweightLocks, `
			LWLock#WALWrite
			LWLock#WALInsert
			LWLock#BufferContent
			LWLock#BufferMapping
			LWLock#LockManager
			LWLock#ProcArray
			LWLock#SubtransSLRU
			LWLock#MultiXactOffsetBuffer
			LWLock#pg_stat_statements
			LWLock#ParallelHashJoin`},
		{waitclass.IO, `
			IO#DataFileRead
			IO#DataFileWrite
			IO#DataFileExtend
			IO#DataFilePrefetch
			IO#WALWrite
			IO#WALSync
			IO#WalSync
			IO#BufFileRead
			IO#BufFileWrite
			IO#SLRURead
			IO#AioIoCompletion
			IO#CopyFileRead`},
		{waitclass.ClientNetwork, `
			Client#ClientRead
			Client#ClientWrite
			Client#GSSOpenServer
			Client#SSLOpenServer
			Client#WalSenderMain
			Client#WalSenderWaitForWAL
			IPC#BgWorkerShutdown
			IPC#ExecuteGather
			IPC#HashBuildHashInner
			IPC#MessageQueueSend
			IPC#ParallelFinish
			IPC#SyncRep
			IPC#BackupWaitWalArchive
			IPC#ProcarrayGroupUpdate`},
		{waitclass.Other, `
			Activity#LogicalLauncherMain
			Activity#WalWriterMain
			Activity#CheckpointerMain
			Activity#AutoVacuumMain
			Timeout#PgSleep
			Timeout#VacuumDelay
			Timeout#SpinDelay
			Timeout#BaseBackupThrottle
			Timeout#RecoveryApplyDelay
			Extension#Extension
			Extension#DblinkConnect
			Extension#PgStatStatementsMain
			InjectionPoint#create-index-concurrently
			Imagined#InALaterVersion`},
	})
}

// TestClassifyOracle: events of v$event_name, whose wait_class decides.
func TestClassifyOracle(t *testing.T) {
	t.Parallel()
	classify(t, fleet.Oracle, []waits{
		{none, `
			ON CPU`}, // v$active_session_history.session_state
		{waitclass.Locks, `
			Concurrency#buffer busy waits
			Concurrency#cursor: pin S wait on X
			Concurrency#cursor: mutex X
			Concurrency#enq: TX - index contention
			Concurrency#latch: cache buffers chains
			Concurrency#latch: shared pool
			Concurrency#library cache lock
			Concurrency#library cache pin
			Concurrency#row cache lock
			Concurrency#os thread startup
			Application#enq: TX - row lock contention
			Application#enq: TM - contention
			Application#enq: UL - contention
			Application#SQL*Net break/reset to client
			Application#Wait for Table Lock`},
		{waitclass.LightweightLocks, `
			Configuration#log file switch (checkpoint incomplete)
			Configuration#log file switch completion
			Configuration#log buffer space
			Configuration#enq: ST - contention
			Configuration#enq: TX - allocate ITL entry
			Configuration#free buffer waits
			Configuration#write complete waits`},
		{waitclass.IO, `
			User I/O#db file sequential read
			User I/O#db file scattered read
			User I/O#direct path read
			User I/O#direct path read temp
			User I/O#direct path write temp
			User I/O#read by other session
			User I/O#cell single block physical read
			System I/O#log file parallel write
			System I/O#db file parallel write
			System I/O#control file sequential read
			System I/O#control file parallel write
			System I/O#RMAN backup & recovery I/O`},
		{waitclass.ClientNetwork, `
			Network#SQL*Net message to client
			Network#SQL*Net more data to client
			Network#SQL*Net more data from client
			Network#SQL*Net message from dblink
			Network#SQL*Net vector data to client
			Network#TCP Socket (KGAS)
			Network#ARCH wait on SENDREQ`},
		{waitclass.Other, `
			Idle#SQL*Net message from client
			Idle#rdbms ipc message
			Idle#pmon timer
			Idle#PX Deq: Execution Msg
			Idle#jobq slave wait
			Commit#log file sync
			Cluster#gc buffer busy acquire
			Cluster#gc cr block 2-way
			Administrative#Backup: MML write backup piece
			Administrative#switch logfile command
			Scheduler#resmgr:cpu quantum
			Queueing#Streams AQ: enqueue blocked on low memory
			Other#latch free
			Other#enq: PS - contention
			Other#asynch descriptor resize`},
	})
}

// TestClassifyByPrefix: table order and the edges of a pattern.
func TestClassifyByPrefix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine   fleet.Engine
		name     string
		category int
	}{
		{fleet.PostgreSQL, "  ", none}, // padded NULLs
		{fleet.PostgreSQL, "LWLockNamed", waitclass.LightweightLocks},
		{fleet.PostgreSQL, "LWLoc", waitclass.Other},
		{fleet.PostgreSQL, "lock ", waitclass.Locks},
		{fleet.SQLServer, "LCK", waitclass.Other}, // the pattern is LCK_*
		{fleet.SQLServer, "IO", waitclass.Other},
		{fleet.SQLServer, "THE_NETWORKED", waitclass.ClientNetwork},
		{fleet.SQLServer, "LATCH_NETWORK", waitclass.LightweightLocks}, // the earlier row
		{fleet.Oracle, "Network", waitclass.ClientNetwork},
		{fleet.Oracle, "The Network", waitclass.Other}, // anywhere is SQL Server's only
		{fleet.Oracle, "ZÜRICH", waitclass.Other},
		// Of engines that are not answered, nothing is known.
		{fleet.MySQL, "Lock", waitclass.Other},
		{fleet.MongoDB, "", none},
	} {
		category, ok := measurements.Classify(c.engine, c.name)
		if ok != (c.category != none) || ok && category != c.category {
			t.Errorf("%s: %q is in category %d (%t), want %d", c.engine, c.name, category, ok, c.category)
		}
	}
}
