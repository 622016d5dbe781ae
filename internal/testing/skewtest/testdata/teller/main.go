// Program teller tells the time for TestLongAClockSteps: for each duration on a line of
// standard input it waits so long, and then says what its clock shows and how long the
// wait was, by the monotonic clock and by what the clock showed before and after.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		wait, err := time.ParseDuration(in.Text())
		if err != nil {
			panic(err)
		}
		before := time.Now()
		fmt.Println("waiting")
		<-time.After(wait)
		now := time.Now()
		fmt.Println(now.UnixNano(), int64(now.Sub(before)), int64(now.Round(0).Sub(before.Round(0))))
	}
}
