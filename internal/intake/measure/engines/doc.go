// Package engines lists the engines that Muster measures by itself. A package of measure
// reads each; serve and the agent take them from here.
package engines
