import { C3poError, Lost, final, passing } from "./error.js";
import { keyed, protocol, readOnly, type Operations, type Page } from "./operations.js";
import { jitter, randomKey, sleep } from "./time.js";
import type * as wire from "./wire.js";

/** Config says where the coordinator is and who calls. */
export interface Config {
  /** Where the coordinator is; of Node $C3PO_COORDINATOR_URL, else http://localhost:8420. "" is the page's own origin. */
  url?: string;
  /** What the caller proves itself with; of Node $C3PO_TOKEN. */
  token?: string;
  /** What the caller sees; of Node $C3PO_SPACE, else the token's own space. */
  space?: string;
  /** The id the caller acts under. */
  agent?: string;
  /** What holds the id, which tells two programs with one id apart. */
  run?: string;
  /** The program, as `c3po agents` shows it. */
  clientName?: string;
  /** How many milliseconds a call is repeated after its first failure; 5000. 0 tries once. */
  patience?: number;
  /**
   * Asks the person to confirm an act with a passkey, and ends when they have. The call is then
   * made again. Without it such a call is refused with PROOF_REQUIRED.
   */
  confirm?: (proof: string) => Promise<void>;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
}

/** CallOptions are of one call. */
export interface CallOptions {
  /** Ends the call, and what it waits for. */
  signal?: AbortSignal;
  /** The call is carried out though the page goes. */
  keepalive?: boolean;
}

const callTimeoutMs = 15_000;
const firstPauseMs = 50;
const maxPauseMs = 1000;

const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};

/**
 * A Connection calls operations as one caller. A write is repeated under one key until its
 * outcome is known, so it never happens twice. It makes no call before it is asked to.
 */
export class Connection {
  readonly url: string;
  readonly #config: Config;
  #epoch = "";
  #id: string;
  #reached = false;

  constructor(config: Config = {}) {
    this.#config = { token: env["C3PO_TOKEN"], space: env["C3PO_SPACE"], ...config } as Config;
    this.url = (config.url ?? env["C3PO_COORDINATOR_URL"] ?? "http://localhost:8420").replace(/\/+$/, "");
    if (this.url && !/^https?:\/\/[^/]/.test(this.url))
      throw new C3poError("INVALID_REQUEST", `"${this.url}" is not the address of a coordinator`, "Write it as http://host:port.");
    this.#id = config.agent ?? "";
  }

  /** The id the coordinator let the caller act under; before its first answer the one that was asked for. */
  get id(): string {
    return this.#id;
  }

  /** How many milliseconds a call is repeated after its first failure. */
  get patience(): number {
    return this.#config.patience ?? 5000;
  }

  /** Whether the coordinator has ever answered. */
  get reached(): boolean {
    return this.#reached;
  }

