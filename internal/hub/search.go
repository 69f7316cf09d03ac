package hub

import (
	"cmp"
	"context"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	maxSearchRunes = 500
	maxSearchWords = 20
	// One call looks for searchTime, or until it has read searchBytes; the next goes on. What
	// was begun is finished.
	searchTime  = 200 * time.Millisecond
	searchBytes = 32 << 20
	// searchBatch is how many messages one step reads that are older than the log.
	searchBatch = 200
)

// Search looks for messages that contain every word: in the order of the log, the newest
// first, and behind the log's end thread by thread. A send pays nothing for it.
func (a *Actor) Search(ctx context.Context, in c3po.SearchInput) (c3po.SearchPage, error) {
	words, err := searchWords(in.Words)
	if err != nil {
		return c3po.SearchPage{}, err
	}
	limit, err := a.hub.pageLimit(in.Limit)
	if err != nil {
		return c3po.SearchPage{}, err
	}
	at, err := a.hub.store.Sequence(ctx, a.space)
	if err != nil {
		return c3po.SearchPage{}, err
	}
	place := searchPlace{below: at.Last + 1}
	if in.Cursor != "" {
		if place, err = parseSearchPlace(in.Cursor); err != nil {
			return c3po.SearchPage{}, err
		}
		place.below = min(place.below, at.Last+1)
	}
	s := search{
		Actor: a, words: words, limit: limit, oldest: max(at.Oldest, 1), until: time.Now().Add(searchTime), place: place,
		known: map[c3po.RoomName]bool{}, page: c3po.SearchPage{Hits: []c3po.SearchHit{}},
	}
	if at.Oldest == 0 {
		s.oldest = at.Last + 1
	}
	for !s.done && !s.full() {
		read := s.newest
		if s.place.older || s.place.below <= s.oldest {
			read = s.older
		}
		if err := read(ctx); err != nil {
			return c3po.SearchPage{}, err
		}
	}
	if s.done {
		return s.page, nil
	}
	s.page.Next = s.place.String()
	s.page.Back, err = s.back(ctx)
	return s.page, err
}

// searchWords splits what is looked for into words without case.
func searchWords(text string) ([]string, error) {
	if err := checkGiven("words", text); err != nil {
		return nil, err
	}
	if err := checkText("words", text, maxSearchRunes); err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) > maxSearchWords {
		return nil, refuse("words has %d words, at most %d are allowed", len(words), maxSearchWords)
	}
	return words, nil
}

// A search is one call, and how far it has come.
type search struct {
	*Actor
	words  []string
	limit  int
	oldest int64 // number in the log
	until  time.Time
	read   int // bytes
	place  searchPlace
	done   bool
	known  map[c3po.RoomName]bool // whether the caller may read it
	page   c3po.SearchPage
}

func (s *search) full() bool {
	return len(s.page.Hits) == s.limit || s.read >= searchBytes || !time.Now().Before(s.until)
}

// newest looks at one stretch of the log.
func (s *search) newest(ctx context.Context) error {
	from := max(s.place.below-1-node.WatchPage, s.oldest-1)
	events, err := s.hub.store.Events(ctx, s.space, from, node.WatchPage)
	if err != nil {
		return err
	}
	var ids []c3po.MessageID
	posts := map[c3po.RoomName]int{}
	accepted := map[int64]bool{}
	for _, e := range events {
		switch {
		case e.Seq >= s.place.below:
		case e.Kind == c3po.EventPosted:
			posts[e.Agent.Room()]++
		case e.Kind == c3po.EventAccepted || e.Kind == c3po.EventAnswered || e.Kind == c3po.EventRedelivered:
			ids = append(ids, e.ID)
			accepted[e.Seq] = true
		}
	}
	entries, err := s.hub.store.Messages(ctx, s.space, ids)
	if err != nil {
		return err
	}
	// What was delivered again has the number of that. A mention is found as its post, if
	// that is still there.
	entries = slices.DeleteFunc(entries, func(e store.Entry) bool {
		return !accepted[e.Message.Seq] || e.Message.Room != "" && s.readable(ctx, e.Message.Room)
	})
	for room, many := range posts {
		some, err := s.posts(ctx, room, many)
		if err != nil {
			return err
		}
		entries = append(entries, some...)
	}
	slices.SortFunc(entries, func(a, b store.Entry) int { return cmp.Compare(b.Message.Seq, a.Message.Seq) })
	for _, entry := range entries {
		if len(s.page.Hits) == s.limit {
			return nil
		}
		s.look(ctx, entry.Message)
		s.place.below = entry.Message.Seq
	}
	s.place.below = from + 1
	return nil
}

