package main

import (
	"github.com/spf13/cobra"

	"muster/internal/config"
)

func reportsCommand(cfg *config.Config) *cobra.Command { return parent("reports", "Reports") }
