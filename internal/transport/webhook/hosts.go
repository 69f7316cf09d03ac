package webhook

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Hosts are the sites whose posts can be read.
func Hosts() []Host {
	return []Host{
		{Name: "github", Title: "GitHub", proves: signedByGitHub, read: readGitHub},
		{Name: "gitlab", Title: "GitLab", proves: knownToGitLab, read: readGitLab},
	}
}

// signedByGitHub checks the HMAC of the body.
func signedByGitHub(secret string, header http.Header, body []byte) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header.Get("X-Hub-Signature-256"), "sha256="))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// knownToGitLab compares the secret, which GitLab sends along as it is.
func knownToGitLab(secret string, header http.Header, _ []byte) bool {
	given, want := sha256.Sum256([]byte(header.Get("X-Gitlab-Token"))), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

type (
	gitHubUser struct {
		Login string `json:"login"`
	}
	gitHubThread struct { // an issue or a pull request
		Number    int       `json:"number"`
		Title     string    `json:"title"`
		Body      string    `json:"body"`
		URL       string    `json:"html_url"`
		CreatedAt time.Time `json:"created_at"`
	}
	gitHubPost struct {
		Action     string `json:"action"`
		Repository struct {
			Name string `json:"full_name"`
		} `json:"repository"`
		Sender  gitHubUser    `json:"sender"`
		Issue   *gitHubThread `json:"issue"`
		Change  *gitHubThread `json:"pull_request"`
		Comment *struct {
			Body      string    `json:"body"`
			Path      string    `json:"path"`
			Line      int       `json:"line"`
			URL       string    `json:"html_url"`
			CreatedAt time.Time `json:"created_at"`
		} `json:"comment"`
		Review *struct {
			Body        string    `json:"body"`
			State       string    `json:"state"`
			URL         string    `json:"html_url"`
			SubmittedAt time.Time `json:"submitted_at"`
		} `json:"review"`
		CheckRun *struct {
			Name        string    `json:"name"`
			Conclusion  string    `json:"conclusion"`
			URL         string    `json:"html_url"`
			SHA         string    `json:"head_sha"`
			CompletedAt time.Time `json:"completed_at"`
			Output      struct {
				Title   string `json:"title"`
				Summary string `json:"summary"`
			} `json:"output"`
			Suite struct {
				Branch string `json:"head_branch"`
			} `json:"check_suite"`
		} `json:"check_run"`
	}
)

// readGitHub reads a post by the name of its event.
func readGitHub(header http.Header, body []byte) (*Told, error) {
	event := header.Get("X-GitHub-Event")
	var post gitHubPost
	if err := json.Unmarshal(body, &post); err != nil {
		return nil, notJSON(err)
	}
	told := &Told{Repository: post.Repository.Name, By: post.Sender.Login}
	switch event + " " + post.Action {
	case "issue_comment created", "pull_request_review_comment created":
		if post.Comment == nil {
			return nil, errors.New("it has no comment")
		}
		place := ""
		if post.Comment.Path != "" {
			place = " at " + post.Comment.Path
		}
		if post.Comment.Line != 0 { // none for a whole file, and for lines that are gone
			place += fmt.Sprintf(":%d", post.Comment.Line)
		}
		told.Kind, told.Headline, told.Text = Comments, post.headline("commented")+place, post.Comment.Body
		told.URL, told.At = post.Comment.URL, post.Comment.CreatedAt
	case "pull_request_review submitted":
		if post.Review == nil {
			return nil, errors.New("it has no review")
		}
		if post.Review.Body == "" && post.Review.State == "commented" {
			return nil, nil // its comments come by themselves
		}
		told.Kind, told.Headline, told.Text = Comments, post.headline("reviewed ("+post.Review.State+")"), post.Review.Body
		told.URL, told.At = post.Review.URL, post.Review.SubmittedAt
	case "issues opened", "pull_request opened":
		thread := cmp.Or(post.Issue, post.Change)
		if thread == nil {
			return nil, errors.New("it has neither an issue nor a pull request")
		}
		told.Kind, told.Headline, told.Text = opened, post.headline("opened"), thread.Body
		told.URL, told.At = thread.URL, thread.CreatedAt
	case "check_run completed":
		run := post.CheckRun
		if run == nil {
			return nil, errors.New("it has no check")
		}
		if run.Conclusion != "failure" && run.Conclusion != "timed_out" {
			return nil, nil
		}
		told.Kind, told.URL, told.At = Failures, run.URL, run.CompletedAt
		told.Headline = headlineOfCheck("GitHub", post.Repository.Name, run.Name, run.Conclusion, run.Suite.Branch, run.SHA)
		told.Text = strings.TrimSpace(run.Output.Title + "\n" + run.Output.Summary)
	default:
		return nil, nil
	}
	return told, nil
}

// headline says who did what in which thread.
func (p *gitHubPost) headline(did string) string {
	thread := cmp.Or(p.Issue, p.Change, &gitHubThread{})
	return fmt.Sprintf("GitHub: %s %s, %s#%d %q", p.Sender.Login, did, p.Repository.Name, thread.Number, thread.Title)
}

// headlineOfCheck is that of a check that failed.
func headlineOfCheck(host, repository, name, how, branch, sha string) string {
	return fmt.Sprintf("%s: the check %q of %s ended with %s, on %s at %.12s", host, name, repository, how, cmp.Or(branch, "no branch"), sha)
}

type gitLabPost struct {
	Project struct {
		Name string `json:"path_with_namespace"`
	} `json:"project"`
	User struct {
		Name string `json:"username"`
	} `json:"user"`
	Object struct {
		ID         int    `json:"id"`
		Note       string `json:"note"`
		URL        string `json:"url"`
		Status     string `json:"status"`
		Ref        string `json:"ref"`
		SHA        string `json:"sha"`
		CreatedAt  string `json:"created_at"`
		FinishedAt string `json:"finished_at"`
	} `json:"object_attributes"`
	Change *gitLabThread `json:"merge_request"`
	Issue  *gitLabThread `json:"issue"`
}

type gitLabThread struct {
	Number int    `json:"iid"`
	Title  string `json:"title"`
}

// readGitLab reads a post by the name of its hook.
func readGitLab(header http.Header, body []byte) (*Told, error) {
	var post gitLabPost
	if err := json.Unmarshal(body, &post); err != nil {
		return nil, notJSON(err)
	}
	told := &Told{Repository: post.Project.Name, By: post.User.Name, URL: post.Object.URL}
	var err error
	switch header.Get("X-Gitlab-Event") {
	case "Note Hook":
		mark, thread := "!", post.Change
		if thread == nil {
			mark, thread = "#", cmp.Or(post.Issue, &gitLabThread{})
		}
		told.Kind, told.Text = Comments, post.Object.Note
		told.Headline = fmt.Sprintf("GitLab: %s commented, %s%s%d %q", post.User.Name, post.Project.Name, mark, thread.Number, thread.Title)
		told.At, err = gitLabTime(post.Object.CreatedAt)
	case "Pipeline Hook":
		if post.Object.Status != "failed" {
			return nil, nil
		}
		told.Kind = Failures
		told.Headline = headlineOfCheck("GitLab", post.Project.Name, fmt.Sprintf("pipeline %d", post.Object.ID), post.Object.Status, post.Object.Ref, post.Object.SHA)
		told.At, err = gitLabTime(post.Object.FinishedAt)
	default:
		return nil, nil
	}
	return told, err
}

// gitLabTime reads both ways in which GitLab writes a time.
func gitLabTime(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05 MST"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errNoTime
}

// notJSON says so without the words of a library.
func notJSON(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("it is no JSON at byte %d", syntax.Offset)
	}
	return errors.New("a value has another type than expected")
}
