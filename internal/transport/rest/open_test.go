package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAPathWithoutATokenTakesOnlyAFewBytes(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api/login", "/api/join", "/agent/api/login"} {
		r := httptest.NewRequest("POST", path, strings.NewReader(`{"code":"`+strings.Repeat("x", 4<<10)+`"}`))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		onModel(t).ServeHTTP(answer, r)
		if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "larger than 4096 bytes") {
			t.Errorf("%s answers %d %s", path, answer.Code, answer.Body)
		}
	}
}
