package settings

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/c3po-dev/c3po/c3po"
)

// LimitNames are the names of the fields of c3po.Limits as they are written in
// the file, in their order.
func LimitNames() []string {
	var names []string
	for field := range reflect.TypeFor[c3po.Limits]().Fields() {
		names = append(names, limitName(field.Name))
	}
	return names
}

// limitName is the name of a field with underscores: MessageLife is message_life.
func limitName(field string) string {
	var name strings.Builder
	for i, r := range strings.ReplaceAll(field, "IDs", "Ids") {
		if i > 0 && unicode.IsUpper(r) {
			name.WriteByte('_')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// SetLimit sets the limit of that name: a number, or a duration such as 24h or
// 7d. Zero switches a limit off, where its field says so.
func SetLimit(limits *c3po.Limits, name, text string) error {
	field, value, found := findLimit(limits, name)
	if !found {
		return c3po.Errorf(c3po.InvalidRequest, "there is no limit %q", name).Suggest("%s", advice(name, limitsKey, LimitNames()))
	}
	mayBeOff := field.Tag.Get("zero") == "off"
	number, form, ok := parseLimit(value.Type(), text)
	if mayBeOff {
		form += ", or 0 to switch it off"
	}
	if !ok || number < 0 || number == 0 && !mayBeOff {
		return c3po.Errorf(c3po.InvalidRequest, "%s cannot be %.80q", name, text).Suggest("Give %s.", form)
	}
	value.SetInt(number)
	return nil
}

// parseLimit reads a value, and says in which form it would have been one.
func parseLimit(kind reflect.Type, text string) (number int64, form string, ok bool) {
	if kind != reflect.TypeFor[time.Duration]() {
		n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		return n, "a number from 1", err == nil
	}
	d, err := c3po.ParseDuration(text)
	return int64(d), "a duration such as 30s, 24h or 7d", err == nil
}

// LimitText is what a limit is set to, in the form SetLimit takes.
func LimitText(limits c3po.Limits, name string) string {
	_, value, _ := findLimit(&limits, name)
	if value.Type() == reflect.TypeFor[time.Duration]() {
		return DurationText(time.Duration(value.Int()))
	}
	return fmt.Sprint(value.Int())
}

// DurationText leaves out what is zero: 24h, not 24h0m0s.
func DurationText(d time.Duration) string {
	if d >= 48*time.Hour && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func findLimit(limits *c3po.Limits, name string) (reflect.StructField, reflect.Value, bool) {
	for field, value := range reflect.ValueOf(limits).Elem().Fields() {
		if limitName(field.Name) == name {
			return field, value, true
		}
	}
	return reflect.StructField{}, reflect.Value{}, false
}
