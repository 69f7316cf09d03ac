// c3po in OpenCode. It tells the c3po session process what a session does, puts the
// notices that the session process answers before the model, and starts a turn when mail
// comes to a session that is idle. The text of a message never passes here. If you want
// to, you can decide permission dialogs from elsewhere; the dialog stays usable.
//
// c3po install opencode writes this file; c3po uninstall opencode removes it.
import { spawn, type ChildProcess } from "node:child_process"
import { createInterface } from "node:readline"
import type { Plugin } from "@opencode-ai/plugin"

// The program; installing writes its full path here.
const c3po = "c3po"
// Whether permission dialogs are questions to you elsewhere too: --approvals sets it.
const approvals: boolean = false

// How long a prompt may take to start a turn before it is sent again.
const startTimeoutMs = 10_000
const attempts = 3
// The tools that change files which they name.
const editors = new Set(["edit", "write", "multiedit", "patch", "apply_patch"])
// How often, and after how long, it is looked again for what a tool is given.
const maxLooks = 100
const lookAgainMs = 50
// How often the session process hears that a long turn still runs.
const busyEvery = 60_000

// opencode run ends with its first turn: nothing can be told after it.
const oneTurn = process.argv.slice(2).includes("run")

type Verdict = { behavior: "allow" | "deny"; message?: string }
type Answer = {
  systemMessage?: string
  hookSpecificOutput?: { additionalContext?: string; decision?: Verdict; permissionDecision?: string; permissionDecisionReason?: string }
}
type About = {
  session_id: string
  source?: string
  tool_name?: string
  tool_input?: unknown
  tool_use_id?: string
  cwd?: string
  reason?: string
  stop_hook_active?: string
  last_assistant_message?: string
  retry_at?: string
  used?: Used
}
// What one request to the model has used, which the session process reports for the message that it was for, and what
// OpenCode says of it.
type Used = { request: string; at: number; input: number; output: number; cache_read: number; cache_write: number; usd: number }
type Request = {
  id: string
  sessionID: string
  time: { created: number }
  cost: number
  tokens: { input: number; output: number; reasoning: number; cache: { read: number; write: number } }
}
// What OpenCode says when it asks for a permission. The types of the plugin are older.
type Asked = { id: string; sessionID: string; permission: string; patterns: string[]; tool?: { messageID: string; callID: string } }
type Replied = { requestID: string }

