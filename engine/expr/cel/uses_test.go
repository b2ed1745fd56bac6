package cel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// TestUses: an identifier stands for the innermost macro that declares it.
func TestUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a.b + c`:                                           "a@0 c@6",
		`a.?b[?c].orValue("a")`:                             "a@0 c@6",
		`l.filter(x, x.a == y)`:                             "l@0 x@9=9 x@12=9 y@19",
		`l.map(x, x.ok, x.n)`:                               "l@0 x@6=6 x@9=6 x@15=6",
		`m.all(k, v, k == v.x)`:                             "m@0 k@6=6 v@9=9 k@12=6 v@17=9",
		`m.transformMap(k, v, v > 1, k)`:                    "m@0 k@15=15 v@18=18 v@21=18 k@28=15",
		`x.exists(x, x == 1) && x`:                          "x@0 x@9=9 x@12=9 x@23",
		`l.exists(x, x.l.all(x, x > 1) && x.y)`:             "l@0 x@9=9 x@12=9 x@20=20 x@23=20 x@33=9",
		`l.fold(acc, acc, x, acc + x)`:                      "l@0 acc@7=7 acc@12 x@17=17 acc@20=7 x@26=17",
		`countDistinct(x, x, x.a)`:                          "x@14 x@17=17 x@20=17",
		`f.x(x) + size(x)`:                                  "f@0 x@4 x@14",
		`{"x": x, y: 1}.map(k, k)`:                          "x@6 y@9 k@19=19 k@22=19",
		`[x].exists(  ä̈, x)`:                               "",
		`"é" + x`:                                           "x@6",
		"l.filter(\n  x,\n  x > 1)":                         "l@0 x@12=12 x@17=12",
		`has(x.a) ? x.a : -y`:                               "x@4 x@11 y@18",
		`o.optMap(v, v.a).orValue(v)`:                       "o@0 v@9=9 v@12=9 v@25",
		`l.filter(x.y, x)`:                                  "l@0 x@9 x@14",
		`l.filter(`:                                         "",
		strings.Repeat("(", 500) + strings.Repeat(")", 500): "",
	} {
		got, err := cel.Uses(text)
		var out []string
		for _, u := range got {
			one := fmt.Sprintf("%s@%d", u.Name, u.Start)
			if u.Declared != cel.Outside {
				one += fmt.Sprintf("=%d", u.Declared)
			}
			out = append(out, one)
		}
		if diff := cmp.Diff(want, strings.Join(out, " ")); diff != "" || (err != nil) != (want == "") {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}
