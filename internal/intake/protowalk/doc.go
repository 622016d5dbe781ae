// Package protowalk steps over protobuf messages without building them.
//
// A scrape of a host has hundreds of series of which a few are wanted. A decoder
// that builds every message pays for all of them, and a body of two-byte messages
// becomes a hundred times its size; here a message is the bytes that it came in, and
// what nobody looks into costs a step. Nothing is copied and nothing allocated.
//
// # What may go wrong
//
//   - A field ends outside its message, or has a number or type that there is not:
//     the walk ends, and Err says so. What lies inside a message that nobody looked
//     into is not checked.
//   - A known number comes with another type: the caller asks for both, so that the
//     field is one it does not know, as protobuf has it.
package protowalk
