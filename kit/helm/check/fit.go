package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// everyRole has to run somewhere.
var everyRole = []string{"api", "collectors", "projections", "workers"}

// fit holds the manifests against each other: what one names, another has.
func (m manifests) fit() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	var roles []string
	for _, d := range m.deployments {
		problems = append(problems, hardened(d))
		container := d.Spec.Template.Spec.Containers[0]
		roles = append(roles, strings.Split(container.Args[len(container.Args)-1], ",")...)
		if !m.accounts[d.Spec.Template.Spec.ServiceAccountName] {
			wrong("%s: there is no account %q", d.Name, d.Spec.Template.Spec.ServiceAccountName)
		}
		if !chosen(d.Spec.Selector.MatchLabels, d) {
			wrong("%s does not choose its own pods", d.Name)
		}
		if n := count(m, d); n != 1 {
			wrong("%s has %d budgets", d.Name, n)
		}
		given := map[string]bool{}
		for _, variable := range container.Env {
			given[variable.Name] = true
		}
		for _, name := range []string{"MUSTER_DATABASE_URL", "MUSTER_BLOB_URL", "MUSTER_SECRET_KEY_FILE"} { // what all share
			if _, set := m.settings[name]; !set && !given[name] {
				wrong("%s lacks %s", d.Name, name)
			}
		}
		if !mounted(container, m.settings["MUSTER_SECRET_KEY_FILE"]) || !mounted(container, m.settings["MUSTER_DATA_DIR"]) {
			wrong("%s: the secret key or the data directory is on no volume", d.Name)
		}
	}
	if slices.Sort(roles); !slices.Equal(roles, everyRole) {
		wrong("the roles are %v", roles)
	}
	for _, s := range m.services {
		for _, d := range m.deployments {
			if chosen(s.Spec.Selector, d) && !open(d.Spec.Template.Spec.Containers[0], s.Spec.Ports[0].TargetPort.StrVal) {
				wrong("%s leads to %s, which has no port %s", s.Name, d.Name, s.Spec.Ports[0].TargetPort.StrVal)
			}
		}
	}
	for _, s := range m.monitors {
		if !slices.ContainsFunc(m.services, func(to core.Service) bool {
			return holds(s.Spec.Selector.MatchLabels, to.Labels) && slices.ContainsFunc(to.Spec.Ports, func(p core.ServicePort) bool { return p.Name == s.Spec.Endpoints[0].Port })
		}) {
			wrong("%s chooses no service with the port %s", s.Name, s.Spec.Endpoints[0].Port)
		}
		if !slices.ContainsFunc(s.Spec.Endpoints[0].RelabelConfigs, func(r monitoring.RelabelConfig) bool {
			return r.TargetLabel == "job" && r.Replacement != nil && *r.Replacement == "muster"
		}) {
			wrong("%s has not the job of kit/prometheus: %v", s.Name, s.Spec.Endpoints[0].RelabelConfigs)
		}
	}
	for _, i := range m.ingresses {
		to := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service
		if !slices.ContainsFunc(m.services, func(s core.Service) bool { return s.Name == to.Name && s.Spec.Ports[0].Name == to.Port.Name }) {
			wrong("%s leads to %s, which is no service", i.Name, to.Name)
		}
		if want := "https://" + i.Spec.Rules[0].Host; m.settings["MUSTER_PUBLIC_URL"] != want {
			wrong("the Ingress is %s, the public URL %s", want, m.settings["MUSTER_PUBLIC_URL"])
		}
	}
	return errors.Join(problems...)
}

// hardened says whether the pods would be let into a namespace that enforces the
// restricted standard, and need nothing but their volumes.
func hardened(d apps.Deployment) error {
	var problems []error
	must := func(holds bool, what string) {
		if !holds {
			problems = append(problems, fmt.Errorf("%s: %s", d.Name, what))
		}
	}
	pod := d.Spec.Template.Spec
	must(pod.SecurityContext != nil && pod.SecurityContext.RunAsNonRoot != nil && *pod.SecurityContext.RunAsNonRoot, "may run as root")
	must(pod.SecurityContext != nil && pod.SecurityContext.SeccompProfile != nil && pod.SecurityContext.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault, "has no seccomp profile")
	must(pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken, "gets a token of the cluster")
	c := pod.Containers[0]
	s := c.SecurityContext
	must(s != nil && s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem, "may write to its image")
	must(s != nil && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation, "may gain rights")
	must(s != nil && s.Capabilities != nil && slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) && len(s.Capabilities.Add) == 0, "has capabilities")
	for probe, path := range map[*core.Probe]string{c.StartupProbe: "/healthz", c.LivenessProbe: "/healthz", c.ReadinessProbe: "/readyz"} {
		must(probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Path == path && open(c, probe.HTTPGet.Port.StrVal), "a probe is not at an open port's "+path)
	}
	for _, volume := range pod.Volumes {
		must(volume.Secret == nil || *volume.Secret.DefaultMode&0o037 == 0, "Muster refuses a key that others may read")
	}
	return errors.Join(problems...)
}

func chosen(selector map[string]string, d apps.Deployment) bool {
	return holds(selector, d.Spec.Template.Labels)
}

// holds says whether what a selector wants is among labels.
func holds(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func count(m manifests, d apps.Deployment) (n int) {
	for _, b := range m.budgets {
		if chosen(b.Spec.Selector.MatchLabels, d) {
			n++
		}
	}
	return n
}

func open(c core.Container, port string) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == port })
}

func mounted(c core.Container, path string) bool {
	return path != "" && slices.ContainsFunc(c.VolumeMounts, func(v core.VolumeMount) bool {
		return path == v.MountPath || strings.HasPrefix(path, v.MountPath+"/")
	})
}
