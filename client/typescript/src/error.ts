import type * as wire from "./wire.js";

/**
 * C3poError is what the coordinator, or the way to it, answers instead of a result: a code to
 * act on, a sentence (message), what to do next, and whether the same call may be made again.
 */
export class C3poError extends Error {
  override name = "C3poError";

  constructor(
    readonly code: wire.Code | "",
    message: string,
    /** What to do next. */
    readonly suggestion = "",
    /** "same_key": repeat it under the same key at once; "later": once something has changed; "no": never. */
    readonly retry: wire.Retry = "no",
    /** Of HTTP; 0 if nothing was answered. */
    readonly status = 0,
    /** Of PROOF_REQUIRED: what the person has to confirm with a passkey first. */
    readonly proof = "",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** isRetrySafe says that the same call may be made again now: under its key nothing is done twice. */
  get isRetrySafe(): boolean {
    return this.retry === "same_key";
  }
}

/** Unanswered says why a question that was stored has no answer yet. It stands: awaitAnswer waits on for its answer. */
export class Unanswered extends Error {
  override name = "Unanswered";

  constructor(
    readonly question: wire.MessageID,
    readonly because: wire.WaitOutcome,
  ) {
    super(because.message);
  }
}

/** Lost is an attempt that brought no answer of a coordinator. */
export class Lost extends Error {
  override name = "Lost";

  constructor(
    /** The coordinator may have received the request. */
    readonly sent: boolean,
    cause: unknown,
  ) {
    super("the coordinator did not answer", { cause });
  }
}

/** passing says that the same request may well succeed soon. */
export function passing(err: unknown): boolean {
  return err instanceof C3poError && err.retry === "same_key" && (err.status === 502 || err.status === 503);
}

// What is decided after the key was looked up: an earlier try that is in doubt was not carried out.
const decided: ReadonlySet<string> = new Set<wire.Code>([
  "INVALID_REQUEST",
  "AGENT_NOT_FOUND",
  "TICKET_NOT_FOUND",
  "KEY_CONFLICT",
  "AGENT_UNAVAILABLE",
  "RATE_LIMITED",
  "BUDGET_SPENT",
  "INBOX_FULL",
  "SUPERSEDED",
  "UNKNOWN_OUTCOME",
]);

/** final is what a caller hears in the end, given whether an earlier try may have been carried out. */
export function final(err: unknown, inDoubt: boolean, changesNothing: boolean): unknown {
  if (err instanceof C3poError && (!inDoubt || changesNothing || decided.has(err.code))) return err;
  if (!(err instanceof Lost) && !(err instanceof C3poError)) return err; // the caller has ended it
  if ((inDoubt || (err instanceof Lost && err.sent)) && !changesNothing)
    return new C3poError(
      "UNKNOWN_OUTCOME",
      "the connection to the coordinator was lost before it answered; it may have done what was asked",
      "Make the same call again with the same key: nothing will be done twice.",
      "same_key",
      0,
      "",
      { cause: err },
    );
  return new C3poError("COORD_DOWN", "the coordinator is not reachable", "Start it with c3po up, or check the address.", "same_key", 0, "", { cause: err });
}
