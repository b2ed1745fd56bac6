package cel

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// demand is what is declared of an overload of a function.
type demand struct {
	// need tells what a call is going to take; nil when that is small whatever
	// the arguments are.
	need func(*callArgs) expr.Need
	// instead makes the call in place of the library's function; a nil result
	// leaves it to that.
	instead func(*callArgs) ref.Val
	// pattern says that need takes a text and the size of a literal pattern.
	pattern bool
}

func (d *demand) metered() bool { return d.need != nil }

// small is declared of what takes little, whatever its arguments are.
var small = &demand{}

// demands are those of an environment.
type demands struct {
	// overloads are by the overloads' names, dynamic by the functions', for calls
	// whose overload is found when they are made.
	overloads, dynamic map[string]*demand
	bindings           map[string]*functions.Overload
}

// newDemands looks up what is declared of every overload of an environment. It
// fails when an overload has no declaration, or when those of one function
// cannot be told apart by a call whose types are not known.
func newDemands(env *cel.Env, own []expr.Function) (*demands, error) {
	d := &demands{overloads: map[string]*demand{}, dynamic: map[string]*demand{}, bindings: map[string]*functions.Overload{}}
	declared, known := declarations(own), env.Functions() // which makes a map each time
	for _, name := range slices.Sorted(maps.Keys(known)) {
		f := known[name]
		d.dynamic[name] = small
		for _, o := range f.OverloadDecls() {
			of, ok := declared[o.ID()]
			switch {
			case !ok:
				return nil, fmt.Errorf("nothing is declared of what the overload %s of %s needs", o.ID(), name)
			case of.metered() && d.dynamic[name].metered() && d.dynamic[name] != of:
				return nil, fmt.Errorf("the overloads of %s are declared in different ways", name)
			case of.metered():
				d.dynamic[name] = of
			}
			d.overloads[o.ID()] = of
		}
		bindings, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		for _, b := range bindings {
			d.bindings[b.Operator] = b
		}
	}
	return d, nil
}

// of returns what is declared of a call; nil when nothing is.
func (d *demands) of(function, overload string) *demand {
	if of, ok := d.overloads[overload]; ok {
		return of
	}
	return d.dynamic[function]
}

// implementation finds the function as the planner does.
func (d *demands) implementation(function, overload string) *functions.Overload {
	switch function {
	case operators.Equals:
		return &functions.Overload{Binary: types.Equal}
	case operators.NotEquals:
		return &functions.Overload{Binary: func(a, b ref.Val) ref.Val { return types.Bool(types.Equal(a, b) != types.True) }}
	}
	if f, ok := d.bindings[overload]; ok {
		return f
	}
	return d.bindings[function]
}

// declarations are those of the libraries and of the builtins.
func declarations(own []expr.Function) map[string]*demand {
	out := map[string]*demand{}
	for d, overloads := range catalogue {
		for _, o := range overloads {
			out[o] = d
		}
	}
	for _, f := range own {
		d := builtinDemand(f)
		for i := range forms(f.Args) {
			out[overloadOf(f, i)] = d
		}
	}
	return out
}

// builtinDemand is what a builtin declares. One that declares nothing is taken
// to go through its arguments once and to build no more than they have.
func builtinDemand(f expr.Function) *demand {
	if f.Small {
		return small
	}
	arity := len(f.Args)
	return &demand{need: func(a *callArgs) expr.Need {
		walked := 0
		for i := range arity {
			v, n, err := argument(a[i])
			walked += n
			if err != nil { // the call returns the error, after as many steps again
				return expr.Need{Work: units(2*walked, walkedPerUnit)}
			}
			a[i] = v
		}
		need := linear(f, a[:arity])
		need.Work += units(walked, walkedPerUnit)
		return need
	}}
}

// linear is the need of a builtin for settled arguments.
func linear(f expr.Function, args []value.Value) expr.Need {
	if f.Needs != nil {
		return f.Needs(args)
	}
	need, m := expr.Linear(0)(args), measure{}
	need.Bytes = m.deep(args...)
	return need
}
