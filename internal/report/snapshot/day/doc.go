// Package day is the daily digest of some servers: its figures (Digest), and the words for them
// (PageOf).
//
// # How it works
//
// handlers/gather/daily counts the figures. A report keeps them in its inputs, and digest.json is
// the same object. PageOf puts them into sentences, in sections with rows. The PDF, the mail and
// the preview print that page and nothing else, so they cannot differ.
//
// All times of a Digest are UTC. Zone has the offsets that the reader's time zone had then, so the
// words are a pure function of the Digest: new rules of a time zone change no old document.
//
// Silence is not quiet: a server counts as quiet only for the time in which it was heard
// (Instruments). What is not known is said in words, and its tone is Unknown.
//
// # What may go wrong
//
//   - Texts of alerts, statements and objects come from machines. They are data: whoever prints
//     a page escapes them.
//   - A time lies before the first offset of Zone: it is shown with that offset, so an hour may be
//     off. Such times are printed as dates.
package day
