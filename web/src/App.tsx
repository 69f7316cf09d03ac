import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { sendAll } from "./answers";
import { Boundary, later } from "./boundary";
import { request } from "./api";
import { canNotify, showCount, useNotify, useNotifying } from "./attention";
import { useLiveData, useNeeds, usePasskeys, usePausedAll, useQuestionCount } from "./data";
import { Icon } from "./icons";
import { useShortcuts } from "./keys";
import { follow, useLine } from "./live";
import { moment, plain } from "./plain";
import { useAsked } from "./proof";
import { go, to, useRoute } from "./route";
import { mayAct, setSession, spacesToPick, useSession, visit } from "./session";
import { nextTheme, useTheme } from "./theme";
import { Help, say, sayError, Toasts } from "./ui";
import { Agent } from "./views/Agent";
import { Agents } from "./views/Agents";
import { Conversation } from "./views/Conversation";
import { Conversations } from "./views/Conversations";
import { Letters } from "./views/Letters";
import { Login } from "./views/Login";
import { Network } from "./views/Network";
import { Palette } from "./views/Palette";
import { Questions } from "./views/Questions";
import { Queue } from "./views/Queue";
import { Room } from "./views/Room";
import { Rooms } from "./views/Rooms";
import { Tokens } from "./views/Tokens";
import { Waiting } from "./views/Waiting";
import { Undo } from "./views/Undo";
import { usePause } from "./views/pause";

const Passkeys = later(() => import("./views/Passkeys"));
const Proof = later(() => import("./views/Proof"));
const Proving = later(() => import("./views/Proving"));

// What draws is big and not what people come for first.
const Overview = later(() => import("./views/Overview"));

interface View {
  name: string;
  title: string;
  key: string;
  short?: string; // where there is little room
  rare?: boolean; // on a phone behind the button for more
  admin?: boolean;
  person?: boolean; // who looks only has no use for it
}

const views: View[] = [
  { name: "questions", title: "Questions", key: "q" },
  { name: "waiting", title: "Who waits", short: "Waiting", key: "w" },
  { name: "agents", title: "Agents", key: "a" },
  { name: "conversations", title: "Conversations", short: "Chats", key: "c" },
  { name: "rooms", title: "Rooms", key: "r", rare: true },
  { name: "overview", title: "Overview", key: "o", rare: true },
  { name: "network", title: "Network", key: "n", rare: true },
  { name: "letters", title: "Dead letters", key: "d", rare: true },
  { name: "passkeys", title: "Passkeys", key: "k", rare: true, person: true },
  { name: "tokens", title: "Hosts and tokens", key: "t", rare: true, admin: true },
];

export function App() {
  const session = useSession();
  const route = useRoute();
  if (route[0] === "login") return <Login code={route[1] ?? ""} then={route.length > 2 ? route.slice(2).map(encodeURIComponent).join("/") : undefined} />;
  if (!session) return <Login code="" />;
  return <Signed key={session.token + session.space} />;
}

