package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The model forgets as the real store does, or it could not be compared with it.
func TestNothingGrowsForEverInTheModel(t *testing.T) {
	t.Parallel()
	limits := YearLimits()
	m := NewModel(limits)
	m.SetNow(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	var sizes []int
	Year(t, Harness{Store: m, Advance: m.Advance}, limits, 4, func(c3po.Space, int) {}, func(n int) {
		sizes = append(sizes, m.size())
		t.Logf("month %d: %d entries", n, m.size())
	})
	if first, last := sizes[1], sizes[len(sizes)-1]; last > first+first/20 {
		t.Errorf("%d entries after %d months, %d after two", last, len(sizes), first)
	}
}

// size counts what all spaces hold.
func (m *Model) size() (entries int) {
	for _, sp := range m.spaces {
		for _, field := range fieldsOf(*sp) {
			switch field.Kind() {
			case reflect.Map, reflect.Slice:
				entries += 1 + field.Len()
			}
		}
	}
	return entries
}

func fieldsOf(sp space) (fields []reflect.Value) {
	value := reflect.ValueOf(sp)
	for i := range value.NumField() {
		fields = append(fields, value.Field(i))
	}
	return fields
}
