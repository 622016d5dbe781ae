package analysis

import (
	"math"
	"strconv"
)

// PostgreSQL says a size in kB, where it does not say another unit.
const pgBlank = "kB"

func pgLiteral(bytes float64) string { return literal(bytes, "GB", "MB") }

// sharedBuffers: a quarter of a dedicated host is where to start, above 40 % is unlikely
// to be better; below 1 GB of memory the documentation gives no figure.
func sharedBuffers(l load) Hint {
	h := against("shared_buffers", "25 % of the host's memory to start from, at most 40 %; “change” below 15 %", pgPage("runtime-config-resource"))
	is, ok := l.bytes("shared_buffers", "8kB")
	if !ok {
		return h.untold(l, "shared_buffers")
	}
	h.Measured = size(is)
	if l.noMemory != "" {
		return h.unknown(l.noMemory)
	}
	h.Measured += ", " + percentOf(is, l.memory) + " of " + size(l.memory)
	switch {
	case l.memory < gb:
		return h.unknown("below 1 GB of memory the documentation gives no share")
	case is < 0.15*l.memory, is > 0.4*l.memory:
		return h.change("shared_buffers = '" + pgLiteral(l.memory/4) + "', with a restart; where the host has other programs, less")
	}
	return h.fits()
}

// workMem: each session may take it once for each sort or hash of a statement.
func workMem(l load) Hint {
	h := against("work_mem", "what is left of the memory beside shared_buffers, by max_connections: one sort a session", pgPage("runtime-config-resource"))
	is, ok := l.bytes("work_mem", pgBlank)
	sessions, known := l.number("max_connections")
	shared, alsoKnown := l.bytes("shared_buffers", "8kB")
	switch {
	case !ok:
		return h.untold(l, "work_mem")
	case !known || sessions == 0 || !alsoKnown:
		h.Measured = size(is)
		return h.unknown("no assessment told max_connections and shared_buffers")
	}
	h.Measured = size(is) + " × " + strconv.Itoa(int(sessions)) + " connections"
	if l.noMemory != "" {
		return h.unknown(l.noMemory)
	}
	left := l.memory - shared
	h.Measured += " = " + size(is*sessions) + "; " + size(max(left, 0)) + " are left"
	switch {
	case left/sessions < mb:
		return h.change("fewer connections behind a pooler: not 1 MB is left for each")
	case is*sessions > left:
		return h.change("work_mem = '" + pgLiteral(left/sessions) + "' at most, more for single roles; or fewer connections")
	}
	return h.fits()
}

// maxConnections can be found to be short at one look, and to be ample at none.
func maxConnections(l load) Hint {
	h := against("max_connections", "80 % of it", pgPage("runtime-config-connection"))
	most, ok := l.number("max_connections")
	if !ok || most == 0 {
		return h.untold(l, "max_connections")
	}
	return l.sessionsOf(h, most, "raise it, with a restart, and work_mem to fit; or put a pooler before the server")
}

// sessionsOf holds the sessions that are open against how many there may be.
func (l load) sessionsOf(h Hint, most float64, change string) Hint {
	t := l.doc.Tuning
	h.Measured = itoa(int(most))
	if t.Open == nil {
		return h.unknown("nobody samples the sessions")
	}
	h.Measured = itoa(int(*t.Open)) + " of " + itoa(int(most)) + " open at " + t.SampledAt.UTC().Format("2006-01-02 15:04 UTC")
	if float64(*t.Open) > 0.8*most {
		return h.change(change)
	}
	return h.unknown("enough at that moment; the peak of the window is not kept")
}

// effectiveCacheSize is the planner's idea of both caches; what the second has is what
// was left of the memory in the window.
func effectiveCacheSize(l load) Hint {
	h := against("effective_cache_size", "shared_buffers and the memory that 95 of 100 hours left; “change” below half of it and above 5/4", pgPage("runtime-config-query"))
	is, ok := l.bytes("effective_cache_size", "8kB")
	shared, known := l.bytes("shared_buffers", "8kB")
	if !ok {
		return h.untold(l, "effective_cache_size")
	}
	h.Measured = size(is)
	switch {
	case !known:
		return h.unknown("no assessment told shared_buffers")
	case l.noMemory != "":
		return h.unknown(l.noMemory)
	case l.thin(Memory, "memory") != "":
		return h.unknown(l.thin(Memory, "memory"))
	}
	used := l.use.Of[Memory].P95
	caches := shared + l.memory*(1-used/100)
	h.Measured += "; memory at " + strconv.FormatFloat(used, 'f', 1, 64) + " % of " + size(l.memory) + ", so " + size(caches)
	if is < caches/2 || is > 1.25*caches {
		return h.change("effective_cache_size = '" + pgLiteral(caches) + "'; it reserves nothing")
	}
	return h.fits()
}

