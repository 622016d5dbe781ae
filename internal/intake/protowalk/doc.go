// Package protowalk steps over protobuf messages without building them.
//
// A scrape of a host has hundreds of series, of which a few are used. A decoder that builds
// every message pays for all of them, and a body of two-byte messages grows to a hundred times
// its size. Here a message is the bytes in which it came, and skipping one costs a single step.
// Nothing is copied and nothing is allocated.
//
// # What may go wrong
//
//   - A field ends outside its message, or has an invalid number or type: the walk ends, and Err
//     says so. The inside of a message that was skipped is not checked.
//   - A known number comes with another type: the caller asks for both, so the field counts as
//     unknown, as in protobuf.
package protowalk
