package cel

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	apiserver "k8s.io/apiserver/pkg/cel"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/race"
)

// visits counts the items and entries of lists and maps that somebody looks at.
type visits struct{ n int }

// countedList is a list that counts who looks at it.
type countedList struct {
	traits.Lister
	*visits
}

func (l countedList) Get(index ref.Val) ref.Val { l.n++; return l.Lister.Get(index) }

func (l countedList) Iterator() traits.Iterator {
	return &countedIterator{l.Lister.Iterator(), l.visits}
}

func (l countedList) Contains(v ref.Val) ref.Val {
	for it := l.Iterator(); it.HasNext() == types.True; {
		if it.Next().Equal(v) == types.True {
			return types.True
		}
	}
	return types.False
}

func (l countedList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok || o.Size() != l.Size() {
		return types.False
	}
	for i := range length(l) {
		if l.Get(types.Int(i)).Equal(o.Get(types.Int(i))) != types.True {
			return types.False
		}
	}
	return types.True
}

// countedMap is a map that counts who looks over it.
type countedMap struct {
	traits.Mapper
	*visits
}

func (m countedMap) Iterator() traits.Iterator {
	return &countedIterator{m.Mapper.Iterator(), m.visits}
}

func (m countedMap) Equal(other ref.Val) ref.Val {
	m.n += length(m)
	return m.Mapper.Equal(other)
}

type countedIterator struct {
	traits.Iterator
	*visits
}

func (i *countedIterator) Next() ref.Val { i.n++; return i.Iterator.Next() }

// worst are texts of a kind that take long to read as something.
var worst = []string{"a", "1h", "9", "A", "é", "$A", "a,", "1.", "http://a/", "{", "[", "- a\n", " ", "a=b,", "%s"}

// sized makes arguments that have about so many bytes: the same for the same size.
type sized struct {
	*visits
	env    *Env
	bytes  int
	filler string
	like   int
}

func (s sized) text() string {
	n := max(1, s.bytes/len(s.filler))
	switch s.filler {
	case "http://a/":
		return s.filler + strings.Repeat("a", s.bytes)
	case "[", "{":
		return strings.Repeat(s.filler, min(n, 1000))
	case "1.":
		return "1.2.3-" + strings.Repeat("1.", n) + "1"
	}
	return strings.Repeat(s.filler, n)
}

// of makes a value of a type; nil for one that it does not know. What is nested is made of
// many small parts.
func (s sized) of(t *cel.Type, depth int) ref.Val {
	switch t.Kind() {
	case types.StringKind:
		return types.String(s.text())
	case types.BytesKind:
		return types.Bytes(s.text())
	case types.IntKind:
		return types.Int(3)
	case types.UintKind:
		return types.Uint(3)
	case types.DoubleKind:
		return types.Double(1e300)
	case types.BoolKind:
		return types.True
	case types.TimestampKind:
		return types.Timestamp{Time: time.Unix(1_700_000_000, 0)}
	case types.DurationKind:
		return types.Duration{Duration: time.Hour}
	case types.ListKind:
		return s.list(t.Parameters()[0], depth)
	case types.MapKind:
		return s.entries(t.Parameters()[1], depth)
	case types.DynKind, types.TypeParamKind, types.AnyKind:
		return s.any(depth)
	case types.OpaqueKind:
		return s.opaque(t, depth)
	}
	return nil
}

// any makes what may be anything, within that a small map.
func (s sized) any(depth int) ref.Val {
	switch {
	case depth < 2:
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{"type": "a", "status": "True", "name": "b"})
	case s.like == asText:
		return s.of(cel.StringType, depth)
	case s.like == asMap:
		return s.entries(cel.StringType, depth)
	}
	return s.list(cel.DynType, depth)
}

// What may be anything is one of these.
const (
	asText = iota
	asMap
	asList
)

func (s sized) part(of *cel.Type, depth int) ref.Val {
	s.bytes = min(s.bytes, 10)
	return s.of(of, depth-1)
}

func (s sized) list(of *cel.Type, depth int) ref.Val {
	items := make([]ref.Val, max(1, s.bytes/64))
	for i := range items {
		if items[i] = s.part(of, depth); items[i] == nil {
			return nil
		}
	}
	return countedList{types.NewRefValList(types.DefaultTypeAdapter, items), s.visits}
}

