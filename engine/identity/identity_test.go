package identity

import (
	"net/http"
	"testing"
)

type seen struct{ header http.Header }

func (s *seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s.header = r.Header
	return &http.Response{}, nil
}

// TestTransport: a request is made as the policy of its context, and the caller's
// request stays as it was.
func TestTransport(t *testing.T) {
	t.Parallel()
	accounts := Accounts{Namespace: "ns", Prefix: "edict-policy-"}
	for name, tc := range map[string]struct {
		accounts Accounts
		policy   string
		want     string
	}{
		"a policy":    {accounts, "p", "system:serviceaccount:ns:edict-policy-p"},
		"the process": {Accounts{Namespace: "ns"}, "p", ""},
	} {
		below := &seen{}
		r, err := http.NewRequestWithContext(tc.accounts.As(t.Context(), tc.policy), http.MethodGet, "https://example.com", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := Transport{below}.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body != nil {
			t.Error("there is a body")
		}
		if got := below.header.Get("Impersonate-User"); got != tc.want || r.Header.Get("Impersonate-User") != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
