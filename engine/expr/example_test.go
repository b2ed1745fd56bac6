package expr_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// A builtin is a Go function with types, documentation and what its calls need.
// Here it is called from CEL.
func ExampleFunction() {
	initials := expr.Function{
		Name: "text.initials", Args: []expr.Type{expr.String}, Result: expr.String,
		Doc:     "the first letters of the words of a text",
		Example: `text.initials(object.spec.title)`,
		Needs: func(args []value.Value) expr.Need {
			need := expr.Linear(0)(args)    // it goes through the text once,
			need.Text = value.Size(args[0]) // builds at most a text of that length,
			need.Scratch = 16 * need.Text   // and a list of its words meanwhile
			return need
		},
		Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
			text, _ := value.Str(args[0])
			out := ""
			for word := range strings.FieldsSeq(text) {
				out += word[:1]
			}
			return value.OfString(out), nil
		},
	}
	env, err := cel.NewEnv([]expr.Function{initials})
	if err != nil {
		fmt.Println(err)
		return
	}
	if env, err = env.With(cel.Var{Name: "title", Type: cel.StringType}); err != nil {
		fmt.Println(err)
		return
	}
	var problems document.Problems
	program := env.Compile(cel.Text{Source: `text.initials(title) + "!"`}, &problems)
	if program == nil {
		fmt.Println(problems.Err())
		return
	}
	scope, err := interpreter.NewActivation(map[string]any{"title": value.OfString("custom resource definition")})
	if err != nil {
		fmt.Println(err)
		return
	}
	meter := expr.NewMeter(context.Background())
	defer meter.Close()
	result, err := program.Eval(scope, meter)
	fmt.Println(value.Plain(result), err)
	// Output: crd! <nil>
}

// A builtin that depends on the time reports when its result changes, so that the
// object is evaluated again at that time.
func ExampleFunction_timed() {
	free := func(day time.Time) bool { return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday }
	weekend := expr.Function{
		Name: "isWeekend", Result: expr.Bool, Timed: true, Small: true, Bounded: true,
		Doc:     "whether it is Saturday or Sunday in UTC",
		Example: `isWeekend()`,
		Do: func(call *expr.Call, _ []value.Value) (value.Value, error) {
			day := call.Now.UTC().Truncate(24 * time.Hour)
			next := day.AddDate(0, 0, 1)
			for free(next) == free(day) {
				next = next.AddDate(0, 0, 1)
			}
			call.Flip(next)
			return value.OfBool(free(day)), nil
		},
	}
	call := &expr.Call{
		Now:  time.Date(2026, 3, 5, 15, 0, 0, 0, time.UTC), // a Thursday
		Flip: func(at time.Time) { fmt.Println("changes on", at.Format(time.DateOnly)) },
	}
	result, err := weekend.Do(call, nil)
	fmt.Println(value.Plain(result), err)
	// Output:
	// changes on 2026-03-07
	// false <nil>
}

// A call is charged before it is made: one that exceeds a limit returns an error
// that names the call, and nothing is built.
func ExampleMeter_Charge() {
	meter := expr.NewMeter(context.Background())
	defer meter.Close()
	fmt.Println(meter.Charge("text.initials", expr.Need{Work: 10, Text: 100}))
	err := meter.Charge("text.initials", expr.Need{Work: 10, Text: expr.TextBytes + 1})
	fmt.Println(expr.TooCostly(err))
	// Output:
	// <nil>
	// true
}
