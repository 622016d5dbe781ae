package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/domain/legible"
	"muster/internal/attest"
	"muster/internal/attest/offline"
)

// offlineOptions are what `verify --offline` rests on.
type offlineOptions struct {
	offline                           bool
	proof, keys, authority, witnesses string
	kept, links                       []string
}

func (o *offlineOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.offline, "offline", false, "ask no database and no network")
	cmd.Flags().StringVar(&o.keys, "keys", "", "with --offline: the installation's public keys, as /.well-known/muster-keys.json gave them")
	cmd.Flags().StringVar(&o.proof, "proof", "", "with --offline: a proof.json that lies beside the files")
	cmd.Flags().StringVar(&o.authority, "tsa-ca", "", "with --offline: certificates (PEM) of those whose time stamps are believed")
	cmd.Flags().StringVar(&o.witnesses, "witnesses", "", "with --offline: a file of witnesses, one verifier key a line, of whom one has to have signed")
	cmd.Flags().StringArrayVar(&o.kept, "checkpoint", nil, "with --offline: a checkpoint that was kept, or a PDF or proof.json with one: the log has to go on from it, or it from the log; several, too")
	cmd.Flags().StringArrayVar(&o.links, "consistency", nil, "with --checkpoint: what GET /proof/LOG/consistency answered; several, too")
}

// unasked refuses what only --offline takes.
func (o *offlineOptions) unasked() error {
	var wrong []string
	for _, f := range []struct{ name, value string }{{"keys", o.keys}, {"proof", o.proof}, {"tsa-ca", o.authority}, {"witnesses", o.witnesses}} {
		if f.value != "" {
			wrong = append(wrong, "--"+f.name+": only with --offline")
		}
	}
	for name, all := range map[string][]string{"checkpoint": o.kept, "consistency": o.links} {
		if len(all) > 0 {
			wrong = append(wrong, "--"+name+": only with --offline")
		}
	}
	slices.Sort(wrong)
	return usage(wrong)
}

// check adds what each file proves by itself. Of none can anything be told where what was
// given to check it with cannot be read.
func (o *offlineOptions) check(v *verdicts, stdin io.Reader, names []string) {
	trust, beside, err := o.read()
	trust.Now = time.Now()
	answers, digests, unread := make([]offline.Answer, len(names)), make([]string, len(names)), make([]error, len(names))
	for i, name := range names {
		if unread[i] = err; err != nil {
			continue
		}
		f := read1(name, stdin)
		if unread[i] = f.err; f.err == nil {
			answers[i], digests[i] = offline.Check(f.content, beside, trust), f.digest()
		}
	}
	offline.Compare(answers, names)
	for i, name := range names {
		if unread[i] != nil {
			v.cannotTell(name, unread[i])
			continue
		}
		a := answers[i]
		seen := verified{
			File: name, SHA256: digests[i], Verdict: a.Verdict, Sentence: a.Sentence,
			RecordedAt: a.RecordedAt, AtTheLatest: a.AtTheLatest, Steps: a.Steps,
		}
		if a.Report != nil {
			seen.Report = a.Report
		}
		v.add(seen)
		if a.Verdict != attest.Holds {
			v.said = append(v.said, fmt.Sprintf("%s: %s", name, legible.Clean(a.Sentence)))
		}
		if v.json {
			continue
		}
		fmt.Fprintf(v.out, "%s: %s\n", name, legible.Clean(a.Sentence))
		for _, s := range a.Steps {
			fmt.Fprintf(v.out, "  %-9s  %-11s  %s\n", s.State, s.Name, legible.Clean(s.Detail))
		}
	}
}

func (o *offlineOptions) read() (trust attest.Trust, beside *attest.Proof, err error) {
	var wrong []string
	read := func(flag, path string, parse func([]byte) error) {
		if path == "" {
			return
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = parse(content)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("--%s: %s", flag, strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	read("keys", o.keys, func(b []byte) (err error) { trust.Keys, err = attest.ParseKeys(b); return err })
	read("proof", o.proof, func(b []byte) error {
		p, err := attest.ParseProof(b)
		beside = &p
		return err
	})
	read("tsa-ca", o.authority, func(b []byte) error {
		trust.TSA = x509.NewCertPool()
		if !trust.TSA.AppendCertsFromPEM(b) {
			return errors.New("there is no certificate in PEM")
		}
		return nil
	})
	read("witnesses", o.witnesses, func(b []byte) (err error) { trust.Witnesses, err = attest.ParseWitnesses(b); return err })
	for _, path := range o.kept {
		read("checkpoint", path, func(b []byte) error {
			kept, err := parseKept(b, "")
			if err == nil && kept.checkpoint == "" {
				err = errors.New("there is no checkpoint in it")
			}
			trust.Kept = append(trust.Kept, kept.tree)
			return err
		})
	}
	for _, path := range o.links {
		read("consistency", path, func(b []byte) error {
			link, err := attest.ParseConsistency(b)
			trust.Links = append(trust.Links, link)
			return err
		})
	}
	if len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	return trust, beside, err
}
