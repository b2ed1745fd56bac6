package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestSelectorTypes: what can never be a selector is rejected when the policy is
// compiled, because a failing join only leaves members out.
func TestSelectorTypes(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"labels.matches(item.spec.?selector, object.metadata.?labels)":                     "use labels.matchesMap",
		"labels.matches(item.spec.selector, object.metadata.?labels)":                      "use labels.matchesMap",
		"labels.matches(item.spec.ports, object.metadata.?labels)":                         "not list",
		"labels.matches(3, object.metadata.?labels)":                                       "not int",
		"labels.matches({'matchLabels': item.spec.selector}, object.metadata.?labels)":     "",
		"labels.matches('app=a', item.metadata.?labels)":                                   "",
		"labels.matches(null, item.metadata.?labels)":                                      "",
		"labels.matches(item.metadata.?annotations[?'selector'], object.metadata.?labels)": "",
		"labels.matchesMap(item.spec.?selector, object.metadata.?labels)":                  "",
		"labels.matchesMap({'app': 'a'}, item.metadata.?labels)":                           "",
		"labels.matchesMap('app=a', item.metadata.?labels)":                                "labels.matchesMap takes a map of labels, not string",
		"labels.matchesMap({'matchLabels': {'app': 'a'}}, item.metadata.?labels)":          "not map(map(string))",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+"  inputs:\n    - name: services\n      apiVersion: v1\n      kind: Service\n      where: \""+where+"\"\n  rules: [{name: r, when: size(inputs.services) > 0, do: [{log: {message: m}}]}]\n", PolicyOptions{})
			var got string
			if err := document.Join(problems); err != nil {
				got = err.Error()
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestWindows: days are an exact list, and a mistake is shown where it is.
func TestWindows(t *testing.T) {
	t.Parallel()
	for window, want := range map[string]string{
		`{days: [Mon, tuesday, SUN], from: "02:00", to: "04:00"}`:     "",
		`{from: "00:00", to: "24:00"}`:                                "",
		`{from: "22:00", to: "04:00", timeZone: Europe/Berlin}`:       "",
		`{days: [Mon-Fri, saturday-Sun], from: "02:00", to: "04:00"}`: "",
		`{from: "2:00", to: "04:00"}`:                                 `"2:00" is not a time of day`,
		`{from: "04:00", to: "05:00", timeZone: Local}`:               `unknown time zone "Local"`,
		"{days: [\"\u212a\"], from: \"02:00\", to: \"04:00\"}":        "unknown day \"\u212a\"",
		`{days: [Monkey], from: "02:00", to: "04:00"}`:                `11:27: unknown day "Monkey"`,
		`{days: [sundae], from: "02:00", to: "04:00"}`:                `unknown day "sundae"`,
		`{days: [İİ], from: "02:00", to: "04:00"}`:                    `unknown day "İİ"`,
		`{from: "24:00", to: "04:00"}`:                                `"24:00" is not a time of day`,
		`{from: "25:00", to: "04:00"}`:                                `11:26: "25:00" is not a time of day`,
		`{from: "04:00", to: "04:00"}`:                                "the window ends when it begins",
		`{from: "04:00"}`:                                             "a window needs from and to",
		`{from: "04:00", to: "05:00", timeZone: Europe/Berlino}`:      `unknown time zone "Europe/Berlino"`,
	} {
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+"  rules:\n    - name: r\n      debounce:\n        key: k\n        window: 1s\n        allowed: ["+window+"]\n      do: [{log: {message: m}}]\n", PolicyOptions{})
			errors := 0
			var got string
			for _, p := range problems {
				if p.Severity == document.Error {
					errors++
				}
			}
			if err := document.Join(problems); err != nil {
				got = err.Error()
			}
			if want == "" && got != "" || !strings.Contains(got, want) || errors > 1 {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestDebounceAndLock: what does not go together is rejected.
func TestDebounceAndLock(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ rule, want string }{
		"items":                  {"forEach: '[1]'\n      debounce: {key: k, window: 1s}\n      do: [{log: {message: m}}]", ""},
		"no window":              {"debounce: {key: k, window: 0s}\n      do: [{log: {message: m}}]", `the window "0s" is no duration longer than nothing`},
		"no window, but hours":   {"debounce: {key: k, window: 0s, allowed: [{from: \"01:00\", to: \"02:00\", timeZone: UTC}]}\n      do: [{log: {message: m}}]", ""},
		"items with a condition": {"forEach: '[1]'\n      when: item > 0\n      debounce: {key: k, window: 1s}\n      do: [{log: {message: m}}]", "its when cannot name one"},
		"cases":                  {"debounce: {key: k, window: 1s}\n      cases: [{when: 'true', do: [{log: {message: m}}]}]", "a rule with debounce has no cases"},
		"no lock":                {"do: [{patch: {lock: none, value: {metadata: {labels: {a: b}}}}}]", ""},
		"an unknown lock":        {"do: [{patch: {lock: some, value: {metadata: {labels: {a: b}}}}}]", `lock cannot be "some" here`},
		"no lock of an entry":    {"do: [{patch: {lock: none, list: spec.taints, by: {key: a}, entry: {effect: NoSchedule}}}]", `lock cannot be "none" here`},
	} {
		_, problems := compiled(t, header+"  rules:\n    - name: r\n      "+tc.rule+"\n", PolicyOptions{})
		got := ""
		if err := document.Join(problems); err != nil {
			got = err.Error()
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
