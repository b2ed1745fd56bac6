// Package identity makes the requests of policies those of ServiceAccounts of
// their own, so that the API server holds each to its own permissions.
package identity

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Accounts are the ServiceAccounts that policies write as. Its zero value is the
// process itself, for all of them.
type Accounts struct {
	// Namespace has the ServiceAccounts, which need not exist. Their names are
	// Prefix and the name of the policy.
	Namespace, Prefix string
}

// DefaultPrefix is what names of ServiceAccounts of policies begin with unless another
// prefix is asked for.
const DefaultPrefix = "edict-policy-"

// User returns the name of the user that a policy writes as; "" is the process
// itself.
func (a Accounts) User(policy string) string {
	if a.Prefix == "" {
		return ""
	}
	return "system:serviceaccount:" + a.Namespace + ":" + a.Prefix + policy
}

// As makes the requests of a context those of a policy, if they go through a
// Transport.
func (a Accounts) As(ctx context.Context, policy string) context.Context {
	user := a.User(policy)
	if user == "" {
		return ctx
	}
	return context.WithValue(ctx, userKey{}, user)
}

// userKey is the key of the user in a context.
type userKey struct{}

// Transport makes requests as the user of their context. The API server adds the
// groups of a ServiceAccount by itself.
type Transport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if user, ok := r.Context().Value(userKey{}).(string); ok {
		r = r.Clone(r.Context())
		r.Header.Set(authenticationv1.ImpersonateUserHeader, user)
	}
	return t.RoundTripper.RoundTrip(r)
}
