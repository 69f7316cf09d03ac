import { type CallOptions, type Config, Connection } from "./connection.js";
import { C3poError, Unanswered, Lost, final, passing } from "./error.js";
import { type StreamEvent, events } from "./events.js";
import { Methods } from "./methods.js";
import type { Operations } from "./operations.js";
import { ownProcess } from "./process.js";
import { type Handler, serve } from "./serve.js";
import { jitter, reasonOf, sleep } from "./time.js";
import type * as wire from "./wire.js";

/** AgentConfig says who the program is and where the coordinator is. */
export interface AgentConfig extends Config {
  /** The id the program acts under: what others send to. If another program that is there has it, the agent gets a numbered one: see id. */
  agent: string;
  /** What it can help with. Each names a queue that it then serves: mail to role:NAME goes to one of the agents that have it. */
  capabilities?: string[];
  /** What others read beside the id; the id if left out. */
  description?: string;
}

/** The longest wait that a coordinator takes, in seconds. */
const maxWaitSeconds = 3600;
// What stands between a client and a coordinator cuts requests that are silent for a minute.
const sliceSeconds = 50;
const graceMs = 10_000;

/** textOf is what the sender of a message wrote, whichever field carries it. */
export function textOf(message: wire.Message): string {
  return (message.kind === "reply" ? message.response : message.message) ?? "";
}

/** A Client is one agent of a coordinator. It has a method for each operation, and the shorter ways below. */
export class Client extends Methods {
  readonly connection: Connection;

  constructor(config: AgentConfig) {
    super();
    this.connection = new Connection({ run: ownProcess().run, clientName: "typescript", ...config });
  }

  /** open makes the program known as an agent. That the coordinator is away is an error. */
  static async open(config: AgentConfig, options?: CallOptions): Promise<Client> {
    const client = new Client(config);
    const { host, pid, pid_start } = config.run ? {} : ownProcess();
    await client.registerAgent(
      {
        type: "typescript",
        ...(config.description ? { name: config.description } : {}),
        ...(config.capabilities ? { capabilities: config.capabilities } : {}),
        // With its process the coordinator of the same host knows at once when it has ended.
        ...(host && pid && pid_start ? { host, pid, pid_start } : {}),
      },
      options,
    );
    return client;
  }

  /** The id the agent acts under: the one that was asked for, or a numbered one if another program has that. */
  get id(): string {
    return this.connection.id;
  }

  override call<Name extends keyof Operations>(name: Name, input: Operations[Name]["in"], options?: CallOptions): Promise<Operations[Name]["out"]> {
    return this.connection.call(name, input, options);
  }

  /** close takes the agent off the list of those who are there. Its mail stays. */
  async close(options?: CallOptions): Promise<void> {
    await this.unregister({}, options);
  }

  /** tell sends what needs no answer. Once it returns the message is stored; the receipt says how safely. */
  tell(to: string, text: string, options?: CallOptions): Promise<wire.Receipt> {
    return this.sendMessage({ target: to, message: text, expects_reply: false }, options);
  }

  /**
   * ask sends a question and waits for its answer until the signal ends. It ends early, with an Unanswered, when waiting
   * on is of no use now: the agent that has the question died or is paused, for example.
   */
  async ask(to: string, text: string, options?: CallOptions): Promise<wire.Message> {
    const asked = await this.sendMessage({ target: to, message: text }, options);
    return this.awaitAnswer(asked.id, options);
  }

  /** awaitAnswer waits for the answer to a question that this agent asked, as ask does. */
  async awaitAnswer(question: wire.MessageID, options: CallOptions = {}): Promise<wire.Message> {
    for (;;) {
      let got: wire.WaitResult;
      try {
        got = await this.waitForMessage({ message_id: question, timeout: maxWaitSeconds }, options);
      } catch (err) {
        if (!options.signal?.aborted) throw err;
        const message = `the program waited no longer: ${reasonOf(options.signal).message}`;
        throw new Unanswered(question, { status: "timeout", code: "TIMEOUT", message_id: question, message, suggestion: "Wait for its answer again." });
      }
      if (isMessage(got)) return got;
      if (got.status !== "timeout" && got.status !== "retry") throw new Unanswered(question, got);
    }
  }

