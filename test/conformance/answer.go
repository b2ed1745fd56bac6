package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// answer is what a server said to a request, without what cannot agree.
type answer struct {
	Code   int      `json:"code"`
	Reason string   `json:"reason,omitempty"`
	Causes []string `json:"causes,omitempty"`
	Object Object   `json:"object,omitempty"`
	// All are the objects afterwards, of a scenario that asks for them.
	All []Object `json:"all,omitempty"`
}

// refused returns the answer of an error. Of its causes only the fields of
// conflicts and what budgets say are kept, and what is wrong with objects of kinds that
// are validated: the other texts are each server's own.
func refused(err error, validated bool) answer {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return answer{Code: http.StatusInternalServerError}
	}
	s := status.Status()
	out := answer{Code: int(s.Code), Reason: string(s.Reason)}
	if s.Code == http.StatusInternalServerError {
		out.Reason = "" // kube-apiserver gives none for most of its own errors
	}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			switch c.Type {
			case "FieldManagerConflict":
				out.Causes = append(out.Causes, c.Field)
			case policyv1.DisruptionBudgetCause:
				out.Causes = append(out.Causes, c.Message)
			default:
				if validated {
					out.Causes = append(out.Causes, fmt.Sprintf("%s %s: %s", c.Type, c.Field, c.Message))
				}
			}
		}
	}
	slices.Sort(out.Causes)
	return out
}

// normal returns an object without what cannot agree: uids, times and names that
// a server chose. version says what became of the resourceVersion.
func (s *session) normal(o Object, version string) Object {
	out := runtime.DeepCopyJSON(o)
	m, _ := out["metadata"].(Object)
	of := s.kinds[text(out, "kind")]
	for _, field := range []string{"uid", "namespace", "selfLink"} {
		delete(m, field)
	}
	hideTimes(out, m)
	m["resourceVersion"] = version
	if version == "" || of.restless {
		delete(m, "resourceVersion")
	}
	if prefix, ok := m["generateName"].(string); ok {
		m["name"] = prefix + "*"
	}
	owners, _ := m["ownerReferences"].([]any)
	for _, raw := range owners {
		owner, _ := raw.(Object)
		name, _ := owner["name"].(string)
		if owner["uid"] == s.uids[name] {
			owner["uid"] = "$uid:" + name
		}
	}
	if labels, ok := m["labels"].(Object); ok && text(out, "kind") == "Job" {
		hideJob(labels, m)
	}
	if entries := managers(m["managedFields"], of); len(entries) > 0 {
		m["managedFields"] = entries
	} else {
		delete(m, "managedFields")
	}
	return out
}

// hideTimes replaces the times that a server has set.
func hideTimes(o, metadata Object) {
	for _, field := range []string{"creationTimestamp", "deletionTimestamp"} {
		if metadata[field] != nil {
			metadata[field] = "(time)"
		}
	}
	disrupted, _ := path(o, "status", "disruptedPods").(Object)
	for pod := range disrupted {
		disrupted[pod] = "(time)"
	}
	conditions, _ := path(o, "status", "conditions").([]any)
	for _, raw := range conditions {
		c, _ := raw.(Object)
		for _, field := range []string{"lastTransitionTime", "lastUpdateTime"} {
			if c[field] != nil {
				c[field] = "(time)"
			}
		}
	}
}

// hideJob removes the labels that a server gives to a Job.
func hideJob(labels, metadata Object) {
	for _, label := range []string{"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"} {
		delete(labels, label)
	}
	if len(labels) == 0 {
		delete(metadata, "labels")
	}
}

// managers returns the managedFields in an order that does not depend on times.
// Of a kind with defaults that the server in memory does not know, what an
// update set cannot be compared; of a restless one, not even who updated.
func managers(raw any, of *kind) []any {
	entries, _ := raw.([]any)
	entries = slices.DeleteFunc(entries, func(raw any) bool {
		entry, _ := raw.(Object)
		delete(entry, "time")
		updated := entry["operation"] == "Update"
		if !of.exact && updated {
			delete(entry, "fieldsV1")
		}
		return of.restless && updated
	})
	slices.SortFunc(entries, func(a, b any) int {
		x, _ := a.(Object)
		y, _ := b.(Object)
		return cmp.Or(strings.Compare(text(x, "manager"), text(y, "manager")), strings.Compare(text(x, "operation"), text(y, "operation")), strings.Compare(text(x, "subresource"), text(y, "subresource")))
	})
	return entries
}

func text(o Object, field string) string {
	s, _ := o[field].(string)
	return s
}

// project cuts what kube-apiserver answered down to the fields that some
// request named, or that the server in memory has; at is where they stand.
func (k *kind) project(real, memory any, named Object, at string) any {
	switch v := real.(type) {
	case Object:
		return k.projectObject(v, memory, named, at)
	case []any:
		mine, _ := memory.([]any)
		out := make([]any, len(v))
		for i, x := range v {
			var other any
			if i < len(mine) {
				other = mine[i]
			}
			out[i] = k.project(x, other, named, at)
		}
		return out
	default:
		return v
	}
}

func (k *kind) projectObject(real Object, memory any, named Object, at string) Object {
	mine, _ := memory.(Object)
	out := Object{}
	for field, x := range real {
		inner, isNamed := named[field]
		mineX, has := mine[field]
		path := strings.TrimPrefix(at+"."+field, ".")
		if x == nil || !has && (!isNamed || k.coded[path]) {
			continue
		}
		deeper, _ := inner.(Object)
		cut := k.project(x, mineX, deeper, path)
		if o, ok := cut.(Object); ok && len(o) == 0 && !has {
			continue
		}
		out[field] = cut
	}
	return out
}

// namedIn returns the fields that requests name: items of lists count together.
func namedIn(requests []request) Object {
	out := Object{}
	for _, r := range requests {
		note(out, r.Body)
	}
	return out
}

func note(into Object, v any) {
	switch v := v.(type) {
	case Object:
		for field, x := range v {
			inner, ok := into[field].(Object)
			if !ok {
				inner = Object{}
				into[field] = inner
			}
			note(inner, x)
		}
	case []any:
		for _, x := range v {
			note(into, x)
		}
	}
}
