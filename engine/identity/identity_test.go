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
	accounts := &Accounts{Namespace: "ns", Prefix: "edict-policy-"}
	accounts.SetName("named", "other")
	for name, tc := range map[string]struct {
		accounts *Accounts
		policy   string
		want     string
	}{
		"a policy of a set":                {accounts, "s/p", "system:serviceaccount:ns:edict-policy-s"},
		"a policy of a set that names one": {accounts, "named/p", "system:serviceaccount:ns:other"},
		"the process":                      {&Accounts{Namespace: "ns"}, "s/p", ""},
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

// TestAccounts: the account of a set has the name that the set asks for, or the prefix and the name
// of the set; without either the process itself writes.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ prefix, account, want string }{
		"the default":            {"edict-policy-", "", "edict-policy-s"},
		"another one":            {"edict-policy-", "mine", "mine"},
		"the process":            {"", "", ""},
		"another, and no prefix": {"", "mine", "mine"},
	} {
		a := &Accounts{Namespace: "ns", Prefix: tc.prefix}
		a.SetName("other", "theirs")
		a.SetName("s", "before")
		a.SetName("s", tc.account)
		if got := a.Name("s"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if got := a.User("s/p"); (got == "") != (tc.want == "") || got != "" && got != "system:serviceaccount:ns:"+tc.want {
			t.Errorf("%s: the user is %q", name, got)
		}
	}
}
