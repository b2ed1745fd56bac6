package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shadows = `[
{"policy":"label","revision":"6f1c2a90b7de","enforced":"0a4b53c2f1ee","evaluations":412,"disagreements":3,"undetermined":1,"differing":1,"examples":[
 {"at":"2026-03-01T12:15:00Z","key":"node-c1","differences":["+ patch Node node-c1: metadata.labels.a: \"b\" -> \"c\"","+ patch Node node-c1: x: removed"],"more":7},
 {"at":"2026-03-01T12:14:00Z","key":"node-c2","differences":["- patch Node node-c2: x: removed"],"settled":true},
 {"at":"2026-03-01T12:13:00Z","key":"node-c3","undetermined":"extender.narrowReservation [{}]"}]},
{"policy":"new","revision":"11aa22bb33cc","evaluations":7,"disagreements":0,"undetermined":0,"differing":0}
]`

// TestShadowOutput asks a controller; what both would do is left out.
func TestShadowOutput(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := map[string]string{"/shadowz": shadows, "/empty/shadowz": "[]", "/none/shadowz": "ok"}[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"all": {nil, `POLICY  SHADOW        ENFORCED      EVALUATIONS  DISAGREEMENTS  UNDETERMINED  DIFFERING NOW
label   6f1c2a90b7de  0a4b53c2f1ee  412          3              1             1
new     11aa22bb33cc  (none)        7            0              0             0

label node-c1, 2026-03-01T12:15:00Z
  + patch Node node-c1: metadata.labels.a: "b" -> "c"
  + patch Node node-c1: x: removed
  and 7 more; --address with -o yaml shows them

label node-c2, 2026-03-01T12:14:00Z, the same since
  - patch Node node-c2: x: removed

label node-c3, 2026-03-01T12:13:00Z
  undetermined: it would have asked extender.narrowReservation [{}]
`},
		"one": {[]string{"new"}, `POLICY  SHADOW        ENFORCED  EVALUATIONS  DISAGREEMENTS  UNDETERMINED  DIFFERING NOW
new     11aa22bb33cc  (none)    7            0              0             0
`},
		"none": {[]string{"--address", server.URL + "/empty"}, "No policy is in the shadow.\n"},
		"json": {[]string{"--address", server.URL + "/empty", "-o", "json"}, "[]\n"},
		"yaml": {[]string{"new", "-o", "yaml"}, `- differing: 0
  disagreements: 0
  evaluations: 7
  policy: new
  revision: 11aa22bb33cc
  undetermined: 0
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"shadow", "--address", server.URL}, tc.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, out); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	for want, args := range map[string][]string{
		"unknown output": {"--address", "http://127.0.0.1:1", "-o", "xml"}, "404 Not Found: 404 page not found": {"--address", server.URL + "/elsewhere"}, "at least one of the flags": nil,
		`no policy "lable" is in the shadow; did you mean "label"?`: {"--address", server.URL, "lable"}, `no policy "other" is in the shadow`: {"--address", server.URL, "new", "other"},
		"does not answer as a controller does": {"--address", server.URL + "/none"},
	} {
		if _, err := execute(t, append([]string{"shadow"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
