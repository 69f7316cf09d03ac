package redisstore

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

//go:embed lua/*.lua
var sources embed.FS

// stepTimeout bounds one step, repeats included. Whoever calls is told within two
// seconds, with what else a call has to do.
const stepTimeout = 1700 * time.Millisecond

// dialTimeout bounds a connection from its beginning until it can be used. A step
// whose time is over may have to wait for one that another step has begun.
const dialTimeout = 1200 * time.Millisecond

type script struct {
	name string
	lua  *rueidis.Lua
	ro   bool
	head signature
}

// A script that makes room, or that a full store must not stop, is allowed to
// run out of memory; the others are refused before their first command then.
const (
	writes  = "#!lua\n"
	drains  = "#!lua flags=allow-oom\n"
	noWrite = "#!lua flags=no-writes\n"
)

type scripts struct {
	accountTrim                                                                                               script
	agentAttach, agentCount, agentDetach, agentForget, agentImport, agentPause, agentRead, agentRegister      script
	agentRegisterKnown, agentRename, agentRetire, agentUnregister, auditAppend, authorityPropose, chainResume script
	changeList, epochRaise, fieldDrop, floorRaise, grantPut, grantRevoke, grantTouch, importDrop, inboxRead   script
	invitePut, inviteSpend, keyFind, keyTrim, leaseRenew, letterBury, letterRevive, letterTrim, memberImport  script
	messageAck, messageCancel, messageFind, messageImport, messageRead, messageReceive, messageReindex        script
	messageRelist, messageReply, messageSend, messageTrim, noteWrite, noticeClaim, noticeRecord               script
	postAck, postImport, postRead, processEnd, questionRecord, readerNote, reaperElect, queueDrop             script
	roomCheck, roomEnd, roomImport, roomInvite, roomJoin, roomLeave, roomPost, roomReassign, roomSet          script
	runEnd, runNote, schemaRecord, silenceRecord, spaceBegin, spaceLeave, spaceTick, spaceVacate, statusSet   script
	sweepSchedule, taskAck, taskClaim, taskReassign, ticketExpire                                             script
}

func loadScripts() scripts {
	load := loader{}.load
	return scripts{
		accountTrim: load("account_trim", drains),
		agentAttach: load("agent_attach", drains), agentCount: load("agent_count", noWrite), agentDetach: load("agent_detach", drains),
		agentForget: load("agent_forget", drains), agentImport: load("agent_import", writes), agentRead: load("agent_read", noWrite),
		agentRegister: load("agent_register", writes), agentRename: load("agent_rename", drains), agentRetire: load("agent_retire", drains),
		agentUnregister: load("agent_unregister", drains),
		auditAppend:     load("audit_append", drains),
		chainResume:     load("chain_resume", drains),
		changeList:      load("change_list", noWrite),
		epochRaise:      load("epoch_raise", drains),
		fieldDrop:       load("field_drop", drains),
		floorRaise:      load("floor_raise", drains),
		grantPut:        load("grant_put", writes),
		importDrop:      load("import_drop", drains),
		inboxRead:       load("inbox_read", noWrite),
		invitePut:       load("invite_put", writes),
		keyFind:         load("key_find", noWrite, "keys"), keyTrim: load("key_trim", drains),
		leaseRenew: load("lease_renew", drains),
		letterBury: load("letter_bury", drains), letterRevive: load("letter_revive", writes), letterTrim: load("letter_trim", drains),
		memberImport: load("member_import", writes),
		messageAck:   load("message_ack", drains), messageCancel: load("message_cancel", drains), messageFind: load("message_find", noWrite, "marks"),
		messageImport: load("message_import", writes), messageRead: load("message_read", noWrite), messageReceive: load("message_receive", drains),
		messageReindex: load("message_reindex", drains), messageRelist: load("message_relist", drains),
		messageReply: load("message_reply", writes, "keys", "flow"), messageSend: load("message_send", writes, "keys", "flow"),
		messageTrim: load("message_trim", drains),
		noteWrite:   load("note_write", drains, "marks"),
		noticeClaim: load("notice_claim", drains), noticeRecord: load("notice_record", drains),
		postAck: load("post_ack", drains), postImport: load("post_import", writes), postRead: load("post_read", noWrite),
		processEnd:     load("process_end", drains),
		questionRecord: load("question_record", writes),
		readerNote:     load("reader_note", writes),
		reaperElect:    load("reaper_elect", drains),
		queueDrop:      load("queue_drop", drains),
		roomCheck:      load("room_check", noWrite), roomEnd: load("room_end", drains), roomImport: load("room_import", writes),
		roomInvite: load("room_invite", writes), roomJoin: load("room_join", writes), roomLeave: load("room_leave", drains),
		roomPost: load("room_post", writes, "keys"), roomReassign: load("room_reassign", drains), roomSet: load("room_set", writes),
		runEnd: load("run_end", drains), runNote: load("run_note", writes),
		schemaRecord:  load("schema_record", drains),
		silenceRecord: load("silence_record", drains),
		spaceBegin:    load("space_begin", drains), spaceLeave: load("space_leave", drains), spaceTick: load("space_tick", drains),
		spaceVacate:   load("space_vacate", drains),
		statusSet:     load("status_set", writes),
		sweepSchedule: load("sweep_schedule", drains),
		taskAck:       load("task_ack", drains), taskClaim: load("task_claim", drains), taskReassign: load("task_reassign", drains),
		ticketExpire: load("ticket_expire", drains),
		// A full store must not keep a known agent out, a person from pausing it, a
		// coordinator from starting, or anybody from ending or using a token.
		agentRegisterKnown: load("agent_register", drains),
		agentPause:         load("agent_pause", drains),
		authorityPropose:   load("authority_propose", drains),
		grantRevoke:        load("grant_revoke", drains), grantTouch: load("grant_touch", drains), inviteSpend: load("invite_spend", drains),
	}
}

