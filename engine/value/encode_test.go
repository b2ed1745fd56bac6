package value

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
)

// checkJSON compares the text of a value with that of encoding/json.
func checkJSON(t *testing.T, v Value) {
	t.Helper()
	want, wantErr := json.Marshal(Plain(v))
	got, err := JSON(v)
	if string(got) != string(want) || (err == nil) != (wantErr == nil) {
		t.Errorf("%s, %v; encoding/json has %s, %v", got, err, want, wantErr)
	}
}

// TestJSON: a value has the text that encoding/json gives its plain form.
func TestJSON(t *testing.T) {
	t.Parallel()
	all := make([]rune, 0x180)
	for c := range all {
		all[c] = rune(c)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.FixedZone("", 3600))
	for _, v := range []Value{
		nil, Null, None, Some(OfInt(3)), OfBool(true), OfBool(false), OfInt(math.MinInt64), types.Uint(math.MaxUint64),
		OfDouble(0.1), OfDouble(1e21), OfDouble(-1e-9), OfDouble(3), OfDouble(math.NaN()), OfDouble(math.Inf(1)),
		OfString(""), OfString("plain"), OfString(string(all)), OfString("\xff\u2028\u2029"), types.Bytes("\x00\xff<"),
		OfTime(at), OfDuration(1500 * time.Microsecond), OfDuration(time.Microsecond), Empty, EmptyList,
		FromMap(map[string]Value{"a<": OfString("&"), "": Null, "é": NewList([]Value{Empty, OfInt(1), None}), "nan": Empty}),
		NewList([]Value{OfDouble(math.NaN()), OfInt(1)}), FromMap(map[string]Value{"a": OfDouble(math.Inf(-1))}),
	} {
		checkJSON(t, v)
	}
}

// FuzzJSON: the same of whatever can be decoded.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x\u2028",null,true,{"b":"<&>"}]}`, `"\ud800"`, `1e400`, `-0.0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := Decode(text, nil, KeepAll, nil); err == nil {
			checkJSON(t, v)
		}
	})
}

// TestAppendJSON: nothing is allocated but the text.
func TestAppendJSON(t *testing.T) {
	v := FromMap(map[string]Value{"status": NewList([]Value{OfString("a"), OfInt(1), OfTime(time.Unix(0, 0)), FromMap(map[string]Value{"b": OfBool(true)})})})
	to := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { to, _ = AppendJSON(to[:0], v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
