package names

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100)
	for name, tc := range map[string]struct {
		name string
		most int64
		want string // "" is an error
	}{
		"short enough":       {"abc", 63, "abc"},
		"just short enough":  {strings.Repeat("a", 63), 63, strings.Repeat("a", 63)},
		"one too long":       {strings.Repeat("a", 64), 63, strings.Repeat("a", 52) + "-ffe054fe7a"},
		"much too long":      {long, 20, "aaaaaaaaa-2816597888"},
		"the least limit":    {long, 12, "a-2816597888"},
		"between characters": {strings.Repeat("ü", 40), 20, "üüüü-bdf9bfe506"},
		"a cut at a dot":     {"abcdefghij.klm.nopqrstuv", 22, "abcdefghij-d1b2eff9b3"},
		"too small":          {long, 11, ""},
		"negative":           {long, -1, ""},
		"nothing to cut":     {"", 0, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := limit(nil, []value.Value{value.OfString(tc.name), value.OfInt(tc.most)})
			text, _ := value.Str(got)
			if tc.want == "-" {
				tc.want = ""
			} else if (err != nil) != (tc.want == "") {
				t.Fatalf("got %v", err)
			}
			if text != tc.want || int64(len(text)) > max(tc.most, 0) {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

// TestLimitKeepsNamesApart: names that differ behind the limit stay different.
func TestLimitKeepsNamesApart(t *testing.T) {
	t.Parallel()
	a, _ := limit(nil, []value.Value{value.OfString(strings.Repeat("a", 70) + "1"), value.OfInt(63)})
	b, _ := limit(nil, []value.Value{value.OfString(strings.Repeat("a", 70) + "2"), value.OfInt(63)})
	if a == b {
		t.Errorf("both are %v", a)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"volume-7": "7", "volume-07": "7", "volume-000": "0", "volume-0": "0", "volume-10-20": "20", "volume": "", "": "", "volume-": "", "volume-7a": "",
		"7": "", "-7": "7", "volume-123456789012345678901234567890": "123456789012345678901234567890", "volume--5": "5", "volume-7\n": "",
	} {
		got, err := number(nil, []value.Value{value.OfString(name)})
		if text, _ := value.Str(got); err != nil || text != want {
			t.Errorf("of %q: %q, %v", name, text, err)
		}
	}
}
