package run

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// identity is the key of the user in a context, as whom requests are made.
type identity struct{}

// userOf returns the user that a policy writes as: a ServiceAccount of the
// controller's namespace, which need not exist and has no token. "" is the
// process itself. The API server then holds each policy to its own permissions,
// whatever the others have.
func (o *Options) userOf(policy string) string {
	if o.PolicyServiceAccounts == "" {
		return ""
	}
	return "system:serviceaccount:" + o.PolicyNamespace + ":" + o.PolicyServiceAccounts + policy
}

// as makes the requests of a context those of a policy.
func (o *Options) as(ctx context.Context, policy string) context.Context {
	user := o.userOf(policy)
	if user == "" {
		return ctx
	}
	return context.WithValue(ctx, identity{}, user)
}

// impersonating makes requests as the user of their context. The API server
// adds the groups of a ServiceAccount by itself.
type impersonating struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t impersonating) RoundTrip(r *http.Request) (*http.Response, error) {
	if user, ok := r.Context().Value(identity{}).(string); ok {
		r = r.Clone(r.Context())
		r.Header.Set(authenticationv1.ImpersonateUserHeader, user)
	}
	return t.RoundTripper.RoundTrip(r)
}
