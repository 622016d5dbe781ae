// Package fairslots shares the slots of a process between organizations: assessments, light looks,
// jobs of each kind, the rendering of reports, handshakes and feeds of Alertmanagers.
//
// # How it works
//
// Slots are counted by what one organization may hold, and there are twice as many. So one
// organization never holds more than half of a process's slots, and never more than half of all
// processes' slots together: no process has to know how many others there are.
//
// Among the organizations that wait and may have a slot, the one with the fewest slots comes
// first, and among equals the one whose last turn is longest ago. So an organization that waits
// and holds no slot gets one before any other gets two. The oldest work of an organization comes
// first.
//
// Work that is claimed from a table passes Order to the statement that claims (handlers/jobs,
// internal/assessment). Work that waits in this process passes a Gate.
//
// # What was rejected
//
// An organization that is alone might hold all slots, or all but one, and lose them when another
// comes. But the work in a slot cannot be stopped: an assessment may take five minutes, a build
// ten. Until then the other organization would have one slot or none. So half of the slots is
// kept free, and an organization that is alone works as fast as it did when there were half as
// many slots. A slot costs nothing while it is free.
//
// Rendering is the exception (NewSharedGate): it uses a core, so there are not twice as many
// slots, and 493 pages take 0.7 s (docs/performance.md). An organization that is alone has both
// slots. When another comes, it is next as soon as one of the two is given back.
//
// The turns could be rows that all processes share. That would be a write for each claim, with
// no further effect: if no process gives an organization more than half, all of them together do
// not.
//
// # What may go wrong
//
//   - Two organizations hold all slots with work that hangs. A third one waits until one piece
//     of that work ends (each has a time limit), and is then the first.
//   - A process starts again: it has forgotten whose turn it was, and begins with the oldest
//     work.
//   - More than a thousand organizations have work: those whose turn is longest ago are
//     forgotten, which makes them the first.
package fairslots
