package quantity

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/value"
)

func TestWholeNumber(t *testing.T) {
	t.Parallel()
	const ki = int64(1) << 10
	for name, tc := range map[string]struct {
		give    value.Value
		want    int64
		wantErr string
	}{
		"binary":              {value.OfString("10Gi"), 10 * ki * ki * ki, ""},
		"fraction of binary":  {value.OfString("1.5Gi"), 3 * ki * ki * ki / 2, ""},
		"half":                {value.OfString("0.5Ti"), ki * ki * ki * ki / 2, ""},
		"large binary":        {value.OfString("100Ti"), 100 * ki * ki * ki * ki, ""},
		"larger unit":         {value.OfString("1Pi"), ki * ki * ki * ki * ki, ""},
		"many of a unit":      {value.OfString("100000Gi"), 100000 * ki * ki * ki, ""},
		"decimal":             {value.OfString("1500M"), 1500e6, ""},
		"exponent":            {value.OfString("1e3"), 1000, ""},
		"rounded up":          {value.OfString("1500m"), 2, ""},
		"rounded up, smaller": {value.OfString("1n"), 1, ""},
		"bytes":               {value.OfString("5"), 5, ""},
		"an integer":          {value.OfInt(1 << 40), 1 << 40, ""},
		"a number":            {value.OfDouble(1.5), 2, ""},
		"negative":            {value.OfString("-1.5"), -2, ""},
		"largest":             {value.OfString("9223372036854775807"), math.MaxInt64, ""},
		"too large":           {value.OfString("999999999999999999E"), 0, "does not fit into 64 bits"},
		"no quantity":         {value.OfString("1.5 Gi"), 0, `"1.5 Gi" is not a quantity`},
		"empty":               {value.OfString(""), 0, `"" is not a quantity`},
		"too long":            {value.OfString(strings.Repeat("1", 65)), 0, "is longer than"},
		"a list":              {value.EmptyList, 0, "this is list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := wholeNumber(nil, []value.Value{tc.give})
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %v, %v, want an error with %q", got, err, tc.wantErr)
				}
				return
			}
			if n, _ := value.Int(got); err != nil || n != tc.want {
				t.Errorf("got %d, %v, want %d", n, err, tc.want)
			}
		})
	}
}

// units are the suffixes of quantities and what they stand for.
var units = map[string]*big.Rat{
	"": big.NewRat(1, 1), "m": big.NewRat(1, 1000), "k": big.NewRat(1000, 1), "M": big.NewRat(1e6, 1), "G": big.NewRat(1e9, 1),
	"T": big.NewRat(1e12, 1), "P": big.NewRat(1e15, 1), "Ki": big.NewRat(1<<10, 1), "Mi": big.NewRat(1<<20, 1), "Gi": big.NewRat(1<<30, 1),
	"Ti": big.NewRat(1<<40, 1), "Pi": big.NewRat(1<<50, 1), "e3": big.NewRat(1000, 1), "E-2": big.NewRat(1, 100),
}

// TestGenerated compares quantities of every form with exact arithmetic.
func TestGenerated(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for unit, factor := range units {
		for range 200 {
			number := fmt.Sprintf("%d.%0*d", r.IntN(8000), 1+r.IntN(4), r.IntN(10))
			exact, _ := new(big.Rat).SetString(number)
			exact.Mul(exact, factor)
			want := new(big.Int).Div(new(big.Int).Add(exact.Num(), new(big.Int).Sub(exact.Denom(), big.NewInt(1))), exact.Denom())
			got, err := wholeNumber(nil, []value.Value{value.OfString(number + unit)})
			if n, _ := value.Int(got); err != nil || n != want.Int64() {
				t.Errorf("%s%s: got %d, %v, want %d", number, unit, n, err, want)
			}
		}
	}
}

// TestFormat: a quantity in a unit is that quantity, or a little more.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give       value.Value
		unit, want string
	}{
		{value.OfInt(12884901888), "Gi", "12Gi"}, {value.OfInt(1610612736), "Gi", "1.5Gi"}, {value.OfString("10Gi"), "Mi", "10240Mi"},
		{value.OfInt(1), "Gi", "0.001Gi"}, {value.OfInt(-1), "Gi", "-0.001Gi"}, {value.OfString("1Gi"), "G", "1.074G"}, {value.OfInt(0), "Ti", "0Ti"},
		{value.OfString("1500m"), "", "1.5"}, {value.OfDouble(0.25), "m", "250m"}, {value.OfInt(100), "", "100"}, {value.OfString("1n"), "u", "0.001u"},
		{value.OfInt(1), "GB", `"GB" is no unit; units are n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei`}, {value.OfString("x"), "Gi", `"x" is not a quantity such as 100Mi, 1.5Gi or 1e3`},
	} {
		got, err := format(nil, []value.Value{test.give, value.OfString(test.unit)})
		if text, _ := value.Str(got); fmt.Sprint(err) != test.want && text != test.want {
			t.Errorf("%v in %q: %s, %v; want %s", test.give, test.unit, text, err, test.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n, unit := random.Int64N(1<<random.IntN(60)+1), suffixes[random.IntN(len(suffixes))]
		got, err := format(nil, []value.Value{value.OfInt(n), value.OfString(unit)})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := value.Str(got)
		q, err := parse(got)
		if one := resource.MustParse("1" + unit); err != nil || q.CmpInt64(n) < 0 || new(big.Rat).Sub(exact(q), new(big.Rat).SetInt64(n)).Cmp(exact(one)) > 0 {
			t.Errorf("%d in %s is %s (%v)", n, unit, text, err)
		}
	}
}
