package rest

import (
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// Pushing tells browsers of questions by their push services.
type Pushing interface {
	PublicPushKey() c3po.PushKey
	CheckPush(in c3po.PushInput) error
}

func (s *server) pushKey(w http.ResponseWriter, r *http.Request) {
	s.conclude(w, r, s.push.PublicPushKey(), nil)
}

// subscribe has the caller's browser told of questions.
func (s *server) subscribe(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	var in c3po.PushInput
	err := checkRole(auth.LinkRoles(), caller.Role)
	if err == nil {
		err = readObject(r, &in)
	}
	if err == nil {
		err = s.push.CheckPush(in)
	}
	if err == nil {
		err = s.auth.Subscribe(r.Context(), caller, in)
	}
	s.conclude(w, r, c3po.PushState{On: true}, err)
}

func (s *server) unsubscribe(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	s.conclude(w, r, c3po.PushState{}, s.auth.Unsubscribe(r.Context(), caller))
}
