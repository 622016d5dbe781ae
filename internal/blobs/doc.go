// Package blobs keeps the files of reports, the PDFs, the tables that go with them
// and the inputs documents they were made from, in a directory or an object store.
//
// # How it works
//
// A Store is a gocloud.dev bucket, named by a URL (file://, s3://). Files are
// written as streams, digested on the way, appear whole or not at all, and are
// never changed afterwards: their names hold the fence of the job that wrote
// them (PDFName, InputsName, CompanionName), so that two workers never write the same one.
// Which of a report's files counts is said by the event that names it and by
// nothing else.
//
// What a bucket's URL may say is in docs/operators.md; package s3test starts an object
// store for tests.
//
// In a directory a file is written beside its place, flushed to the disk,
// renamed, and the directory is flushed too: an event that names a file is
// committed later than that, so the file survives what the event survives.
// Files and directories are readable for their owner only, and there are no
// attribute files beside them.
//
// Copy takes a file over from another store as it is, for backups.
//
// Inputs documents are compressed with zstd, one block after the other with
// fixed settings; their digest is that of the uncompressed bytes.
//
// # What may go wrong
//
// The disk is full: Write returns a *FullError and nothing is visible.
//
// The store hangs: whoever calls it is told so after ten seconds without an answer, or
// thirty without progress (*TimeoutError). Progress is what we see of it: a byte read,
// a block taken, and of an upload its last part, some megabytes, as a whole. A call
// that hangs in the kernel, as on a network file system that is away, cannot be ended;
// it goes on by itself, and what it still returns is closed. At most 64 calls are under
// way, so that a store that hangs for a day does not take a thread a call. A file whose
// last step was given up may appear all the same; no event names it, so it is swept.
//
// The process dies while it writes: a temporary file stays in the directory.
// It is listed like any other and swept with the strays. An object store drops
// an unfinished upload itself.
//
// Somebody who can write to the store changes a file. The store does not notice: it
// keeps no digests. Whoever hands a file out, packs it into a backup or renders from
// it holds its digest against the event that names it.
//
// Two processes are pointed at different stores: each store carries a random
// Fingerprint, which serve compares with the one the database remembers.
package blobs
