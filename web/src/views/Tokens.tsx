import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../api";
import { useNow } from "../data";
import { ago, lastUsed, moment, plain } from "../plain";
import { Dialog, Empty, Head, Id, say, sayError, Trouble } from "../ui";
import type { AuditEntry, Invited, Role, Token } from "@c3po-dev/client";
import "./Tokens.css";

interface NewToken extends Token {
  token: string;
}

// joinLine is what c3po invite prints: a shell's own echo keeps the invitation out of
// the arguments, which every user of that host can read. Only the brackets of an IPv6
// address need quotes.
function joinLine(made: Invited): string {
  const invitation = `c3po://${made.address}/${made.hash}-${made.secret}`;
  return `echo ${invitation.includes("[") ? `'${invitation}'` : invitation} | c3po join -`;
}

export function Tokens() {
  const now = useNow();
  const client = useQueryClient();
  const tokens = useQuery({ queryKey: ["tokens"], queryFn: () => request<Token[]>("GET", "/api/admin/tokens"), refetchInterval: 30_000 });
  const audit = useQuery({ queryKey: ["audit"], queryFn: () => request<AuditEntry[]>("GET", "/api/admin/audit?limit=50"), refetchInterval: 30_000 });
  const [secret, setSecret] = useState<{ title: string; text: string } | null>(null);
  const [making, setMaking] = useState(false);
  const [ended, setEnded] = useState(false);
  const [sure, setSure] = useState<Token | null>(null);

  const settle = async (what: () => Promise<unknown>) => {
    try {
      await what();
      await client.invalidateQueries({ queryKey: ["tokens"] });
      await client.invalidateQueries({ queryKey: ["audit"] });
    } catch (err) {
      sayError(err);
    }
  };
  const revoke = (t: Token) =>
    settle(async () => {
      await request("POST", `/api/admin/tokens/${encodeURIComponent(t.kid)}/revoke`);
      say(`Token ${t.kid} has ended`);
    });
  const rotate = (t: Token) =>
    settle(async () => {
      const made = await request<NewToken>("POST", `/api/admin/tokens/${encodeURIComponent(t.kid)}/rotate`);
      setSecret({ title: "The successor", text: made.token });
    });
  const invite = () =>
    settle(async () => {
      const made = await request<Invited>("POST", "/api/admin/invites", {});
      setSecret({ title: "Run this on the other host within 15 minutes", text: joinLine(made) });
    });
  const all = (tokens.data ?? []).filter((t) => ended || t.state === "live");
  const hosts = [...new Set(all.map((t) => /^([^/*]+)\/\*$/.exec(t.agents ?? "")?.[1]).filter((h): h is string => h !== undefined))];

  return (
    <section className="page view-tokens">
      <Head title="Hosts and tokens">
        <div className="row">
          <button onClick={() => setMaking(true)}>New token</button>
          <button onClick={() => void invite()}>Invite a host</button>
        </div>
      </Head>
      <h2>Hosts</h2>
      {hosts.length === 0 ? (
        <p className="quiet">No other host has joined.</p>
      ) : (
        <ul className="plainlist">
          {hosts.map((h) => (
            <li key={h}>
              <Id>{h}</Id>
            </li>
          ))}
        </ul>
      )}
      <div className="head">
        <h2>Tokens</h2>
        <label className="check">
          <input type="checkbox" checked={ended} onChange={(e) => setEnded(e.target.checked)} /> Also those that ended
        </label>
      </div>
      {tokens.error && <Trouble err={tokens.error} />}
      {tokens.data && all.length === 0 && <Empty title="No tokens" />}
      <div className="tablebox" tabIndex={0} role="region" aria-label="Tokens">
        <table>
          <thead>
            <tr>
              <th>Key id</th>
              <th>Role</th>
              <th>For</th>
              <th>Label</th>
              <th>Used</th>
              <th>Ends</th>
              <th>
                <span className="hidden">What to do</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((t) => (
              <tr key={t.kid} className={t.state === "live" ? "" : "quiet"}>
                <td>
                  <code>{plain(t.kid)}</code>
                </td>
                <td>{t.role}</td>
                <td>
                  <bdi>{plain([t.agents, t.spaces.join(", ")].filter(Boolean).join(" in "))}</bdi>
                </td>
                <td>
                  <bdi>{plain(t.label ?? "")}</bdi>
                </td>
                <td title={moment(t.last_used)}>{lastUsed(t.last_used, now)}</td>
                <td title={moment(t.expires)}>{t.state === "live" ? new Date(t.expires).toLocaleDateString() : t.state}</td>
                <td>
                  {t.state === "live" && (
                    <>
                      <button className="link" onClick={() => void rotate(t)}>
                        Replace
                      </button>
                      <button className="link bad" onClick={() => setSure(t)}>
                        End
                      </button>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Lately</h2>
      {audit.error && <Trouble err={audit.error} />}
      <ul className="plainlist audit">
        {(audit.data ?? [])
          .slice(-30)
          .reverse()
          .map((e) => (
            <li key={e.id}>
              <time className="quiet" title={moment(e.at)}>
                {ago(e.at, now)}
              </time>{" "}
              <strong>{plain(e.event.replaceAll("_", " "))}</strong>{" "}
              <bdi>{plain([e.role, e.agent, e.detail, e.remote && `from ${e.remote}`].filter(Boolean).join(", "))}</bdi>
            </li>
          ))}
      </ul>
      {making && (
        <NewTokenSheet
          onClose={() => setMaking(false)}
          onMade={(text) => (setMaking(false), setSecret({ title: "The new token", text }), void settle(() => Promise.resolve()))}
        />
      )}
      {secret && (
        <Dialog title={secret.title} onClose={() => setSecret(null)}>
          <p>It is shown this once.</p>
          <pre className="secret">{secret.text}</pre>
          <div className="row acts">
            <button className="primary" onClick={() => void navigator.clipboard?.writeText(secret.text).then(() => say("Copied"))}>
              Copy
            </button>
          </div>
        </Dialog>
      )}
      {sure && (
        <Dialog title={`End token ${sure.kid}?`} onClose={() => setSure(null)}>
          <p>Whoever uses it is cut off within a second. This cannot be undone.</p>
          <div className="row acts">
            <button className="danger" onClick={() => (void revoke(sure), setSure(null))}>
              End it
            </button>
            <button onClick={() => setSure(null)}>Keep</button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function NewTokenSheet({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const [role, setRole] = useState<Role>("observer");
  const [agents, setAgents] = useState("");
  const [label, setLabel] = useState("");
  const acts = role === "agent" || role === "runner";
  const make = async () => {
    try {
      const made = await request<NewToken>("POST", "/api/admin/tokens", { role, ...(acts ? { agents } : {}), ...(label ? { label } : {}) });
      onMade(made.token);
    } catch (err) {
      sayError(err);
    }
  };
  return (
    <Dialog title="New token" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          void make();
        }}
      >
        <label>
          Role
          <select value={role} onChange={(e) => setRole(e.target.value as Role)}>
            <option value="observer">observer: may look</option>
            <option value="human">human: answers, writes, pauses</option>
            <option value="agent">agent: acts for itself</option>
            <option value="runner">runner: starts agents</option>
            <option value="admin">admin: may do everything</option>
          </select>
        </label>
        {acts && (
          <label>
            May act as
            <input value={agents} required placeholder="build-box/*" onChange={(e) => setAgents(e.target.value)} />
          </label>
        )}
        <label>
          Label
          <input value={label} maxLength={100} onChange={(e) => setLabel(e.target.value)} />
        </label>
        <button className="primary">Make it</button>
      </form>
    </Dialog>
  );
}
