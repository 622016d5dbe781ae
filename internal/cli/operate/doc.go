// Package operate has the commands of operators: organizations, administrators and tokens, the
// schema, read models, work that was set aside, where measurements are, backups, the feed of
// releases, and the fleet file.
//
// Each calls one use case or query. What happens if a command is killed is written in the
// package of that use case.
package operate
