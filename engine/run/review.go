package run

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/rbac"
)

// reviewsAtOnce bounds how many questions are under way for one policy.
const reviewsAtOnce = 8

// granted remembers for a while which permissions users have, so that
// policies do not ask for what another has asked for, or they themselves. What
// is missing is asked for again.
type granted struct {
	mu sync.Mutex
	// until is when an answer has to be asked for anew.
	until map[rbac.Permission]time.Time
}

// remembered is how long a permission counts as given. Who takes one away
// sooner sees the requests refused.
const remembered = time.Minute

// key says who has a permission; which policy needs it, and why, is left out.
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
	g.until[key(user, p)] = time.Now().Add(remembered)
}

// forget has everything asked for anew: a request was forbidden.
func (g *granted) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = nil
}

// lacking returns the permissions that a user does not have, as whom the context
// asks, as far as the API server answers.
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

// may asks for one permission. The one to block an owner's deletion counts as
// given: only some clusters ask for it, and nobody can say which.
func (g *granted) may(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, user string, p rbac.Permission) (bool, error) {
	resource, sub, _ := strings.Cut(p.Resource, "/")
	if p.Verb == string(analyze.WriteUpdate) && sub == "finalizers" {
		return true, nil
	}
	if g.has(user, p) {
		return true, nil
	}
	got, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: sub, Name: p.Name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	if got.Status.Allowed {
		g.keep(user, p)
	}
	return got.Status.Allowed, nil
}
