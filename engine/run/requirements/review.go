package requirements

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
)

// reviewsAtOnce is how many requests are under way for one policy.
const reviewsAtOnce = 8

// granted remembers for a while which permissions users have, so that policies that
// share permissions do not repeat requests. A missing permission is requested again.
type granted struct {
	mu sync.Mutex
	// until is when a permission expires here.
	until map[rbac.Permission]time.Time
	// sweepAt is at how many of them those that have expired are discarded.
	sweepAt int
}

// sweepFrom is from how many permissions on those that have expired are discarded: texts
// that change often, with names of their own, would add to them without end.
const sweepFrom = 1024

// remembered is how long a permission counts as granted. If it is revoked sooner,
// requests are forbidden.
const remembered = time.Minute

// key identifies a permission of a user; the policy that needs it does not matter.
func key(user string, p rbac.Permission) rbac.Permission {
	p.Policy, p.Param = user, ""
	return p
}

func (g *granted) has(user string, p rbac.Permission) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Now().Before(g.until[key(user, p)])
}

func (g *granted) keep(user string, p rbac.Permission) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = map[rbac.Permission]time.Time{}
	}
	if len(g.until) >= max(g.sweepAt, sweepFrom) {
		maps.DeleteFunc(g.until, func(_ rbac.Permission, until time.Time) bool { return !time.Now().Before(until) })
		g.sweepAt = 2 * len(g.until)
	}
	g.until[key(user, p)] = time.Now().Add(remembered)
}

// forget discards everything: a request was forbidden.
func (g *granted) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = nil
}

// lacking returns the permissions that the user of the context does not have, as far
// as the API server answers.
func (g *granted) lacking(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, user string, wanted []rbac.Permission) (missing []rbac.Permission, err error) {
	allowed, failed := make([]bool, len(wanted)), make([]error, len(wanted))
	slots := make(chan struct{}, reviewsAtOnce)
	var wg sync.WaitGroup
	for i, p := range wanted {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			allowed[i], failed[i] = g.may(ctx, reviews, user, p)
		})
	}
	wg.Wait()
	for i, p := range wanted {
		if failed[i] == nil && !allowed[i] {
			missing = append(missing, p)
		}
	}
	return missing, errors.Join(failed...)
}

// may checks one permission. The one to block an owner's deletion counts as granted:
// only some clusters require it, and they do not say so.
func (g *granted) may(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, user string, p rbac.Permission) (bool, error) {
	_, sub, _ := strings.Cut(p.Resource, "/")
	if p.Verb == string(analyze.WriteUpdate) && sub == "finalizers" {
		return true, nil
	}
	if g.has(user, p) {
		return true, nil
	}
	allowed, err := reviewed(ctx, reviews, p)
	if all, ok := ofDomain(p); ok && err == nil && !allowed {
		allowed, err = reviewed(ctx, reviews, all)
	}
	if allowed && err == nil {
		g.keep(user, p)
	}
	return allowed, err
}

// ofDomain returns the permission for all signers of a domain, which the API server
// accepts as well when a request is approved.
func ofDomain(p rbac.Permission) (rbac.Permission, bool) {
	domain, name, _ := strings.Cut(p.Name, "/")
	if p.Resource != plan.Signers || name == "*" {
		return p, false
	}
	p.Name = domain + "/*"
	return p, true
}

func reviewed(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, p rbac.Permission) (bool, error) {
	resource, sub, _ := strings.Cut(p.Resource, "/")
	got, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: sub, Name: p.Name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return got.Status.Allowed, nil
}
