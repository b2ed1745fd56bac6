package main

import (
	"strings"
	"testing"
)

// TestAddress: what is no address of a controller is answered with what one looks like, by
// every command that takes one.
func TestAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:4273":   "--address 127.0.0.1:4273 has no scheme: give it as http://127.0.0.1:4273, or with https://",
		"localhost:4273":   "give it as http://localhost:4273",
		"edict":            "give it as http://edict",
		"[::1]:4273":       "give it as http://[::1]:4273",
		"https//edict:1":   "--address https//edict:1 has no scheme",
		"ftp://edict:4273": "--address ftp://edict:4273 is not that of a controller, such as http://localhost:4273",
		"http://":          "--address http:// is not that of a controller",
		"http://a b":       "--address cannot be read",
	} {
		for _, args := range [][]string{{"explain", "p", "x"}, {"shadow"}, {"capture", "p", "x"}} {
			got := program(t, append(args, "--address", address)...)
			if got.code != 1 || !strings.Contains(got.stderr, want) {
				t.Errorf("%s %s: exit code %d, want 1 with %q:\n%s%s", args[0], address, got.code, want, got.stdout, got.stderr)
			}
		}
	}
}
