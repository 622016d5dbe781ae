// Command check reads what helm template makes of the chart of Muster from its standard
// input, holds each manifest strictly against the types of the Kubernetes API and of
// Prometheus' operator, and what belongs together against each other. It prints what it
// found: one line a manifest.
//
// # What may go wrong
//
//   - A member is misspelt, or lies elsewhere in this version of the API: refused, with
//     its name. Kubernetes itself would drop it without a word.
//   - The operator of Prometheus that runs there has another version of ServiceMonitor than
//     the module we take its type from.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	strict "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// manifests are those of one release, by kind.
type manifests struct {
	deployments []apps.Deployment
	services    []core.Service
	ingresses   []networking.Ingress
	budgets     []policy.PodDisruptionBudget
	monitors    []monitoring.ServiceMonitor
	settings    map[string]string
	accounts    map[string]bool
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		var m manifests
		if m, err = read(string(text)); err == nil {
			err = m.fit()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read decodes each manifest into its own type, and takes no member that this lacks.
func read(text string) (m manifests, err error) {
	m.settings, m.accounts = map[string]string{}, map[string]bool{}
	var problems []error
	for document := range strings.SplitSeq("\n"+text, "\n---") {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			return m, err
		}
		if head.Kind == "" {
			continue
		}
		name, err := m.add(head.APIVersion+" "+head.Kind, document)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", head.Kind, err))
		}
		fmt.Println(head.APIVersion, head.Kind, name)
	}
	return m, errors.Join(problems...)
}

func (m *manifests) add(kind, document string) (name string, err error) {
	switch kind {
	case "apps/v1 Deployment":
		var d apps.Deployment
		err = strictly(document, &d)
		m.deployments = append(m.deployments, d)
		return d.Name, err
	case "v1 Service":
		var s core.Service
		err = strictly(document, &s)
		m.services = append(m.services, s)
		return s.Name, err
	case "networking.k8s.io/v1 Ingress":
		var i networking.Ingress
		err = strictly(document, &i)
		m.ingresses = append(m.ingresses, i)
		return i.Name, err
	case "policy/v1 PodDisruptionBudget":
		var b policy.PodDisruptionBudget
		err = strictly(document, &b)
		m.budgets = append(m.budgets, b)
		return b.Name, err
	case "v1 ConfigMap":
		var c core.ConfigMap
		err = strictly(document, &c)
		for key, value := range c.Data {
			m.settings[key] = value
		}
		return c.Name, err
	case "v1 ServiceAccount":
		var a core.ServiceAccount
		err = strictly(document, &a)
		m.accounts[a.Name] = true
		return a.Name, err
	case "monitoring.coreos.com/v1 ServiceMonitor":
		var s monitoring.ServiceMonitor
		err = strictly(document, &s)
		m.monitors = append(m.monitors, s)
		return s.Name, err
	}
	return "", fmt.Errorf("%s is no kind that this knows", kind)
}

// strictly decodes as the API server does under strict validation: it minds the case of a
// member's name, and members that are there twice.
func strictly(document string, into any) error {
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return err
	}
	problems, err := strict.UnmarshalStrict(text, into)
	return errors.Join(append(problems, err)...)
}