func (s sized) entries(of *cel.Type, depth int) ref.Val {
	out := map[ref.Val]ref.Val{}
	for i := range max(1, s.bytes/64) {
		out[types.String(fmt.Sprint("key", i))] = s.part(of, depth)
	}
	return countedMap{types.NewRefValMap(types.DefaultTypeAdapter, out), s.visits}
}

// makers are functions that make the values of libraries from a text.
var makers = map[string]struct{ function, overload, before string }{
	"kubernetes.Quantity":    {"quantity", "string_to_quantity", ""},
	"kubernetes.URL":         {"url", "string_to_url", "http://a/"},
	"net.IP":                 {"ip", "string_to_ip", ""},
	"net.CIDR":               {"cidr", "string_to_cidr", ""},
	"kubernetes.Semver":      {"semver", "string_to_semver", ""},
	"kubernetes.NamedFormat": {"format.dns1123Label", "format.dns1123Label", ""},
}

func (s sized) opaque(t *cel.Type, depth int) ref.Val {
	if t.TypeName() == "optional_type" {
		return types.OptionalOf(s.of(t.Parameters()[0], depth))
	}
	make, known := makers[t.TypeName()]
	if !known {
		return nil
	}
	if t.TypeName() == "kubernetes.Quantity" && s.filler == "9" { // what is parsed has few digits, sums any number
		n, _ := new(big.Int).SetString(s.text(), 10)
		return apiserver.Quantity{Quantity: resource.NewDecimalQuantity(*inf.NewDecBig(n, 3), resource.DecimalSI)}
	}
	do := s.env.demands.implementation(make.function, make.overload)
	var v ref.Val
	for _, text := range []string{make.before + s.text(), "10.0.0.1", "10.0.0.0/8"} {
		if do.Unary == nil {
			v = do.Function()
		} else {
			v = do.Unary(types.String(text))
		}
		if !types.IsError(v) {
			return v
		}
	}
	return nil
}

// tried is a call of an overload with arguments of a size.
type tried struct {
	*meteredCall
	args callArgs
	sized
}

// eachCall visits calls of all overloads with texts of some fillers at a size.
func eachCall(env *Env, bytes int, fillers []string, visit func(tried)) {
	functions := env.planning.Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, o := range functions[name].OverloadDecls() {
			d := env.demands.overloads[o.ID()]
			if d.pattern || o.IsNonStrict() || len(o.ArgTypes()) > len(callArgs{}) {
				continue
			}
			for n := range 3 * len(fillers) {
				filler, like := fillers[n/3], n%3
				if like > 0 && !slices.ContainsFunc(o.ArgTypes(), isAny) || n >= 3 && !slices.ContainsFunc(o.ArgTypes(), readsText) {
					continue // that makes no difference
				}
				s := sized{&visits{}, env, bytes, filler, like}
				call := &meteredCall{InterpretableCall: named{name, o.ID()}, demand: d, name: name, impl: env.demands.implementation(name, o.ID()), args: make([]interpretable, len(o.ArgTypes()))}
				t := tried{meteredCall: call, sized: s}
				if t.make(o.ArgTypes()) {
					visit(t)
				}
			}
		}
	}
}

func readsText(t *cel.Type) bool {
	return isAny(t) || t.Kind() == types.StringKind || t.Kind() == types.BytesKind || t.Kind() == types.OpaqueKind
}

func isAny(t *cel.Type) bool {
	return t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind || t.Kind() == types.AnyKind || t.Kind() == types.OpaqueKind && t.TypeName() == "optional_type"
}

func (c *tried) make(list []*cel.Type) bool {
	for i, of := range list {
		if of.IsExactType(callType) {
			c.args[i] = CallValue(&expr.Call{Now: time.Unix(0, 0), Flip: func(time.Time) {}, Recall: func(string) value.Value { return nil }})
		} else if c.args[i] = c.of(of, 2); c.args[i] == nil {
			return false
		}
	}
	return true
}

// charged returns what the call is charged; false when it is refused.
func (c *tried) charged(t *testing.T) (uint64, bool) {
	if c.demand.need == nil {
		return 1, true
	}
	need := c.demand.need(&c.args)
	return 1 + need.Work, expr.NewMeter(t.Context()).Charge(c.name, need) == nil
}

