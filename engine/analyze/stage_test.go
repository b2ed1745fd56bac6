package analyze

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr/cel"
)

var candidateNames = []string{"node", "group"}

func compileAboutCandidates(t *testing.T, text string) *cel.Program {
	t.Helper()
	env, err := cel.NewEnv(nil)
	if err == nil {
		env, err = env.With(
			cel.Var{Name: "node", Type: cel.DynType}, cel.Var{Name: "group", Type: cel.DynType}, cel.Var{Name: "variables.taken", Type: cel.ListOf(cel.DynType)},
			cel.Var{Name: "variables.load", Type: cel.MapOf(cel.IntType)}, cel.Var{Name: "assigned", Type: cel.StringType}, cel.Var{Name: "params.bonus", Type: cel.IntType},
			cel.Var{Name: "members", Type: cel.ListOf(cel.DynType)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, env, text)
}

// outline writes a stage as text.
func outline(s *Stage) string {
	text := func(p *cel.Program) string { return p.Source() }
	var parts []string
	for _, part := range s.Parts {
		parts = append(parts, outline(part))
	}
	switch s.Form {
	case StageOwn:
		return "own{" + text(s.Own) + "}"
	case StageOuter:
		return "outer{" + text(s.Outer) + "}"
	case StageIn:
		return text(s.Own) + " looked up in " + text(s.Outer)
	case StageEqual:
		return text(s.Own) + " looked up as " + text(s.Outer)
	case StageMixed:
		for _, k := range s.Keys {
			parts = append(parts, text(k))
		}
		return "mixed by [" + strings.Join(parts, ", ") + "]"
	default:
		return map[StageForm]string{StageNot: "not", StageAnd: "and", StageOr: "or", StageIf: "if"}[s.Form] + "(" + strings.Join(parts, "; ") + ")"
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`!node.unschedulable && node.ready`, "own{!node.unschedulable && node.ready}"},
		{`params.bonus`, "outer{params.bonus}"},
		{`group.size > params.bonus`, "own{group.size > params.bonus}"},
		{`assigned == ""`, `outer{assigned == ""}`},
		{`!(node.name in variables.taken)`, "not(node.name looked up in variables.taken)"},
		{`node.name == assigned`, "node.name looked up as assigned"},
		{`assigned == node.name`, "node.name looked up as assigned"},
		{`node.ready && node.name in variables.taken`, "and(own{node.ready}; node.name looked up in variables.taken)"},
		{`node.ready || assigned == "x"`, `or(own{node.ready}; outer{assigned == "x"})`},
		{`node.name in variables.taken ? params.bonus : 0`, "if(node.name looked up in variables.taken; outer{params.bonus}; outer{0})"},
		{`-variables.load[node.?zone.orValue("")]`, `mixed by [node.?zone.orValue("")]`},
		{`variables.load[node.name] + size(group.name) + size(node.name)`, "mixed by [node.name, size(group.name), size(node.name)]"},
		{`node.groups.exists(g, g.name == "a")`, `own{node.groups.exists(g, g.name == "a")}`},
		{`node.groups.exists(g, g.name == assigned)`, "mixed by []"},
		{`variables.taken.exists(x, x == node.name)`, "mixed by []"},
		{`node.name in node.others`, "own{node.name in node.others}"},
		{`assigned in node.others`, "mixed by [node.others]"},
	} {
		if got := outline(StageOf(compileAboutCandidates(t, test.text), candidateNames)); got != test.want {
			t.Errorf("%s:\nwant %s\ngot  %s", test.text, test.want, got)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`size(members) > 1 ? params.bonus : 0`, "(edict_fold_size > 1) ? params.bonus : 0"},
		{`members.size() * 2`, "edict_fold_size * 2"},
		{`countDistinct(members, m, m.node.name) < size(variables.taken) ? -800 : 0`, "(edict_fold_i < size(variables.taken)) ? -800 : 0"},
		{`countDistinct(members, m, m.node.name) + countDistinct(members, x, x.group) + size(members)`, "edict_fold_i + edict_fold_ii + edict_fold_size"},
		{`countDistinct(members, m, m.node.name + assigned)`, ""},
		{`members.filter(m, m.node.ready).size()`, ""},
		{`members[0].node.weight`, ""},
		{`variables.taken.exists(x, x == size(members)) ? 1 : 0`, ""},
		{`size(variables.taken)`, "size(variables.taken)"},
	} {
		f := FoldOf(compileAboutCandidates(t, test.text), "members")
		got := ""
		if f != nil {
			got = f.Program.Source()
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, d)
		}
	}
}
