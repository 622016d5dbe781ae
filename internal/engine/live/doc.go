// Package live is what Muster does with the servers of the engines that it connects to:
// assessing and measuring them, and the script that gives its account what that needs.
//
// It links the packages that connect, so only serve and the agent import it. What an engine
// is called, and how its checks and samples read, is in package engine, which needs none of
// them. Connecting itself is in package servers, engine by engine; a test here holds both to
// the list of engines.
package live
