package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Warnings are sentences on what is allowed and probably not meant. Valid after
// Validate.
func (c *Config) Warnings() []string {
	var warnings []string
	known := make(map[string]bool)
	for _, s := range settings(c) {
		known[s.variable()] = true
	}
	for name := range c.environment() {
		if strings.HasPrefix(name, "MUSTER_") && !known[name] {
			warnings = append(warnings, unknown(name))
		}
	}
	slices.Sort(warnings)
	if u, err := url.Parse(c.OIDCIssuer); err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		warnings = append(warnings, fmt.Sprintf("--oidc-issuer %s is not encrypted: an attacker on the network can sign in as any user", c.OIDCIssuer))
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "http" && !loopback(u.Hostname()) && !c.InsecureCookies {
		warnings = append(warnings, fmt.Sprintf("people cannot sign in at %s: browsers keep a secure cookie only with https; "+
			"set --public-url to an https address, or --insecure-cookies on a trusted network", c.PublicURL))
	}
	return warnings
}

func unknown(name string) string {
	sentence := fmt.Sprintf("there is no setting %s", name)
	nearest, least := "", 4 // three slips of the finger are a typo, four another word
	for _, s := range settings(new(Config)) {
		if d := distance(name, s.variable()); d < least {
			nearest, least = s.variable(), d
		}
	}
	if nearest != "" {
		sentence += "; is " + nearest + " meant?"
	}
	return sentence
}

// distance is Levenshtein's: characters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// loopback says whether browsers treat a host as this machine, to which nobody
// listens in.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
