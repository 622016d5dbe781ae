package sqlserver

import (
	"embed"
)

//go:embed sql grants
var files embed.FS

// query is the text of a file of sql/, which is there: the tests read all of them.
func query(name string) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}
