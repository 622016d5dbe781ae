package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"muster/internal/files/blobs/s3test"
)

// composed is what kit/compose/compose.yaml says of one service.
type composed struct {
	Command     []string
	Environment map[string]string
	Secrets     []string
	User        string
	ReadOnly    bool `yaml:"read_only"`
	Tmpfs       []string
}

var composeVariable = regexp.MustCompile(`\$\{(\w+)(?::[-?][^}]*)?\}`)

// composition reads the file, with the variables that its head has people set.
func composition(t *testing.T) map[string]composed {
	t.Helper()
	set := map[string]string{"DATABASE_PASSWORD": "db-secret", "S3_PASSWORD": "s3-secret", "MUSTER_PUBLIC_URL": "https://muster.example.org"}
	text := composeVariable.ReplaceAllStringFunc(readText(t, "kit/compose/compose.yaml"), func(found string) string {
		return set[composeVariable.FindStringSubmatch(found)[1]]
	})
	var file struct {
		Services map[string]composed
		Secrets  map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"api", "workers"} {
		s := file.Services[name]
		key := s.Environment["MUSTER_SECRET_KEY_FILE"]
		if file.Secrets[path.Base(key)] == nil || path.Dir(key) != "/run/secrets" || !slices.Contains(s.Secrets, path.Base(key)) {
			t.Errorf("%s: the key %s is no secret of %v", name, key, s.Secrets)
		}
		if !s.ReadOnly || s.User == "" || strings.HasPrefix(s.User, "0") || !strings.HasPrefix(s.Tmpfs[1], s.Environment["MUSTER_DATA_DIR"]+":") {
			t.Errorf("%s may write to its image, runs as %q, or has its data directory in none of %v", name, s.User, s.Tmpfs)
		}
	}
	return file.Services
}

// TestTheCompositionOfTheKit starts what kit/compose/compose.yaml has, Muster's two
// processes with their commands and variables; PostgreSQL, the store and the paths are the
// test's, after what the file says of them was held against its other services.
func TestTheCompositionOfTheKit(t *testing.T) {
	t.Parallel()
	services := composition(t)
	database, err := url.Parse(services["api"].Environment["MUSTER_DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	password, _ := database.User.Password()
	server := services["postgres"].Environment
	if services[database.Hostname()].Environment == nil || password != server["POSTGRES_PASSWORD"] ||
		database.User.Username() != server["POSTGRES_USER"] || database.Path != "/"+server["POSTGRES_DB"] {
		t.Errorf("%s is not the database of %v", database, server)
	}
	store, gateway := services["api"].Environment, services["s3"]
	bucket, err := url.Parse(store["MUSTER_BLOB_URL"])
	if err != nil {
		t.Fatal(err)
	}
	if endpoint := "http://s3" + gateway.Command[slices.Index(gateway.Command, "--port")+1]; bucket.Query().Get("endpoint") != endpoint ||
		store["AWS_ACCESS_KEY_ID"] != gateway.Environment["ROOT_ACCESS_KEY"] || store["AWS_SECRET_ACCESS_KEY"] != gateway.Environment["ROOT_SECRET_KEY"] ||
		!slices.Contains(services["bucket"].Command, gateway.Command[len(gateway.Command)-1]+"/"+bucket.Host) {
		t.Errorf("%s is not the bucket of %v, %v", bucket, gateway, services["bucket"])
	}

	i := install(t)
	i.blobs = s3test.Start(t).URL
	key := filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5a", 32)+"\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	begin := func(name string) *running {
		env := map[string]string{"MUSTER_DATABASE_URL": i.url, "MUSTER_BLOB_URL": i.blobs, "MUSTER_SECRET_KEY_FILE": key, "MUSTER_DATA_DIR": t.TempDir()}
		var pairs []string
		for variable, value := range services[name].Environment {
			if here := env[variable]; here != "" {
				value = here
			}
			if !strings.HasPrefix(variable, "AWS_") { // the test store's own
				pairs = append(pairs, variable+"="+value)
			}
		}
		command := slices.Clone(services[name].Command)
		for n, word := range command {
			if word == ":8080" || word == ":8081" {
				command[n] = "127.0.0.1:0"
			}
		}
		return launch(t, pairs, command...)
	}
	api, rest := begin("api"), begin("workers")
	for name, process := range map[string]*running{"api": api, "workers": rest} {
		if status, passed := process.door(t).checks(t, "/readyz"); status != "ready" || !passed["database"] || !passed["blobs"] {
			t.Errorf("%s is %s, %v", name, status, passed)
		}
		if log := process.logged.String(); strings.Contains(log, "level=WARN") {
			t.Errorf("%s warns:\n%s", name, log)
		}
	}
	eventually(t, "the API prints the link for the first administrator", func() bool {
		return strings.Contains(api.said.String(), "https://muster.example.org/setup#token=")
	})
	if got, err := rest.door(t).try(t.Context(), http.MethodGet, "/metrics", nil); err != nil || got.status != http.StatusOK {
		t.Errorf("figures: %d, %v", got.status, err)
	}
}
