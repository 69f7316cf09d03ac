import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { request } from "../api";
import { Exact } from "../Body";
import { plain } from "../plain";
import { useAsked } from "../proof";
import { useRoute } from "../route";
import { Dialog, Head, Trouble } from "../ui";
import type { ProofRequest, Question } from "../wire";
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

function Confirm({ id, withCode = false, onDone, onCancel }: { id: string; withCode?: boolean; onDone: () => void; onCancel?: () => void }) {
  const path = `/api/proofs/${encodeURIComponent(id)}`;
  const act = useQuery({ queryKey: ["proof", id], queryFn: () => request<ProofRequest>("GET", path), staleTime: Infinity, retry: false });
  const [trouble, setTrouble] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const options = act.data?.options;
  useEffect(() => button.current?.focus(), [options]);
  if (act.error) return <Trouble err={act.error} />;
  if (!act.data) return <p className="quiet">Loading …</p>;
  if (act.data.state !== "waits") return <p role="status">This was confirmed before.</p>;
  const sign = async () => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await request<ProofRequest>("POST", path, { credential: await ask(options!) });
      onDone();
    } catch (err) {
      setTrouble(err instanceof DOMException ? "The passkey was not used. Try again." : err);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="view-proof stack">
      {withCode && (
        <p>
          Your terminal shows the code <strong className="code">{act.data.code}</strong>. If it shows another one, or none, don’t confirm.
        </p>
      )}
      <Act of={act.data} />
      {options ? (
        <div className="row acts">
          <button ref={button} className="primary" disabled={busy} onClick={() => void sign()}>
            Use passkey
          </button>
          {onCancel && <button onClick={onCancel}>Cancel</button>}
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
function Act({ of }: { of: ProofRequest }) {
  const given = of.act.arguments ?? {};
  const about = typeof given["message_id"] === "string" ? given["message_id"] : "";
  const question = useQuery({
    queryKey: ["proof question", about],
    queryFn: () => request<Question>("POST", "/api/op/human_show", { message_id: about }),
    enabled: about !== "" && of.act.operation !== "thread_resume",
    retry: false,
  });
  return (
    <>
      <h3>{titles[of.act.operation] ?? plain(of.act.operation.replaceAll("_", " "))}</h3>
      {question.data && (
        <blockquote>
          <p className="quiet">{plain(question.data.from_agent)} asks</p>
          {question.data.kind === "approval" ? <Exact>{question.data.message ?? ""}</Exact> : <p className="said">{plain(question.data.message ?? "")}</p>}
        </blockquote>
      )}
      <dl className="given">
        {Object.entries(given)
          .filter(([name]) => name !== "client_key")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{plain(name.replaceAll("_", " "))}</dt>
              <dd>{plain(typeof value === "string" ? value : JSON.stringify(value))}</dd>
            </div>
          ))}
        <div>
          <dt>space</dt>
          <dd>{plain(of.act.space)}</dd>
        </div>
      </dl>
    </>
  );
}