  /** waitForMessage waits in slices until a message came or the time is over, and hides restarts of the coordinator meanwhile. */
  override async waitForMessage(input: wire.WaitInput = {}, options: CallOptions = {}): Promise<wire.WaitResult> {
    const whole = input.timeout ?? 60;
    if (whole < 1 || whole > maxWaitSeconds) return this.call("wait_for_message", input, options);
    const end = Date.now() + whole * 1000;
    const unreached = Date.now() + this.connection.patience;
    let asked = input.message_id ? (input.asked ?? {}) : input.asked;
    let after = input.after;
    let last: wire.WaitEnd | undefined;
    for (let pause = 50; ;) {
      const seconds = Math.max(1, Math.ceil(Math.min((end - Date.now()) / 1000, sliceSeconds)));
      let rest: number;
      let failed: unknown;
      try {
        const body = { ...input, timeout: seconds, ...(asked ? { asked } : {}), ...(after === undefined ? {} : { after }) };
        const answer = await this.connection.attempt("POST", "/api/op/wait_for_message", body, options, seconds * 1000 + graceMs);
        const got = (await answer.json()) as wire.WaitResult;
        if (isMessage(got)) return got;
        // An answer to one message needs no position, and must not be lost to one.
        if (!input.message_id && got.seq > (after ?? 0)) after = got.seq;
        asked = got.asked ?? asked;
        delete got.asked;
        last = { ...got, message: got.message.replace(`within ${seconds} seconds`, `within ${whole} seconds`) };
        if (last.status !== "timeout" && last.status !== "retry") return last;
        if (last.status === "timeout" && end - Date.now() < 500) return last;
        rest = last.status === "retry" ? Math.max(50, last.retry_after_ms ?? 0) : 0;
        pause = 50;
      } catch (err) {
        options.signal?.throwIfAborted();
        if (err instanceof C3poError && !passing(err)) throw err;
        failed = err instanceof C3poError ? err : err instanceof Lost ? err : new Lost(true, err);
        rest = jitter(pause);
        pause = Math.min(2 * pause, 1000);
        if (!this.connection.reached && Date.now() + rest > unreached) throw final(failed, false, true);
      }
      if (Date.now() + rest > end) {
        if (last && !failed) return last;
        throw final(failed, false, true);
      }
      await sleep(rest, options.signal);
    }
  }

  /**
   * serve hands the mail of the agent and its queues to a handler, one message at a time, until the signal ends; a
   * message that was dealt with by then is still answered. Answers to the agent's own questions are left to ask.
   *
   * Each message is answered once, whatever is killed meanwhile. A handler that was killed in the middle sees its message
   * again, here or at another agent of the queue: what else it does must be safe to do twice.
   */
  serve(handle: Handler, options: CallOptions = {}): Promise<void> {
    return serve(this, handle, options.signal);
  }

  /** join makes the agent a member of a room, and the room if there is none. */
  join(room: string, notify?: wire.Notify, options?: CallOptions): Promise<wire.RoomJoined> {
    return this.roomJoin({ room, ...(notify ? { notify } : {}) }, options);
  }

  /** post says something in a room. @id in the text also sends it to that member as mail. */
  post(room: string, text: string, options?: CallOptions): Promise<wire.PostReceipt> {
    return this.roomPost({ room, message: text }, options);
  }

  /**
   * events gives what happens in the agent's space, from now on or after the place of an event that it was given, until the
   * signal ends. It outlives restarts; if something was missed it says so with a start that is not recovered.
   */
  events(options: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return events(this.connection, options);
  }
}

/** isMessage tells a message that a wait brought from the reason why there is none. */
export function isMessage(got: wire.WaitResult): got is wire.Delivery {
  return "from_agent" in got;
}
