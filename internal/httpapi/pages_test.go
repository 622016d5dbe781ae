package httpapi

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"muster/commands"
	"muster/domain/organization"
)

func TestPagesAndTheirHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, page := range shells {
		path := page.Path
		a := w.do(request{method: "GET", path: path}).is(200)
		if a.Header().Get("Content-Security-Policy") != contentSecurityPolicy || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %v", path, a.Header())
		}
		if body := a.Body.String(); strings.Contains(body, "<script>") || strings.Contains(body, " onclick=") || strings.Contains(body, "https://") {
			t.Errorf("%s has inline scripts or foreign parts", path)
		}
	}
	docs := w.do(request{method: "GET", path: "/docs/api"}).is(200).Body.String()
	for _, r := range w.server.contract.routes {
		if r.operation != nil && !strings.Contains(docs, `id="`+r.operation.OperationID+`"`) {
			t.Errorf("the docs page does not have %s", r.operation.OperationID)
		}
	}
	if strings.Contains(docs, "`") || !strings.Contains(docs, "with a <code>code</code>, the request") {
		t.Error("the docs page shows Markdown as it is written")
	}
}

func TestCodeInDescriptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]docsSpan{
		"":                    {{Text: ""}},
		"plain":               {{Text: "plain"}},
		"a `b` c":             {{Text: "a "}, {Text: "b", Code: true}, {Text: " c"}},
		"`b`":                 {{Text: ""}, {Text: "b", Code: true}, {Text: ""}},
		"one ` alone, `b` no": {{Text: "one "}, {Text: " alone, ", Code: true}, {Text: "b` no"}},
	} {
		if diff := cmp.Diff(want, spans(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if diff := cmp.Diff([]string{"one\ntwo", "three"}, paragraphs("one\ntwo\n\n\nthree\n")); diff != "" {
		t.Error(diff)
	}
}

// TestTheContractHasNoTornDescriptions: in {a: b, c} the comma ends b, and c
// becomes a key that says nothing.
func TestTheContractHasNoTornDescriptions(t *testing.T) {
	t.Parallel()
	var document yaml.Node
	must(t, yaml.Unmarshal(openapiYAML, &document))
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && strings.Contains(child.Value, " ") {
				t.Errorf("line %d: %q is a key: quote the description before it", child.Line, child.Value)
			}
			look(child)
		}
	}
	look(&document)
}

