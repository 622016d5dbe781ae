package httpapi

import (
	"net"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPlainHTTPIsExplained: from http://<a host in the network> a browser drops the
// session's cookie without a word. The page says so before anybody types a
// password, and with MUSTER_INSECURE_COOKIES every page warns instead.
func TestPlainHTTPIsExplained(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium on this machine")
	}
	w := newWorld(t)
	if _, err := w.deps.Accounts.SetPassword(t.Context(), "member@ours.example", goodPassword); err != nil {
		t.Fatal(err)
	}
	// A name for this machine that the browser does not take for its own.
	b := newBrowser(t, chromedp.Flag("host-resolver-rules", "MAP muster.lan 127.0.0.1"))
	serve := func(insecure bool) string {
		listener := httptest.NewUnstartedServer(nil)
		_, port, err := net.SplitHostPort(listener.Listener.Addr().String())
		must(t, err)
		w.deps.PublicURL, w.deps.InsecureCookies = mustURL(t, "http://muster.lan:"+port), insecure
		w.build()
		listener.Config.Handler = w.handler
		listener.Start()
		t.Cleanup(listener.Close)
		return w.deps.PublicURL.String()
	}
	text := func(selector string) string {
		return evaluated[string](b, `document.querySelector("`+selector+`").innerText`)
	}
	b.run(chromedp.EmulateViewport(420, 900))

	trap := serve(false)
	b.run(chromedp.Navigate(trap+"/"), chromedp.WaitVisible(chromedp.CSS("#sign-in-note.error")))
	b.picture("plain-http")
	for _, said := range []string{"https://", "MUSTER_INSECURE_COOKIES=true", "MUSTER_PUBLIC_URL=" + trap, "unencrypted"} {
		if note := text("#sign-in-note"); !strings.Contains(note, said) {
			t.Errorf("%q does not say %s", note, said)
		}
	}
	if evaluated[bool](b, `document.getElementById("sign-in-form").checkVisibility()`) {
		t.Error("a password is asked for that leads nowhere")
	}
	// The trap is real: signed in, and nobody at the next request.
	b.run(script(`window.done = (async () => {
		const json = { headers: { "Content-Type": "application/json" } };
		const entered = await fetch("/api/v1/session", { ...json, method: "POST", body: JSON.stringify({ email: "member@ours.example", password: "` + goodPassword + `" }) });
		const after = await (await fetch("/api/v1/session")).json();
		document.title = entered.status + " " + after.authenticated;
	})()`))
	eventually(t, "the sign-in by hand", func() bool { return evaluated[string](b, `document.title`) == "200 false" })
	role := func(from, to string) {
		_, err := w.deps.DB.Exec(`UPDATE members SET role = $2 WHERE role = $1`, from, to)
		must(t, err)
	}
	role("admin", "viewer") // now somebody has to set it up
	for page, note := range map[string]string{"/setup#abc": "#setup-note", "/invitation#abc": "#invitation-note"} {
		b.run(chromedp.Navigate(trap+page), chromedp.WaitVisible(chromedp.CSS(note+".error")))
		if evaluated[bool](b, `document.querySelector("form").checkVisibility()`) || evaluated[string](b, `location.hash`) != "" {
			t.Errorf("%s asks for a password, or keeps the token in the address", page)
		}
	}

	open := serve(true)
	for _, page := range []string{"/docs/api", "/setup#abc", "/invitation#abc"} {
		b.run(chromedp.Navigate(open+page), chromedp.WaitVisible(chromedp.CSS("#plain-http.red")))
		if page != "/docs/api" {
			b.run(chromedp.WaitVisible(chromedp.CSS("form")))
			b.picture("plain-http" + strings.TrimSuffix(strings.ReplaceAll(page, "/", "-"), "#abc"))
		}
	}
	role("viewer", "admin")
	b.run(chromedp.Navigate(open+"/"), chromedp.WaitVisible(chromedp.CSS("#plain-http.red")))
	b.run(chromedp.WaitVisible(chromedp.CSS("#sign-in-form")))
	b.picture("plain-http-allowed")
	b.run(chromedp.SendKeys(chromedp.CSS("#email"), "member@ours.example"), chromedp.SendKeys(chromedp.CSS("#password"), goodPassword),
		chromedp.Click(chromedp.CSS("#sign-in-form button[type=submit]")), chromedp.WaitVisible(chromedp.CSS("#who-name")), chromedp.WaitVisible(chromedp.CSS("#plain-http.red")))
	b.quiet()
}
