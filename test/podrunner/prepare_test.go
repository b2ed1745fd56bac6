package podrunner

import (
	"testing"
)

func TestExpand(t *testing.T) {
	environment := map[string]string{"POD_NAME": "web-1"}
	for text, want := range map[string]string{
		"--id=$(POD_NAME)":   "--id=web-1",
		"$(POD_NAME)$(NONE)": "web-1$(NONE)",
		"$$(POD_NAME)":       "$(POD_NAME)",
		"$POD_NAME":          "$POD_NAME",
	} {
		if got := expand(text, environment); got != want {
			t.Errorf("%q: want %q, got %q", text, want, got)
		}
	}
}

func TestRewrite(t *testing.T) {
	p := &pod{address: "127.9.9.9"}
	paths := mounts{"/etc/edict/allowances": "/tmp/a"}
	for argument, want := range map[string]string{
		"--allowances=/etc/edict/allowances/x.yaml": "--allowances=/tmp/a/x.yaml",
		"--webhook-cert-dir=/etc/edict/allowances":  "--webhook-cert-dir=/tmp/a",
		"/etc/edict/allowances-too/x":               "/etc/edict/allowances-too/x",
		"--metrics-bind-address=:4272":              "--metrics-bind-address=127.9.9.9:4272",
		":80":                                       "127.9.9.9:80",
		"--at=10:30":                                "--at=10:30",
		"--url=https://x:80":                        "--url=https://x:80",
		"--webhook-bind-address=":                   "--webhook-bind-address=",
	} {
		if got := paths.rewrite(p.bind(argument)); got != want {
			t.Errorf("%q: want %q, got %q", argument, want, got)
		}
	}
}
