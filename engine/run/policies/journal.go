package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// journal notes in the cluster which texts are new while they are compiled and
// first run. A text that is noted when another process takes the lead has ended
// the one before, as far as that can be known: it is quarantined, so that one
// text cannot take all policies down for ever.
type journal struct {
	client    kubernetes.Interface
	namespace string
	logger    *slog.Logger
	// self is the process, to recognise its own notes.
	self types.UID
	// trying are the texts that this process has noted, by policy; dead those that
	// others left behind.
	trying, dead map[string]attempt
}

// attempt is a text that was new.
type attempt struct {
	Revision string `json:"revision"`
	// By is the process that noted it, Host where it runs.
	By   types.UID `json:"by"`
	Host string    `json:"host,omitempty"`
	// Since is when it was noted, or when its process was found to have ended.
	Since time.Time `json:"since"`
	// Deaths counts the processes that ended while they tried it.
	Deaths int `json:"deaths,omitempty"`
}

const (
	// journalName is the ControllerRevision whose annotation is the journal.
	journalName       = "edict-journal"
	annotationJournal = "edict.dev/journal"
	// proving is how long a text has to run before it counts as harmless.
	proving = 5 * time.Second
	// quarantine is how long a text is left alone after the first death, since a
	// process may end for another reason; after each further one six times as long.
	quarantine = 10 * time.Minute
	// maxQuarantine bounds that time.
	maxQuarantine = 60 * 24 * time.Hour
	// forgotten is how long after its quarantine a text is forgotten. One that still
	// exists is tried when the quarantine ends, and is noted anew.
	forgotten = 24 * time.Hour
)

// until returns when the quarantine of a text ends.
func (a attempt) until() time.Time {
	wait := quarantine
	for i := 1; i < a.Deaths && wait < maxQuarantine; i++ {
		wait *= 6
	}
	return a.Since.Add(min(wait, maxQuarantine))
}

// thisProcess is the same for all terms of a process.
var thisProcess = uuid.NewUUID()

func newJournal(client kubernetes.Interface, namespace string, log *slog.Logger) *journal {
	return &journal{client: client, namespace: namespace, logger: log, self: thisProcess, trying: map[string]attempt{}, dead: map[string]attempt{}}
}

// read takes over what earlier processes left behind.
func (j *journal) read(ctx context.Context) error {
	found, err := j.client.AppsV1().ControllerRevisions(j.namespace).Get(ctx, journalName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return j.make(ctx)
	}
	if err != nil {
		return err
	}
	left := map[string]attempt{}
	if text := found.Annotations[annotationJournal]; text != "" {
		if err := json.Unmarshal([]byte(text), &left); err != nil {
			j.logger.Warn("the journal of new texts cannot be read, and starts empty", "name", journalName, "error", err.Error())
		}
	}
	for id, a := range left {
		if a.By == j.self {
			continue // it lost the lead while it tried
		}
		if a.By != "" {
			a.By, a.Since, a.Deaths = "", time.Now(), a.Deaths+1
			j.logger.Error("a process ended while this text was new", observe.LogPolicy, id, observe.LogRevision, a.Revision, "host", a.Host, "times", a.Deaths)
		}
		if time.Since(a.until()) < forgotten {
			j.dead[id] = a
		}
	}
	return j.write(ctx)
}

// make makes the object, since its annotation alone is ever written.
func (j *journal) make(ctx context.Context) error {
	_, err := j.client.AppsV1().ControllerRevisions(j.namespace).Create(ctx, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: journalName}, Data: runtime.RawExtension{Raw: []byte("{}")},
	}, metav1.CreateOptions{FieldManager: apply.FieldManager})
	return err
}

// write writes all notes. An object that somebody has deleted, such as an upgrade
// from a release that brought it along, is made again.
func (j *journal) write(ctx context.Context) error {
	err := j.patch(ctx)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := j.make(ctx); err != nil {
		return err
	}
	return j.patch(ctx)
}

func (j *journal) patch(ctx context.Context) error {
	all := maps.Clone(j.dead)
	maps.Copy(all, j.trying)
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationJournal: string(text)}}})
	if err != nil {
		return err
	}
	_, err = j.client.AppsV1().ControllerRevisions(j.namespace).Patch(ctx, journalName, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: apply.FieldManager})
	return err
}

// quarantined returns why a text is not loaded; nil if it may be loaded.
func (j *journal) quarantined(u *source.Unit, now time.Time) *document.Problem {
	a, ok := j.dead[u.ID()]
	if !ok || a.Revision != u.Revision() {
		return nil
	}
	until := a.until()
	if !now.Before(until) {
		return nil
	}
	return &document.Problem{
		Position: u.Document.Pos, Severity: document.Error,
		Message: fmt.Sprintf("quarantined: the process on %s ended while this text was new, %s; it is not loaded before %s", a.Host, times(a.Deaths), until.UTC().Format(time.RFC3339)),
		Hint:    "change the text, or take it back: edict rollback " + u.Name() + " --policy-namespace " + j.namespace,
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// begin notes a text that is about to be compiled. That it cannot be noted holds
// nothing up.
func (j *journal) begin(ctx context.Context, u *source.Unit) {
	host, _ := os.Hostname()
	a := attempt{Revision: u.Revision(), By: j.self, Host: host, Since: time.Now()}
	if before := j.dead[u.ID()]; before.Revision == a.Revision {
		a.Deaths = before.Deaths
	}
	j.trying[u.ID()] = a
	delete(j.dead, u.ID())
	j.log(j.write(ctx))
}

// prove drops the notes of texts that have not ended the process: those that are
// refused, and those that have run for a while. It reports whether some have
// still to run.
func (j *journal) prove(ctx context.Context, policies *lifecycle.Registry, now time.Time) (waits bool) {
	changed := false
	for id, a := range j.trying {
		p := policies.Get(id)
		v, r := p.Newest, p.Report
		fresh := r.Event == lifecycle.Activated && (r.InForce != a.Revision || now.Sub(a.Since) < proving) || r.Event == lifecycle.Begun && now.Sub(a.Since) < proving
		switch {
		case p.Phase == lifecycle.Testing, v != nil && v.Good() && (fresh || r.Event == ""):
			waits = true
		default:
			delete(j.trying, id)
			policies.Prove(id, a.Revision)
			changed = true
		}
	}
	if changed {
		j.log(j.write(ctx))
	}
	return waits
}

// clear drops the notes of a process that ends as it should. An object that is gone
// stays gone: the release may be too.
func (j *journal) clear(ctx context.Context) {
	if len(j.trying) > 0 {
		j.trying = map[string]attempt{}
		if err := j.patch(ctx); !apierrors.IsNotFound(err) {
			j.log(err)
		}
	}
}

func (j *journal) log(err error) {
	if err != nil {
		j.logger.Warn("it cannot be noted which texts are new", "name", journalName, "error", err.Error())
	}
}
