// Package ownhost measures the machine on which Muster runs, as an agent would: its CPUs, its
// memory and its volumes, every fifteen seconds, under the machine's name.
//
// # Which organization the host belongs to
//
// The machine belongs to each organization that has registered a server on it: with a socket, a
// loopback address, or the machine's own name or address in its connection. The samples of these
// organizations name those servers. If no organization has one, the machine belongs to the
// installation's only organization, provided that it has no server yet, or one whose host has
// the machine's name: a machine that only runs Muster is not part of a fleet. If several
// organizations share an installation, they do not share its machine, and none of them sees it.
//
// # What may go wrong, and what then happens
//
//   - Two processes run on one machine: each takes samples of the same host, and the store uses
//     their mean.
//   - A part cannot be read (a file system that is gone, a kernel that hides its counters): the
//     others are recorded without it.
//   - The process dies or stands still: the counters go on, and the next interval is longer.
//     Beyond ten minutes it is missing.
//   - Muster runs in a container: the name is the container's, and the kernel mostly shows the
//     machine's figures there. MUSTER_COLLECT_OWN_HOST=off leaves the host to an agent outside.
//   - A server is reached through a tunnel that begins here: it is mistaken for a server on this
//     machine.
package ownhost