// autovacuumMemory: each worker may take it.
func autovacuumMemory(l load) Hint {
	h := against("autovacuum", "an eighth of the host's memory for all workers together (ours)", pgPage("runtime-config-resource"))
	if s, ok := l.settings["autovacuum"]; ok && s.Value == "off" {
		h.Measured = "off"
		return h.change("autovacuum = on")
	}
	workers, ok := l.number("autovacuum_max_workers")
	name := "autovacuum_work_mem"
	is, known := l.bytes(name, pgBlank)
	if known && is < 0 { // -1: as maintenance_work_mem
		name = "maintenance_work_mem"
		is, known = l.bytes(name, pgBlank)
	}
	if !ok || !known || workers == 0 {
		return h.untold(l)
	}
	h.Measured = strconv.Itoa(int(workers)) + " workers × " + name + " " + size(is)
	if l.noMemory != "" {
		return h.unknown(l.noMemory)
	}
	h.Measured += " = " + size(is*workers) + " of " + size(l.memory)
	if is*workers > l.memory/8 {
		return h.change("autovacuum_work_mem = '" + pgLiteral(l.memory/8/workers) + "'")
	}
	return h.fits()
}

// maxWALSize: larger buffers want more room between checkpoints.
func maxWALSize(l load) Hint {
	h := against("max_wal_size", "shared_buffers, which is to be written from one checkpoint to the next", pgPage("runtime-config-resource"))
	is, ok := l.bytes("max_wal_size", "MB")
	shared, known := l.bytes("shared_buffers", "8kB")
	if !ok {
		return h.untold(l, "max_wal_size")
	}
	h.Measured = size(is)
	if timeout, ok := l.number("checkpoint_timeout"); ok {
		h.Measured += ", checkpoint_timeout " + strconv.Itoa(int(timeout)) + " s"
	}
	switch {
	case !known:
		return h.unknown("no assessment told shared_buffers")
	case is < shared:
		h.Measured += ", shared_buffers " + size(shared)
		return h.change("max_wal_size = '" + pgLiteral(math.Ceil(shared/gb)*gb) + "' where checkpoints are requested before their time: the log says so (log_checkpoints), no measurement does")
	}
	h.Measured += ", shared_buffers " + size(shared)
	return h.fits()
}

func completionTarget(l load) Hint {
	h := against("checkpoint_completion_target", "0.9, the default since version 14", pgPage("runtime-config-wal"))
	is, ok := l.number("checkpoint_completion_target")
	if !ok {
		return h.untold(l, "checkpoint_completion_target")
	}
	h.Measured = l.settings["checkpoint_completion_target"].Value
	if is < 0.9 {
		return h.change("checkpoint_completion_target = 0.9: the same pages are written over a longer time")
	}
	return h.fits()
}

// randomPageCost depends on the storage, of which nobody tells; where everything fits
// into the memory it does not matter what that is.
func randomPageCost(l load) Hint {
	h := against("random_page_cost", "4, unless the data is in the memory or the storage is solid-state", pgPage("runtime-config-query"))
	is, ok := l.number("random_page_cost")
	if !ok {
		return h.untold(l, "random_page_cost")
	}
	h.Measured = l.settings["random_page_cost"].Value
	switch {
	case is < 4:
		return h.fits()
	case l.noMemory != "":
		return h.unknown("what the storage is nobody tells, and " + l.noMemory)
	case l.databases == 0:
		return h.unknown("what the storage is nobody tells, and the size of each database is not known")
	}
	h.Measured += "; databases of " + size(l.databases) + ", " + size(l.memory) + " of memory"
	if l.databases < l.memory {
		return h.change("lower it, towards seq_page_cost: the databases are smaller than the memory")
	}
	return h.unknown("what the storage is nobody tells: lower it on solid-state drives")
}
