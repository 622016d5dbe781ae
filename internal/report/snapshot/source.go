package snapshot

import "embed"

// Source is the program text of this package and of the packages below it:
// what a report says is a function of it, so the renderer's identity covers it. No test is of them:
// the patterns name the files that end in t, and a test finds one that they forget.
//
//go:embed *[^t].go cut.go snapshot.go
//go:embed analysis/*[^t].go analysis/digest.go analysis/verdict.go
//go:embed sheet/*[^t].go sheets/*[^t].go alertsum/*[^t].go slasum/*[^t].go slasum/cost.go slasum/sheet.go
//go:embed analysis/framework/*[^t].go analysis/window/*[^t].go companion/*[^t].go
//go:embed day/*[^t].go daysheet/*[^t].go daysheet/daysheet.go companion/digest.go
var Source embed.FS
