package main

import (
	"context"
	"fmt"
	"os"

	"muster/internal/measurements/measurementstest"
	"muster/internal/testing/truth"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	store := func() measurementstest.Harness { return measurementstest.NewReference().Harness() }
	cells, err := truth.Run(context.Background(), store)
	if err != nil {
		return err
	}
	sessions, err := truth.RunSessions(context.Background(), store)
	if err != nil {
		return err
	}
	table, tableOfSessions := truth.Table(cells), truth.SessionTable(sessions)
	if len(args) == 0 {
		fmt.Print(table, "\n", tableOfSessions)
		return nil
	}
	page, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := truth.Into(string(page), table, tableOfSessions)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(text), 0o600)
}
