package chart

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// TestLongNames: a release may be called what helm allows, 53 characters.
func TestLongNames(t *testing.T) {
	text, err := helm(t, "template", strings.Repeat("long-", 10)+"abc", chart, "--values", values("everything"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range objects(t, text) {
		if cluster := slices.Contains([]string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}, one.GetKind()); len(one.GetName()) > 63 && !cluster {
			t.Errorf("%s %s has %d characters", one.GetKind(), one.GetName(), len(one.GetName()))
		}
		labels, _, _ := unstructured.NestedStringMap(one.Object, "metadata", "labels")
		for key, value := range labels {
			if len(value) > 63 {
				t.Errorf("the label %s of %s %s has %d characters", key, one.GetKind(), one.GetName(), len(value))
			}
		}
	}
}

// TestDottedName: a release may have dots in its name, a Service not.
func TestDottedName(t *testing.T) {
	text, err := helm(t, "template", "v1.2", chart, "--values", values("everything"))
	if err != nil {
		t.Fatal(err)
	}
	services := 0
	for _, one := range objects(t, text) {
		if one.GetKind() == "Service" {
			services++
			if problems := validation.IsDNS1035Label(one.GetName()); len(problems) > 0 {
				t.Errorf("%s: %v", one.GetName(), problems)
			}
		}
	}
	if services == 0 {
		t.Error("there is no Service")
	}
}

// TestValuesThatAreTakenAway: null is how helm takes a default away.
func TestValuesThatAreTakenAway(t *testing.T) {
	list := objects(t, template(t, "--set", "policies.replica-scheduling=null", "--set", "resources=null"))
	if find(list, "ConfigMap", release+"-agent-node-label") == nil || find(list, "ConfigMap", release+"-replica-scheduling") != nil {
		t.Error("one policy was to be missing")
	}
}

// TestEveryValueIsDocumented: the table in the README names every value.
func TestEveryValueIsDocumented(t *testing.T) {
	files := texts(t, chart)
	var given map[string]any
	if err := yaml.Unmarshal([]byte(files["values.yaml"]), &given); err != nil {
		t.Fatal(err)
	}
	delete(given, "policies")
	for _, path := range leaves(given) {
		group := strings.Split(path, ".")
		if !strings.Contains(files["README.md"], "`"+group[0]) || !strings.Contains(files["README.md"], group[len(group)-1]+"`") {
			t.Errorf("the README does not name %s", path)
		}
	}
}

func leaves(given map[string]any) (out []string) {
	for name, value := range given {
		deeper, isMap := value.(map[string]any)
		if !isMap || len(deeper) == 0 || name == "resources" || name == "labels" {
			out = append(out, name)
			continue
		}
		for _, path := range leaves(deeper) {
			out = append(out, name+"."+path)
		}
	}
	return out
}
