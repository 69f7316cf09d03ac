import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Ref, useEffect, useRef, useState } from "react";
import { request } from "../api";
import { Exact } from "../Body";
import { allowOnce } from "../mail";
import { plain } from "../plain";
import { useAsked } from "../proof";
import { useRoute } from "../route";
import { useSeen } from "../seen";
import { Dialog, Head, InOrder, Trouble } from "../ui";
import type { ProofRequest, Question } from "@c3po-dev/client";
import "./Proof.css";

// Proof asks for the passkey that an act of this page needs.
export default function Proof() {
  const asked = useAsked();
  if (!asked) return null;
  return (
    <Dialog title="Confirm with your passkey" onClose={() => asked.refuse(new Error("Not confirmed, so nothing was done"))}>
      <Confirm key={asked.id} id={asked.id} onDone={asked.done} onCancel={() => asked.refuse(new Error("Not confirmed, so nothing was done"))} />
    </Dialog>
  );
}

// Proving is the page that a terminal sends its person to.
export function Proving() {
  const id = useRoute()[1] ?? "";
  const [done, setDone] = useState(false);
  return (
    <section className="page">
      <Head title="Confirm with your passkey" />
      {done ? <p role="status">Confirmed. Go on where you came from.</p> : <Confirm id={id} withCode onDone={() => setDone(true)} />}
    </section>
  );
}

// ask makes the browser ask for the passkey.
async function ask(options: Record<string, unknown>): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON);
  const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential | null;
  return credential?.toJSON();
}

interface Confirming {
  id: string;
  withCode?: boolean;
  onDone: () => void;
  onCancel?: () => void;
}

function Confirm({ id, ...rest }: Confirming) {
  const path = `/api/proofs/${encodeURIComponent(id)}`;
  const act = useQuery({ queryKey: ["proof", id], queryFn: () => request<ProofRequest>("GET", path), staleTime: Infinity, retry: false });
  if (act.error) return <Trouble err={act.error} />;
  if (!act.data) return <p className="quiet">Loading …</p>;
  if (act.data.state !== "waits") return <p role="status">This was confirmed before.</p>;
  return <Sign of={act.data} path={path} {...rest} />;
}

function Sign({ of, path, withCode = false, onDone, onCancel }: Omit<Confirming, "id"> & { of: ProofRequest; path: string }) {
  const client = useQueryClient();
  const [trouble, setTrouble] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { options } = of;
  const over = useOver(of.act);
  // Without scrolling: the button is below what is to be read.
  useEffect(() => button.current?.focus({ preventScroll: true }), []);
  const [seen, end] = useSeen();
  const unread = of.act.kind === "approval" && !seen && of.act.answer === allowOnce;
  const sign = async () => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await request<ProofRequest>("POST", path, { credential: await ask(options!) });
      void client.invalidateQueries({ queryKey: ["passkeys"] }); // its use ends a reset
      onDone();
    } catch (err) {
      setTrouble(err instanceof DOMException ? "The passkey was not used. Try again." : err);
    } finally {
      setBusy(false);
    }
  };
  const stopped = over ?? (unknown(of.act) ? "The coordinator doesn’t say what this answers, so you can’t confirm it here." : undefined);
  return (
    <div className="view-proof stack">
      {withCode && (
        <p>
          Your terminal shows the code <strong className="code">{of.code}</strong>. If it shows another one, or none, don’t confirm.
        </p>
      )}
      <Act of={of.act} end={end} />
      {stopped !== undefined ? (
        <p role="status" className="trouble">
          {stopped}
        </p>
      ) : options ? (
        <div className="row acts">
          <button ref={button} className="primary" disabled={busy} aria-disabled={unread} onClick={() => !unread && void sign()}>
            Use passkey
          </button>
          {onCancel && <button onClick={onCancel}>Cancel</button>}
          {unread && <span className="quiet">Scroll to the end of it to allow it</span>}
        </div>
      ) : (
        <p className="trouble">
          You have no passkey for {window.location.hostname}. Run <code>c3po passkey add</code>, or open the dashboard by the name your passkey is for.
        </p>
      )}
      {trouble !== undefined && <Trouble err={trouble} />}
    </div>
  );
}

function answers(act: ProofRequest["act"]): boolean {
  return act.operation === "human_answer" || act.operation === "reply";
}

function unknown(act: ProofRequest["act"]): boolean {
  return answers(act) && (act.question === undefined || act.answer === undefined);
}

const lookEvery = 1000; // ms

// useOver says why there is nothing left to answer, as soon as it is so.
function useOver(act: ProofRequest["act"]): string | undefined {
  const about = act.arguments?.["message_id"];
  const { data } = useQuery({
    queryKey: ["proof question", about],
    queryFn: () => request<Question>("POST", "/api/op/human_show", { message_id: about }),
    enabled: answers(act) && typeof about === "string",
    refetchInterval: lookEvery,
    staleTime: 0,
    retry: false,
  });
  if (data?.state === "cancelled") return "The question was withdrawn. There is nothing left to answer.";
  if (data?.state === "responded") return "The question was answered meanwhile. There is nothing left to answer.";
  if (data?.state === "timed_out" && data.kind === "approval") return "The request has expired. There is nothing left to answer.";
  return undefined;
}

const titles: Record<string, string> = {
  human_answer: "Answer a question",
  reply: "Answer a question",
  resume: "Resume",
  thread_resume: "Let a conversation go on",
  token_create: "Make a token",
  token_rotate: "Replace a token",
  token_revoke: "End a token",
  invite: "Invite",
  passkey_add: "Add a passkey",
  passkey_remove: "Remove a passkey",
  proof_policy: "Change what needs a passkey",
};

// Act shows everything that is signed, in words where there are some.
function Act({ of, end }: { of: ProofRequest["act"]; end: Ref<HTMLElement> }) {
  const told = new Set(["client_key", ...(of.answer === undefined ? [] : ["choice", "response"])]);
  return (
    <>
      <h3>{of.kind === "approval" ? "Allow or deny a tool" : (titles[of.operation] ?? plain(of.operation.replaceAll("_", " ")))}</h3>
      {of.question !== undefined && (
        <blockquote>
          <p className="quiet">
            {plain(of.asker ?? "")} {of.kind === "approval" ? "asks for permission" : "asks you"}
          </p>
          {of.kind === "approval" ? <Exact end={end}>{of.question}</Exact> : <p className="said">{plain(of.question)}</p>}
        </blockquote>
      )}
      {of.answer !== undefined && (
        <p className="said answer">
          Your answer: <strong>{plain(of.answer)}</strong>
        </p>
      )}
      <dl className="given">
        {Object.entries(of.arguments ?? {})
          .filter(([name]) => !told.has(name))
          .map(([name, value]) => (
            <div key={name}>
              <dt>{plain(name.replaceAll("_", " "))}</dt>
              <dd dir="ltr">
                <InOrder>{plain(typeof value === "string" ? value : JSON.stringify(value))}</InOrder>
              </dd>
            </div>
          ))}
        <div>
          <dt>space</dt>
          <dd>{plain(of.space)}</dd>
        </div>
      </dl>
    </>
  );
}
