package serve

import (
	"context"

	"muster/commands/usecase"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/mail"
	"muster/internal/notify"
	"muster/internal/notify/channel"
)

// told answers what was told, and what will be.
func (p *process) told() *notify.Reader {
	return &notify.Reader{DB: p.DB, Seal: p.Key, Events: p.Events, Registry: usecase.Registry(), Now: p.Clock.Now}
}

// sender sees deliveries through.
func (p *process) sender() (*notify.Sender, error) {
	from, err := mail.ParseFrom(p.Config.MailFrom)
	if err != nil {
		return nil, err
	}
	transport, err := p.Transport()
	if err != nil {
		return nil, err
	}
	return &notify.Sender{
		DB: p.DB, Queue: p.Queue, Accounts: p.Accounts, Seal: p.Key, Poster: p.Poster(), Composer: &mail.Composer{From: from, Now: p.Clock.Now},
		Transport: transport, PublicURL: p.Config.PublicURL, Registry: usecase.Registry(), Now: p.Clock.Now, Log: p.Log,
		Alerts: p.Runner.Ready,
	}, nil
}

// addNotifications has workers see deliveries through, and do what is done about them now
// and then.
func (p *process) addNotifications(workers *handlers.Workers, sender *notify.Sender) {
	dispatcher := p.Dispatcher()
	workers.Add(handlers.Task{Kind: jobs.Notify, Timeout: sender.AttemptTimeout(), Policy: sender.Policy(handlers.TellsAtOnce), Handle: sender.Handle})
	workers.Every("tell open alerts again", notify.RepeatEvery, dispatcher.Repeat)
	workers.Every("tell alerts of maintenance windows that are over", notify.RepeatEvery, dispatcher.Release)
	workers.Every("feed Alertmanagers", channel.FeedEvery, sender.Feed)
	workers.Every("delete old deliveries", notify.PurgeEvery, dispatcher.Purge)
	if p.Config.SMTPURL != "" {
		workers.Every("begin notifications", notify.BeginEvery, func(ctx context.Context) error {
			return notify.Begin(ctx, p.DB, p.Commands.BeginNotifications)
		})
	}
}
