import { useEffect, useState } from "react";
import { request } from "../api";
import { ended, roleOf, type Session, setSession } from "../session";
import { Trouble } from "../ui";
import type { Login as LoginAnswer, ServerInfo } from "@c3po-dev/client";
import "./Login.css";

// A code is shown once; a page that is drawn twice must not show it twice.
const shown = new Map<string, Promise<void>>();

// then is where it goes afterwards.
export function Login({ code: given, then: wanted = "questions" }: { code: string; then?: string | undefined }) {
  // It leaves the address at once.
  const [code] = useState(given);
  const [then] = useState(wanted);
  const [trouble, setTrouble] = useState<unknown>();
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(code !== "");

  useEffect(() => {
    if (code) {
      // The code leaves the address, and with it the history, before it is used.
      history.replaceState(null, "", "#/" + then);
      if (!shown.has(code)) shown.set(code, signIn(code));
      shown
        .get(code)!
        .catch(setTrouble)
        .finally(() => {
          setBusy(false);
          window.dispatchEvent(new HashChangeEvent("hashchange"));
        });
      return;
    }
    // A coordinator of a trusted network asks nobody.
    const open: Session = { token: "", role: "admin", space: "" };
    request<ServerInfo>("POST", "/api/op/server_info", {}, open).then(
      (info) => info.auth === "none" && setSession(open),
      () => undefined,
    );
  }, [code, then]);

  const submit = async () => {
    const text = token.trim();
    const role = roleOf(text);
    if (!role) {
      setTrouble("That is not a token. One begins with c3po_human_ or c3po_observer_.");
      return;
    }
    const next: Session = { token: text, role, space: "" };
    setBusy(true);
    try {
      await request<ServerInfo>("POST", "/api/op/server_info", {}, next);
      setSession(next);
    } catch (err) {
      setTrouble(err);
      setBusy(false);
    }
  };

  return (
    <main className="view-login">
      <img src="/assets/icon.svg" alt="" width="48" height="48" />
      <h1>c3po</h1>
      {busy ? (
        <p className="quiet">Signing in …</p>
      ) : (
        <>
          {ended && trouble === undefined && (
            <p className="trouble" role="status">
              Your session has ended: its token has expired or was ended by an admin. Sign in again to go on.
            </p>
          )}
          <p>Run this where the coordinator is, and open what it prints:</p>
          <pre>c3po open</pre>
          <form
            onSubmit={(e) => {
              e.preventDefault();
              void submit();
            }}
          >
            <label>
              Or paste a token
              <input type="password" autoComplete="off" value={token} onChange={(e) => setToken(e.target.value)} />
            </label>
            <button className="primary">Sign in</button>
          </form>
          {trouble !== undefined && <Trouble err={trouble} />}
        </>
      )}
    </main>
  );
}

async function signIn(code: string): Promise<void> {
  const made = await request<LoginAnswer>("POST", "/api/login", { code }, null);
  setSession({ token: made.token, role: made.role, space: "", spaces: made.spaces });
}
