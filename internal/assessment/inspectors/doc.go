// Package inspectors lists the engines whose servers Muster assesses by itself. A package of
// assessment knows each; serve and the agent take them from here.
package inspectors
