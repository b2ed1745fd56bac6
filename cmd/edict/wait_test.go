package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
)

// TestWait: the status of the present contents is waited for; a refused edit and a
// rollout that has stopped end it at once, with the reason.
func TestWait(t *testing.T) {
	t.Parallel()
	present := map[string]string{}
	before := map[string]string{v1alpha1.AnnotationRevision: "another"}
	unseen := map[string]string{v1alpha1.AnnotationObserved: "another"}
	const long, short = "1h", "1ms" // with long, only what ends at once ends
	for name, tc := range map[string]struct {
		annotations           map[string]string
		status, error         string
		timeout, more, policy string
		code                  int
		want                  string
	}{
		"active":                {present, "Active", "", long, "", "one", 0, "one: active"},
		"an annotation not yet": {unseen, "Active", "", short, "", "one", 1, "not active after 1ms:\nConfigMap edict-system/policies: the controller has not read it as it is now"},
		"all of them":           {present, "Active", "", long, "", "", 0, "all policies of the namespace edict-system: active"},
		"disabled":              {present, "Disabled", "", long, "disabled", "one", 0, "one: disabled"},
		"refused":               {present, "Refused", "one.yaml:5:3: unknown field", long, "", "one", 1, "ConfigMap edict-system/policies is refused: one.yaml:5:3: unknown field"},
		"a rollout stopped":     {present, "RolloutStopped", "too many failures", long, "", "one", 1, "the rollout of ConfigMap edict-system/policies has stopped: too many failures"},
		"refused, but before":   {before, "Refused", "old", short, "", "one", 1, "not active after 1ms:\nConfigMap edict-system/policies: the controller has not read it as it is now"},
		"not yet":               {present, "Waiting", "for permissions", short, "", "one", 1, "not active after 1ms:\nConfigMap edict-system/policies: its status is Waiting for permissions"},
		"no such policy":        {present, "Active", "", short, "", "none", 1, "has a policy none"},
		"refused is asked for":  {present, "Refused", "wrong", long, "refused", "one", 0, "one: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := small()
			m := &cluster.configMaps[0]
			cluster.judge()
			maps.Copy(m.Annotations, tc.annotations)
			m.Annotations[v1alpha1.AnnotationStatus], m.Annotations[v1alpha1.AnnotationError] = tc.status, tc.error
			args := []string{"wait", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", tc.timeout}
			if tc.policy != "" {
				args = append(args, tc.policy)
			}
			if tc.more != "" {
				args = append(args, "--for", tc.more)
			}
			if got := program(t, args...); got.code != tc.code || !strings.Contains(got.stdout+got.stderr, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestWaitPastAnother: a refusal does not count while it may be because of another ConfigMap
// as it was before: an older one with the same policy that is gone, or the policies that
// values are for.
func TestWaitPastAnother(t *testing.T) {
	t.Parallel()
	cluster := small()
	values := installed("values", map[string]string{"one": "value: a"})
	values.Labels = map[string]string{v1alpha1.LabelParams: "true"}
	cluster.configMaps = append(cluster.configMaps, values)
	for _, refused := range []string{"policies", "values"} {
		cluster.judge()
		for i := range cluster.configMaps {
			m := &cluster.configMaps[i]
			if m.Annotations[v1alpha1.AnnotationStatus] = "Active"; m.Name == refused {
				m.Annotations[v1alpha1.AnnotationStatus], m.Annotations[v1alpha1.AnnotationObserved] = "Refused", "with another"
			}
		}
		got := program(t, "wait", "one", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", "1ms")
		if want := "not active after 1ms:\nConfigMap edict-system/" + refused + ": the controller has not read it as it is now\n"; got.code != 1 || !strings.HasSuffix(got.stderr, want) {
			t.Errorf("%s: exit code %d, want 1 with %q:\n%s%s", refused, got.code, want, got.stdout, got.stderr)
		}
	}
}

// TestWaitForOneThatIsDisabled: the status of a ConfigMap leaves out what is disabled, and a
// policy that is named is not active for that.
func TestWaitForOneThatIsDisabled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		running, policy, status string
		code                    int
		want                    string
	}{
		"disabled":            {"two=456", "one", "active", 1, "ConfigMap edict-system/policies: the policy one is disabled, by its mode or by the annotation edict.dev/mode"},
		"the other":           {"two=456", "two", "active", 0, "two: active"},
		"all":                 {"two=456", "", "active", 0, "all policies of the namespace edict-system: active"},
		"asked for":           {"two=456", "one", "disabled", 0, "one: disabled"},
		"asked for, but runs": {"one=123 two=456", "one", "disabled", 1, "its status is Active"},
		"not of the other":    {"two=456", "two", "disabled", 1, "its status is Active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := small()
			m := &cluster.configMaps[0]
			m.Annotations = map[string]string{
				v1alpha1.AnnotationStatus: "Active", v1alpha1.AnnotationMode: "one=Disabled", v1alpha1.AnnotationPolicies: tc.running,
			}
			cluster.judge()
			args := []string{"wait", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", "1ms", "--for", tc.status}
			if tc.policy != "" {
				args = append(args, tc.policy)
			}
			if got := program(t, args...); got.code != tc.code || !strings.Contains(got.stdout+got.stderr, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestWaitForWhatCannotBeRead: a policy whose text cannot be read any more is found by what
// runs of the ConfigMap, and its refusal ends the waiting.
func TestWaitForWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	cluster := small()
	m := &cluster.configMaps[0]
	m.Data["one.yaml"] = "foo: [bar"
	m.Annotations = map[string]string{
		v1alpha1.AnnotationStatus: "Refused", v1alpha1.AnnotationError: "one.yaml:1: no YAML", v1alpha1.AnnotationPolicies: "one=123 two=456",
	}
	cluster.judge()
	got := program(t, "wait", "one", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", "1h")
	if got.code != 1 || !strings.Contains(got.stderr, "is refused: one.yaml:1: no YAML") {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
}

// TestWaitForParams: a ConfigMap of params counts as it is now, whatever policy it has
// values for, and a refused one if it has some for a policy that is waited for.
func TestWaitForParams(t *testing.T) {
	t.Parallel()
	const unread = "not active after 1ms:\nConfigMap edict-system/params: the controller has not read it as it is now"
	for name, tc := range map[string]struct {
		data           string
		read           bool
		status, policy string
		code           int
		want           string
	}{
		"read":                            {"one", true, "Active", "one", 0, "one: active"},
		"not read":                        {"one", false, "Active", "one", 1, unread},
		"not read, refused before":        {"one", false, "Refused", "one", 1, unread},
		"never read":                      {"one", false, "", "one", 1, unread},
		"not read, with nothing for it":   {"other", false, "Active", "one", 1, unread},
		"refused":                         {"one", true, "Refused", "one", 1, "ConfigMap edict-system/params is refused: given twice"},
		"refused, of the same ConfigMap":  {"two", true, "Refused", "one", 1, "ConfigMap edict-system/params is refused: given twice"},
		"refused, of another policy":      {"other", true, "Refused", "one", 0, "one: active"},
		"refused, and all are waited for": {"other", true, "Refused", "", 1, "ConfigMap edict-system/params is refused: given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := small()
			params := installed("params", map[string]string{tc.data: "value: a"})
			params.Labels = map[string]string{v1alpha1.LabelParams: "true"}
			params.Annotations = map[string]string{v1alpha1.AnnotationStatus: tc.status, v1alpha1.AnnotationError: "given twice"}
			cluster.configMaps[0].Annotations = map[string]string{v1alpha1.AnnotationStatus: "Active"}
			cluster.configMaps = append(cluster.configMaps, params)
			if cluster.judge(); !tc.read {
				params.Annotations[v1alpha1.AnnotationRevision] = "another"
			}
			timeout := "1h"
			if tc.want == unread {
				timeout = "1ms"
			}
			args := []string{"wait", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", timeout}
			if tc.policy != "" {
				args = append(args, tc.policy)
			}
			if got := program(t, args...); got.code != tc.code || !strings.Contains(got.stdout+got.stderr, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", got.code, tc.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestWaitBesideUnread: a refusal may be one of before, as long as the controller has not
// read what is judged together with it.
func TestWaitBesideUnread(t *testing.T) {
	t.Parallel()
	const unread = ": the controller has not read it as it is now"
	for name, tc := range map[string]struct {
		refused, unread string
		want            string
	}{
		"params unread":   {"policies", "values", "ConfigMap edict-system/policies: its status is Refused wrong\nConfigMap edict-system/values" + unread},
		"policies unread": {"values", "policies", "ConfigMap edict-system/policies" + unread + "\nConfigMap edict-system/values: its status is Refused wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := small()
			values := installed("values", map[string]string{"one": "value: a"})
			values.Labels = map[string]string{v1alpha1.LabelParams: "true"}
			cluster.configMaps = append(cluster.configMaps, values)
			cluster.judge()
			for i := range cluster.configMaps {
				m := &cluster.configMaps[i]
				m.Annotations[v1alpha1.AnnotationStatus] = "Active"
				switch m.Name {
				case tc.refused:
					m.Annotations[v1alpha1.AnnotationStatus], m.Annotations[v1alpha1.AnnotationError] = "Refused", "wrong"
				case tc.unread:
					m.Annotations[v1alpha1.AnnotationRevision] = "another"
				}
			}
			got := program(t, "wait", "one", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t), "--timeout", "1ms")
			if want := "not active after 1ms:\n" + tc.want; got.code != 1 || !strings.Contains(got.stderr, want) {
				t.Errorf("exit code %d, want 1 with %q:\n%s%s", got.code, want, got.stdout, got.stderr)
			}
		})
	}
}