// visitsPerUnit is how many items and entries may be looked at for a unit.
const visitsPerUnit = 3 * itemsPerUnit

// TestVisitsAreCharged: what a call looks at is charged, whether that is done to find out
// how large its arguments are or by the call itself.
func TestVisitsAreCharged(t *testing.T) {
	t.Parallel()
	env, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int{10, 10_000, 1_000_000}[:budget.Of(2, 3)] {
		calls := 0
		eachCall(env, bytes, worst[:1], func(c tried) {
			calls++
			charged, allowed := c.charged(t)
			if allowed {
				c.call(&c.args)
			}
			if most := 10 + visitsPerUnit*charged; uint64(c.n) > most {
				t.Errorf("%s of %d bytes of %q looks at %d items for %d units", c.OverloadID(), bytes, c.filler, c.n, charged)
			}
		})
		if calls < 300 {
			t.Errorf("only %d calls were tried", calls)
		}
	}
}

// unread are the overloads that do not read a text that they are given, or not one so
// long, as the time zones. The keys of maps are charged by a call around them.
var unread = map[string]bool{
	"bytes_to_bytes": true, "to_dyn": true, "type": true, "string_to_string": true, "hash_configData_builtin": true,
	"optional_of": true, "optional_ofNonZeroValue": true, "optional_orValue_value": true, "select_optional_field": true,
	"map_optindex_optional_value": true, "optional_map_optindex_optional_value": true, "index_map": true, "optional_map_index_value": true,
	"pattern_search_builtin": true, "pattern_valid_builtin": true, "regex_extract_builtin": true, "regex_replace_builtin": true,
}

// TestTextsAreCharged: a call that is given a long text is charged for it, unless it is
// known not to read it.
func TestTextsAreCharged(t *testing.T) {
	t.Parallel()
	env, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	bytes := budget.Of(100_000, 1_000_000)
	seen := map[string]bool{}
	eachCall(env, bytes, worst[:1], func(c tried) {
		longest := 0
		for _, a := range c.args {
			longest = max(longest, textBytes(a))
		}
		charged, _ := c.charged(t)
		if longest < bytes/2 || charged >= uint64(bytes)/bytesPerUnit/2 || unread[c.OverloadID()] || strings.HasSuffix(c.OverloadID(), "_tz") || seen[c.OverloadID()] {
			return
		}
		seen[c.OverloadID()] = true
		t.Errorf("%s of a text of %d bytes of %q is charged %d units", c.OverloadID(), longest, c.filler, charged)
	})
}

// isIndexing are functions that nobody calls: the interpreter has its own ways for them.
var isIndexing = map[string]bool{operators.Index: true, operators.OptIndex: true, operators.OptSelect: true}

// nanosPerUnit is how much CPU time a unit may take.
const nanosPerUnit = 2_000

func skipUnmeasured(t *testing.T) {
	t.Helper()
	if !budget.Long() || race.Enabled {
		t.Skip("measures CPU time: set EDICT_TEST_LONG=1, without -race")
	}
}

// TestTimeIsCharged: CPU time does not grow faster than what is charged for it. With -v it
// prints a table.
func TestTimeIsCharged(t *testing.T) {
	skipUnmeasured(t)
	env, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int{10, 10_000, 1_000_000} {
		eachCall(env, bytes, worst, func(c tried) {
			if isIndexing[c.name] {
				return
			}
			charged, allowed := c.charged(t)
			if allowed {
				c.call(&c.args)
			}
			visited := c.n
			nanos := uint64(c.time(t, allowed).Nanoseconds()) / charged
			for again := 0; nanos > nanosPerUnit && again < 3; again++ { // a collection may have been in it
				nanos = min(nanos, uint64(c.time(t, allowed).Nanoseconds())/charged)
			}
			t.Logf("%s of %d bytes: %d items for %d units, %d ns a unit", c.OverloadID(), bytes, visited, charged, nanos)
			if nanos > nanosPerUnit {
				t.Errorf("%s of %d bytes of %q takes %d ns a unit, %d units", c.OverloadID(), bytes, c.filler, nanos, charged)
			}
		})
	}
}

