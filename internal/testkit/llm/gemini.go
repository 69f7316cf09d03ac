package llm

import (
	"encoding/json"
	"net/http"
	"strings"
)

func readGemini(r *http.Request, text []byte) (Request, error) {
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string `json:"text"`
			Response struct {
				Response any `json:"response"`
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
	if err := json.Unmarshal(text, &body); err != nil {
		return Request{}, err
	}
	asked := Request{names: map[string]string{}, stream: strings.HasSuffix(r.URL.Path, ":streamGenerateContent")}
	for _, part := range body.System.Parts {
		asked.System += part.Text
	}
	for _, c := range body.Contents {
		message := Message{Role: c.Role}
		if c.Role == "model" {
			message.Role = Assistant
		}
		for _, part := range c.Parts {
			message.Text += "\n" + part.Text + valueText(part.Response.Response)
		}
		asked.Messages = append(asked.Messages, message)
	}
	for _, group := range body.Tools {
		for _, tool := range group.Functions {
			asked.names[strings.TrimPrefix(tool.Name, "mcp_c3po_")] = tool.Name
		}
	}
	if body.Config.Form == "application/json" { // it asks which model to take, and who speaks next
		asked.aside = `{"reasoning":"none","next_speaker":"user","model_choice":"flash","complexity_score":1,"complexity_reasoning":"none"}`
	}
	return asked, nil
}

func writeGemini(w http.ResponseWriter, asked Request, answer Step) {
	part := map[string]any{"text": answer.Text}
	if answer.Tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": asked.names[answer.Tool], "args": answer.Input}}
	}
	whole := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if asked.stream {
		eventsTo(w)("", whole)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(whole)
}

// valueText is all text in a JSON value, as a model would read it.
func valueText(value any) string {
	var out strings.Builder
	switch v := value.(type) {
	case string:
		return v + "\n"
	case []any:
		for _, each := range v {
			out.WriteString(valueText(each))
		}
	case map[string]any:
		for _, each := range v {
			out.WriteString(valueText(each))
		}
	}
	return out.String()
}
