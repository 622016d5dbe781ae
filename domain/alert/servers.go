package alert

import "strings"

// Before the names of the servers in the texts of an alert that is about several.
const (
	TitleServers       = " ("
	DescriptionServers = " Servers on host "
)

// WithoutServers are the texts of an alert about several servers without their names, for people
// who see some of them alone.
func WithoutServers(title, description string) (shortTitle, shortDescription string) {
	shortTitle, _, _ = strings.Cut(title, TitleServers)
	shortDescription, _, _ = strings.Cut(description, DescriptionServers)
	return shortTitle, shortDescription
}
