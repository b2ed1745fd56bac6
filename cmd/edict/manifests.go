package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// manifests are the flags that give a world: manifests, or a case of a policy test.
type manifests struct {
	objects, test, answers string
	now                    time.Time
	// begin has the objects, time and answers of the case, or is nil for manifests.
	begin *policytest.Start
}

// register adds the flags; the time is another one by default.
func (m *manifests) register(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&m.objects, "objects", "", "a file or folder of manifests, or a policy test")
	flags.StringVar(&m.test, "case", "", "the case of the policy test of --objects that gives objects, time and answers, if it has several")
	flags.StringVar(&m.answers, "answers", "", "a file with the answers of builtins that call out (default: answers.json or answers.yaml in the folder of --objects)")
	flags.TimeVar(&m.now, "now", time.Time{}, []string{time.RFC3339}, "the time at which policies begin, RFC 3339 (default: "+otherwise+")")
}

// open reads the case of a policy test, if one is given, and finds the answers.
func (m *manifests) open() (err error) {
	if m.objects == "" {
		return nil
	}
	m.answers = cmp.Or(m.answers, simulate.AnswersIn(m.objects))
	if m.begin, err = policytest.Begin(m.objects, m.test); err != nil {
		return found("%v", err)
	}
	switch {
	case m.begin != nil:
		m.now = m.instant(m.begin.Now)
	case m.test != "":
		return fmt.Errorf("--case names a case of a policy test, and --objects %s is none", m.objects)
	}
	return nil
}

// instant returns the time, or another one if none is given.
func (m *manifests) instant(otherwise time.Time) time.Time {
	if m.now.IsZero() {
		return otherwise
	}
	return m.now
}

// answerer returns the answers of builtins, or nil if none are given.
func (m *manifests) answerer() (expr.Answerer, error) {
	if m.answers == "" {
		if m.begin != nil {
			return m.begin.Answers, nil
		}
		return nil, nil
	}
	text, err := os.ReadFile(m.answers)
	if err != nil {
		return nil, err
	}
	answers, err := simulate.ParseAnswers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.answers, err)
	}
	return answers, nil
}

// read reads the objects, whose values must be of the types of their kinds.
func (m *manifests) read(b *source.Bundle, except ...string) (out []simulate.Object, err error) {
	if m.begin != nil {
		out = m.begin.Objects
	} else if out, err = simulate.ReadObjects(m.objects, append(except, m.answers)...); err != nil {
		return nil, err
	}
	if err := simulate.CheckTypes(b.Schemas, out); err != nil {
		return nil, found("%s: %v; an API server refuses it", m.objects, err)
	}
	return out, nil
}
