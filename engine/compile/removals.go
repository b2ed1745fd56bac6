package compile

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// deletion compiles a deletion.
func deletion(s *scope, a *v1alpha1.DeleteAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	t.read(s.node, baseMask)
	t.write(s.node, "", analyze.WriteDelete)
	out := &plan.Delete{Pos: a.Pos, Of: t.ref, Propagation: plan.Background, GracePeriod: gracePeriod(s, a.GracePeriod)}
	if a.Propagation.Set() {
		out.Propagation = a.Propagation.Value
		if !slices.Contains([]string{plan.Background, "Foreground", "Orphan"}, out.Propagation) {
			s.problems.Hintf(a.Propagation.Pos(), "Background, which is the default, Foreground or Orphan", "propagation cannot be %q", out.Propagation)
		}
	}
	out.Changed = !flag(a.IfUnchanged, true, "ifUnchanged", s.problems)
	return out
}

// gracePeriod compiles the grace period of a deletion or an eviction, and refuses one that
// is no duration in whole seconds, as far as it is known.
func gracePeriod(s *scope, doc v1alpha1.Template) *cel.Template {
	t := s.template(doc)
	text, known := value.Str(constantOf(t))
	if _, err := plan.GraceSeconds(text); err != nil && known && text != "" {
		s.problems.Hintf(doc.Pos(), "a duration in whole seconds, such as 30s", "gracePeriod cannot be %q", text)
	}
	return t
}

// flag reads a field that is true or false; absent is otherwise.
func flag(n *document.Node, otherwise bool, field string, problems *findings) bool {
	if n == nil {
		return otherwise
	}
	on, ok := n.Plain().(bool)
	if !ok {
		problems.Errorf(n.Pos, "%s must be true or false, not %s", field, n.Kind)
	}
	return on
}

// finalizer compiles a finalizer that is set or removed.
func finalizer(s *scope, a *v1alpha1.FinalizerAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	if !a.Name.Set() {
		s.problems.Hintf(a.Pos, "finalizer: {name: example.com/finalizer}", "the finalizer has no name")
		return nil
	}
	out := &plan.Finalizer{Pos: a.Pos, Of: t.ref, Name: s.template(a.Name), Absent: a.Absent}
	out.Name.Fit(textType, "name", &s.problems.Problems)
	finalizerName(s, a, t, knownText(out.Name).Value, ts)
	t.read(s.node, finalizersMask)
	t.write(s.node, "", analyze.WritePatch)
	if !a.Absent {
		t.finalizer(s.node, a.Pos, knownText(out.Name))
	}
	return out
}

// finalizerName rejects a name that the API server would refuse, and the name of the
// policy's own finalizer in an action that the author has written: the two would
// contradict each other.
func finalizerName(s *scope, a *v1alpha1.FinalizerAction, t *target, name string, ts *targets) {
	wrong := validation.IsQualifiedName(name)
	switch {
	case a.Children && name == "":
		s.problems.Hintf(a.Name.Pos(), "it may use params", "the name of the finalizer must be known before an evaluation")
	case name == "":
	case len(wrong) > 0:
		s.problems.Reportf(document.InvalidName, a.Name.Pos(), wrong[0], "%q cannot be the name of a finalizer", name)
	case !strings.Contains(name, "/") && !standardFinalizers[name] && domainNeeded(t):
		s.problems.Reportf(document.InvalidName, a.Name.Pos(), "name it with a domain, as in example.com/"+name, "%q cannot be the name of a finalizer of a %s", name, t.candidates[0].gvk.Kind)
	case a.Children:
		ts.hold(name)
	case ts.holds(t, name):
		s.problems.Hintf(a.Pos, "remove the action, or give it another name", "%q is the finalizer of the policy, which is added and removed for its children", name)
	}
}

// standardFinalizers are those of Kubernetes itself, which have no domain.
var standardFinalizers = map[string]bool{"kubernetes": true, metav1.FinalizerOrphanDependents: true, metav1.FinalizerDeleteDependents: true}

// domainNeeded reports whether the API server refuses finalizers without a domain on the
// objects: it does for most kinds of its own, not for those of CRDs.
func domainNeeded(t *target) bool {
	return slices.ContainsFunc(t.candidates, func(l located) bool {
		return slices.Contains([]string{"v1", "apps/v1", "batch/v1"}, l.gvk.APIVersion)
	})
}

// finalizersMask is what tells which finalizers an object has.
var finalizersMask = under([]string{"metadata", "finalizers"}, value.KeepAll)
