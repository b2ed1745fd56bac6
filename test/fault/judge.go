package fault

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// world lists all objects that the policies read or write.
func (s *stage) world(ctx context.Context) (out []simulate.Object, err error) {
	for _, one := range []struct {
		kind      string
		resource  kschema.GroupVersionResource
		namespace string
	}{{"Node", nodes, ""}, {"ConfigMap", configMaps, "source"}, {"ConfigMap", configMaps, "target"}} {
		list, err := s.client.Resource(one.resource).Namespace(one.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			item.SetAPIVersion("v1")
			item.SetKind(one.kind)
			out = append(out, item.Object)
		}
	}
	return out, nil
}

// pending computes afresh what is still to be written: nothing at rest.
func (s *stage) pending(ctx context.Context) string {
	objects, err := s.world(ctx)
	if err != nil {
		return err.Error()
	}
	bundle, err := source.Load([]string{"testdata"}, source.Options{})
	if err != nil {
		return err.Error()
	}
	if s.scene.sets {
		for _, p := range bundle.Policies {
			p.Set = "base"
		}
	}
	sim := simulate.New(ctx, simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Objects: objects, Guard: guard.New(bundle.Allowances), Start: time.Now()})
	sim.Run(ctx, nil, -1)
	result := sim.Result()
	if len(result.Errors) > 0 {
		return fmt.Sprintf("errors: %+v", result.Errors[0])
	}
	if n := len(result.Effects); n > 0 {
		return fmt.Sprintf("%d writes are missing, the first is %+v", n, result.Effects[0])
	}
	copies := map[string]int{}
	for _, o := range objects {
		metadata, _ := o["metadata"].(object)
		if ns, _ := metadata["namespace"].(string); ns != "" {
			copies[fmt.Sprint(metadata["name"])] += map[string]int{"source": 1, "target": -1}[ns]
		}
	}
	for name, n := range copies {
		if n != 0 {
			return fmt.Sprintf("of the ConfigMap %s there is only the source or only the copy", name)
		}
	}
	return ""
}

// converged waits until nothing is to be written any more.
func (s *stage) converged(what string, within time.Duration) time.Duration {
	s.t.Helper()
	took := s.eventually(what, within, s.pending)
	s.t.Logf("%s: at rest after %v", what, took.Round(100*time.Millisecond))
	return took
}

// request is a line of the audit log, as far as it is judged.
type request struct {
	Verb      string    `json:"verb"`
	URI       string    `json:"requestURI"`
	UserAgent string    `json:"userAgent"`
	At        time.Time `json:"requestReceivedTimestamp"`
	Object    struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Body struct {
		Data struct {
			Text string `json:"text"`
		} `json:"data"`
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	} `json:"requestObject"`
}

// history reads what controllers wrote, in the order of the audit log.
func (s *stage) history() (out []request) {
	s.t.Helper()
	for _, r := range s.requests() {
		if strings.HasPrefix(r.UserAgent, "fault/edict-") && r.writes() {
			out = append(out, r)
		}
	}
	return out
}

// requests reads the audit log.
func (s *stage) requests() (out []request) {
	s.t.Helper()
	s.auditLines(func(text []byte) {
		var r request
		if json.Unmarshal(text, &r) == nil { // it may be the line that is being written
			out = append(out, r)
		}
	})
	return out
}

// auditLines calls a function with each line of the audit log.
func (s *stage) auditLines(with func(text []byte)) {
	s.t.Helper()
	file, err := os.Open(s.plane.AuditLogPath())
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		with(lines.Bytes())
	}
}

// writes reports whether a request changes something that policies decide about.
func (r request) writes() bool {
	switch r.Verb {
	case "get", "list", "watch":
		return false
	}
	switch r.Object.Resource {
	case "leases", "events", "selfsubjectaccessreviews", "selfsubjectreviews":
		return false
	}
	return r.Object.Namespace != home // what the controller keeps for itself
}

