// Package skewtest gives a process a wrong clock, and steps it while the process runs.
//
// # How it works
//
// Build compiles the program with a copy of the toolchain's package time (go build -overlay) in
// which Now adds an offset. So the whole process has another clock, also in its libraries, and
// the shipped program contains none of this. The offset is a number in a file, named by an
// environment variable, that the process maps into its memory. To step the clock is to write the
// number, and the next Now shows it. Monotonic readings and timers are the runtime's and stay as
// they are, as they do when an operator or NTP sets a machine's clock.
//
//	clock := skewtest.NewClock(t)
//	cmd := exec.Command(skewtest.Build(t), "serve", …)
//	cmd.Env = append(os.Environ(), clock.Env())
//	…
//	clock.Step(10 * time.Minute)
//
// # What may go wrong
//
// A new Go has another Now: Build fails, and so does a short test. Building everything anew
// takes two minutes of two cores, so Build is for long tests; the program of a commit is kept in
// .cache/skew. Packages that ask the kernel for the time without package time (C, raw system
// calls) have the true one; Muster has none.
package skewtest
