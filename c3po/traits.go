package c3po

import (
	"context"
	"encoding/json"
	"time"
)

// A Trait is what a row of the table says beyond its name and its function.
type Trait func(*Operation)

// ReadOnly is the trait of what changes nothing.
func ReadOnly(o *Operation) { o.ReadOnly, o.Idempotent = true, true }

// Idempotent is the trait of what may be called twice.
func Idempotent(o *Operation) { o.Idempotent = true }

// CarriesBodies is the trait of what answers with text of other agents.
func CarriesBodies(o *Operation) { o.Bodies = true }

func destructive(o *Operation) { o.Destroys = true }

// AtLeastOne refuses a 0 that was written out. The contract has waits of 1-3600
// seconds, and Go cannot tell a 0 from an argument that was left out.
func AtLeastOne(argument string) Trait {
	return func(o *Operation) {
		decoded := o.call
		o.call = func(ctx context.Context, svc Service, arguments []byte) (any, error) {
			given := map[string]json.RawMessage{}
			if json.Unmarshal(arguments, &given) == nil && string(given[argument]) == "0" {
				most := int(DefaultLimits().MaxWait / time.Second)
				if argument == "timeoutMs" {
					most *= 1000
				}
				return nil, Errorf(InvalidRequest, "%s is 0; it must be between 1 and %d", argument, most).
					Suggest("Leave it out for the default. get_messages looks without waiting.")
			}
			return decoded(ctx, svc, arguments)
		}
	}
}

// Called gives a tool the name it has in its document.
func Called(tool string) Trait { return func(o *Operation) { o.Tool = tool } }

// partOfAct is the trait of one of many calls of an act, which is recorded once.
func partOfAct(o *Operation) { o.part = true }

// Command names the shell command that does the same.
func Command(words string) Trait { return func(o *Operation) { o.Command = words } }

// NoCommand says why a shell has no command for it.
func NoCommand(because string) Trait { return func(o *Operation) { o.NoCommand = because } }

// noTool says why no model is offered it.
func noTool(because string) Trait { return func(o *Operation) { o.NoTool = because } }

// The roles of an operation: agents, unless it says otherwise.

// ForViewers is for agents and for those who watch them.
func ForViewers(o *Operation) { o.roles = []Role{RoleAgent, RoleObserver, RoleHuman} }

// ForWriters is for agents and the person.
func ForWriters(o *Operation) { o.roles = []Role{RoleAgent, RoleHuman} }

func forEverybody(o *Operation) { o.roles = []Role{RoleAgent, RoleRunner, RoleObserver, RoleHuman} }
func forRunners(o *Operation)   { o.roles = []Role{RoleAgent, RoleRunner} }
func forWatchers(o *Operation)  { o.roles = []Role{RoleObserver, RoleHuman} }
func forPersons(o *Operation)   { o.roles = []Role{RoleHuman} }