// policy returns the name of the policy, without its set, that a write was made for.
func (r request) policy() string {
	_, query, _ := strings.Cut(r.URI, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return path.Base(values.Get("fieldManager"))
}

// writesOf returns the writes that were made for a policy about an object, one
// after the other.
func (s *stage) writesOf(policy, name string) (out []request) {
	s.t.Helper()
	for _, r := range s.history() {
		if r.policy() == policy && r.Object.Name == name && r.Response.Code < 300 {
			out = append(out, r)
		}
	}
	return out
}

// by is the controller that sent a request.
func (r request) by() string { return strings.TrimPrefix(r.UserAgent, "fault/") }

func (r request) String() string {
	return fmt.Sprintf("%s %s %s %s/%s %d", r.At.Format("15:04:05.000"), r.by(), r.Verb, r.Object.Namespace, r.Object.Name, r.Response.Code)
}

// judge holds the history to what must always be true: at rest nothing is
// written, and nothing but what the policies may write ever is.
func (s *stage) judge() {
	s.t.Helper()
	before := len(s.history())
	time.Sleep(3 * time.Second)
	if after := s.history(); len(after) > before {
		s.t.Errorf("at rest %d more writes, the first is %v", len(after)-before, after[before])
	}
	for _, r := range s.history() {
		allowed := r.Object.Resource == "nodes" && r.Verb == "patch" && r.Object.Subresource == "" ||
			r.Object.Resource == "configmaps" && r.Object.Namespace == "target" && (r.Verb == "patch" || r.Verb == "delete" || r.Verb == "create") ||
			r.Object.Resource == "configmaps" && r.Object.Namespace == "source" && r.Verb == "patch"
		if !allowed {
			s.t.Errorf("a stray write: %v", r)
		}
	}
	s.oneWriter()
	s.noLeak()
}

// noReverts wants no copy to be written with a text that its source had before the
// text of an earlier write: a decision on an old state that has come through.
func (s *stage) noReverts() {
	s.t.Helper()
	texts, last, compared := map[string][]string{}, map[string]int{}, 0
	var copies []request
	for _, r := range s.requests() {
		switch {
		case r.Object.Resource != "configmaps" || r.Body.Data.Text == "":
		case r.Object.Namespace == "source": // also if it failed: nobody may have waited for the answer
			texts[r.Object.Name] = append(texts[r.Object.Name], r.Body.Data.Text)
		case r.Response.Code < 300:
			copies = append(copies, r) // which may be in the log before what it follows from
		}
	}
	for _, r := range copies {
		name := r.Object.Name
		at := slices.Index(texts[name], r.Body.Data.Text)
		if at < last[name] {
			s.t.Errorf("a text of before came back: %v, number %d of %v after number %d", r, at, texts[name], last[name])
		}
		last[name], compared = max(last[name], at), compared+1
	}
	if compared < 50 {
		s.t.Errorf("VOID: only %d copies were compared", compared)
	}
}

// oneWriter wants the writes of controllers not to overlap: when one has begun
// to write, the one before writes no more until it leads again.
func (s *stage) oneWriter() {
	s.t.Helper()
	type term struct {
		by          string
		first, last time.Time
	}
	var terms []term
	for _, r := range s.history() {
		if r.Response.Code >= 300 {
			continue
		}
		if n := len(terms); n == 0 || terms[n-1].by != r.by() {
			terms = append(terms, term{r.by(), r.At, r.At})
		}
		terms[len(terms)-1].last = r.At
	}
	// Who comes back must have led again in between: a lease lasts 15 s.
	for i := 2; i < len(terms); i++ {
		if between := terms[i].first.Sub(terms[i-2].last); terms[i].by == terms[i-2].by && between < time.Second {
			s.t.Errorf("%s writes again %v after another has begun to write", terms[i].by, between)
		}
	}
}

// noLeak wants as few goroutines as a controller needs, of which each policy has its
// workers.
func (s *stage) noLeak() {
	s.t.Helper()
	for _, c := range s.controllers {
		if n, ok := c.gauge(s.t.Context(), "go_goroutines"); ok && n > float64(300+15*s.added.Load()) {
			s.t.Errorf("%s has %v goroutines at rest", c.proxy.Name, n)
		}
	}
}
