// Package webhook makes mail of what code hosts post: comments, failed checks and
// mentions, by rules. What it takes is signed, fresh, small, and mailed once; what the
// coordinator cannot take now is kept on disk until it can. The text is the outside world's
// and stays the body of a message, which every reader sees as another's words.
package webhook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// maxBytes is more than a post about a comment or a check has.
	maxBytes = 2 << 20
	// maxAge is how old what a post tells may be. It is shorter than a key is
	// remembered, so that a post that is played again is either known or too old.
	maxAge = 12 * time.Hour
	// maxMailing is how many proven posts are mailed at once, each of maxBytes at the most.
	// Only who knows a secret can fill it.
	maxMailing = 32
)

// A Host is a site that code lives on, and how it posts.
type Host struct {
	// Name is that of its path: /github.
	Name string
	// Title is what people call it.
	Title string
	// proves says whether a post proves that it knows the secret.
	proves func(secret string, header http.Header, body []byte) bool
	// read is what a post tells; nil if it is about nothing that a rule can name.
	read func(header http.Header, body []byte) (*Told, error)
}

// Told is what a post tells.
type Told struct {
	Kind       Kind
	Repository string // OWNER/NAME
	By         string // whose account did it
	Headline   string // who did what, where
	URL        string
	Text       string // what was written there, by anybody
	At         time.Time
}

// A Sender stores mail. c3po.Service is one.
type Sender interface {
	SendMessage(context.Context, c3po.SendInput) (c3po.Receipt, error)
}

// Config says what is taken and where it goes.
type Config struct {
	Secrets map[string]string // by the name of a host; one without a secret is not listened to
	Rules   []Rule
	Mention string // the name that is mentioned, as @acme-bot
	// Ignore are accounts whose comments are not mailed, beside the one that is mentioned: an
	// agent that writes as one of them would answer itself.
	Ignore []string
	Sender Sender
	Log    *slog.Logger
	Now    func() time.Time
	// Folder is where mail is kept that the coordinator does not take now.
	Folder string
	// Patience is how long a post may take that brings nothing; ten seconds if it is zero.
	Patience time.Duration
	// LimitPause is how long mail waits that the coordinator's limit of a minute holds up;
	// five seconds if it is zero.
	LimitPause time.Duration
}

// A Receiver takes the posts of all hosts, on one path each. It needs Run beside it, which
// mails what could not be mailed at once.
type Receiver struct {
	Config
	paths   *http.ServeMux
	lobby   lobby
	mailing chan struct{}
	shelf   *shelf
}

// New makes a Receiver.
func New(cfg Config) (*Receiver, error) {
	kept, err := openShelf(cfg.Folder, cfg.Log)
	if err != nil {
		return nil, err
	}
	d := &Receiver{Config: cfg, paths: http.NewServeMux(), mailing: make(chan struct{}, maxMailing), shelf: kept}
	d.lobby.patience = cmp.Or(cfg.Patience, defaultPatience)
	for _, host := range Hosts() {
		if cfg.Secrets[host.Name] != "" {
			d.paths.HandleFunc("POST /"+host.Name, func(w http.ResponseWriter, r *http.Request) { d.take(w, r, host) })
		}
	}
	return d, nil
}

// ServeHTTP implements http.Handler.
func (d *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.paths.ServeHTTP(w, r) }

// refusal is why a post is not taken, in words for the list of deliveries that its host
// shows, and the status that goes with it.
type refusal struct {
	status int
	words  string
}

// errNoTime is what is wrong with a post that could be of any time.
var errNoTime = errors.New("it does not say when it happened")

func (r refusal) Error() string { return r.words }

func (d *Receiver) take(w http.ResponseWriter, r *http.Request, host Host) {
	done, err := d.handle(w, r, host)
	var no refusal
	switch {
	case errors.As(err, &no):
		d.Log.WarnContext(r.Context(), "a post was refused", "host", host.Name, "why", no.words)
		http.Error(w, no.words, no.status)
	case err != nil:
		d.Log.ErrorContext(r.Context(), "a post could not be mailed", "host", host.Name, "why", err)
		http.Error(w, "this could not be mailed", http.StatusInternalServerError)
	// Whoever posted may read no more than how many got it; the log says why others did not.
	case done.lost > 0:
		w.Header().Set("Retry-After", "60")
		http.Error(w, "neither mailed nor kept: deliver it again later", http.StatusServiceUnavailable)
	case done.kept > 0:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, "kept: it is mailed as soon as the coordinator takes it")
	case done.never > 0 && done.mailed == 0:
		http.Error(w, "mailed to nobody: the log of c3po hooks says why", http.StatusUnprocessableEntity)
	case done.never > 0:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "mailed to %d of %d: the log of c3po hooks says why\n", done.mailed, done.mailed+done.never)
	case done.mailed == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// handle mails a post by the rules, and says what became of it.
