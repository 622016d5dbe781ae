package postgresql

import (
	"math"
	"strconv"

	"muster/internal/engine/tuning"
)

var hints = tuning.Hints{
	Settings: []string{"shared_buffers", "work_mem", "max_connections", "effective_cache_size", "maintenance_work_mem", "autovacuum_work_mem",
		"autovacuum_max_workers", "autovacuum", "max_wal_size", "checkpoint_timeout", "checkpoint_completion_target", "random_page_cost"},
	Judges: []func(tuning.Load) tuning.Hint{sharedBuffers, workMem, maxConnections, effectiveCacheSize, autovacuumMemory, maxWALSize, completionTarget, randomPageCost},
}

func pgPage(name string) tuning.Page {
	return tuning.Page{
		Name:    "PostgreSQL 15 documentation, " + name,
		Address: "https://www.postgresql.org/docs/15/" + name + ".html",
	}
}

// PostgreSQL says a size in kB, where it does not say another unit.
const pgBlank = "kB"

func pgLiteral(bytes float64) string { return tuning.Literal(bytes, "GB", "MB") }

// sharedBuffers: a quarter of a dedicated host is where to start, above 40 % is unlikely
// to be better; below 1 GB of memory the documentation gives no figure.
func sharedBuffers(l tuning.Load) tuning.Hint {
	h := tuning.Against("shared_buffers", "25% of the host's memory to start from, at most 40%; “change” below 15%", pgPage("runtime-config-resource"))
	is, ok := l.Bytes("shared_buffers", "8kB")
	if !ok {
		return h.Untold(l, "shared_buffers")
	}
	h.Measured = tuning.Size(is)
	if l.NoMemory != "" {
		return h.Unknown(l.NoMemory)
	}
	h.Measured += ", " + tuning.PercentOf(is, l.Memory) + " of " + tuning.Size(l.Memory)
	switch {
	case l.Memory < tuning.GB:
		return h.Unknown("below 1 GB of memory the documentation gives no share")
	case is < leastShared*l.Memory, is > 0.4*l.Memory:
		return h.Change("shared_buffers = '" + pgLiteral(l.Memory/4) + "', with a restart; where the host has other programs, less")
	}
	return h.Fits()
}

// leastShared is the share of the memory below which shared_buffers is advised to grow.
const leastShared = 0.15

// workMem: each session may take it once for each sort or hash of a statement.
func workMem(l tuning.Load) tuning.Hint {
	h := tuning.Against("work_mem", "the memory that is left for it, by max_connections: one sort a session", pgPage("runtime-config-resource"))
	is, ok := l.Bytes("work_mem", pgBlank)
	sessions, known := l.Number("max_connections")
	shared, alsoKnown := l.Bytes("shared_buffers", "8kB")
	switch {
	case !ok:
		return h.Untold(l, "work_mem")
	case !known || sessions == 0 || !alsoKnown:
		h.Measured = tuning.Size(is)
		return h.Unknown("no assessment told max_connections and shared_buffers")
	}
	h.Measured = tuning.Size(is) + " × " + strconv.Itoa(int(sessions)) + " connections"
	if l.NoMemory != "" {
		return h.Unknown(l.NoMemory)
	}
	left, words := workLeft(l, shared)
	h.Measured += " = " + tuning.Size(is*sessions) + "; " + words
	switch {
	case left/sessions < tuning.MB:
		return h.Change("fewer connections behind a pooler: not 1 MB is left for each")
	case is*sessions > left:
		return h.Change("work_mem = '" + pgLiteral(left/sessions) + "' at most, more for single roles; or fewer connections")
	}
	return h.Fits()
}

// workLeft is the memory that statements may take, and in words how it is known: what the host had free in the window
// if it was measured, less what shared_buffers is advised to grow by.
func workLeft(l tuning.Load, shared float64) (left float64, words string) {
	left = max(l.Memory-shared, 0)
	words = tuning.Size(left) + " beside shared_buffers"
	if free := l.Memory * (1 - l.MemoryUse.P95/100); l.MemoryUse.Thin == "" && free < left {
		left, words = free, tuning.Size(free)+" were free in 95 of 100 hours"
	}
	if grown := l.Memory/4 - shared; l.Memory >= tuning.GB && shared < leastShared*l.Memory {
		left = max(left-grown, 0)
		words += ", less " + tuning.Size(grown) + " for more shared_buffers"
	}
	return left, words
}

// maxConnections can be found to be short at one look, and to be ample at none.
func maxConnections(l tuning.Load) tuning.Hint {
	h := tuning.Against("max_connections", "80% of it", pgPage("runtime-config-connection"))
	most, ok := l.Number("max_connections")
	if !ok || most == 0 {
		return h.Untold(l, "max_connections")
	}
	return l.SessionsOf(h, most, "raise it, with a restart, and work_mem to fit; or put a pooler before the server")
}

