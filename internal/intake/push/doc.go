// Package push is the one door through which samples reach the store: those of agents and
// feeds, and Muster's own.
//
// Record keeps a batch, and then tells the watch what the batch says of its servers:
// each was heard from, and each volume of a host is so full. Volumes that share their
// space, as the file systems of a pool, are one (pools.go). Who measures more (how long a session waits for a lock) hands it in as
// signs of its own. What runs on a host is what its sample names; where it names
// nothing, what the host's newest sample that did had named, and else the instances
// that are registered with that host: the rule of the tiles.
//
// Reading a message and finding what it names is its door's (packages feed and agents):
// every value here has been checked, and every id is the organization's.
//
// # What may go wrong
//
//   - The process dies between samples and signs, or the signs cannot be kept: the
//     samples stay, the sender is told of an error or of nothing, and sends again,
//     which changes nothing of the samples and tries the signs anew. A sender that
//     does not is heard with its next sample, a minute later.
//   - A batch comes twice, or from two replicas at once: the store keeps the first
//     content, the watch the newest figure.
//   - A past is imported: the store takes it. Of what is older than watch.Fresh no
//     sign is made and no host looked up, so that sixty days cost the watch nothing.
//   - A sender's clock is slow by more than watch.Fresh: to the watch its samples are
//     of a past, and its servers fall silent, which leads somebody to the clock.
//   - The right to write was lost (Batch.Guard): nothing is kept, no sign either.
//   - The sizes of a volume come in two messages, as by Prometheus with several shards:
//     each alone says nothing of how full it is. What the store has of that scrape is
//     looked up, and says it with the last of them, whatever their order; of two at once
//     the later one finds both.
//   - A message names very many hosts and volumes: at most 100,000 figures of volumes
//     are handed on.
//   - The file systems of one ZFS pool come in two messages: each is summed up by itself, and
//     the first one of a scrape counts.
package push
