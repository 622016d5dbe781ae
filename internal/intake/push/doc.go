// Package push stores samples. It is the one door to the store for samples of agents and feeds,
// and for Muster's own.
//
// Record stores a batch. Then it tells the watch what the batch says about its servers: each was
// heard from, and how full each volume of a host is. Volumes that share their space, such as the
// file systems of a pool, count as one (pools.go). A caller that measures more (how long a
// session waits for a lock) adds signals of its own. The instances on a host are those that its
// sample names. If it names none, they are those of the host's newest sample that named some. If
// there is none, they are the instances registered with that host. The tiles use the same rule.
//
// The door of a message reads it and resolves its names (packages feed and agents): every value
// here has been checked, and every id belongs to the organization.
//
// # What may go wrong
//
//   - The process dies between samples and signals, or the signals cannot be stored: the samples
//     stay. The sender gets an error or no answer, and sends again. That changes no samples and
//     tries the signals anew. If the sender does not repeat them, its next sample has them, a
//     minute later.
//   - A batch comes twice, or from two replicas at once: the store keeps the first content, and
//     the watch the newest figure.
//   - Past samples are imported: the store accepts them. Samples older than watch.Fresh make no
//     signals and look up no host, so sixty days cost the watch nothing.
//   - A sender's clock is behind by more than watch.Fresh: to the watch its samples belong to
//     the past, and its servers fall silent, which leads somebody to the clock.
//   - The right to write was lost (Batch.Guard): neither samples nor signals are stored.
//   - The sizes of a volume come in two messages, as from Prometheus with several shards: one
//     alone does not say how full it is. The earlier part of that scrape is read from the store,
//     and the last message makes the signal, in whatever order they come. Of two at once, the
//     later one finds both parts.
//   - A message names very many hosts and volumes: at most 100,000 figures of volumes are passed
//     on.
//   - The file systems of one ZFS pool come in two messages: each message is summed up by
//     itself, and the first one of a scrape counts.
package push
