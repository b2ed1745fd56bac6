package lsp

// Position is a place in a document: Line and Character count from 0, Character in
// units of UTF-16.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a document, without its end.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

type documentID struct {
	URI string `json:"uri"`
}

// at is a place in a document, as most requests name it.
type at struct {
	TextDocument documentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

// findings are those of a document at a place.
type findings struct {
	TextDocument documentID `json:"textDocument"`
	Context      struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	} `json:"context"`
}

// Diagnostic is a finding.
type Diagnostic struct {
	Range           Range            `json:"range"`
	Severity        int              `json:"severity"`
	Code            string           `json:"code"`
	CodeDescription *codeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	// Related are places that the finding is about, too.
	Related []Related `json:"relatedInformation,omitempty"`
	Data    *Data     `json:"data,omitempty"`
}

// Related is a place that a finding is about besides its own.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// Data is what quick fixes are made of.
type Data struct {
	Hint string `json:"hint,omitempty"`
	// Elsewhere says that the finding is one in another document, where it would have to
	// be accepted.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

type codeDescription struct {
	Href string `json:"href"`
}

// CompletionItem is what may be written at a place.
type CompletionItem struct {
	Label         string  `json:"label"`
	Kind          int     `json:"kind"`
	Detail        string  `json:"detail,omitempty"`
	Documentation *Markup `json:"documentation,omitempty"`
}

// The kinds of completion items.
const (
	kindMethod   = 2
	kindFunction = 3
	kindField    = 5
	kindVariable = 6
	kindProperty = 10
	kindValue    = 12
)

// Markup is a text for people.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *Markup { return &Markup{"markdown", text} }

type hover struct {
	Contents *Markup `json:"contents"`
}

// Location is a part of some document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []Diagnostic  `json:"diagnostics"`
	Edit        workspaceEdit `json:"edit"`
}
