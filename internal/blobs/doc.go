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
// A store is one installation's: its file muster-store says whose (Claim). A process that
// knows whose it has to be (Expect) writes nothing to another one, and takes no file for
// missing before it has looked that the store is the right one.
//
// What a bucket's URL may say is in docs/operators.md; package s3test starts an object
// store for tests. Its requests are AWS' library's, which asks three times where that may
// help. Uploads go in parts of 5 MiB, one after the other (upload.go says why).
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
// The disk, or the bucket, is full: Write returns a *FullError and nothing is visible.
//
// The store does not do what it is asked: *UnavailableError, which says whether to wait
// may help. An object store that refuses says why, and the error what to do (*RefusedError).
//
// The store hangs: whoever calls it is told so after ten seconds without an answer, or
// thirty without progress (*TimeoutError). Progress is what we see of it: a byte read,
// a block taken, and of an upload each part. A call
// that hangs in the kernel, as on a network file system that is away, cannot be ended;
// it goes on by itself, and what it still returns is closed. At most 64 calls are under
// way, so that a store that hangs for a day does not take a thread a call. A file whose
// last step was given up may appear all the same; no event names it, so it is swept.
//
// The process dies while it writes: a temporary file stays in the directory.
// It is listed like any other and swept with the strays. Parts of an upload stay in an
// object store until a rule of its own removes them; of one that fails for any other
// reason than the line to the store they are removed.
//
// Somebody who can write to the store changes a file, or a disk does. Whoever hands a file
// out, packs it into a backup or renders from it holds its digest against the event that
// names it; checksums that a store keeps itself are not looked at. A file of which the store
// does not give all is a *DamagedFileError: a disk that cannot read it, or an answer that ends
// before its length, once more where it is asked for the rest.
//
// Two processes are pointed at different stores, or two installations at the same one, or
// a file system is not mounted: the file muster-store is missing or another's, and serve
// refuses to start (*OtherStoreError). A process that runs already writes nothing there.
// An object store counts as recognized for a second: one that is swapped within that gets
// the file.
package blobs
