package cel

import (
	"regexp"
	"sync"
	"weak"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// pattern is a literal regular expression. Its syntax has been checked; it is compiled when a
// program first uses it.
type pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// patterns are those in use by their texts, so that programs with the same one share it.
var patterns = struct {
	sync.Mutex
	byText map[string]weak.Pointer[pattern]
}{byText: map[string]weak.Pointer[pattern]{}}

// sharedPattern returns the pattern of a text.
func sharedPattern(text string) *pattern {
	patterns.Lock()
	defer patterns.Unlock()
	if p := patterns.byText[text].Value(); p != nil {
		return p
	}
	for other, p := range patterns.byText { // drop those whose programs are gone
		if p.Value() == nil {
			delete(patterns.byText, other)
		}
	}
	p := &pattern{text: text, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	patterns.byText[text] = weak.Make(p)
	return p
}

// lazyPatterns has calls with literal patterns compile them on first use, where CEL does so when
// it plans a program.
var lazyPatterns = sync.OnceValue(func() cel.ProgramOption {
	var out []*interpreter.RegexOptimization
	for function, overload := range map[string][]string{
		overloads.Matches: {overloads.Matches, overloads.MatchesString}, "find": {"string_find_string"}, "findAll": {"string_find_all_string", "string_find_all_string_int"},
	} {
		for _, id := range overload {
			out = append(out, &interpreter.RegexOptimization{Function: function, OverloadID: id, RegexIndex: 1, Factory: func(call interpreter.InterpretableCall, text string) (interpreter.InterpretableCall, error) {
				p := sharedPattern(text)
				return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val { return p.call(function, args) }), nil
			}})
		}
	}
	return cel.OptimizeRegex(out...)
})

// call runs one of the functions that take a pattern.
func (p *pattern) call(function string, args []ref.Val) ref.Val {
	text, ok := args[0].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	switch function {
	case overloads.Matches:
		return types.Bool(p.compile().MatchString(text))
	case "find":
		return types.String(p.compile().FindString(text))
	}
	most := -1
	if len(args) > 2 {
		n, ok := args[2].Value().(int64)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[2])
		}
		most = int(n)
	}
	return types.NewStringList(types.DefaultTypeAdapter, p.compile().FindAllString(text, most))
}
