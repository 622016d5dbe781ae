// Package agent has the commands of muster agent: run, check, and the grants that a database
// needs. The agent itself is internal/agent.
package agent
