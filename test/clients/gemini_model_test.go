package clients_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the API that the Gemini CLI speaks.
func (m *model) gemini(w http.ResponseWriter, r *http.Request) {
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string `json:"text"`
			Call     any    `json:"functionCall"`
			Response struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	}
	var body struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Form string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := request{tools: map[string]string{}}
	for _, part := range body.System.Parts {
		asked.all += part.Text
	}
	for _, c := range body.Contents {
		for _, part := range c.Parts {
			text := "\n" + part.Text + valueText(part.Response.Response)
			asked.all += text
			asked.fresh += text
		}
		if c.Role == "model" {
			asked.fresh = ""
		}
	}
	for _, group := range body.Tools {
		for _, tool := range group.Functions {
			asked.tools[strings.TrimPrefix(tool.Name, "mcp_c3po_")] = tool.Name
		}
	}
	part := map[string]any{}
	switch {
	case body.Config.Form == "application/json": // it asks which model to take, and who speaks next
		part["text"] = `{"reasoning":"none","next_speaker":"user","model_choice":"flash","complexity_score":1,"complexity_reasoning":"none"}`
	default:
		answer := m.think(asked)
		part["text"] = answer.text
		if answer.tool != "" {
			part = map[string]any{"functionCall": map[string]any{"name": asked.tools[answer.tool], "args": answer.input}}
		}
	}
	data, _ := json.Marshal(map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	})
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", data)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}

// valueText is all text in a JSON value, as a model would read it.
func valueText(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return ""
	}
	var out strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out.WriteString(v + "\n")
		case []any:
			for _, each := range v {
				walk(each)
			}
		case map[string]any:
			for _, each := range v {
				walk(each)
			}
		}
	}
	walk(v)
	return out.String()
}
