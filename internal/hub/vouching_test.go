package hub

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/store"
)

// holdsEntry says that a value of a type has a message in it.
func holdsEntry(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == reflect.TypeFor[store.Entry]() {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsEntry(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsEntry(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// Posts in rooms have no proof, and what stands in them is not taken for an answer.
var posts = map[string]bool{"Post": true, "History": true, "OnePost": true, "RoomMail": true, "NextPost": true}

func TestEveryReadOfMessagesIsVouchedFor(t *testing.T) {
	t.Parallel()
	vouched, found := reflect.TypeFor[vouchedStore](), 0
	for method := range reflect.TypeFor[store.Store]().Methods() {
		gives := false
		for i := range method.Type.NumOut() {
			gives = gives || holdsEntry(method.Type.Out(i), map[reflect.Type]bool{})
		}
		if !gives || posts[method.Name] {
			continue
		}
		found++
		own, _ := vouched.MethodByName(method.Name)
		file, _ := runtime.FuncForPC(own.Func.Pointer()).FileLine(own.Func.Pointer())
		if !strings.HasSuffix(file, "vouchedreads.go") {
			t.Errorf("%s gives messages as the store has them (%s)", method.Name, file)
		}
	}
	if found < 9 {
		t.Errorf("only %d reads were found", found)
	}
}
