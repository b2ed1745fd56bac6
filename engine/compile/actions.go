package compile

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
)

// actions compiles actions. Each is a node of its own, which is a part of the
// scope's.
type actions struct {
	targets    *targets
	manifests  *manifests
	selections *selections
}

// list compiles a list of actions; it is the actionList of all that has one.
func (as *actions) list(s *scope, docs []v1alpha1.Action) []plan.Action {
	var out []plan.Action
	for i := range docs {
		if a := as.action(s, &docs[i]); a != nil {
			out = append(out, a)
		}
	}
	return out
}

func (as *actions) action(s *scope, a *v1alpha1.Action) plan.Action {
	says := said(a)
	s = s.part(analyze.Action, says.name, a.Pos)
	if says.count != 1 {
		s.problems.Hintf(a.Pos, "each action of the list is one of labels, annotations, status, condition, patch, apply, create, delete, scale, evict, approve, finalizer, select, remember, event, log, fail",
			"an action must say exactly one thing to do, this says %d", says.count)
		return nil
	}
	if a.Apply == nil && (len(a.Once) > 0 || a.IfExists.Set()) {
		s.problems.Hintf(a.Pos, "apply: {...}, and once or ifExists beside it", "only apply takes once and ifExists")
		return nil
	}
	if out, found := as.fields(s, a); found {
		return out
	}
	return as.others(s, a)
}

// fields compiles an action about fields of an object; found is false for any
// other.
func (as *actions) fields(s *scope, a *v1alpha1.Action) (out plan.Action, found bool) {
	switch {
	case a.Labels != nil:
		return metadataMap(s, a.Labels, "labels", as.targets), true
	case a.Annotations != nil:
		return metadataMap(s, a.Annotations, "annotations", as.targets), true
	case a.Status != nil:
		return status(s, a, as.targets), true
	case a.Condition != nil:
		return condition(s, a.Condition, as.targets), true
	case a.Patch != nil:
		return patch(s, a.Patch, as.targets), true
	case a.Finalizer != nil:
		return finalizer(s, a.Finalizer, as.targets), true
	}
	return nil, false
}

func (as *actions) others(s *scope, a *v1alpha1.Action) plan.Action {
	switch {
	case a.Select != nil:
		return as.selections.compile(s, a.Select, as.list)
	case a.Apply != nil:
		return as.manifests.applied(s, a)
	case a.Create != nil:
		return as.manifests.made(s, *a.Create, a.Pos)
	case a.Delete != nil:
		return deletion(s, a.Delete, as.targets)
	case a.Scale != nil:
		return scale(s, a.Scale, as.targets)
	case a.Evict != nil:
		return eviction(s, a.Evict, as.targets)
	case a.Approve != nil:
		return approval(s, a.Approve, as.targets)
	case a.Event != nil:
		return event(s, a.Event, as.targets)
	case a.Log != nil:
		return &plan.Log{Pos: a.Log.Pos, Level: a.Log.Level.Value, Message: s.worded(a.Log.Message, "log.message")}
	case a.Fail != nil:
		return &plan.Fail{Pos: a.Pos, Message: s.worded(*a.Fail, "fail")}
	default:
		return remember(s, a.Remember)
	}
}

// saying is how many things an action says to do, and the name of the first.
type saying struct {
	name  string
	count int
}

func said(a *v1alpha1.Action) (out saying) {
	v := reflect.ValueOf(*a)
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() != reflect.Pointer && f.Kind() != reflect.Slice || f.IsNil() || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		out.name = cmp.Or(out.name, strings.ToLower(name))
		if name != "Once" { // says how, not what
			out.count++
		}
	}
	return out
}
