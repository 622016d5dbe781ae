package prove

import (
	"time"

	"github.com/spf13/cobra"

	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/secrets"
)

func keysAcceptUnmarkedCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "accept-unmarked",
		Short: "Accept every event up to now, with or without this installation's mark",
		Long: `Versions without marks write reports and assessments without a mark. Muster accepts
those from before the first start of a version with marks. Later ones are not signed and
count as altered, because anyone with the database can append them.

Use this command once, after you went back to a version without marks and upgraded
again, or after the key file's directory and the record in the database were lost. First
make sure that nobody else wrote to the database: check the appended events with
'muster events list', because the command also accepts the events of an intruder. Then sign the
refused reports with 'muster dead retry'.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			accepted, err := in.Key.AcceptUnmarked(cmd.Context(), in.DB, in.Config.DataDir, time.Now(), func(b secrets.Begun) error {
				return in.Accounts.RecordSystem(cmd.Context(), accounts.UnmarkedAccepted, "up to "+b.String())
			})
			if err != nil {
				return err
			}
			return command.Say(cmd, "events up to %s are accepted without a mark\n", accepted)
		}),
	}
}
