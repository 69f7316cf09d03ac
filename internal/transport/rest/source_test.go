package rest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// What the sources say of a type beyond what reflection knows: the sentence
// above it, the words beside its fields, and the constants it can be.
type source struct {
	sentences map[string]string   // by package and type
	fields    map[string]string   // by package, type and field
	words     map[string][]string // by package and type
}

// readSources reads the packages whose types are on the wire.
func readSources() (source, error) {
	read := source{sentences: map[string]string{}, fields: map[string]string{}, words: map[string][]string{}}
	for _, folder := range []string{"../../../c3po", "../dialect", "."} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return read, err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := fs.ReadFile(os.DirFS(folder), filepath.Base(name))
			if err != nil {
				return read, err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return read, err
			}
			read.file(file)
		}
	}
	return read, nil
}

func (s source) file(file *ast.File) {
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.shape(file.Name.Name+"."+spec.Name.Name, spec, general.Doc)
			case *ast.ValueSpec:
				s.constant(file.Name.Name, general.Tok, spec)
			}
		}
	}
}

func (s source) shape(name string, spec *ast.TypeSpec, doc *ast.CommentGroup) {
	s.sentences[name] = firstSentence(doc.Text())
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		for _, own := range field.Names {
			s.fields[name+"."+own.Name] = strings.Join(strings.Fields(field.Comment.Text()), " ")
		}
	}
}

func (s source) constant(in string, kind token.Token, spec *ast.ValueSpec) {
	of, named := spec.Type.(*ast.Ident)
	if kind != token.CONST || !named || len(spec.Values) != 1 {
		return
	}
	if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
		if word, err := strconv.Unquote(value.Value); err == nil {
			s.words[in+"."+of.Name] = append(s.words[in+"."+of.Name], word)
		}
	}
}

var sentenceEnd = regexp.MustCompile(`[.:](\s|$)`)

// firstSentence of a comment, on one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := sentenceEnd.FindStringIndex(text); end != nil {
		return text[:end[0]] + "."
	}
	return text
}

// nameIn is how the sources call a type.
func nameIn(t reflect.Type) string { return t.String() }

func capitalised(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
