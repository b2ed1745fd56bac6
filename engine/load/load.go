package load

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// File is what a file held.
type File struct {
	Policies []*v1alpha1.Policy
	Tests    []*v1alpha1.PolicyTest
	// Allowances are what the installation opens.
	Allowances []*v1alpha1.Allowances
	// Skipped are warnings about documents that are none of ours, such as manifests
	// beside policies. Whoever reads folders leaves them out.
	Skipped []document.Problem
}

// Documents reads the policies and policy tests of a file. Everything wrong
// is in the problems; a document with an error is not returned.
func Documents(name string, text []byte) (File, []document.Problem) {
	var problems document.Problems
	nodes := document.Parse(name, text, &problems)
	return decodeAll(name, text, nodes, &problems)
}

// Nodes is [Documents] for a file that has been parsed.
func Nodes(name string, text []byte, nodes []*document.Node) (File, []document.Problem) {
	return decodeAll(name, text, nodes, &document.Problems{})
}

func decodeAll(name string, text []byte, nodes []*document.Node, problems *document.Problems) (file File, found []document.Problem) {
	unread := slices.DeleteFunc(problems.List(), func(p document.Problem) bool { return strings.HasPrefix(p.Message, "not valid YAML") }) // that is in no node
	for i, n := range nodes {
		one := document.Problems{}
		if skipped := skip(n); skipped != "" {
			one.Reportf(document.SkippedDocument, n.Pos, "", "skipped: %s is no document of Edict", skipped)
			file.Skipped = append(file.Skipped, withSource(text, name, one.List())...)
			continue
		}
		into := &file
		if slices.ContainsFunc(unread, func(p document.Problem) bool {
			return p.Line >= n.Pos.Line && (i+1 == len(nodes) || p.Line < nodes[i+1].Pos.Line)
		}) {
			into = &File{} // what is left out would be missed elsewhere
		}
		decodeDocument(n, into, &one)
		problems.Append(one.List())
	}
	return file, withSource(text, name, problems.List())
}

// Items decodes parts of a policy that were derived from others. where names the
// list in messages.
func Items[T any](nodes []*document.Node, where string, problems *document.Problems) []T {
	d := decoder{problems: problems}
	out := make([]T, len(nodes))
	for i, n := range nodes {
		d.decode(n, reflect.ValueOf(&out[i]).Elem(), where)
	}
	return out
}

func decodeDocument(n *document.Node, file *File, problems *document.Problems) {
	d := decoder{problems: problems}
	if n.Kind != document.Map {
		problems.Errorf(n.Pos, "a document must be a mapping with apiVersion, kind, metadata and spec")
		return
	}
	if !d.header(n) {
		return
	}
	switch kind := n.Get("kind").Text; kind {
	case v1alpha1.KindPolicy:
		p := &v1alpha1.Policy{}
		d.decode(n, reflect.ValueOf(p).Elem(), "the document")
		if policies := eachKind(p, problems); !problems.HasErrors() {
			file.Policies = append(file.Policies, policies...)
		}
	case v1alpha1.KindPolicyTest:
		t := &v1alpha1.PolicyTest{}
		d.decode(withRows(n, problems), reflect.ValueOf(t).Elem(), "the document")
		if !problems.HasErrors() {
			file.Tests = append(file.Tests, t)
		}
	case v1alpha1.KindAllowances:
		a := &v1alpha1.Allowances{}
		d.decode(n, reflect.ValueOf(a).Elem(), "the document")
		checkAllowances(a, problems)
		if !problems.HasErrors() {
			file.Allowances = append(file.Allowances, a)
		}
	default:
		problems.Hintf(n.Get("kind").Pos, "a document is a "+v1alpha1.KindPolicy+", a "+v1alpha1.KindPolicyTest+" or "+v1alpha1.KindAllowances, "unknown kind %q", kind)
	}
}

func checkAllowances(a *v1alpha1.Allowances, problems *document.Problems) {
	for i := range a.Spec.Allow {
		one := &a.Spec.Allow[i]
		if !one.Policy.Set() || !one.ForKind.Set() {
			problems.Hintf(one.Pos, "{policy: ..., kind: Pod, fields: [metadata.finalizers]}", "an allowance needs policy and kind")
		}
	}
}

// ours are the kinds of documents.
var ours = []string{v1alpha1.KindPolicy, v1alpha1.KindPolicyTest, v1alpha1.KindAllowances}

// skip says what a document is that is none of ours; "" for one of ours, also if it
// is wrong. Manifests, timelines and recorded answers may lie beside policies.
func skip(n *document.Node) string {
	if items := n.Items(); len(items) > 0 && items[0].Get("at") != nil {
		return "a timeline"
	}
	version, kind := n.Get("apiVersion"), n.Get("kind")
	switch {
	case n.Kind != document.Map:
		return ""
	case version == nil && kind == nil:
		return skipUntyped(n)
	case version == nil || kind == nil:
		return ""
	case version.Text != v1alpha1.APIVersion && !slices.Contains(ours, kind.Text) && !strings.HasPrefix(version.Text, "edict"):
		return "a " + kind.Text + " of " + version.Text
	}
	return ""
}

// skipUntyped is skip for a mapping without apiVersion and kind.
func skipUntyped(n *document.Node) string {
	if n.Get("metadata") == nil && n.Get("spec") == nil && path.Ext(n.Pos.File) == ".json" {
		return "this"
	}
	return ""
}

// header checks that the document is one of ours.
func (d *decoder) header(n *document.Node) bool {
	version, kind := n.Get("apiVersion"), n.Get("kind")
	if version == nil || kind == nil {
		begins := "a policy begins with apiVersion: " + v1alpha1.APIVersion + " and kind: " + v1alpha1.KindPolicy
		if strings.HasSuffix(n.Pos.File, ".test.yaml") { // a key of a ConfigMap with this name holds tests
			begins = "a policy test begins with apiVersion: " + v1alpha1.APIVersion + " and kind: " + v1alpha1.KindPolicyTest
		}
		missing := "apiVersion and kind are"
		switch {
		case kind != nil:
			missing = "apiVersion is"
		case version != nil:
			missing = "kind is"
		}
		d.problems.Hintf(n.Pos, begins, "%s missing", missing)
		return false
	}
	if version.Text != v1alpha1.APIVersion {
		d.problems.Hintf(version.Pos, "write apiVersion: "+v1alpha1.APIVersion, "unknown apiVersion %q", version.Text)
		return false
	}
	return true
}

// withSource adds the source line to problems that have none yet.
func withSource(text []byte, name string, list []document.Problem) []document.Problem {
	source := document.NewSource(name, text)
	for i := range list {
		if list[i].Source == "" {
			list[i].Source = source.Line(list[i].Line)
		}
	}
	return list
}
