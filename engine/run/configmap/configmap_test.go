package configmap

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// TestProblemText is for whoever edits the ConfigMap: its keys are files.
func TestProblemText(t *testing.T) {
	t.Parallel()
	m := &source.ConfigMap{Namespace: "ns", Name: "m"}
	warning := document.Problem{Position: document.Position{File: "ns/m/a.yaml", Line: 1, Column: 1}, Severity: document.Warning, Message: "odd"}
	wrong := document.Problem{Position: document.Position{File: "ns/m/a.yaml", Line: 2, Column: 3}, Severity: document.Error, Message: "wrong", Source: "  x: 1", Hint: "right it"}
	elsewhere := document.Problem{Position: document.Position{File: "ns/p/a", Line: 1, Column: 1}, Severity: document.Error, Message: "off"}
	for name, tc := range map[string]struct {
		list     []document.Problem
		severity document.Severity
		want     string
	}{
		"nothing":          {nil, document.Error, ""},
		"only warnings":    {[]document.Problem{warning, wrong}, document.Warning, "a.yaml:1:1: warning: odd"},
		"errors only":      {[]document.Problem{warning, wrong}, document.Error, "a.yaml:2:3: error: wrong\n      x: 1\n      ^\n    right it"},
		"of another place": {[]document.Problem{elsewhere}, document.Error, "ns/p/a:1:1: error: off"},
	} {
		if d := cmp.Diff(tc.want, ProblemText(m, tc.list, tc.severity)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
	many := make([]document.Problem, 100)
	for i := range many {
		many[i] = wrong
	}
	for i := range many {
		many[i].Line, many[i].Source = i, strings.Repeat("x", 1<<20)
	}
	if text := ProblemText(m, many, document.Error); len(text) > MaxText || strings.Contains(text, "xx") {
		t.Errorf("%d bytes", len(text))
	}
}

// TestCauses: each names the field that it is about, and then the position in the text of
// the field.
func TestCauses(t *testing.T) {
	t.Parallel()
	m := &source.ConfigMap{Namespace: "ns", Name: "m", Data: map[string]string{"a.yaml": ""}}
	wrong := func(file string, line int) document.Problem {
		p := document.Problem{Position: document.Position{File: file, Line: line}, Severity: document.Error, Message: "wrong", Hint: "right it"}
		if line > 0 {
			p.Column = 7
		}
		return p
	}
	list := []document.Problem{
		wrong("ns/m/a.yaml", 3), wrong("ns/m/a.yaml", 3), wrong("ns/m/a.yaml", 0), wrong("ns/m (annotation edict.dev/rollout)", 1), wrong("ns/p/a.yaml", 2), wrong("", 0),
		{Severity: document.Warning, Message: "odd"},
	}
	want := []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "data[a.yaml]", Message: "3:7: error: wrong\n    right it"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "data[a.yaml]", Message: "error: wrong\n    right it"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.annotations[edict.dev/rollout]", Message: "1:7: error: wrong\n    right it"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "data", Message: "ns/p/a.yaml:2:7: error: wrong\n    right it"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "data", Message: "error: wrong\n    right it"},
	}
	if d := cmp.Diff(want, Causes(m, list, document.Error)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestEditsOf: of those who own a key, the last to have written it.
func TestEditsOf(t *testing.T) {
	t.Parallel()
	at := func(hour int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
	}
	fields := func(text string) *metav1.FieldsV1 { return metav1.NewFieldsV1(text) }
	m := &corev1.ConfigMap{}
	m.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "helm", Time: at(1), FieldsV1: fields(`{"f:data":{".":{},"f:a.yaml":{},"f:b.yaml":{}}}`)},
		{Manager: "kubectl-edit", Time: at(2), FieldsV1: fields(`{"f:data":{"f:b.yaml":{}}}`)},
		{Manager: "edict", Time: at(3), FieldsV1: fields(`{"f:metadata":{"f:annotations":{}}}`)},
		{Manager: "odd", FieldsV1: fields(`{"f:data":{"f:b.yaml":{}}}`)}, {Manager: "none", Time: at(4)},
	}
	got := Of(m)
	if a, b := got.LastEdit("a.yaml"), got.LastEdit("a.yaml", "b.yaml"); a.Manager != "helm" || b.Manager != "kubectl-edit" || !b.At.Equal(at(2).Time) || got.LastEdit("c").Manager != "" {
		t.Errorf("%+v", got.Edits)
	}
}

// TestBothLabels: a ConfigMap of policies is not one of params as well, so that it has one
// status, and the author is told.
func TestBothLabels(t *testing.T) {
	t.Parallel()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Labels: map[string]string{v1alpha1.LabelPolicy: "true", v1alpha1.LabelParams: "true"}}, Data: map[string]string{"one": "value: a"}}
	c := newCatalog([]*corev1.ConfigMap{m}, []*corev1.ConfigMap{m}, &Cache{}, nil)
	told := c.Conflicts["ns/m"]
	if len(c.Contents) != 1 || len(c.Values) != 0 || len(told) != 1 || !strings.Contains(told[0].Message, "no key is read as params") {
		t.Errorf("%d of policies, %d of params, %v", len(c.Contents), len(c.Values), told)
	}
}