// effectiveCacheSize is the planner's idea of both caches; what the second has is what
// was left of the memory in the window.
func effectiveCacheSize(l tuning.Load) tuning.Hint {
	h := tuning.Against("effective_cache_size", "shared_buffers and the memory that 95 of 100 hours left; “change” below half of it and above 5/4", pgPage("runtime-config-query"))
	is, ok := l.Bytes("effective_cache_size", "8kB")
	shared, known := l.Bytes("shared_buffers", "8kB")
	if !ok {
		return h.Untold(l, "effective_cache_size")
	}
	h.Measured = tuning.Size(is)
	switch {
	case !known:
		return h.Unknown("no assessment told shared_buffers")
	case l.NoMemory != "":
		return h.Unknown(l.NoMemory)
	case l.MemoryUse.Thin != "":
		return h.Unknown(l.MemoryUse.Thin)
	}
	used := l.MemoryUse.P95
	caches := shared + l.Memory*(1-used/100)
	h.Measured += "; memory at " + strconv.FormatFloat(used, 'f', 1, 64) + "% of " + tuning.Size(l.Memory) + ", so " + tuning.Size(caches)
	if is < caches/2 || is > 1.25*caches {
		return h.Change("effective_cache_size = '" + pgLiteral(caches) + "'; it reserves nothing")
	}
	return h.Fits()
}

// autovacuumMemory: each worker may take it.
func autovacuumMemory(l tuning.Load) tuning.Hint {
	h := tuning.Against("autovacuum", "an eighth of the host's memory for all workers together (ours)", pgPage("runtime-config-resource"))
	if s, ok := l.Settings["autovacuum"]; ok && s.Value == "off" {
		h.Measured = "off"
		return h.Change("autovacuum = on")
	}
	workers, ok := l.Number("autovacuum_max_workers")
	name := "autovacuum_work_mem"
	is, known := l.Bytes(name, pgBlank)
	if known && is < 0 { // -1: as maintenance_work_mem
		name = "maintenance_work_mem"
		is, known = l.Bytes(name, pgBlank)
	}
	if !ok || !known || workers == 0 {
		return h.Untold(l)
	}
	h.Measured = strconv.Itoa(int(workers)) + " workers × " + name + " " + tuning.Size(is)
	if l.NoMemory != "" {
		return h.Unknown(l.NoMemory)
	}
	h.Measured += " = " + tuning.Size(is*workers) + " of " + tuning.Size(l.Memory)
	if is*workers > l.Memory/8 {
		return h.Change("autovacuum_work_mem = '" + pgLiteral(l.Memory/8/workers) + "'")
	}
	return h.Fits()
}

// maxWALSize: larger buffers want more room between checkpoints.
func maxWALSize(l tuning.Load) tuning.Hint {
	h := tuning.Against("max_wal_size", "shared_buffers, which is to be written from one checkpoint to the next", pgPage("runtime-config-resource"))
	is, ok := l.Bytes("max_wal_size", "MB")
	shared, known := l.Bytes("shared_buffers", "8kB")
	if !ok {
		return h.Untold(l, "max_wal_size")
	}
	h.Measured = tuning.Size(is)
	if timeout, ok := l.Number("checkpoint_timeout"); ok {
		h.Measured += ", checkpoint_timeout " + strconv.Itoa(int(timeout)) + " s"
	}
	switch {
	case !known:
		return h.Unknown("no assessment told shared_buffers")
	case is < shared:
		h.Measured += ", shared_buffers " + tuning.Size(shared)
		return h.Change("max_wal_size = '" + pgLiteral(math.Ceil(shared/tuning.GB)*tuning.GB) + "' where checkpoints are requested before their time: the log says so (log_checkpoints), no measurement does")
	}
	h.Measured += ", shared_buffers " + tuning.Size(shared)
	return h.Fits()
}

func completionTarget(l tuning.Load) tuning.Hint {
	h := tuning.Against("checkpoint_completion_target", "0.9, the default since version 14", pgPage("runtime-config-wal"))
	is, ok := l.Number("checkpoint_completion_target")
	if !ok {
		return h.Untold(l, "checkpoint_completion_target")
	}
	h.Measured = l.Settings["checkpoint_completion_target"].Value
	if is < 0.9 {
		return h.Change("checkpoint_completion_target = 0.9: the same pages are written over a longer time")
	}
	return h.Fits()
}

// randomPageCost depends on the storage, of which nobody tells; where everything fits
// into the memory it does not matter what that is.
func randomPageCost(l tuning.Load) tuning.Hint {
	h := tuning.Against("random_page_cost", "4, unless the data is in the memory or the storage is solid-state", pgPage("runtime-config-query"))
	is, ok := l.Number("random_page_cost")
	if !ok {
		return h.Untold(l, "random_page_cost")
	}
	h.Measured = l.Settings["random_page_cost"].Value
	switch {
	case is < 4:
		return h.Fits()
	case l.NoMemory != "":
		return h.Unknown("the kind of storage is not known, and " + l.NoMemory)
	case l.Databases == 0:
		return h.Unknown("the kind of storage is not known, and the size of each database is not known")
	}
	h.Measured += "; databases of " + tuning.Size(l.Databases) + ", " + tuning.Size(l.Memory) + " of memory"
	if l.Databases < l.Memory {
		return h.Change("lower it, towards seq_page_cost: the databases are smaller than the memory")
	}
	return h.Unknown("the kind of storage is not known: lower it on solid-state drives")
}
