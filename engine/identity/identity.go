// Package identity makes the requests of policies those of ServiceAccounts of
// their own, so that the API server holds each to its own permissions.
package identity

import (
	"context"
	"net/http"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Accounts are the ServiceAccounts that policies write as. Its zero value is the
// process itself, for all of them.
type Accounts struct {
	// Namespace has the ServiceAccounts, which need not exist. Their names are Prefix and the name of
	// the set, unless the set names another one.
	Namespace, Prefix string
	// Own is the user that the process is; no set may name it.
	Own string

	mu    sync.RWMutex
	names map[string]string
}

// SetName sets the ServiceAccount of a set; empty is the default. It returns false, and leaves the one
// before, if it is the process itself.
func (a *Accounts) SetName(set, account string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if account == "" && a.Prefix != "" {
		account = a.Prefix + set
	}
	if account != "" && a.user(account) == a.Own {
		return false
	}
	if a.names == nil {
		a.names = map[string]string{}
	}
	a.names[set] = account
	return true
}

func (a *Accounts) user(account string) string {
	return "system:serviceaccount:" + a.Namespace + ":" + account
}

// Name returns the ServiceAccount of a set; empty is the process itself.
func (a *Accounts) Name(set string) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if name := a.names[set]; name != "" || a.Prefix == "" || set == "" {
		return name
	}
	return a.Prefix + set
}

// DefaultPrefix is what names of ServiceAccounts of policies begin with unless another
// prefix is asked for.
const DefaultPrefix = "edict-policy-"

// User returns the name of the user that a policy writes as, by its ID; empty is the process
// itself.
func (a *Accounts) User(policy string) string {
	set, _ := ParsePolicyID(policy)
	if name := a.Name(set); name != "" {
		return a.user(name)
	}
	return ""
}

// As makes the requests of a context those of a policy, if they go through a
// Transport.
func (a *Accounts) As(ctx context.Context, policy string) context.Context {
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
