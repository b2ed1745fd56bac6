// Package requirements checks what a policy needs of a cluster before it can run:
// kinds, namespaces, permissions and external services.
package requirements

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/run/discovery"
)

// Checker checks what policies need. It remembers permissions for a while.
type Checker struct {
	client   kubernetes.Interface
	kinds    *discovery.Kinds
	accounts *identity.Accounts
	answers  expr.Answerers
	// namespace is that of the policies' ConfigMaps; "" for policies of files.
	namespace string
	log       *slog.Logger
	granted   granted
}

// Options are what a Checker needs.
type Options struct {
	Client   kubernetes.Interface
	Kinds    *discovery.Kinds
	Accounts *identity.Accounts
	// Answers are the external services, by builtin.
	Answers expr.Answerers
	// Namespace is that of the policies' ConfigMaps; "" for policies of files.
	Namespace string
	Log       *slog.Logger
}

// New returns a Checker.
func New(o Options) *Checker {
	return &Checker{client: o.Client, kinds: o.Kinds, accounts: o.Accounts, answers: o.Answers, namespace: o.Namespace, log: o.Log}
}

// Forget discards the permissions that are remembered: a request was forbidden.
func (c *Checker) Forget() { c.granted.forget() }

// Unmet returns an error about what keeps a policy from running: a service that it
// calls and that is not configured, a param without a value, a kind that the cluster does not serve, a
// namespace that does not exist, or a permission that it lacks. Nil is nothing.
func (c *Checker) Unmet(ctx context.Context, p *plan.Policy) error {
	if err := Answered(c.answers, p); err != nil && p.Mode != plan.Shadow { // in Shadow mode it calls none
		return err
	}
	if err := p.Unset(c.namespace); err != nil {
		return err
	}
	if err := c.kinds.Missing(p); err != nil {
		return err
	}
	if err := c.missingNamespace(ctx, p); err != nil {
		return err
	}
	return c.forbidden(ctx, p)
}

// missingNamespace returns an error about a namespace that a policy names and that does
// not exist: an input that is empty for this reason would lead to wrong decisions. A
// namespace that cannot be read counts as existing.
func (c *Checker) missingNamespace(ctx context.Context, p *plan.Policy) error {
	for _, namespace := range namespacesOf(p) {
		_, err := c.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the namespace %s does not exist: create it, or give another one to the param that names it", namespace)
		}
	}
	return nil
}

// namespacesOf returns the namespaces that a policy reads or writes and that are
// known from its text and its params.
func namespacesOf(p *plan.Policy) []string {
	all := map[string]bool{}
	for _, need := range readmodel.Requirements(p) {
		all[need.Source.Namespace] = true
	}
	for _, w := range p.Writes {
		off := slices.ContainsFunc(p.Inputs, func(in *plan.Input) bool { return in.Name == w.Scope.Input && in.Off })
		if w.Verb != analyze.WriteEvent && w.Verb != analyze.WriteUpdate && !off {
			all[w.Scope.Namespace.Value] = true
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// Answered returns an error about a service that a policy calls and that is not
// configured.
func Answered(answers expr.Answerers, policy *plan.Policy) error {
	q := answers.Lacking(policy.Queries)
	if q == "" {
		return nil
	}
	namespace, _, _ := strings.Cut(q, ".")
	return fmt.Errorf("policy %q calls %s, but no %s is configured; set the flags --%s-... of edict run", policy.ID(), q, namespace, namespace)
}
