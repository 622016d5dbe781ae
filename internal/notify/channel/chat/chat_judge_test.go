package chat_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensions "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/chat"
)

// ours is where every link of Muster's leads.
const ours = "muster.example.org"

// machineTexts are titles that an attacker would send, in the markup of every receiver.
func machineTexts() []string {
	return []string{
		"@channel @all [click](http://evil.com/login) ![i](http://evil.com/p.png)", "<!channel> <!here|x> <@U123> <#C1> <http://evil.com|x> <https://evil.com>",
		"http://evil.com/login", "HTTPS://evil.com", "www.evil.com", "WwW.evil.com/login", "sign in at evil.com/login", "evil.com", "ftp://evil.com/x", "mailto:x@evil.com", "x@evil.com",
		"*bold* **bold** _it_ __it__ ***both*** ~out~ ~~out~~ `code` ``code``", "```\nfence\n```", "~~~\nfence\n~~~", "\n# heading", "\n> quote", "\n- item\n- item", "\n1. item", "\n* * *", "\n---", "a\n===",
		"[a][b]\n\n[b]: http://evil.com", "[evil.com]: http://evil.com", "| a | b |\n|---|---|\n| c | d |", "- [ ] done", `\[click](http://evil.com)`, `\\[click](http://evil.com)`, `\*bold\*`,
		"](http://evil.com) [x", ")](http://evil.com)[", "> http://evil.com|x>", "|x> <http://evil.com|", "&lt;!channel&gt; &#60;http://evil.com&#62;", "&commat;channel", "<b>b</b> <img src=x> <a href='http://evil.com'>x</a>",
		"!channel", "$\\href{http://evil.com}{x}$", "||spoiler||", "~town-square #tag", "a_b_c pg_stat_activity _x", "javascript://evil.com/%0aalert(1)", "@\u200bchannel", "@@channel @ channel ＠channel", "[\u200b](http://evil.com)", "http\u200b://evil.com",
		"<a@evil.com>", "\thttp://evil.com", "`[x`](http://evil.com)", "![](http://evil.com/p.png)", "[![x](http://evil.com/p.png)](http://evil.com)", "xn--e1afmkfd.com", "EVIL.COM:8080", "evil.com.", "(evil.com)", "http:evil.com", "//evil.com", "///evil.com", "http:////evil.com", "tel:+4912345",
	}
}

var (
	called     = regexp.MustCompile(`[@＠]\s*[\pL\pN_]|[\pL\pN_][@＠]`)
	angle      = regexp.MustCompile(`<https://` + ours + `/alerts/[0-9a-f-]{36}\|[^<>|]*>`)
	linkable   = regexp.MustCompile(`(?i)(//|[\pL\pN]\.\pL)`) // by their looks: Slack and others link bare names, too
	slackMarks = regexp.MustCompile("[<>*~`|]|(^|[^\\pL\\pN])_|_([^\\pL\\pN]|$)|]\\(")
)

// TestNoChatRendersTextOfMachines: for all that an attacker may put into a title, a name or a
// reason, a reader of Markdown (goldmark, with GitHub's extensions) finds Muster's own links and
// the organization in bold, and nothing else that is markup. Slack's form has nothing left that
// Slack's own rules call markup, and is read as Markdown, too: receivers other than Slack do.
func TestNoChatRendersTextOfMachines(t *testing.T) {
	t.Parallel()
	for _, nasty := range machineTexts() {
		judgeChats(t, nasty)
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(machineTexts()), rapid.StringMatching("[\\[\\]()<>!@*_~`#|\\\\.:/&;a-z \n-]{1,6}")), 1, 4).Draw(t, "pieces")
		judgeChats(t, strings.Join(pieces, rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "between")))
	})
}

// failing is what testing.T and rapid.T have in common.
type failing interface {
	Helper()
	Errorf(format string, values ...any)
}

func judgeChats(t failing, nasty string) {
	t.Helper()
	id, critical := uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01"), alert.Critical
	m := channel.Message{
		Organization: nasty, Rule: channel.Reference{Name: nasty}, PublicURL: "https://" + ours,
		Events: []channel.Notice{
			{Type: notification.AlertRaised, Severity: &critical, Title: nasty, AlertID: &id, Instance: &channel.Reference{Name: nasty}},
			{Type: notification.ReportFailed, Title: nasty, AlertID: &id, Reason: &nasty},
		},
	}
	for _, format := range chat.Formats() {
		said := chatOf(t, m, format)
		bold, strong := 1, 0
		if format == chat.Slack {
			rest := angle.ReplaceAllString(said, "")
			rest = strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(strings.Replace(strings.Replace(rest, "*", "", 1), "*", "", 1))
			if found := slackMarks.FindString(rest); found != "" {
				t.Errorf("%q is %q to Slack:\n%s", nasty, found, said)
			}
			bold, strong = 0, 1
		}
		if found := linkable.FindString(strings.ReplaceAll(said, "https://"+ours, "")); found != "" {
			t.Errorf("%s: %q can be linked by %q:\n%s", format, nasty, found, said)
		}
		if found := called.FindString(said); found != "" {
			t.Errorf("%q mentions %q:\n%s", nasty, found, said)
		}
		links := 0
		for kind, detail := range rendered(said) {
			switch kind {
			case "Strong":
				bold--
			case "Emphasis":
				strong--
			case "Link":
				links += len(detail)
				if i := slices.IndexFunc(detail, func(to string) bool { u, err := url.Parse(to); return err != nil || u.Host != ours }); i >= 0 {
					t.Errorf("%s: %q leads to %s:\n%s", format, nasty, detail[i], said)
				}
			default:
				t.Errorf("%s: %q is rendered as %s %q:\n%s", format, nasty, kind, detail, said)
			}
		}
		if bold < 0 || strong < 0 {
			t.Errorf("%s: %q is emphasized:\n%s", format, nasty, said)
		}
		if format == chat.Mattermost && links != len(m.Events) {
			t.Errorf("%q leaves %d links of Muster's:\n%s", nasty, links, said)
		}
	}
}

// rendered are the kinds of markup in a text, beside paragraphs and their lines, with where links lead.
func rendered(said string) map[string][]string {
	source := []byte(said)
	found := map[string][]string{}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Paragraph, *ast.Text, *ast.String:
		case *ast.Link:
			found["Link"] = append(found["Link"], string(n.Destination))
		case *ast.AutoLink:
			found["Link"] = append(found["Link"], string(n.URL(source)))
		case *ast.Emphasis:
			found[map[int]string{1: "Emphasis", 2: "Strong"}[n.Level]] = []string{""}
		case *extensions.Strikethrough:
			found["Strikethrough"] = []string{""}
		default:
			found[n.Kind().String()] = []string{""}
		}
		return ast.WalkContinue, nil
	})
	return found
}
