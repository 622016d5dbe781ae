// Package placement records where the blocks of an installation are, in PostgreSQL or in a
// ClickHouse, and moves them from one to the other.
//
// The table block_home has the place. A process says at its start where it has the blocks
// (Inhabit). Every transaction that derives data from blocks checks that they are still there
// (AtHome). The last step of a move waits until all such transactions have ended.
//
// Move copies all blocks, compares them, and then switches the place while no other process puts
// blocks. The last step copies only the blocks that were put since the first one began. Processes
// at the old place go on storing samples, but roll nothing up until they are restarted with the
// new place.
//
// What may go wrong: Move is interrupted, or finds a difference. The place is still the old one,
// and Move may be called again. The old copy stays until Drop, which refuses to drop blocks that
// a process may still need.
package placement
