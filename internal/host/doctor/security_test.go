package doctor_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/doctor"
)

// guarded is a host that nobody gets into.
func guarded() doctor.Exposure {
	return doctor.Exposure{
		Places: []doctor.Place{{Name: "/bin/c3po", What: "the program"}},
		Tokens: []c3po.Token{{KID: "k3xv2ab7qmzd", Role: c3po.RoleAgent, State: "live", Agents: "box/*", Created: today, LastUsed: today}},
		Redis:  "rediss://me:secret@db:6379",
	}
}

func TestEachDangerHasAVerdictAndAFix(t *testing.T) {
	t.Parallel()
	type change func(*doctor.Facts, *doctor.Exposure)
	open := func(near bool) change {
		return func(f *doctor.Facts, _ *doctor.Exposure) {
			f.Coordinator.Info.Auth, f.Coordinator.TLS.Near = "none", near
		}
	}
	for name, c := range map[string]struct {
		with    change
		verdict doctor.Verdict
		check   string
		says    string
	}{
		"nothing":             {func(*doctor.Facts, *doctor.Exposure) {}, doctor.Green, "", ""},
		"a writable program":  {func(_ *doctor.Facts, x *doctor.Exposure) { x.Places[0].Writable = true }, doctor.Red, "rights", "write to /bin/c3po"},
		"a readable folder":   {func(_ *doctor.Facts, x *doctor.Exposure) { x.Places[0].Readable = true }, doctor.Red, "rights", "read /bin/c3po"},
		"a foreign folder":    {func(_ *doctor.Facts, x *doctor.Exposure) { x.Places[0].Foreign = true }, doctor.Red, "rights", "somebody else"},
		"no tokens, far":      {open(false), doctor.Red, "reach", "other machines reach it"},
		"no tokens, near":     {open(true), doctor.Yellow, "reach", "act as anybody"},
		"no TLS":              {func(f *doctor.Facts, _ *doctor.Exposure) { f.Coordinator.TLS = doctor.TLS{} }, doctor.Red, "reach", "in clear"},
		"a token of all":      {func(_ *doctor.Facts, x *doctor.Exposure) { x.Tokens[0].Agents = "*/*" }, doctor.Yellow, "tokens", "every host"},
		"a forgotten token":   {func(_ *doctor.Facts, x *doctor.Exposure) { x.Tokens[0].LastUsed = today.AddDate(0, -4, 0) }, doctor.Yellow, "tokens", "not used for 123 days"},
		"an admin around":     {func(_ *doctor.Facts, x *doctor.Exposure) { x.Env = []c3po.Role{c3po.RoleAdmin} }, doctor.Red, "environment", "admin"},
		"auth off next time":  {func(_ *doctor.Facts, x *doctor.Exposure) { x.Auth = "none" }, doctor.Yellow, "leftovers", "--auth none"},
		"former credentials":  {func(_ *doctor.Facts, x *doctor.Exposure) { x.Former = []string{"/x"} }, doctor.Yellow, "leftovers", "/x"},
		"Redis, no password":  {func(_ *doctor.Facts, x *doctor.Exposure) { x.Redis = "redis://db:6379" }, doctor.Red, "redis access", "no password"},
		"Redis, no TLS":       {func(_ *doctor.Facts, x *doctor.Exposure) { x.Redis = "redis://:secret@db:6379" }, doctor.Yellow, "redis access", "can be read"},
		"Redis on a socket":   {func(_ *doctor.Facts, x *doctor.Exposure) { x.Redis = "unix:///run/redis" }, doctor.Green, "", ""},
		"Redis on this host":  {func(_ *doctor.Facts, x *doctor.Exposure) { x.Redis = "redis://127.0.0.1" }, doctor.Green, "", ""},
		"Redis with a hole":   {func(f *doctor.Facts, _ *doctor.Exposure) { f.Coordinator.Info.Engine.Version = "7.4.5" }, doctor.Yellow, "redis holes", "7.4.6"},
		"Redis of long ago":   {func(f *doctor.Facts, _ *doctor.Exposure) { f.Coordinator.Info.Engine.Version = "7.0.15" }, doctor.Yellow, "redis holes", "no more"},
		"Redis of the future": {func(f *doctor.Facts, _ *doctor.Exposure) { f.Coordinator.Info.Engine.Version = "9.10.0" }, doctor.Green, "", ""},
		"Valkey with a hole": {func(f *doctor.Facts, _ *doctor.Exposure) {
			f.Coordinator.Info.Engine.Name, f.Coordinator.Info.Engine.Version = "valkey", "8.0.5"
		}, doctor.Yellow, "redis holes", "8.0.6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts, exposure := healthy(), guarded()
			c.with(&facts, &exposure)
			all := doctor.Guard(facts, exposure)
			if got := doctor.Worst(all); got != c.verdict {
				t.Errorf("the host is %s, not %s: %+v", got, c.verdict, all)
			}
			for _, f := range all {
				if f.Verdict != doctor.Green && (f.Check != c.check || !strings.Contains(f.Says, c.says) || f.Fix == "") {
					t.Errorf("found %+v", f)
				}
			}
		})
	}
}

// planted are secrets in the forms they have in logs and settings.
func planted() map[string]string {
	token := "c3po_admin_k3xv2ab7qmzd_" + strings.Repeat("s3cr3tTOKEN", 4)[:43]
	return map[string]string{
		token:                `"token": "` + token + `"`,
		"Zm9vSECRETinvite":   "c3po join c3po://nas:8420/5f1c-k3xv2ab7qmzd-Zm9vSECRETinvite now",
		"hunter2hunter2":     "redis://me:hunter2hunter2@db:6379/0",
		"abcSECRETbearer":    "Authorization: Bearer abcSECRETbearer",
		"webhookSECRET":      `notify: {secret: webhookSECRET}`,
		"sk-ant-SECRETKEY":   "key sk-ant-SECRETKEY-0123456789",
		"MIGHAgEASECRET":     "-----BEGIN PRIVATE KEY-----\nMIGHAgEASECRET\n-----END PRIVATE KEY-----",
		"LOGINCODEsecret":    "http://localhost:8420/#/login/LOGINCODEsecret",
		"pa\"ss\\word":       `{"said":"pa\"ss\\word"}`, // known, and written as JSON
		"topic-nobody-knows": "POST https://ntfy.sh/topic-nobody-knows",
	}
}

func TestNoSecretIsInABundle(t *testing.T) {
	t.Parallel()
	mask := doctor.NewMask("/home/ann", "pa\"ss\\word", "topic-nobody-knows", "", "ab")
	var all []doctor.Document
	for secret, text := range planted() {
		all = append(all, doctor.Document{Name: secret[:5] + ".txt", About: "a log", Text: "before\n" + text + "\nafter, in /home/ann/project, abroad"})
	}
	var archive bytes.Buffer
	if err := doctor.Bundle(&archive, today, mask, all); err != nil {
		t.Fatal(err)
	}
	reader, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(reader.File) != len(all)+1 || reader.File[0].Name != "README.txt" {
		t.Fatalf("%d files, the first is %s", len(reader.File), reader.File[0].Name)
	}
	for i, file := range reader.File {
		open, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(open)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for secret := range planted() {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q:\n%s", file.Name, secret, text)
			}
		}
		switch {
		case i == 0 && !strings.Contains(text, all[0].Name+" "):
			t.Errorf("the list does not name %s:\n%s", all[0].Name, text)
		case i > 0 && (!strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter, in ~/project, abroad") || !strings.Contains(text, "****")):
			t.Errorf("too much or too little is masked: %s", text)
		}
	}
}
