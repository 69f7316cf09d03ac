package agentfile

import (
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Schedule says when it is time, as cron writes it: minute, hour, day of the
// month, month, day of the week. Where both days are restricted, either is enough.
type Schedule struct {
	Text    string
	fields  [5]uint64 // a bit for each value that fits
	anyDay  bool      // the day of the month is not restricted
	anyWeek bool      // nor that of the week
}

type scheduleField struct {
	what     string
	min, max int
	names    string // of its values, in their order
}

func scheduleFields() [5]scheduleField {
	return [5]scheduleField{
		{"minute", 0, 59, ""},
		{"hour", 0, 23, ""},
		{"day of the month", 1, 31, ""},
		{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{"day of the week", 0, 7, "sun mon tue wed thu fri sat"}, // 7 is Sunday too
	}
}

// farthest is more than any two days lie apart that fit: a 29 February is eight
// years after another where a century has no leap day.
const farthest = 9 * 366 * 24 * time.Hour

// ParseSchedule reads five fields, or a word such as @hourly.
func ParseSchedule(text string) (Schedule, error) {
	words := map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *"}
	spec := strings.TrimSpace(text)
	if known, ok := words[spec]; ok {
		spec = known
	}
	parts := strings.Fields(spec)
	if len(parts) != 5 {
		return Schedule{}, c3po.Errorf(c3po.InvalidRequest, "schedule %.80q has %d fields instead of 5", text, len(parts)).
			Suggest("Write minute, hour, day of the month, month, day of the week: `*/15 8-18 * * mon-fri`; or @hourly, @daily, @weekly, @monthly, @yearly.")
	}
	s := Schedule{Text: strings.TrimSpace(text), anyDay: parts[2] == "*", anyWeek: parts[4] == "*"}
	for i, field := range scheduleFields() {
		bits, ok := field.bits(parts[i])
		if !ok {
			return Schedule{}, c3po.Errorf(c3po.InvalidRequest, "%.40q is no %s of a schedule", parts[i], field.what).
				Suggest("It is *, a number from %d to %d, a range 2-5, a list 1,3 or a step */2.", field.min, field.max)
		}
		s.fields[i] = bits
	}
	if sunday := uint64(1 << 7); s.fields[4]&sunday != 0 {
		s.fields[4] = s.fields[4]&^sunday | 1
	}
	if s.Next(time.Unix(0, 0).UTC()).IsZero() {
		return Schedule{}, c3po.Errorf(c3po.InvalidRequest, "schedule %.80q never comes", text).Suggest("No such day is in the calendar.")
	}
	return s, nil
}

// bits are the values that a part of a schedule allows.
func (f scheduleField) bits(part string) (bits uint64, ok bool) {
	for item := range strings.SplitSeq(strings.ToLower(part), ",") {
		span, step, stepped := strings.Cut(item, "/")
		width := 1
		if stepped {
			n, err := strconv.Atoi(step)
			if err != nil || n < 1 || n > f.max {
				return 0, false
			}
			width = n
		}
		from, to := f.min, f.max
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			if from, ok = f.value(first); !ok {
				return 0, false
			}
			if !stepped {
				to = from
			}
			if ranged {
				if to, ok = f.value(last); !ok || to < from {
					return 0, false
				}
			}
		}
		for n := from; n <= to; n += width {
			bits |= 1 << n
		}
	}
	return bits, true
}

func (f scheduleField) value(text string) (int, bool) {
	for i, name := range strings.Fields(f.names) {
		if text == name {
			return f.min + i, true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= f.min && n <= f.max && !strings.HasPrefix(text, "+")
}

// Next is the first time after the given one that fits, in its location. Zero:
// there is none.
func (s Schedule) Next(after time.Time) time.Time {
	t := after.Truncate(time.Minute).Add(time.Minute)
	for end := after.Add(farthest); t.Before(end); {
		switch year, month, day := t.Date(); {
		case s.fields[3]&(1<<month) == 0:
			t = later(t, time.Date(year, month+1, 1, 0, 0, 0, 0, t.Location()))
		case !s.fits(t):
			t = later(t, time.Date(year, month, day+1, 0, 0, 0, 0, t.Location()))
		case s.fields[1]&(1<<t.Hour()) == 0:
			// By the clock that ticks: an hour that a change of the clock leaves out
			// or repeats is neither missed for ever nor waited for twice.
			t = t.Add(time.Hour - time.Duration(t.Minute())*time.Minute)
		case s.fields[0]&(1<<t.Minute()) == 0:
			t = t.Add(time.Minute)
		default:
			return t
		}
	}
	return time.Time{}
}

// fits says whether the day of a time is one of the schedule.
func (s Schedule) fits(t time.Time) bool {
	day, week := s.fields[2]&(1<<t.Day()) != 0, s.fields[4]&(1<<t.Weekday()) != 0
	if s.anyDay || s.anyWeek {
		return day && week
	}
	return day || week
}

// later is the next time to look at, and never the same again: where midnight
// does not exist a date can lie before what it was made from.
func later(now, next time.Time) time.Time {
	if next.After(now) {
		return next
	}
	return now.Add(time.Hour)
}
