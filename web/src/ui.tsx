import { type ReactNode, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Refusal } from "./api";
import { rightToLeft } from "./hidden";
import { kept, keep } from "./kept";
import { firstLines, plain, reach, reachWhy } from "./plain";
import { home, type SeenAgent } from "./mail";
import { to } from "./route";

const shownLines = 24; // of a text, before somebody asks for all of it

// Toasts say what became of an act.
interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

let toasts: Toast[] = [];
let lastToast = 0;
const listeners = new Set<() => void>();

function set(next: Toast[]): void {
  toasts = next;
  for (const l of listeners) l();
}

export function say(text: string, bad = false): void {
  const id = ++lastToast;
  set([...toasts.slice(-3), { id, text, bad }]);
  setTimeout(() => set(toasts.filter((t) => t.id !== id)), bad ? 10_000 : 4000);
}

// sayError tells of an act that failed. Nobody repeats it but the person.
export function sayError(err: unknown): void {
  if (isAway(err)) say("The coordinator does not answer, so this may not have been done. Try again when it is back.", true);
  else say(words(err), true);
}

// isAway says that nothing was answered. A browser does not tell whether anything was sent.
function isAway(err: unknown): boolean {
  return err instanceof Refusal && err.status === 0;
}

export function words(err: unknown): string {
  if (isAway(err)) return "The coordinator does not answer. The page recovers automatically when it is back.";
  if (err instanceof Refusal) return plain(`${sentence(err.message)} ${err.suggestion}`.trim());
  return String(err);
}

function sentence(text: string): string {
  const t = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(t) ? t : t + ".";
}

export function Toasts() {
  const all = useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((t) => (
        <p key={t.id} className={t.bad ? "bad" : ""}>
          {t.text}
        </p>
      ))}
    </div>
  );
}

export function Trouble({ err }: { err: unknown }) {
  return (
    <p className="trouble" role="alert">
      {words(err)}
    </p>
  );
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("The browser does not let this page copy. Select the text instead.", true);
  }
}

// Empty says why a view is empty and what to do next.
export function Empty({ title, children, command }: { title: string; children?: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && (
        <p className="command">
          <code>{command}</code>
          <button className="link" onClick={() => void copy(command)}>
            Copy
          </button>
        </p>
      )}
    </div>
  );
}

export function Head({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="head">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

// Others' text. It is a text node, whatever is in it.
export function Text({ children }: { children: string }) {
  const [all, setAll] = useState(false);
  const short = all ? children : firstLines(children, shownLines);
  return (
    <>
      <p className="text" dir="auto">
        {plain(short)}
      </p>
      {short !== children && (
        <button className="link" onClick={() => setAll(true)}>
          Show all {children.split("\n").length} lines
        </button>
      )}
    </>
  );
}

// InOrder shows a text in the order it is in. A word that runs from right to left does so
// within its own place: beside it, signs and digits would change theirs.
export function InOrder({ children: text }: { children: string }) {
  return text.split(rightToLeft).map((part, n) =>
    n % 2 === 0 ? (
      part
    ) : (
      <bdi key={n} dir="rtl">
        {part}
      </bdi>
    ),
  );
}

export function Id({ children }: { children: string }) {
  return (
    <bdi className="id" title={plain(children)}>
      {plain(children)}
    </bdi>
  );
}

// Who is a name that leads to its own page.
export function Who({ id }: { id: string }) {
  const route = home(id);
  if (!route) return <Id>{id}</Id>;
  return (
    <a className="who1" href={to(...route)}>
      <Id>{id}</Id>
    </a>
  );
}

export function Reach({ agent }: { agent: SeenAgent }) {
  return (
    <span className={`reach ${/^[a-z_]+$/.test(agent.reachability) ? agent.reachability : ""}`} title={reachWhy(agent.reachability)}>
      {reach(agent.reachability)}
    </span>
  );
}

export function Dialog({ title, children, onClose }: { title: string; children: ReactNode; onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next key: one that comes while a dialog is there and not open is lost.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={ref} aria-label={title} onCancel={(e) => (e.preventDefault(), onClose())} onClick={(e) => e.target === ref.current && onClose()}>
      <div className="sheet">
        <div className="head">
          <h2>{title}</h2>
          <button className="link" onClick={onClose} aria-label="Close">
            ✕
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

export function Help({ views, onClose, children }: { views: { title: string; key: string }[]; onClose: () => void; children: ReactNode }) {
  const rows: [string, string][] = [
    ...views.map((v): [string, string] => ["g " + v.key, v.title]),
    ["Ctrl K", "Go to an agent, a conversation, a room, a view or a message"],
    ["/", "Search"],
    ["j  k", "Next, previous"],
    ["Enter", "Open, or answer"],
    ["1 … 9", "Choose an answer that is offered"],
    ["p", "Pause or resume the agent"],
    ["w", "Write to the agent"],
    ["Ctrl Enter", "Send what was written"],
    ["u", "Take back an answer that is about to be sent"],
    ["Shift T", "Light, dark, or as the system"],
    ["?", "These keys"],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key
                .split(" ")
                .filter(Boolean)
                .map((k) => (
                  <kbd key={k}>{k}</kbd>
                ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="onlyphone">{children}</div>
    </Dialog>
  );
}

interface Composing {
  label: string;
  button: string;
  draft: string; // under which an unsent text is kept
  busy: boolean;
  onSend: (text: string) => Promise<boolean>;
  autoFocus?: boolean;
}

// Compose is where a person writes. Ctrl Enter sends.
export function Compose({ label, button, draft, busy, onSend, autoFocus }: Composing) {
  const ref = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (autoFocus) ref.current?.focus();
  }, [autoFocus]);
  const send = async () => {
    const box = ref.current;
    if (!box || box.value.trim() === "" || busy) return;
    if (!(await onSend(box.value))) return;
    box.value = "";
    keep(`draft ${draft}`, "");
  };
  return (
    <form
      className="compose"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={ref}
        aria-label={label}
        placeholder={label}
        rows={2}
        defaultValue={kept(`draft ${draft}`)}
        onChange={(e) => keep(`draft ${draft}`, e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
            e.preventDefault();
            void send();
          }
          if (e.key === "Escape") e.currentTarget.blur();
        }}
      />
      <button className="primary" disabled={busy}>
        {button}
      </button>
    </form>
  );
}
