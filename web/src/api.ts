import { C3poError, Connection, randomKey, type MessageID, type Operations } from "@c3po-dev/client";
import { confirmed } from "./proof";
import { type Session, session, setSession } from "./session";

export { C3poError as Refusal, randomKey as clientKey };
export type { Page } from "@c3po-dev/client";

// connect is the way to the coordinator that serves the page. What is to be repeated is repeated by
// the page, which shows meanwhile that the coordinator is away.
export function connect(as: Session | null, agent = ""): Connection {
  return new Connection({ url: "", token: as?.token ?? "", space: as?.space ?? "", agent, patience: 0, confirm: confirmed });
}

// ending signs the person out if their token has ended: there is nothing to see until they sign in again.
async function ending<Out>(as: Session | null, answer: Promise<Out>): Promise<Out> {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof C3poError && err.status === 401 && as && as === session()) setSession(null, true);
    throw err;
  }
}

export function request<Out>(method: "GET" | "POST", path: string, body?: unknown, as = session(), leaving = false): Promise<Out> {
  return ending(as, connect(as).request<Out>(method, path, body, { keepalive: leaving }));
}

// fileOf gets the bytes of a file that came with a message, whatever they are.
export function fileOf(message: MessageID, file: string): Promise<Blob> {
  return ending(session(), connect(session()).file(message, file));
}

// call runs an operation of the table.
export function call<Name extends keyof Operations>(name: Name, input: Operations[Name]["in"], leaving = false): Promise<Operations[Name]["out"]> {
  return ending(session(), connect(session()).call(name, input, { keepalive: leaving }));
}

// act runs an operation in the name of the person, who is a mailbox like an
// agent's. An admin could be anybody and has to say it.
export function act<Name extends keyof Operations>(name: Name, input: Operations[Name]["in"]): Promise<Operations[Name]["out"]> {
  const as = session();
  return ending(as, connect(as, as?.role === "admin" ? "human" : "").call(name, input));
}
