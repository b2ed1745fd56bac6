package explore

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestAdmission: only the holder of the token is answered, on a loopback address, by
// its own page, and to GET alone.
func TestAdmission(t *testing.T) {
	t.Parallel()
	handler := world(t, objects, nil).Handler("secret")
	for name, tc := range map[string]struct {
		method, target, host string
		header               map[string]string
		want                 int
	}{
		"the page":                   {"GET", "/secret/", "127.0.0.1:1", nil, 200},
		"a script":                   {"GET", "/secret/main.js", "localhost:1", nil, 200},
		"a question":                 {"GET", "/secret/api/world", "[::1]:1", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://[::1]:1"}, 200},
		"no slash":                   {"GET", "/secret", "127.0.0.1:1", nil, 302},
		"no token":                   {"GET", "/", "127.0.0.1:1", nil, 403},
		"no token, a question":       {"GET", "/api/world", "127.0.0.1:1", nil, 403},
		"another token":              {"GET", "/secreT/", "127.0.0.1:1", nil, 403},
		"the token below":            {"GET", "/x/secret/", "127.0.0.1:1", nil, 403},
		"a name that is rebound":     {"GET", "/secret/api/world", "evil.example:1", nil, 421},
		"a name that looks the same": {"GET", "/secret/api/world", "127.0.0.1.evil.example", nil, 421},
		"another origin":             {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Origin": "http://evil.example"}, 403},
		"another port":               {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Origin": "http://127.0.0.1:2"}, 403},
		"another site":               {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"a write":                    {"POST", "/secret/api/world", "127.0.0.1:1", nil, 405},
		"a file outside":             {"GET", "/secret/../explore.go", "127.0.0.1:1", nil, 404},
		"what is not there":          {"GET", "/secret/api/decision?policy=plase", "127.0.0.1:1", nil, 404},
		"what is not understood":     {"GET", "/secret/api/decision?after=x", "127.0.0.1:1", nil, 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), tc.method, "http://"+tc.host+"/", nil)
			target, err := url.Parse(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			r.URL, r.Host = target, tc.host
			for k, v := range tc.header {
				r.Header.Set(k, v)
			}
			out := httptest.NewRecorder()
			handler.ServeHTTP(out, r)
			if out.Code != tc.want {
				t.Errorf("%d, want %d: %s", out.Code, tc.want, out.Body)
			}
			if h := out.Header(); h.Get("Content-Security-Policy") != contentPolicy || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("headers: %v", h)
			}
			if out.Code >= http.StatusBadRequest && strings.Contains(out.Body.String(), "objects.yaml") {
				t.Error("a refusal says something")
			}
		})
	}
}
