package e2e

import (
	"context"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"muster/internal/cli"
	"muster/internal/concurrency/supervise/supervisetest"
)

// sabotaged is set where the program is to have a background loop panic at each SIGUSR1.
const sabotaged = "TEST_MUSTER_SABOTAGED"

// beSabotaged is the program then.
func beSabotaged() {
	stopping, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	saboteur, ctx := supervisetest.New(stopping, 0, 0)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		for range told {
			loops := saboteur.Loops()
			rand.Shuffle(len(loops), func(i, j int) { loops[i], loops[j] = loops[j], loops[i] })
			for _, loop := range loops { // one that has its turn only now and then panics then, and so does another one now
				saboteur.Break(loop)
				if within(2*time.Second, func() bool { return saboteur.Broken(loop) }) {
					break
				}
			}
		}
	}()
	status := cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