// TestPagesInABrowser signs in, requests a report, sees it become Ready, and
// looks at every page in both schemes. The pages must not complain: not about
// a script, not about the content security policy.
// MUSTER_SCREENSHOTS=dir keeps pictures.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium on this machine")
	}
	w := newWorld(t)
	listener := httptest.NewUnstartedServer(nil)
	w.deps.PublicURL = mustURL(t, "http://"+listener.Listener.Addr().(*net.TCPAddr).String())
	w.build()
	listener.Config.Handler = w.handler
	listener.Start()
	t.Cleanup(listener.Close)

	ana, _, err := w.deps.Commands.AddMember(t.Context(), commands.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: "ana@ours.example", Name: "Ana Ruiz", Role: organization.Admin, Password: goodPassword})
	must(t, err)
	w.instance(w.ours, "demo-pg-orders-01")
	w.instance(w.ours, "demo-pg-billing-02")
	old := w.requested(w.ours, person{Member: ana})
	w.ready(w.ours, old, pdfText)
	w.failed(w.ours, w.requested(w.ours, person{Member: ana}))
	w.building(w.ours, w.requested(w.ours, person{Member: ana}))

	b := newBrowser(t)
	b.run(chromedp.Navigate(listener.URL+"/exports?reportId="+old.String()), chromedp.WaitVisible(chromedp.CSS("#sign-in-form")))
	b.picture("sign-in")
	b.run(chromedp.SendKeys(chromedp.CSS("#email"), "ana@ours.example"), chromedp.SendKeys(chromedp.CSS("#password"), goodPassword), chromedp.Click(chromedp.CSS("#sign-in-form button[type=submit]")),
		chromedp.WaitVisible(chromedp.CSS("#tray li.wanted a.button")))
	b.picture("exports")
	b.run(chromedp.Navigate(listener.URL+"/"), chromedp.WaitVisible(chromedp.CSS("#history a.button")), chromedp.WaitVisible(chromedp.CSS("#instances label")),
		chromedp.Click(chromedp.CSS("#instances label:first-child")))
	b.picture("reports")
	b.run(chromedp.Click(chromedp.CSS("#request-form button[type=submit]")), chromedp.WaitVisible(chromedp.CSS("#history tr:nth-child(4)")))
	eventually(t, "the announcement", func() bool {
		return evaluated[bool](b, `document.getElementById("live").textContent.startsWith("Queued. 1 person")`)
	})
	b.run(chromedp.Click(chromedp.CSS(`#request-form input[value=InstanceScorecard]`)), chromedp.SetValue(chromedp.CSS("#range"), "custom"),
		script(`document.getElementById("range").dispatchEvent(new Event("change"))`),
		script(`document.querySelectorAll("#instances input")[1].click()`),
		chromedp.SetValue(chromedp.CSS("#from"), "2026-01-01T00:00"), chromedp.SetValue(chromedp.CSS("#to"), "2026-03-01T00:00"),
		chromedp.Click(chromedp.CSS("#request-form button[type=submit]")), chromedp.WaitVisible(chromedp.CSS("#request-form .error")), chromedp.WaitVisible(chromedp.CSS("#to[aria-invalid=true]")))
	b.picture("reports-refused")
	b.run(chromedp.Navigate(listener.URL+"/instances"), chromedp.WaitVisible(chromedp.CSS("#list strong")))
	b.picture("instances")
	b.run(chromedp.SendKeys(chromedp.CSS("#dsn"), "postgres://u:p@127.0.0.1:1/d"), chromedp.Click(chromedp.CSS("#add-form button[type=submit]")),
		chromedp.WaitVisible(chromedp.CSS("#name[aria-invalid=true]")))
	if said := evaluated[string](b, `document.querySelector("#add-form .error").firstChild.textContent`); said != "Name must not be empty." {
		t.Errorf("without a name it says %q", said)
	}
	if border := `getComputedStyle(document.getElementById("name")).borderColor`; evaluated[string](b, border) == evaluated[string](b, strings.Replace(border, "name", "dsn", 1)) {
		t.Error("the field that is refused looks like the others")
	}
	b.run(chromedp.SendKeys(chromedp.CSS("#name"), "x"), chromedp.Click(chromedp.CSS("#add-form button[type=submit]")),
		chromedp.WaitVisible(chromedp.CSS("#add-form .error")))
	b.picture("instances-refused")
	b.run(chromedp.Navigate(listener.URL+"/docs/api"), chromedp.WaitVisible(chromedp.CSS("#createReport")),
		script(`document.getElementById("createReport").open = true`))
	b.picture("docs")
	b.run(chromedp.Navigate(listener.URL+"/setup#abc"), chromedp.WaitVisible(chromedp.CSS("#setup-title")))
	b.picture("setup")
	b.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}), chromedp.Navigate(listener.URL+"/"), chromedp.WaitVisible(chromedp.CSS("#history a.button")))
	b.picture("reports-dark")
	b.run(chromedp.EmulateViewport(360, 800), chromedp.Navigate(listener.URL+"/"), chromedp.WaitVisible(chromedp.CSS("#history a.button")))
	if evaluated[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		t.Error("a narrow page scrolls sideways")
	}
	b.picture("reports-narrow")
	b.quiet()
}

type browser struct {
	t          *testing.T
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

func newBrowser(t *testing.T, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.WindowSize(1320, 900))
	options = append(options, more...)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t}
	must(t, chromedp.Do(ctx)) // starts it
	ctx, stop = context.WithTimeout(ctx, 40*time.Second)
	t.Cleanup(stop)
	b.ctx = ctx
	must(t, chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			// Refusals that the test provokes are logged as failed loads.
			if e.Entry.Source != cdplog.EntrySourceNetwork {
				b.complaints = append(b.complaints, e.Entry.Text)
			}
		}
	}))
	return b
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.picture("stuck")
		b.t.Fatal(err, b.complaints)
	}
}

// script runs a statement whose value does not matter.
func script(statement string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Evaluate[any]("(()=>{"+statement+"})()")(ctx, target)
		return err
	})
}

func evaluated[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	must(b.t, err)
	return v
}

func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("MUSTER_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	must(b.t, err)
	must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}

func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("the pages complain: %s", strings.Join(b.complaints, "\n"))
	}
}