// hook hands an event to the session process. It never fails: a session must not notice
// that c3po is away. One that waits for a person is handed to its caller, who may end it.
const hook = (event: string, about: About, waits?: (child: ChildProcess) => void) =>
  new Promise<Answer>((resolve) => {
    const child = spawn(c3po, ["hook", "--client", "opencode", event], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: waits ? undefined : 5_000,
    })
    waits?.(child)
    let said = ""
    child.stdout.on("data", (data) => (said += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve({}))
    child.on("close", () => {
      try {
        resolve(JSON.parse(said))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(about))
  })

export const C3PO: Plugin = async ({ client, directory }) => {
  // The session that the person last wrote in, and with what.
  let session: { id: string; agent: string; model: { providerID: string; modelID: string } } | undefined
  let monitor: ChildProcess | undefined
  let beat: ReturnType<typeof setInterval> | undefined
  let notice = "" // our prompt that has not started a turn yet
  let begun = () => {}
  let ours = false // the turn was started by us
  let whole = false // the last words of the model are: nobody has interrupted them
  let owed = "" // what the session is still to be told
  const children = new Map<string, boolean>()
  const edits = new Set<string>() // calls that may still write
  // The permission dialogs that are open, and what asks the person elsewhere.
  const dialogs = new Map<string, { session: string; asks?: ChildProcess }>()

  // A subagent has a session of its own. Mail is for the session it works for.
  const isSubagent = async (id: string) => {
    let child = children.get(id)
    if (child === undefined) {
      const { data } = await client.session.get({ path: { id } })
      child = !!data?.parentID
      children.set(id, child)
    }
    return child
  }

  const tell = async (event: string, about: About) => {
    const answer = await hook(event, about)
    if (answer.systemMessage) {
      await client.tui.showToast({ body: { title: "c3po", message: answer.systemMessage, variant: "warning" } }).catch(() => {})
    }
    return answer.hookSpecificOutput?.additionalContext ?? ""
  }

  // prompt starts a turn, one after the other, and looks whether it has begun.
  let before = Promise.resolve()
  const prompt = (text: string) => (before = before.then(() => start(text)))
  const start = async (text: string) => {
    if (!session) return
    const { id, agent, model } = session
    for (let i = 0; i < attempts; i++) {
      const started = new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), startTimeoutMs)
        begun = () => {
          clearTimeout(timer)
          resolve(true)
        }
      })
      notice = text
      await client.session.promptAsync({ path: { id }, body: { agent, model, parts: [{ type: "text", text }] } }).catch(() => {})
      if (await started) return
    }
    await client.app
      .log({ body: { service: "c3po", level: "warn", message: "a notice of mail has started no turn" } })
      .catch(() => {})
  }

  // listen starts turns for mail that comes while the session is idle.
  const listen = () => {
    if (monitor || oneTurn) return
    monitor = spawn(c3po, ["monitor", "--client", "opencode"], { stdio: ["ignore", "pipe", "ignore"] })
    monitor.on("error", () => {})
    if (monitor.stdout) createInterface({ input: monitor.stdout }).on("line", (line) => void prompt(line))
  }

  // works says that the turn goes on, or that a dialog waits; what is said last counts.
  let said = Promise.resolve<Answer>({})
  const works = () => {
    said = said.then(() => hook(dialogs.size > 0 ? "PermissionRequest" : "busy", { session_id: session?.id ?? "" }))
  }

  // counts says what a request has used, as soon as OpenCode knows it.
  let counted = Promise.resolve<Answer>({})
  let last = ""
  const counts = (info: Request) => {
    const { input, output, reasoning, cache } = info.tokens
    if (input + output + reasoning + cache.read + cache.write === 0) return
    const used: Used = {
      request: info.id,
      at: info.time.created,
      input,
      output: output + reasoning,
      cache_read: cache.read,
      cache_write: cache.write,
      usd: info.cost,
    }
    if (JSON.stringify(used) === last) return
    last = JSON.stringify(used)
    counted = counted.then(() => hook("Counted", { session_id: info.sessionID, used }))
  }

  // call is the call of a tool that a permission is asked for, and what the model said before.
  const call = async ({ id, sessionID, permission, patterns, tool }: Asked) => {
    if (!tool) return { tool_name: permission, tool_input: { patterns } }
    const read = async () => {
      const { data } = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } })
      const parts = data?.parts ?? []
      const at = parts.findIndex((part) => part.type === "tool" && part.callID === tool.callID)
      return { parts, at }
    }
    let { parts, at } = await read()
    // OpenCode may ask before it has noted what the tool is given: the input is empty then.
    const isPending = () => {
      const part = parts[at]
      return part?.type === "tool" && part.state.status === "pending"
    }
    for (let i = 0; i < maxLooks && isPending() && dialogs.has(id); i++) {
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
      const now = await read()
      parts = now.parts
      at = now.at
    }
    const part = parts[at]
    if (part?.type !== "tool" || isPending()) return undefined
    const words = parts.slice(0, at).filter((before) => before.type === "text").at(-1)
    // A command may also need a permission for a folder, an edit of any kind has one name.
    const other = permission !== part.tool && permission !== "edit"
    const asks = other ? { "asks for": [permission, ...patterns].join(" ") } : {}
    if (other && "asks for" in part.state.input) return undefined
    return { tool_name: part.tool, tool_input: { ...part.state.input, ...asks }, reason: words?.type === "text" ? words.text : "" }
  }

  // opens puts a dialog before the person elsewhere, and hands their verdict to OpenCode,
  // which takes none for a dialog that is decided.
  const opens = async (asked: Asked) => {
    const dialog: { session: string; asks?: ChildProcess } = { session: asked.sessionID }
    dialogs.set(asked.id, dialog)
    works()
    if (!approvals || oneTurn) return
    const about = await call(asked)
    if (!about || !dialogs.has(asked.id)) return
    const answer = await hook("Approve", { session_id: asked.sessionID, cwd: directory, ...about }, (child) => (dialog.asks = child))
    const verdict = answer.hookSpecificOutput?.decision
    if (!verdict || !dialogs.has(asked.id)) return
    const body = verdict.behavior === "allow" ? { reply: "once" } : { reply: "reject", message: verdict.message }
    await client["_client"].post({
      url: "/permission/{requestID}/reply",
      path: { requestID: asked.id },
      body,
      headers: { "Content-Type": "application/json" },
    })
  }

  // closes is what follows when dialogs are decided, or moot.
  const closes = (decided: (id: string, session: string) => boolean) => {
    const before = dialogs.size
    for (const [id, { session, asks }] of dialogs) {
      if (!decided(id, session)) continue
      dialogs.delete(id)
      asks?.kill()
    }
    if (dialogs.size < before) works()
  }

  return {
    dispose: async () => {
      clearInterval(beat)
      monitor?.kill()
      for (const { asks } of dialogs.values()) asks?.kill()
    },

    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (await isSubagent(id)) return
      session = { id, agent: output.message.agent, model: output.message.model }
      ours = output.parts.some((part) => part.type === "text" && part.text === notice)
      if (ours) {
        notice = ""
        begun()
      }
      listen()
      const text = [owed, await tell("UserPromptSubmit", { session_id: id })].filter(Boolean).join("\n")
      owed = ""
      const last = output.parts.at(-1)
      if (text && last) {
        output.parts.push({ id: last.id + "c3po", sessionID: id, messageID: output.message.id, type: "text", text, synthetic: true })
      }
    },

    // What was used is told before the next request: opencode run may end with it.
    "chat.params": async () => {
      await counted
    },

    // An edit takes the lease of its file, or is refused while another session has it.
    "tool.execute.before": async (input, output) => {
      if (!editors.has(input.tool)) return
      edits.add(input.callID)
      const { hookSpecificOutput: said } = await hook("PreToolUse", {
        session_id: session?.id ?? input.sessionID,
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: output.args,
        cwd: directory,
      })
      if (said?.permissionDecision !== "deny") return
      edits.delete(input.callID)
      throw new Error(said.permissionDecisionReason)
    },

    "tool.execute.after": async (input, output) => {
      const call = edits.delete(input.callID) ? { tool_use_id: input.callID } : {}
      if (input.sessionID !== session?.id) {
        if (call.tool_use_id) await hook("PermissionDenied", { session_id: session?.id ?? "", ...call })
        return
      }
      const text = [owed, await tell("PostToolUse", { session_id: input.sessionID, tool_name: input.tool, ...call })].filter(Boolean).join("\n")
      owed = ""
      if (!text) return
      // The result of an MCP tool is a list of contents here, that of others a text.
      const { content } = output as { content?: unknown }
      if (Array.isArray(content)) content.push({ type: "text", text })
      else output.output += "\n\n" + text
    },

    event: async ({ event }) => {
      if (!session) return
      const about = { session_id: session.id }
      const { type, properties } = event as { type: string; properties: unknown }
      if (type === "permission.asked") return void opens(properties as Asked).catch(() => {})
      if (type === "permission.replied") return closes((id) => id === (properties as Replied).requestID)
      switch (event.type) {
        case "message.updated": {
          const { info } = event.properties
          if (info.role !== "assistant" || info.sessionID !== session.id) return
          whole = !!info.time.completed && !info.error
          counts(info)
          return
        }
        case "session.compacted":
          if (event.properties.sessionID === session.id) owed = await tell("SessionStart", { ...about, source: "compact" })
          return
        case "session.error": {
          const { sessionID, error } = event.properties
          // Who has interrupted a turn has not failed.
          if (sessionID !== session.id || !error || error.name === "MessageAbortedError") return
          await said
          await hook("StopFailure", { ...about, last_assistant_message: String(error.data.message ?? error.name) })
          return
        }
        case "session.status": {
          const { sessionID, status } = event.properties
          // OpenCode asks its model again by itself, and says when.
          if (status.type === "retry" && sessionID === session.id) {
            void hook("Refused", { ...about, last_assistant_message: status.message, retry_at: String(status.next) })
          }
          // Whoever interrupts a turn closes its dialogs, of which OpenCode says nothing.
          if (status.type === "idle") closes((_, asks) => asks === sessionID || sessionID === session?.id)
          if (sessionID === session.id) break
          return
        }
        default:
          return
      }
      clearInterval(beat)
      if (event.properties.status.type !== "idle") {
        beat = setInterval(works, busyEvery)
        return
      }
      // What was denied, or has failed, writes nothing any more.
      for (const call of edits) await hook("PermissionDenied", { ...about, tool_use_id: call })
      edits.clear()
      // Who has interrupted a turn wants the word: the session process waits a while. OpenCode
      // says that it is idle before it says that it was interrupted.
      if (!whole || oneTurn) return
      await said
      const text = await tell("Stop", { ...about, stop_hook_active: String(ours) })
      if (text) await prompt(text)
    },
  }
}