// time returns the CPU time of a call and of finding out what it needs: the least of a few
// measurements of many rounds.
func (c *tried) time(t *testing.T, allowed bool) time.Duration {
	least := time.Hour
	for range 3 {
		for rounds := 1; ; rounds *= 8 {
			before := processorTime(t)
			for range rounds {
				args := c.args
				if c.demand.need != nil {
					c.demand.need(&args)
				}
				if allowed {
					c.call(&args)
				}
			}
			if took := processorTime(t) - before; took > time.Millisecond {
				least = min(least, took/time.Duration(rounds))
				break
			}
		}
	}
	return least
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLongTextsAreCharged: what reads a long text is charged for it, also where there is no
// loop and where the interpreter makes no call.
func TestLongTextsAreCharged(t *testing.T) {
	t.Parallel()
	env := declared(t, Var{"big", StringType}, Var{"m", MapOf(IntType)}, Var{"l", ListOf(StringType)}, Var{"d", DynType})
	big := value.OfString(strings.Repeat("9", value.MaxResultBytes))
	scope := names{"big": big, "d": value.OfString(strings.Repeat("9", value.MaxResultBytes)), "m": value.FromMap(map[string]value.Value{"a": value.OfInt(1)}), "l": value.NewList([]value.Value{big})}
	for _, text := range []string{
		`big == big`, `big != d`, `d == big`, `big in m`, `big in l`, `m[?big].hasValue()`, `d in m`, `m[?d].hasValue()`, `has(m.a) && big in m`, `size(big) > 0`, `big.startsWith(big)`, `big <= big`,
		`{big: 1}.size() == 1`, `duration.parse(big).hasValue()`, `[1].all(x, m[?big].hasValue())`, `[1].all(x, big == big)`, `[1].all(x, {big: x}.size() == 1)`, `[big].transformMapEntry(i, v, {v: i}).size() == 1`,
		`double(big) > 0.0`,
	} {
		p, problem := wrong(env, text)
		if p == nil {
			t.Fatalf("%s: %s", text, problem)
		}
		meter := expr.NewMeter(t.Context())
		_, _ = p.Eval(scope, meter)
		if meter.Spent() < value.MaxResultBytes/bytesPerUnit {
			t.Errorf("%s costs %d units", text, meter.Spent())
		}
	}
}

// TestComputedValuesAreCharged: what is done with a value of a library costs what the value
// holds, also where no text of that length was parsed.
func TestComputedValuesAreCharged(t *testing.T) {
	t.Parallel()
	env := declared(t)
	const (
		sum     = `[lists.range(10000).fold(q, quantity("9"), i, q.add(q))].all(q, %s)` // 3,000 digits
		version = `[semver("1.2.3-" + lists.range(10000).map(i, "longer").join(""))].all(v, %s)`
		address = `[url("http://" + lists.range(10000).map(i, "longer").join("") + "@a/")].all(u, %s)`
	)
	for _, tt := range []struct {
		within, expression string
		// units are how many each further round costs at least.
		units uint64
	}{
		{sum, `q.add(q).isGreaterThan(q)`, 24},
		{sum, `q.sub(1) != q`, 20},
		{sum, `sign(q) == 1 && !q.isInteger()`, 12},
		{sum, `!quantity.parse(q).hasValue()`, 300},
		{version, `v.compareTo(v) == 0`, 200},
		{version, `v == v`, 200},
		{address, `u == u`, 200},
	} {
		spent := func(rounds int) uint64 {
			p, problem := wrong(env, fmt.Sprintf(tt.within, fmt.Sprintf("lists.range(%d).all(i, %s)", rounds, tt.expression)))
			if p == nil {
				t.Fatalf("%s: %s", tt.expression, problem)
			}
			meter := expr.NewMeter(t.Context())
			if v, err := p.Eval(names{}, meter); err != nil || !value.IsTrue(v) {
				t.Fatalf("%s: %v, %v", tt.expression, v, err)
			}
			return meter.Spent()
		}
		if got := (spent(101) - spent(1)) / 100; got < tt.units {
			t.Errorf("%s costs %d units a round, want at least %d", tt.expression, got, tt.units)
		}
	}
}
