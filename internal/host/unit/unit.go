// Package unit writes what makes a program of ours a service of the user: a unit
// of systemd, or a property list of launchd. It writes text and nothing else.
package unit

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// A Service is a program that is to run whenever its user is there.
type Service struct {
	Name        string // as systemd calls it, without .service
	Label       string // as launchd calls it
	Description string
	Program     string // a full path
	Arguments   []string
	Environment []Variable
	Log         string        // a file; launchd has no log of its own
	AlwaysLog   bool          // to that file also where there is a journal
	StopWithin  time.Duration // the time it needs to end
	// OutlivedBy is what the service starts and leaves running when it ends; nothing if
	// empty, and then it is given a group of its own for what it starts.
	OutlivedBy string
	// Sessions says that it starts programs of the host, which it ends itself; else they are
	// containers.
	Sessions bool
	// Remove is the command that takes the file away again, if a command has written
	// it; else the file says where it belongs.
	Remove string
}

// A Variable is one of a service's environment.
type Variable struct{ Name, Value string }

// Systemd is the unit, for ~/.config/systemd/user.
func (s Service) Systemd() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if s.Remove != "" {
		line("# Written by c3po, which removes it with: %s", s.Remove)
	} else {
		line("# Written by c3po; put it into ~/.config/systemd/user/%s.service, then", s.Name)
		line("#   systemctl --user daemon-reload && systemctl --user enable --now %s", s.Name)
	}
	line("# To run without a login as well: loginctl enable-linger")
	line("[Unit]")
	line("Description=%s", escapeSpecifiers(s.Description))
	line("StartLimitIntervalSec=0")
	line("")
	line("[Service]")
	line("Type=exec")
	command := []string{quotedValue(s.Program)} // no variable is looked for in it
	for _, argument := range s.Arguments {
		command = append(command, quoted(argument))
	}
	line("ExecStart=%s", strings.Join(command, " "))
	for _, v := range s.Environment {
		line("Environment=%s", quotedValue(v.Name+"="+v.Value))
	}
	line("Restart=on-failure")
	line("RestartSec=5")
	line("TimeoutStopSec=%d", seconds(s.StopWithin))
	if s.AlwaysLog {
		line("StandardError=append:%s", strings.ReplaceAll(s.Log, "%", "%%"))
	}
	switch {
	case s.OutlivedBy != "":
		line("# %s stays when the service ends.", s.OutlivedBy)
		line("KillMode=process")
	case s.Sessions:
		line("# Only the program gets the signal: it ends the sessions it has resumed.")
		line("KillMode=mixed")
	default:
		line("# Only the program gets the signal: it ends its containers, in their time.")
		line("KillMode=mixed")
		line("# Rootless containers need their own groups.")
		line("Delegate=yes")
	}
	line("")
	line("[Install]")
	line("WantedBy=default.target")
	return b.String()
}

// quoted is an argument of ExecStart: a dollar is a variable there, besides what
// quotedValue says.
func quoted(text string) string { return strings.ReplaceAll(quotedValue(text), "$", "$$") }

// quotedValue is a text in quotes, in which systemd finds nothing to expand.
func quotedValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "%", "%%").Replace(text) + `"`
}

func escapeSpecifiers(text string) string {
	return strings.NewReplacer("%", "%%", "\n", " ").Replace(text)
}

// Launchd is the property list, for ~/Library/LaunchAgents.
func (s Service) Launchd() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<?xml version="1.0" encoding="UTF-8"?>`)
	line(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	if s.Remove != "" {
		line("<!-- Written by c3po. -->") // a command with two dashes may not stand in a comment
	} else {
		line("<!-- Written by c3po; put it into ~/Library/LaunchAgents/%s.plist, then", escaped(s.Label))
		line("     launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/%s.plist -->", escaped(s.Label))
	}
	line(`<plist version="1.0">`)
	line("<dict>")
	line("\t<key>Label</key>")
	line("\t<string>%s</string>", escaped(s.Label))
	line("\t<key>ProgramArguments</key>")
	line("\t<array>")
	for _, argument := range append([]string{s.Program}, s.Arguments...) {
		line("\t\t<string>%s</string>", escaped(argument))
	}
	line("\t</array>")
	if len(s.Environment) > 0 {
		line("\t<key>EnvironmentVariables</key>")
		line("\t<dict>")
		for _, v := range s.Environment {
			line("\t\t<key>%s</key>", escaped(v.Name))
			line("\t\t<string>%s</string>", escaped(v.Value))
		}
		line("\t</dict>")
	}
	line("\t<key>RunAtLoad</key>")
	line("\t<true/>")
	line("\t<key>KeepAlive</key>")
	line("\t<dict>")
	line("\t\t<key>SuccessfulExit</key>")
	line("\t\t<false/>")
	line("\t</dict>")
	line("\t<key>ExitTimeOut</key>")
	line("\t<integer>%d</integer>", seconds(s.StopWithin))
	if s.Log != "" {
		for _, stream := range []string{"StandardOutPath", "StandardErrorPath"} {
			line("\t<key>%s</key>", stream)
			line("\t<string>%s</string>", escaped(s.Log))
		}
	}
	line("</dict>")
	line("</plist>")
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
