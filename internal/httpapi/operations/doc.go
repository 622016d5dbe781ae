// Package operations serves the state of the service itself: projections, jobs, dead letters,
// the outbox, the audit list, health and readiness, metrics, and the contract as a file. Door
// answers for a process without the API, and Starting for a process that is not ready yet.
//
// The audit list joins two records that are stored separately: events of the logs, which form a
// chain, and the security log of sign-ins and refusals, which anonymous clients can make longer.
package operations
