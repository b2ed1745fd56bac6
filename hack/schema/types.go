package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"strings"
)

// structs are the types of the documents, by name.
type structs map[string]structure

// structure is a type with the fields that a document may have.
type structure struct {
	comment string
	fields  []field
}

// field is a field of a document.
type field struct {
	name, of, comment string
	required          bool
	// with is a field that it must have; "" is none.
	with string
	// or is a field that may be there instead; "" is none.
	or string
	// enum lists the texts that it may be; none means any.
	enum []string
}

// parse reads the types of a package.
func parse(folder string) (structs, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no Go files (%w)", folder, err)
	}
	out := structs{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				out.add(d)
			}
		}
	}
	return out, nil
}

func (s structs) add(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		t := spec.(*ast.TypeSpec)
		if of, ok := t.Type.(*ast.StructType); ok && t.TypeParams == nil {
			s[t.Name.Name] = structure{comment: text(d.Doc), fields: fields(of)}
		}
	}
}

// fields returns the fields with a yaml tag.
func fields(of *ast.StructType) (out []field) {
	for _, f := range of.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		name := tag.Get("yaml")
		if name == "" || name == "-" {
			continue
		}
		one := field{name: name, of: types.ExprString(f.Type), comment: text(f.Doc)}
		if rest, ok := strings.CutPrefix(one.comment, f.Names[0].Name+" "); ok {
			one.comment = name + " " + rest
		}
		for option := range strings.SplitSeq(tag.Get("schema"), ",") {
			if values, ok := strings.CutPrefix(option, "enum="); ok {
				one.enum = strings.Split(values, "|")
			}
			if with, ok := strings.CutPrefix(option, "with="); ok {
				one.with = with
			}
			if or, ok := strings.CutPrefix(option, "or="); ok {
				one.or = or
			}
			one.required = one.required || option == "required"
		}
		out = append(out, one)
	}
	return out
}

// text returns a comment as one line.
func text(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
