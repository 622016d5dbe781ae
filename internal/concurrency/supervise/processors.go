package supervise

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// processors is how many the process may use, asked once, before Spread raises that.
var processors = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// Processors is how many goroutines can compute at once. GOMAXPROCS says more after Spread.
func Processors() int { return processors() }

// spare is how many threads of Go's scheduler there are beside one for each processor: twice as many
// as messages of senders are read at a time.
const spare = 14

// gcPercent is by how much the heap grows between two collections, in percent of what is in use:
// twice Go's own. A collection uses a quarter of all threads, which after Spread is more than
// there are processors, so it takes them away from whatever computes. So there are half as many.
const gcPercent = 200

// Spread has Go's scheduler use more threads than there are processors, unless the environment
// says how many (GOMAXPROCS). A goroutine that computes keeps its thread for up to 10 ms, and
// while all are in use nothing looks at the network for as long: with two processors and large
// messages being read, each step of every other request waits that long. With spare threads
// these steps wait for the operating system alone, which switches sooner (docs/performance.md).
// For the threads it adds, it lets Go collect garbage less often, unless the environment says how
// often (GOGC).
func Spread() {
	n := Processors()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + spare)
	}
}