  /** call runs an operation of the table, and repeats it while that can help. Those that store a message carry a key. */
  async call<Name extends keyof Operations>(name: Name, input: Operations[Name]["in"], options: CallOptions = {}): Promise<Operations[Name]["out"]> {
    const body = { ...input } as Record<string, unknown>;
    if (keyed.has(name) && !body["cursor"]) body["client_key"] ||= randomKey();
    return this.#repeat(readOnly.has(name), options, async () => {
      const answer = await this.attempt("POST", `/api/op/${name}`, body, options);
      const said: unknown = await json(answer);
      return (Array.isArray(said) ? pageOf(said, answer.headers) : said) as Operations[Name]["out"];
    });
  }

  /** request makes a call of REST that is no operation: one of /api/passkeys, for example. It is made once. */
  async request<Out>(method: "GET" | "POST", path: string, body?: unknown, options: CallOptions = {}): Promise<Out> {
    return this.#repeat(method === "GET", options, async () => (await json(await this.attempt(method, path, body, options))) as Out, 0);
  }

  /** file gets the bytes of a file that came with a message. */
  async file(message: wire.MessageID, file: string, options: CallOptions = {}): Promise<Blob> {
    const query = new URLSearchParams({ message_id: message, file }).toString();
    return this.#repeat(true, options, async () => (await this.attempt("GET", `/api/file?${query}`, undefined, options, 0)).blob());
  }

  /**
   * attempt makes one attempt, and another one with a proof if the person has to give one. It fails with a C3poError
   * that the coordinator answered, a Lost, or why the caller's signal has ended it.
   */
  async attempt(method: "GET" | "POST", path: string, body: unknown, options: CallOptions, timeoutMs = callTimeoutMs): Promise<Response> {
    try {
      return await this.#attemptOnce(method, path, body, options, timeoutMs);
    } catch (err) {
      const { confirm } = this.#config;
      if (!(err instanceof C3poError) || !err.proof || !confirm || options.keepalive) throw err;
      await confirm(err.proof);
      return this.#attemptOnce(method, path, body, options, timeoutMs, { "X-C3PO-Proof": err.proof });
    }
  }

  /** open begins an answer that is read as it comes: the stream of events. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return this.#attemptOnce("GET", path, undefined, { signal }, 0, headers);
  }

  async #attemptOnce(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    options: CallOptions,
    timeoutMs: number,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const signals = [options.signal, timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined].filter((s) => s !== undefined);
    let answer: Response;
    try {
      answer = await (this.#config.fetch ?? fetch)(this.url + path, {
        method,
        headers: { ...this.#headers(), ...more, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
        body: body === undefined ? null : JSON.stringify(body),
        credentials: "omit",
        keepalive: options.keepalive ?? false,
        ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
      });
    } catch (err) {
      options.signal?.throwIfAborted();
      throw new Lost(!isUnsent(err), err);
    }
    if (!answer.ok) throw await this.#refusal(answer);
    this.#learn(answer.headers);
    return answer;
  }

  async #repeat<Out>(changesNothing: boolean, options: CallOptions, once: () => Promise<Out>, patience = this.patience): Promise<Out> {
    let inDoubt = false;
    let giveUp = 0;
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        return await once();
      } catch (err) {
        const doubt = (err instanceof Lost && err.sent) || (err instanceof C3poError && err.code === "UNKNOWN_OUTCOME");
        // What was never sent is not sent again: nobody listens there. What may have been is.
        const again = doubt || (err instanceof Lost && inDoubt) || passing(err);
        inDoubt ||= doubt;
        giveUp ||= Date.now() + patience;
        const rest = jitter(pause);
        if (!again || Date.now() + rest > giveUp) throw final(err, inDoubt, changesNothing);
        await sleep(rest, options.signal);
      }
    }
  }

  #headers(): Record<string, string> {
    const { token, space, agent, run, clientName } = this.#config;
    const all: Record<string, string> = { "X-C3PO-Protocol": protocol };
    if (token) all["Authorization"] = `Bearer ${token}`;
    if (space) all["X-C3PO-Space"] = space;
    if (agent) all["X-Agent-ID"] = agent;
    if (run) all["X-C3PO-Run"] = run;
    if (clientName) all["X-C3PO-Client"] = `c3po/dev ${clientName}`;
    // The epoch goes with the id it was given for.
    if (this.#epoch && this.#id === agent) all["X-C3PO-Epoch"] = this.#epoch;
    return all;
  }

  #learn(headers: Headers): void {
    this.#reached = true;
    this.#id = headers.get("X-C3PO-Agent-ID") || this.#id;
    this.#epoch = headers.get("X-C3PO-Epoch") || this.#epoch;
  }

  async #refusal(answer: Response): Promise<Error> {
    let said: { code?: wire.Code; error?: string; suggestion?: string; retry?: wire.Retry; proof?: string } = {};
    try {
      said = (await answer.json()) as typeof said;
    } catch {
      // Something between us and the coordinator speaks, which cannot know what the coordinator did.
      if ([502, 503, 504].includes(answer.status)) return new Lost(true, new Error(`${answer.url} answered ${answer.status}`));
    }
    if (!said?.code) return foreign(answer.status, said?.error);
    this.#learn(answer.headers);
    return new C3poError(said.code, said.error ?? answer.statusText, said.suggestion, said.retry, answer.status, said.proof);
  }
}

async function json(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined;
  let text: string;
  try {
    text = await answer.text();
  } catch (err) {
    throw new Lost(true, err);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw foreign(answer.status);
  }
}

function foreign(status: number, sentence = `what answered (status ${status}) is not a c3po coordinator`): C3poError {
  return new C3poError("INTERNAL", sentence, "Check the coordinator's address.", "no", status);
}

// pageOf reads a list, which travels as a bare array with the next page in a header.
function pageOf(rows: unknown[], headers: Headers): Page<unknown> {
  const query = /<[^>]*\?([^>]*)>; *rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? "";
  const count = headers.get("X-C3PO-Count");
  return { rows, next: new URLSearchParams(query).get("cursor") ?? "", ...(count === null ? {} : { count: Number(count) }) };
}

// isUnsent says that there was no connection to send on. A browser does not tell; Node does.
function isUnsent(err: unknown): boolean {
  const cause = err instanceof Error ? (err.cause as { code?: string; errors?: { code?: string }[] } | undefined) : undefined;
  const codes = [cause?.code, ...(cause?.errors ?? []).map((e) => e.code)];
  return codes.some((code) => code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN");
}
