// Package summaries requests the summaries of the demo, once, as soon as there is something to sum up. They count what
// was recorded before the minute of the request, so the first minute after the demo was filled is waited for.
//
// A summary that cannot be requested because too many reports are being built is requested a minute later. A person
// who deleted the demo's members gets no summary.
package summaries
