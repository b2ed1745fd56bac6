package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/source"
)

// Result is what became of a revision.
type Result string

// The results. A revision that was once Active stays so when another replaces
// it, unless that was a rollback or the end of the policy.
const (
	Active  Result = "Active"
	Waiting Result = "Waiting"
	Refused Result = "Refused"
	// RolledBack is a revision that was in force, for all objects or those of a step,
	// until it was rolled back, its rollout ended, or it ended its process.
	RolledBack Result = "RolledBack"
	// RollingOut is a revision that comes into force in steps.
	RollingOut Result = "RollingOut"
	// Stopped is the last revision in force of a policy that is gone, or that its text
	// disables.
	Stopped Result = "Stopped"
)

// RollbackManager is the field manager of edict rollback.
const RollbackManager = "edict-rollback"

// Copy is everything that a policy decides by.
type Copy struct {
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
	// File is namespace, ConfigMap and key, with slashes between them.
	File      string                      `json:"file"`
	Text      string                      `json:"text"`
	Modules   map[string]string           `json:"modules,omitempty"`
	Overrides map[string]compile.Override `json:"overrides,omitempty"`
}

// CopyOf copies a policy as it is now.
func CopyOf(u *source.Unit) Copy {
	c := Copy{Policy: u.Name(), Revision: u.Revision(), File: u.File.Path, Text: string(u.File.Text), Overrides: u.Overrides, Modules: map[string]string{}}
	for _, m := range u.Modules {
		c.Modules[m.Name] = m.Text
	}
	return c
}

// Size is how much of it is text, in bytes.
func (c *Copy) Size() int {
	n := len(c.Text)
	for _, text := range c.Modules {
		n += len(text)
	}
	return n
}

// Unit restores the policy, in the mode Enforce; nil if the text no longer
// holds it.
func (c *Copy) Unit() *source.Unit {
	u := &source.Unit{File: load.Source{Path: c.File, Text: []byte(c.Text)}, ConfigMap: path.Base(path.Dir(c.File)), Overrides: c.Overrides, Mode: v1alpha1.ModeEnforce}
	for _, name := range slices.Sorted(maps.Keys(c.Modules)) {
		u.Modules = append(u.Modules, rego.Module{Name: name, Text: c.Modules[name]})
	}
	found, _ := load.Documents(c.File, u.File.Text)
	for _, doc := range found.Policies {
		if doc.Metadata.Name.Value != c.Policy {
			continue
		}
		if u.Document = doc; u.Revision() == c.Revision { // another one may have the name
			return u
		}
	}
	if u.Document == nil {
		return nil
	}
	return u
}

// find returns the document of a policy in a file, or nil.
func find(file, text, policy string) *v1alpha1.Policy {
	found, _ := load.Documents(file, []byte(text))
	for _, doc := range found.Policies {
		if doc.Metadata.Name.Value == policy {
			return doc
		}
	}
	return nil
}

// Entry is one revision in the history of a policy.
type Entry struct {
	Copy
	// Name is that of the ControllerRevision.
	Name string
	// Number counts the revisions of the policy, from 1.
	Number int64
	Result Result
	// Author is the field manager that wrote the text or the values, Edited is
	// when.
	Author string
	Edited time.Time
	// Owner is the UID of the ConfigMap; the entry is deleted with it.
	Owner types.UID
	// Partly reports that it was in force only for the objects of some steps.
	Partly bool
}

// ConfigMap is the name of the ConfigMap that the policy was in.
func (e *Entry) ConfigMap() string { return path.Base(path.Dir(e.File)) }

// Key is the key in the ConfigMap that the policy was in.
func (e *Entry) Key() string { return path.Base(e.File) }

// Object is the ControllerRevision that keeps the entry, and sets its Name.
func (e *Entry) Object(namespace string) (*appsv1.ControllerRevision, error) {
	data, err := json.Marshal(e.Copy)
	if err != nil {
		return nil, err
	}
	// What cannot be changed once it is made is in the name.
	id := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", e.File, e.Owner, e.Revision))
	e.Name = fmt.Sprintf("edict-%s-%d-%s", e.Policy, e.Number, hex.EncodeToString(id[:])[:8])
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: e.Name, Namespace: namespace,
			Labels:          map[string]string{v1alpha1.LabelRevision: e.Policy, v1alpha1.LabelResult: string(e.Result)},
			Annotations:     map[string]string{v1alpha1.AnnotationAuthor: e.Author, v1alpha1.AnnotationEdited: e.Edited.UTC().Format(time.RFC3339)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: e.ConfigMap(), UID: e.Owner}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: e.Number,
	}, nil
}

// Parse reads an entry.
func Parse(r *appsv1.ControllerRevision) (*Entry, error) {
	e := &Entry{Name: r.Name, Number: r.Revision, Result: Result(r.Labels[v1alpha1.LabelResult]), Author: r.Annotations[v1alpha1.AnnotationAuthor]}
	if err := utiljson.Unmarshal(r.Data.Raw, &e.Copy); err != nil {
		return nil, err
	}
	if e.Policy == "" {
		return nil, errors.New("it names no policy")
	}
	if at, err := time.Parse(time.RFC3339, r.Annotations[v1alpha1.AnnotationEdited]); err == nil {
		e.Edited = at
	} else {
		e.Edited = r.CreationTimestamp.Time
	}
	if len(r.OwnerReferences) > 0 {
		e.Owner = r.OwnerReferences[0].UID
	}
	e.Partly = r.Annotations[v1alpha1.AnnotationPartly] == "true"
	return e, nil
}

// List parses the history of all policies, by policy, the oldest entry first.
// What cannot be read is passed to unreadable.
func List(items []appsv1.ControllerRevision, unreadable func(name string, err error)) map[string][]*Entry {
	out := map[string][]*Entry{}
	for i := range items {
		e, err := Parse(&items[i])
		if err != nil {
			unreadable(items[i].Name, err)
			continue
		}
		out[e.Policy] = append(out[e.Policy], e)
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b *Entry) int { return int(a.Number - b.Number) })
	}
	return out
}

// Good returns the last good revision of a policy's history, the oldest entry
// first: the newest that was in force and was not rolled back. Nil if
// there is none, or the policy was stopped.
func Good(list []*Entry) *Entry {
	if e := InForce(list); e != nil && e.Result == Active {
		return e
	}
	return nil
}

// InForce is Good, also of a policy that was stopped.
func InForce(list []*Entry) *Entry {
	for _, e := range slices.Backward(list) {
		if e.Result == Active || e.Result == Stopped {
			return e
		}
	}
	return nil
}

// Kept reports whether a revision was in force and would be so still if no other had
// come: it was not rolled back when it was last in force.
func Kept(list []*Entry, revision string) bool {
	for _, e := range slices.Backward(list) {
		if e.Revision == revision && e.WasInForce() {
			return e.Result != RolledBack
		}
	}
	return false
}

// WasInForce reports whether the text of an entry was in force, with whatever values for
// its params, be it until it was rolled back.
func WasInForce(list []*Entry, of *Entry) bool {
	return slices.ContainsFunc(list, func(e *Entry) bool { return e.WasInForce() && e.SameText(of) })
}

// WasInForce reports whether the revision was in force for all objects.
func (e *Entry) WasInForce() bool {
	return e.Result == Active || e.Result == Stopped || e.Result == RolledBack && !e.Partly
}
