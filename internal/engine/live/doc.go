// Package live assesses and measures the servers of the engines to which Muster connects, and
// has the script that grants its account the necessary rights.
//
// It links the packages that connect, so only serve and the agent import it. The name of an
// engine, and the words for its checks and samples, are in package engine, which needs none of
// these packages. Connecting itself is in package servers, engine by engine. A test here
// compares both with the list of engines.
package live
