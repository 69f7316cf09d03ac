// An A2A client on the official SDK. It reads one command in each line of JSON, and
// answers each with a line: node client.mjs CARD-URL 1.0|0.3 [TOKEN]
import { createInterface } from 'node:readline';
import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';

const [url, version, token] = process.argv.slice(2);

// A client that knows 0.3 only says nothing of a version when it asks for the card.
async function fetchImpl(input, init = {}) {
  const headers = new Headers(init.headers);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (version === '0.3') headers.delete('A2A-Version');
  return fetch(input, { ...init, headers });
}

// Also a card that offers both versions is read as one of 0.3.
class OldResolver extends DefaultAgentCardResolver {
  normalizeAgentCard(card) {
    const { supportedInterfaces, ...old } = card;
    return super.normalizeAgentCard(supportedInterfaces && typeof card.url === 'string' ? old : card);
  }
}

const legacyCompat = { enabled: version === '0.3' };
const Resolver = version === '0.3' ? OldResolver : DefaultAgentCardResolver;
const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
  cardResolver: new Resolver({ fetchImpl, legacyCompat }),
});

let client;
async function connect() {
  client ??= await factory.createFromUrl(url, '');
  return client;
}

const plain = (task) => ({
  id: task.id,
  context: task.contextId,
  state: TaskState[task.status.state],
  says: (task.status.message?.parts ?? []).map((p) => p.content.value).join(''),
  answer: task.artifacts.flatMap((a) => a.parts.map((p) => p.content.value)).join(''),
  history: task.history.map((m) => m.messageId),
});

const message = (c) => ({
  tenant: '',
  message: {
    messageId: c.id,
    contextId: c.context ?? '',
    taskId: c.task ?? '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: c.text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

// A stream answers twice: with its first event, and when it has ended.
async function follow(events) {
  const seen = [];
  let answer = '';
  for await (const { payload } of events) {
    if (payload.$case === 'artifactUpdate') answer += payload.value.artifact.parts.map((p) => p.content.value).join('');
    else seen.push(TaskState[payload.value.status.state]);
    if (seen.length === 1 && payload.$case === 'task') process.stdout.write(`${JSON.stringify({ ok: plain(payload.value) })}\n`);
  }
  return { seen, answer };
}

const commands = {
  card: async () => (await connect()).getAgentCard(),
  send: async (c) => plain(await (await connect()).sendMessage(message(c))),
  stream: async (c) => follow((await connect()).sendMessageStream(message(c))),
  get: async (c) => plain(await (await connect()).getTask({ tenant: '', id: c.id })),
  subscribe: async (c) => follow((await connect()).resubscribeTask({ tenant: '', id: c.id })),
  cancel: async (c) => plain(await (await connect()).cancelTask({ tenant: '', id: c.id, metadata: undefined })),
  push: async (c) => (await connect()).createTaskPushNotificationConfig({ tenant: '', id: '', taskId: c.id, url: c.push, token: '', authentication: undefined }),
  list: async () => (await (await connect()).listTasks({ tenant: '', contextId: '', status: 0, pageToken: '', includeArtifacts: true })).tasks.map(plain),
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = { ok: await commands[command.do](command) };
  } catch (error) {
    answer = { error: error.name, message: String(error.message), cause: String(error.cause ?? '') };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
