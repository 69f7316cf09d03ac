// An MCP server with one tool, Ask, that shows a form and gives what came back: node form.mjs
import { createInterface } from "node:readline"

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n")
const requestedSchema = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] }
let call // that waits for the form

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === "initialize")
    send({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "form", version: "1" } } })
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "Ask", description: "Ask.", inputSchema: { type: "object" } }] } })
  else if (method === "tools/call") {
    call = id
    send({ id: "form", method: "elicitation/create", params: { mode: "form", message: "Deploy?", requestedSchema } })
  } else if (id === "form") send({ id: call, result: { content: [{ type: "text", text: "FORM " + JSON.stringify(result ?? error) }] } })
  else if (method && id !== undefined) send({ id, error: { code: -32601, message: "no such method" } })
}