// posts reads the last posts of a room before the place, if the caller may.
func (s *search) posts(ctx context.Context, room c3po.RoomName, many int) ([]store.Entry, error) {
	if !s.readable(ctx, room) {
		return nil, nil
	}
	posts, _, err := s.hub.store.History(ctx, s.space, room, s.place.below, many, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	var entries []store.Entry
	for _, post := range posts {
		post.Message.ToAgent, post.Message.Room = "", room
		entries = append(entries, post.Entry)
	}
	return entries, nil
}

// readable says whether there is such a room, and the caller may read it.
func (s *search) readable(ctx context.Context, room c3po.RoomName) bool {
	may, known := s.known[room]
	if !known {
		record, err := s.rooms.find(ctx, room)
		may = room == c3po.Everybody || err == nil && s.rooms.reads(record)
		s.known[room] = may
	}
	return may
}

// older looks at some messages that are no longer in the log.
func (s *search) older(ctx context.Context) error {
	s.place.older = true
	kept, end, err := s.hub.store.Kept(ctx, s.space, s.place.after, s.place.below, searchBatch)
	if err != nil {
		return err
	}
	for _, entry := range kept {
		if len(s.page.Hits) == s.limit {
			return nil
		}
		s.look(ctx, entry.Message)
		s.place.after = entry.Place
	}
	s.place.after, s.done = end, end == ""
	return nil
}

// look adds a message to the hits if it contains every word.
func (s *search) look(ctx context.Context, m c3po.Message) {
	s.read += len(m.Text()) + len(m.Context)
	if m.FromAgent == c3po.System || m.Room != "" && !s.caller.Person() && !s.readable(ctx, m.Room) {
		return
	}
	text := m.Text()
	if m.Context != "" {
		text += "\n" + m.Context
	}
	lower := strings.ToLower(text) // has as many characters
	for _, word := range s.words {
		if !strings.Contains(lower, word) {
			return
		}
	}
	hit := c3po.SearchHit{
		ID: m.ID, Thread: m.Thread, Room: m.Room, FromAgent: m.FromAgent, ToAgent: m.ToAgent, At: m.Timestamp,
		Excerpt: around(text, utf8.RuneCountInString(lower[:strings.Index(lower, s.words[0])])),
	}
	s.page.Hits = append(s.page.Hits, hit)
}

// around is the line that has the character at a place, cut short on both sides.
func around(text string, at int) string {
	runes := []rune(text)
	from, to := at, at
	for from > 0 && runes[from-1] != '\n' && at-from < excerptRunes/2 {
		from--
	}
	for to < len(runes) && runes[to] != '\n' && to-from < excerptRunes {
		to++
	}
	line := strings.TrimSpace(string(runes[from:to]))
	if from > 0 && runes[from-1] != '\n' {
		line = "…" + line
	}
	if to < len(runes) && runes[to] != '\n' {
		line += "…"
	}
	return line
}

// back is since when everything was searched: the moment of the event where it stopped,
// or where the log begins.
func (s *search) back(ctx context.Context) (time.Time, error) {
	events, err := s.hub.store.Events(ctx, s.space, max(s.place.below, s.oldest)-1, 1)
	if err != nil || len(events) == 0 {
		return time.Time{}, err
	}
	return events[0].At, nil
}

// A searchPlace is where a search goes on: in the log below a number, or among what is
// older than that behind a place.
type searchPlace struct {
	below int64
	older bool
	after string
}

// String is the cursor.
func (p searchPlace) String() string {
	plain := string(searchCursor) + strconv.FormatInt(p.below, 10)
	if p.older {
		plain += " " + p.after
	}
	return base64.RawURLEncoding.EncodeToString([]byte(plain))
}

func parseSearchPlace(cursor string) (searchPlace, error) {
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(plain) < 2 || cursorKind(plain[0]) != searchCursor {
		return searchPlace{}, badCursor()
	}
	number, after, older := strings.Cut(string(plain[1:]), " ")
	below, err := strconv.ParseInt(number, 10, 64)
	p := searchPlace{below: below, older: older, after: after}
	// Only what String writes is a cursor.
	if err != nil || below < 1 || p.String() != cursor {
		return searchPlace{}, badCursor()
	}
	return p, nil
}
