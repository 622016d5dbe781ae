// Package objectives serves objectives, and how servers kept them in a month.
//
// # What may go wrong
//
//   - The executions of a server cannot be read in time: its latency is null and named as unavailable, and all
//     others are shown.
//   - An organization has thousands of servers: the availability of all of them is added up, because the worst
//     come first, and the latency is read for those of the page.
package objectives
