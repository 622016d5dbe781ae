// Package arrival says how late, and how early by its sender's clock, a look at a server may come to say
// something. Samples have the same bounds: raw ones are kept for as long as one may be late.
package arrival