// A loader puts scripts together, of what it has read of the files they share.
type loader map[string]luaFile

type luaFile struct {
	text   string
	head   signature
	locals map[string]bool // its functions
}

func (l loader) file(name string) luaFile {
	f, known := l[name]
	if !known {
		f.text, f.locals = read(name), map[string]bool{}
		f.head = signatureOf(name, f.text)
		for line := range strings.Lines(f.text) {
			if function, is := strings.CutPrefix(line, "local function "); is {
				name, _, _ := strings.Cut(function, "(")
				f.locals[name] = true
			}
		}
		l[name] = f
	}
	return f
}

// load puts a script together: what all share, what it shares with some, its locals
// by the names in its head, itself.
func (l loader) load(name, flags string, shared ...string) script {
	self := l.file(name)
	before := ""
	set := map[string]bool{}
	for _, part := range append([]string{"lib"}, shared...) {
		file := l.file(part)
		maps.Copy(set, file.head.names)
		before += file.text
		for local := range self.head.names {
			if file.locals[local] {
				panic("redisstore: what " + name + ".lua declares as " + local + " is something else in " + part + ".lua")
			}
		}
	}
	text := flags + "local " + strings.Join(slices.Sorted(maps.Keys(set)), ", ") + "\n" + before + self.head.prelude(set) + "\n" + self.text
	if flags == noWrite {
		return script{name: name, lua: rueidis.NewLuaScriptReadOnly(text), ro: true, head: self.head}
	}
	return script{name: name, lua: rueidis.NewLuaScript(text), head: self.head}
}

func read(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("redisstore: a script is missing from the binary: " + name)
	}
	return string(text)
}

// run executes a script and gives its answer, whose first element is always a
// word for the outcome (message_read.lua, a plain read, aside).
func (s *Store) run(ctx context.Context, sc script, k keys, given with) ([]rueidis.RedisMessage, error) {
	defer s.took(sc.name, time.Now())
	keys, args, err := sc.head.bind(k, s.standing(k), given)
	if err != nil {
		return nil, fmt.Errorf("run %s.lua: %w", sc.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if sc.ro {
		answer, err := sc.lua.Exec(ctx, s.commands, keys, args).ToArray()
		if err != nil {
			return nil, s.failure(ctx, sc.name, err)
		}
		return answer, nil
	}
	var answer []rueidis.RedisMessage
	err = s.write(ctx, sc.name, func() (err error) {
		answer, err = sc.lua.Exec(ctx, s.commands, keys, args).ToArray()
		return err
	})
	return answer, err
}

func word(m rueidis.RedisMessage) string {
	text, _ := m.ToString()
	return text
}

func integer(m rueidis.RedisMessage) int64 {
	if n, err := m.AsInt64(); err == nil {
		return n
	}
	return 0
}

func list(m rueidis.RedisMessage) []rueidis.RedisMessage {
	rows, _ := m.ToArray()
	return rows
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return ""
}

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func seconds(d time.Duration) string { return itoa(int64(d / time.Second)) }

func millis(d time.Duration) string { return itoa(d.Milliseconds()) }

// nowArg is what clock in lib.lua is given: which coordinator takes the step,
// and when. In production it does not say when: scripts read Redis TIME.
func (s *Store) nowArg() string {
	if s.now == nil {
		return s.node + "@"
	}
	return s.node + "@" + itoa(s.now().UnixMilli())
}
