package extender

import (
	"strings"
	"testing"
	"time"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{ // without "invalid scheduler extender URL"
		"":                         "the scheduler extender's URL is not configured",
		"extender":                 `"extender": its scheme must be http or https`,
		"extender:8099":            `"extender:8099": its scheme must be http or https`,
		"ftp://extender":           `"ftp://extender": its scheme must be http or https`,
		"unix:///run/x.sock":       `"unix:///run/x.sock": its scheme must be http or https`,
		"//extender":               `"//extender": its scheme must be http or https`,
		"/":                        `"/": its scheme must be http or https`,
		"https://":                 `"https://": it has no host`,
		"https:///path":            `"https:///path": it has no host`,
		"https://:8099":            `"https://:8099": it has no host`,
		"https:extender":           `"https:extender": it has no host`,
		"https://extender?a=key":   `"https://extender": it must not have a query`,
		"https://extender/?":       `"https://extender/": it must not have a query`,
		"https://extender#part":    `"https://extender": it must not have a fragment`,
		"https://extender#":        `"https://extender": it must not have a fragment`,
		"https://extender:port":    `"https://extender:port": invalid port ":port" after host`,
		"https://extender/%zz":     `"https://extender/%zz": invalid URL escape "%zz"`,
		"https://exten der":        `"https://exten der": invalid character " " in host name`,
		"https://extender\n":       `"https://extender\n": net/url: invalid control character in URL`,
		"https://me@extender":      `"https://extender": it must not have a user name or a password`,
		"https://me:key@extender":  `"https://extender": it must not have a user name or a password`,
		"https://me:k/ey@extender": `"https://extender": it is not a URL`,
		"https://me:k%zz@extender": `"https://extender": it is not a URL`,
		"me:key@extender":          `"extender": its scheme must be http or https`,
		"ftp://me:key@extender":    `"ftp://extender": its scheme must be http or https`,
	} {
		_, err := New(Config{URL: raw})
		if err == nil || strings.TrimPrefix(err.Error(), "invalid scheduler extender URL ") != want {
			t.Errorf("%q gives %v, not %s", raw, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "key") || strings.Contains(err.Error(), "me:")) {
			t.Errorf("%q gives away its secrets: %v", raw, err)
		}
	}
	for raw, want := range map[string]string{
		"http://extender": "http://extender", "https://extender:8099/": "https://extender:8099", "https://[::1]:8099///": "https://[::1]:8099",
		"https://extender/a/b/": "https://extender/a/b", "HTTPS://extender": "https://extender", "https://extender/a@b": "https://extender/a@b",
	} {
		if c, err := New(Config{URL: raw}); err != nil || c.narrowing.url.String() != want+"/v1/lvg/narrow-reservation" {
			t.Errorf("%q gives %v", raw, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	want := Config{Timeout: 10 * time.Second, MaxConcurrent: 16, MaxResponseBytes: 2 << 20, Breaker: Breaker{Failures: 5, OpenFor: 5 * time.Second}}
	for _, config := range []Config{{}, {Timeout: -1, MaxConcurrent: -1, MaxResponseBytes: -1, Breaker: Breaker{OpenFor: -1}}} {
		got := config.withDefaults()
		if got.Timeout != want.Timeout || got.MaxConcurrent != want.MaxConcurrent || got.MaxResponseBytes != want.MaxResponseBytes || got.Breaker != want.Breaker {
			t.Errorf("got %+v", got)
		}
	}
	own := Config{Timeout: 1, MaxConcurrent: 2, MaxResponseBytes: 3, Breaker: Breaker{Failures: 4, OpenFor: 5}}.withDefaults()
	if own.Timeout != 1 || own.MaxConcurrent != 2 || own.MaxResponseBytes != 3 || own.Breaker != (Breaker{Failures: 4, OpenFor: 5}) {
		t.Errorf("got %+v", own)
	}
}
