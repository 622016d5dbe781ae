// Package proof says what the log knows of a PDF in somebody's hand.
//
// A file is one of ours when its SHA-256 stands in a Ready event of the
// organization. The history projection finds the report; the events themselves
// then prove it: each event of the report is hashed again and held against the
// events before and after it in the log, versions must have no gap, Ready must
// name this very digest, and the head that the PDF carries in its footer must
// still be in the log. A projection that was tampered with, or lags, can hide a
// report (it then reads as unknown) but cannot vouch for a false one.
//
// What may go wrong, and what then happens: somebody appends meanwhile: what is
// read of a log never changes, so nothing is mistaken for a fault. Somebody with
// write access to the database hashes every event behind the one they changed
// anew: then all fits but the head in the footer of every later report, and
// whatever heads people kept.
//
// A rebuild trusts the same events for the digests that it compares with, so it
// holds them against the chain in the same way (Prover.Record).
//
// That is a check of one report in a few dozen reads. Whether all other events
// are whole, too, is `muster events verify`, which reads everything.
package proof
