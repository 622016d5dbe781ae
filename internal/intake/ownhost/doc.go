// Package ownhost measures the machine that Muster runs on, as an agent would: its
// CPUs, its memory and its volumes, every fifteen seconds, under the name that it has.
//
// # Whose host it is
//
// The machine belongs to each organization that has registered a server on it: with a
// socket, a loopback address, or the machine's own name or address in its connection.
// Their samples name those servers. Where no organization has, it belongs to the
// installation's only organization if that has no server yet, or one whose host has the
// machine's name: a machine that runs Muster alone is no part of a fleet. Several
// organizations share an installation, not its machine, and none of them sees it.
//
// # What may go wrong, and what then happens
//
//   - Two processes run on one machine: each takes samples of its own, of one host,
//     and the store takes their mean.
//   - A part cannot be read (a file system that is gone, a kernel that hides its
//     counters): the others are recorded without it.
//   - The process dies or stands still: the counters go on, and the next interval is
//     the longer one; beyond ten minutes it is missing.
//   - Muster runs in a container: the name is the container's, and what the kernel
//     shows there is mostly the machine's. MUSTER_COLLECT_OWN_HOST=off leaves it to an
//     agent outside.
//   - A server is reached through a tunnel that begins here: it is taken for one of
//     this machine.
package ownhost
