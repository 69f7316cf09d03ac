package mcpserver

import (
	"net/http"

	"github.com/c3po-dev/c3po/c3po"
)

// SDKHandler is Handler without the front door.
func (s *Server) SDKHandler() http.Handler { return s.receive(s.sdkHandler(false)) }

// HandlerBefore is Handler with something else in the place of the SDK. The front
// door answers some tools by other names too.
func (s *Server) HandlerBefore(sdk http.Handler, names map[string]string) http.Handler {
	d := newDoor(s)
	d.sdk, d.sdkJSON = sdk, sdk
	for other, name := range names {
		s.sharedOffer([]c3po.Toolset{c3po.Core}, false).tools[other] = s.sharedOffer([]c3po.Toolset{c3po.Core, c3po.More, c3po.Diag, c3po.Compat}, false).tools[name]
	}
	return s.receive(d)
}

// Members is members.
var Members = members
