// Stands for OpenCode to the plugin: node opencode-host.mjs PLUGIN.js STARTS AWAITED
// It takes prompts and starts a turn only at the one of number STARTS. When it has
// AWAITED many, and a while to see whether there are more, it prints the prompts and
// how many warnings there were, as JSON.
const [plugin, starts, awaited] = process.argv.slice(2)
const real = globalThis.setTimeout
globalThis.setTimeout = (f, ms) => real(f, ms / 50) // seconds are not worth waiting for

const { C3PO } = await import(plugin)
const prompts = []
let warnings = 0
const said = (text, agent) => ({
  message: { id: "m", agent, model: { providerID: "p", modelID: "big" } },
  parts: [{ id: "prt_1", type: "text", text }],
})
const client = {
  session: {
    get: async ({ path }) => ({ data: path.id === "child" ? { parentID: "s" } : {} }),
    promptAsync: async ({ path, body }) => {
      prompts.push({ session: path.id, agent: body.agent, model: body.model.modelID, text: body.parts[0].text })
      if (prompts.length === Number(starts)) void hooks["chat.message"]({ sessionID: path.id }, said(body.parts[0].text, body.agent))
    },
  },
  tui: { showToast: async () => {} },
  app: { log: async () => warnings++ },
}
const hooks = await C3PO({ client })
await hooks["chat.message"]({ sessionID: "s" }, said("hello", "plan"))
await hooks["chat.message"]({ sessionID: "child" }, said("search", "explore")) // a subagent
const rest = (ms) => new Promise((resolve) => real(resolve, ms))
for (let i = 0; i < 400 && prompts.length < Number(awaited); i++) await rest(50)
await rest(800) // for one too many, which would come after 200
await hooks.dispose()
console.log(JSON.stringify({ prompts, warnings }))
