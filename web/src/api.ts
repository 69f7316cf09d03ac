import { confirmed } from "./proof";
import { type Session, session, setSession } from "./session";

// What the coordinator says when it refuses: what happened, and what to do.
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly suggestion: string,
    readonly status: number,
    readonly proof = "", // what the person has to confirm first
  ) {
    super(message);
  }
}

export function headers(as: Session | null): Record<string, string> {
  const all: Record<string, string> = {};
  if (as?.token) all["Authorization"] = `Bearer ${as.token}`;
  if (as?.space) all["X-C3PO-Space"] = as.space;
  return all;
}

async function refusalOf(answer: Response): Promise<Refusal> {
  try {
    const said = (await answer.json()) as { code?: string; error?: string; message?: string; suggestion?: string; proof?: string };
    return new Refusal(said.code ?? "", said.message ?? said.error ?? answer.statusText, said.suggestion ?? "", answer.status, said.proof);
  } catch {
    return new Refusal("", `the coordinator answered ${answer.status}`, "", answer.status);
  }
}

const proofHeader = "X-C3PO-Proof";

async function ask(
  method: "GET" | "POST",
  path: string,
  body: unknown,
  as: Session | null,
  more: Record<string, string> = {},
  leaving = false,
): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { ...headers(as), ...more, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "omit",
      keepalive: leaving, // it is carried out though the page goes
    });
  } catch {
    throw new Refusal("COORD_DOWN", "the coordinator does not answer", "The page recovers automatically when it is back.", 0);
  }
  if (!answer.ok) {
    const refusal = await refusalOf(answer);
    if (refusal.proof && !leaving && !more[proofHeader]) {
      await confirmed(refusal.proof);
      return ask(method, path, body, as, { ...more, [proofHeader]: refusal.proof });
    }
    // The token has ended: there is nothing to see until the person signs in again.
    if (answer.status === 401 && as && as === session()) setSession(null, true);
    throw refusal;
  }
  return answer;
}

export async function request<Out>(method: "GET" | "POST", path: string, body?: unknown, as = session(), leaving = false): Promise<Out> {
  return (await (await ask(method, path, body, as, {}, leaving)).json()) as Out;
}

// fileOf gets the bytes of a file that came with a message, whatever they are.
export async function fileOf(message: string, file: string): Promise<Blob> {
  const query = new URLSearchParams({ message_id: message, file });
  return (await ask("GET", `/api/file?${query}`, undefined, session())).blob();
}

// A Page is one part of a list.
export interface Page<Row> {
  rows: Row[];
  next: string; // where to go on; empty at the end
}

// list runs an operation whose answer is rows, with the next page in a header.
export async function list<Row>(operation: string, args: object = {}): Promise<Page<Row>> {
  const answer = await ask("POST", `/api/op/${operation}`, args, session());
  const query = /<\?([^>]*)>; *rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1] ?? "";
  return { rows: (await answer.json()) as Row[], next: new URLSearchParams(query).get("cursor") ?? "" };
}

// call runs an operation of the table.
export function call<Out>(operation: string, args: object = {}, leaving = false): Promise<Out> {
  return request<Out>("POST", `/api/op/${operation}`, args, session(), leaving);
}

// act runs an operation in the name of the person, who is a mailbox like an
// agent's. An admin could be anybody and has to say it.
export async function act<Out>(operation: string, args: object): Promise<Out> {
  const as = session();
  const answer = await ask("POST", `/api/op/${operation}`, args, as, as?.role === "admin" ? { "X-Agent-ID": "human" } : {});
  return (await answer.json()) as Out;
}

// A key makes a repeated send the same one.
export function clientKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return "web-" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
