package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
)

// in is a set of another namespace.
func in(namespace, name string, policies ...string) *edictv1.PolicySet {
	return setOf(name, func(s *edictv1.PolicySet) {
		s.Namespace = namespace
		for _, p := range policies {
			s.Status.Policies = append(s.Status.Policies, edictv1.PolicyStatus{Name: p})
		}
	})
}

// TestHome: a set is looked for in all namespaces, by its name or that of one of its policies, and in
// edict-system if these may not be listed.
func TestHome(t *testing.T) {
	t.Parallel()
	two := []client.Object{in("a", "s", "one"), in("b", "t", "two"), in("b", "u", "one"), in(defaultNamespace, "v")}
	for name, tc := range map[string]struct {
		sets      []client.Object
		forbidden bool
		given     string
		names     []string
		want      []string
	}{
		"by the set":            {two, false, "", []string{"s/one"}, []string{"a"}},
		"by the set alone":      {two, false, "", []string{"t"}, []string{"b"}},
		"by a policy":           {two, false, "", []string{"two"}, []string{"b"}},
		"by a policy of both":   {two, false, "", []string{"one"}, []string{"a", "b"}},
		"of an unknown name":    {two, false, "", []string{"x"}, []string{"a", "b", defaultNamespace}},
		"of all":                {two, false, "", nil, []string{"a", "b", defaultNamespace}},
		"that is given":         {two, false, "c", []string{"s"}, []string{"c"}},
		"that may be listed":    {two, true, "", []string{"s"}, []string{defaultNamespace}},
		"where no set is there": {nil, false, "", []string{"s"}, []string{defaultNamespace}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setsOf(t, tc.sets...)
			c.Context.Namespace = tc.given
			if tc.forbidden {
				c.client = forbidden(c.client)
			}
			got, err := c.homes(t.Context(), tc.names...)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if err := c.home(t.Context(), tc.names...); len(tc.want) == 1 && (err != nil || c.Context.Namespace != tc.want[0]) || len(tc.want) > 1 && !strings.HasSuffix(says(err), "in the namespaces "+strings.Join(tc.want, ", ")+": choose one with -n") {
				t.Errorf("%q, %v", c.Context.Namespace, err)
			}
		})
	}
}

// forbidden is a client that may list in namespaces alone.
func forbidden(c client.Client) client.Client {
	return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if (&client.ListOptions{}).ApplyOptions(options).Namespace == "" {
			return apierrors.NewForbidden(kschema.GroupResource{Group: "edict.dev", Resource: "policysets"}, "", nil)
		}
		return c.List(ctx, list, options...)
	}})
}

// TestGet: a set is named as SET, by a policy of it, or as for kubectl. One in several namespaces is not.
func TestGet(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"s": "a", "s/one": "a", "policyset/s": "a", "pset/s": "a", "policysets.edict.dev/s": "a",
		"t":   "there is a PolicySet t in each of the namespaces a, b: choose one with -n",
		"x":   `there is no PolicySet "x" in any namespace`,
		"s/x": "a",
	} {
		c := setsOf(t, in("a", "s", "one"), in("a", "t"), in("b", "t"))
		s, err := c.get(t.Context(), arg)
		if got := says(err); s == nil && !strings.HasPrefix(got, want) || s != nil && s.Namespace != want {
			t.Errorf("%s: %+v, %v, want %q", arg, s, err, want)
		}
	}
}

// TestStandardInput: the path - is standard input.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "-"}, {"graph", "-f", "-"}, {"rbac", "-"}, {"params", "-", "one"}, {"allowances", "-"}} {
		var out, errOut strings.Builder
		if code := runEdict(t.Context(), args, strings.NewReader(marking("one", "a")), &out, &errOut); code != 0 || args[0] == "check" && !strings.Contains(out.String(), "1 policy in 1 file") {
			t.Errorf("%v: %d, %s%s", args, code, out.String(), errOut.String())
		}
	}
}