function Signed() {
  const session = useSession()!;
  const client = useQueryClient();
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const proving = useAsked() !== undefined;
  const shown = views.filter((v) => (!v.admin || session.role === "admin") && (!v.person || mayAct(session)));
  const wanted = route[0] === "queues" ? "rooms" : route[0];
  const view = shown.find((v) => v.name === wanted)?.name ?? "questions";
  const { data: asked, questions } = useNeeds();
  const waiting = questions.length;
  useNotify(asked && questions);

  useEffect(() => {
    const stop = follow(session, client);
    return () => {
      sendAll();
      stop();
      client.clear();
    };
  }, [session, client]);
  useLiveData();
  useShortcuts({
    ...Object.fromEntries(shown.map((v) => ["g " + v.key, () => go(v.name)])),
    "?": () => setHelp((is) => !is),
    T: nextTheme,
    Escape: () => setHelp(false),
  });
  useEffect(() => {
    const open = (e: KeyboardEvent) => {
      if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return;
      e.preventDefault();
      setPalette(true);
    };
    window.addEventListener("keydown", open);
    return () => window.removeEventListener("keydown", open);
  }, []);
  useEffect(() => {
    showCount(waiting);
    return () => showCount(0);
  }, [waiting]);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${shown.find((v) => v.name === view)?.title ?? ""} · c3po`;
  });

  return (
    <div className="frame">
      <a className="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to content
      </a>
      <Side views={shown} view={view} onHelp={() => setHelp(true)} onFind={() => setPalette(true)} />
      <main id="main" tabIndex={-1}>
        <Away />
        <Paused />
        <Forgetting />
        <Boundary key={view}>
          {route[0] === "prove" && <Proving key={route[1]} />}
          {view === "questions" && route[0] !== "prove" && <Questions wanted={route[0] === "q" ? route[1] : undefined} />}
          {view === "waiting" && <Waiting />}
          {view === "agents" && (route[1] ? <Agent key={route[1]} id={route[1]} /> : <Agents />)}
          {view === "conversations" && (route[1] ? <Conversation key={route[1]} thread={route[1]} drawn={route[2] === "sequence"} /> : <Conversations />)}
          {view === "rooms" &&
            (!route[1] ? <Rooms /> : route[0] === "queues" ? <Queue key={route[1]} name={route[1]} /> : <Room key={route[1]} name={route[1]} />)}
          {view === "overview" && <Overview />}
          {view === "network" && <Network />}
          {view === "letters" && <Letters />}
          {view === "passkeys" && <Passkeys />}
          {view === "tokens" && <Tokens />}
        </Boundary>
      </main>
      <Undo />
      {proving && <Proof />}
      <Toasts />
      {palette && <Palette views={shown} onClose={() => setPalette(false)} />}
      {help && (
        <Help views={shown} onClose={() => setHelp(false)}>
          <nav aria-label="More views">
            {shown
              .filter((v) => v.rare)
              .map((v) => (
                <a key={v.name} href={to(v.name)} onClick={() => setHelp(false)}>
                  <Icon name={v.name} />
                  {v.title}
                </a>
              ))}
          </nav>
          <Foot />
        </Help>
      )}
    </div>
  );
}

// Foot is at the bottom of the side, and with the keys where there is no side.
function Foot({ onHelp }: { onHelp?: () => void }) {
  const session = useSession()!;
  const theme = useTheme();
  const [space, setSpace] = useState(session.space);
  const [notifying, turnNotifying] = useNotifying();
  const id = useId();
  const turn = async () => {
    const on = await turnNotifying();
    if (on) say("A notification shows each question as long as this page is open");
    else if (!notifying) say("The browser does not allow notifications from this page.", true);
  };
  return (
    <div className="foot">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          visit(session, space.trim());
        }}
      >
        <label>
          <span>Space</span>
          <input
            value={space}
            list={id}
            placeholder="main"
            spellCheck={false}
            onChange={(e) => {
              setSpace(e.target.value);
              // A choice from the list has no key that was pressed.
              if (!(e.nativeEvent instanceof InputEvent) || e.nativeEvent.inputType === "insertReplacementText") visit(session, e.target.value.trim());
            }}
            onBlur={(e) => e.target.value.trim() !== session.space && e.target.form?.requestSubmit()}
          />
        </label>
        <datalist id={id}>
          {spacesToPick(session).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </form>
      <p className="quiet">{mayAct(session) ? `Signed in as ${session.role}` : `Signed in as ${session.role}: you can look`}</p>
      {canNotify() && (
        <button className="link notify" aria-pressed={notifying} onClick={() => void turn()}>
          {notifying ? "Notifications are on" : "Notify me of questions"}
        </button>
      )}
      <div className="row">
        <button className="link" onClick={nextTheme} title="Shift T">
          {theme === "auto" ? "Auto" : theme === "light" ? "Light" : "Dark"}
        </button>
        {onHelp && (
          <button className="link" onClick={onHelp} title="?">
            Keys
          </button>
        )}
        <button className="link" onClick={() => setSession(null)}>
          Sign out
        </button>
      </div>
    </div>
  );
}

function Side({ views, view, onHelp, onFind }: { views: View[]; view: string; onHelp: () => void; onFind: () => void }) {
  const waiting = useQuestionCount();
  const line = useLine();
  return (
    <header className="side">
      <div className="brand">
        <img src="/assets/icon.svg" alt="" width="24" height="24" />
        <strong>c3po</strong>
        <span className={`line ${line}`} role="status">
          {line === "live" ? "live" : line === "away" ? "reconnecting" : "connecting"}
        </span>
        <button className="find" onClick={onFind} title="Ctrl K" aria-label="Go to an agent, a conversation, a room or a view">
          <Icon name="find" />
        </button>
        <button className="link more" onClick={onHelp} aria-label="Settings and keys">
          ⋯
        </button>
      </div>
      <nav className="tabs" aria-label="Views">
        {views.map((v) => (
          <a key={v.name} className={v.rare ? "rare" : ""} href={to(v.name)} aria-current={v.name === view ? "page" : undefined} title={`g ${v.key}`}>
            <Icon name={v.name} />
            <span className="name">{v.title}</span>
            <span className="short" aria-hidden="true">
              {v.short ?? v.title}
            </span>
            {v.name === "questions" && waiting > 0 && <span className="count">{waiting}</span>}
          </a>
        ))}
      </nav>
      <Foot onHelp={onHelp} />
    </header>
  );
}

// Paused stays for as long as everybody is paused, in every view.
function Paused() {
  const why = usePausedAll();
  const act = mayAct(useSession());
  const pause = usePause();
  if (why === undefined) return null;
  return (
    <p className="banner paused" role="status">
      <span>
        Every agent is paused
        {why && why !== "paused" ? (
          <>
            : <bdi>{plain(why)}</bdi>
          </>
        ) : (
          "."
        )}
      </span>
      {act && <button onClick={() => void pause("", false)}>Resume all</button>}
    </p>
  );
}

// Forgetting stays, in every view, for as long as all passkeys are about to be forgotten:
// whoever can start the coordinator can ask for that, and only their owner can end it.
function Forgetting() {
  const client = useQueryClient();
  const { data } = usePasskeys();
  if (!data?.reset_at) return null;
  const keep = async () => {
    try {
      client.setQueryData(["passkeys"], await request("POST", "/api/passkeys/policy", { policy: data.policy }));
      say("You keep your passkeys");
    } catch (err) {
      sayError(err);
    }
  };
  return (
    <p className="banner paused" role="alert">
      <span>Somebody asked to forget all your passkeys at {moment(data.reset_at)}. If that wasn’t you, use one now: that ends it.</span>
      <button onClick={() => void keep()}>Keep my passkeys</button>
    </p>
  );
}

function Away() {
  const line = useLine();
  if (line !== "away") return null;
  return (
    <p className="banner" role="alert">
      The coordinator does not answer. What you see may be old; the page recovers automatically when it is back.
    </p>
  );
}
