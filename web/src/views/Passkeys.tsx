import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../api";
import { useNow, usePasskeys } from "../data";
import { ago, plain } from "../plain";
import { Head, Id, say, sayError, Trouble } from "../ui";
import type { PasskeyOffer, Passkeys as All, ProofPolicy } from "@c3po-dev/client";
import "./Passkeys.css";

const policies: [ProofPolicy, string][] = [
  ["off", "Nothing: your token is enough"],
  ["decisions", "Decisions: answers, resuming, tokens and invitations"],
  ["everything", "Everything you change"],
];

// Passkeys are how a person proves that it is them and not a program that has their token.
export default function Passkeys() {
  const client = useQueryClient();
  const now = useNow();
  const all = usePasskeys();
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const works = all.data?.pages.includes(window.location.origin) ?? false;

  const change = async (what: () => Promise<All>, done: string) => {
    setBusy(true);
    try {
      const next = await what();
      client.setQueryData(["passkeys"], next);
      say(done);
    } catch (err) {
      sayError(err instanceof DOMException ? "The browser made no passkey. Try again." : err);
    } finally {
      setBusy(false);
    }
  };
  const add = async () => {
    const offer = await request<PasskeyOffer>("POST", "/api/passkeys/offer", {});
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(offer.options as unknown as PublicKeyCredentialCreationOptionsJSON);
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential | null;
    const next = await request<All>("POST", "/api/passkeys", { id: offer.id, name, credential: made?.toJSON() });
    setName("");
    return next;
  };
  return (
    <section className="page view-passkeys">
      <Head title="Passkeys" />
      <p>A program on your computer can read your token. With a passkey, what you decide needs your touch.</p>
      {all.error && <Trouble err={all.error} />}
      {all.data && (
        <>
          <ul className="plainlist">
            {all.data.passkeys.map((one) => (
              <li key={one.id} className="row">
                <Id>{one.name}</Id>
                <span className="quiet">
                  for {plain(one.site)}, added {ago(one.created, now)}
                </span>
                <button
                  className="link bad"
                  disabled={busy}
                  onClick={() =>
                    void change(() => request<All>("POST", `/api/passkeys/${encodeURIComponent(one.id)}/remove`, {}), `Removed ${plain(one.name)}`)
                  }
                >
                  Remove
                </button>
              </li>
            ))}
            {all.data.passkeys.length === 0 && <li className="quiet">You have none.</li>}
          </ul>
          {works ? (
            <form
              className="row"
              onSubmit={(e) => {
                e.preventDefault();
                void change(add, `Added ${plain(name)}`);
              }}
            >
              <label>
                Name of a new one
                <input value={name} required maxLength={40} placeholder="phone" onChange={(e) => setName(e.target.value)} />
              </label>
              <button className="primary" disabled={busy}>
                Add a passkey
              </button>
            </form>
          ) : (
            <p>
              Passkeys don’t work at <code>{window.location.origin}</code>. Run <code>c3po passkey add</code>, which opens this page where they do
              {all.data.pages.length > 0 && (
                <>
                  : <code>{plain(all.data.pages.join(", "))}</code>
                </>
              )}
              .
            </p>
          )}
          <fieldset disabled={busy || all.data.passkeys.length === 0}>
            <legend>What needs a passkey</legend>
            {policies.map(([policy, words]) => (
              <label key={policy} className="check">
                <input
                  type="radio"
                  name="policy"
                  checked={all.data.policy === policy}
                  onChange={() => void change(() => request<All>("POST", "/api/passkeys/policy", { policy }), "Saved")}
                />{" "}
                {words}
              </label>
            ))}
          </fieldset>
        </>
      )}
    </section>
  );
}
