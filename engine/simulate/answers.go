package simulate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/expr"
)

// ParseAnswers reads what builtins that look outside answer: YAML or JSON with
// one entry per builtin.
func ParseAnswers(text []byte) (expr.Answerer, error) {
	answers, err := ReadAnswers(text)
	if err != nil {
		return nil, err
	}
	return scripted(answers)
}

// ReadAnswers returns answers as they are written.
func ReadAnswers(text []byte) (Object, error) {
	raw, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	answers, err := apiserver.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("answers are an object with one entry per builtin: %w", mismatch(err))
	}
	return answers, nil
}

func scripted(answers Object) (expr.Answerer, error) {
	found, err := builtins.Scripted(answers)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// noAnswers is what a world without answers answers.
func noAnswers() expr.Answerer {
	empty, err := builtins.Scripted(nil)
	if err != nil {
		panic(err)
	}
	return empty
}

// SetAnswers replaces the answers; nil means none.
func (s *Simulation) SetAnswers(answers expr.Answerer) { s.answers.set(answers) }

// answering answers with the answers of now, which may be replaced.
type answering struct{ answers expr.Answerer }

func (a *answering) set(answers expr.Answerer) {
	if a.answers = answers; answers == nil {
		a.answers = noAnswers()
	}
}

// Answer implements expr.Answerer.
func (a *answering) Answer(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	return a.answers.Answer(ctx, request)
}

// AnswersIn returns the file of answers in a folder of manifests: answers.json,
// answers.yaml or answers.yml; "" when there is none, or path is a file.
func AnswersIn(path string) string {
	for _, name := range []string{"answers.json", "answers.yaml", "answers.yml"} {
		file := filepath.Join(path, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file
		}
	}
	return ""
}