func (d *Receiver) handle(w http.ResponseWriter, r *http.Request, host Host) (outcome, error) {
	body, err := d.body(w, r)
	if err != nil {
		return outcome{}, err
	}
	if !host.proves(d.Secrets[host.Name], r.Header, body) {
		return outcome{}, refusal{http.StatusUnauthorized, "the secret is not the one that is set here"}
	}
	select {
	case d.mailing <- struct{}{}:
		defer func() { <-d.mailing }()
	default:
		return outcome{}, refusal{http.StatusServiceUnavailable, "too many posts at once"}
	}
	told, err := host.read(r.Header, body)
	if err != nil {
		return outcome{}, refusal{http.StatusUnprocessableEntity, "this cannot be read: " + err.Error()}
	}
	if told == nil || d.isOwn(told) {
		return outcome{}, nil
	}
	switch age := d.Now().Sub(told.At); {
	case told.At.IsZero():
		return outcome{}, refusal{http.StatusUnprocessableEntity, "this cannot be read: " + errNoTime.Error()}
	case age > maxAge:
		return outcome{}, refusal{http.StatusGone, "this happened more than 12 hours ago"}
	case age < -maxAge:
		return outcome{}, refusal{http.StatusUnprocessableEntity, "the time of this is in the future: one of the two clocks is wrong"}
	}
	return d.mail(r.Context(), host, told, body)
}

// body reads a post that is small enough and comes fast enough.
func (d *Receiver) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, refusal{http.StatusUnsupportedMediaType, "choose application/json as the content type"}
	}
	body, err := d.lobby.read(w, r)
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, errSlow), errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refusal{http.StatusRequestTimeout, "this came too slowly"}
	case errors.As(err, &tooLong):
		return nil, refusal{http.StatusRequestEntityTooLarge, "this is too large"}
	case err != nil:
		return nil, refusal{http.StatusBadRequest, "this was cut short"}
	}
	return body, nil
}

// An outcome counts the targets of a post: those that were mailed, those that will be,
// those that can't be until somebody changes something here, and those that neither.
type outcome struct{ mailed, kept, never, lost int }

// mail sends what is told to everybody whose rule it meets; one that cannot be mailed
// keeps no other from its mail. The key is made of what is signed: a post that comes
// twice, under whatever number, is one message.
func (d *Receiver) mail(ctx context.Context, host Host, told *Told, body []byte) (outcome, error) {
	var done outcome
	metadata, err := json.Marshal(map[string]string{"source": host.Name, "repository": told.Repository, "url": told.URL})
	if err != nil {
		return done, err
	}
	noReply, away := false, false
	for _, target := range d.targets(told) {
		sum := sha256.Sum256(append([]byte(target+"\n"), body...))
		in := c3po.SendInput{
			Target: target, Message: told.message(), ExpectsReply: &noReply, Metadata: metadata, ClientKey: host.Name + "-" + hex.EncodeToString(sum[:16]),
		}
		why := "other mail is kept for it"
		if !away && !d.shelf.holds(target) {
			err := d.send(ctx, host.Name, in)
			if err == nil {
				done.mailed++
				continue
			}
			if isFinal(err) {
				done.never++
				continue
			}
			why, away = c3po.AsError(err).Message, !errors.Is(err, c3po.InboxFull)
		} else if away {
			why = "the coordinator takes nothing now"
		}
		if err := d.shelf.keep(parcel{Host: host.Name, Until: told.At.Add(maxAge), Send: in}); err != nil {
			done.lost++
			d.Log.ErrorContext(ctx, "a post cannot be kept", "host", host.Name, "target", target, "why", err)
			continue
		}
		done.kept++
		d.Log.InfoContext(ctx, "a post is kept until it can be mailed", "host", host.Name, "target", target, "why", why)
	}
	return done, nil
}

// send mails to one target, and logs what became of it for good.
func (d *Receiver) send(ctx context.Context, host string, in c3po.SendInput) error {
	receipt, err := d.Sender.SendMessage(ctx, in)
	switch {
	case err == nil:
		d.Log.InfoContext(ctx, "a post was mailed", "host", host, "target", in.Target, "message_id", receipt.ID)
	case isFinal(err):
		d.Log.ErrorContext(ctx, "a post could not be mailed", "host", host, "target", in.Target, "why", c3po.AsError(err).Message, "advice", c3po.AsError(err).Suggestion)
	}
	return err
}

// isFinal says that what was refused would be refused again.
func isFinal(err error) bool { return c3po.AsError(err).Code.Retry() == c3po.RetryNo }

// mentions says whether a text mentions the name: as a word, whatever its case.
func (d *Receiver) mentions(text string) bool {
	if d.Mention == "" {
		return false
	}
	text, name := strings.ToLower(text), strings.ToLower(d.Mention)
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		if (begin == 0 || !partOfName(text[begin-1])) && (end == len(text) || !partOfName(text[end])) {
			return true
		}
		at = end
	}
}

func partOfName(b byte) bool {
	return b == '-' || b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z'
}
