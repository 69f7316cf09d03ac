import { useQuery } from "@tanstack/react-query";
import { textOf } from "../mail";
import { subject } from "../markdown";
import { clock, moment, plain } from "../plain";
import { to } from "../route";
import { readChain, sequence, type Step } from "../sequence";
import { Trouble, Who } from "../ui";
import type { Message } from "@c3po-dev/client";
import "./Sequence.css";

// Sequence draws a conversation, and those it follows from, as messages between
// agents in the order in which they were sent.
export function Sequence({ thread, count }: { thread: string; count: number }) {
  const { data, error, isPending } = useQuery({ queryKey: ["chain", thread, count], queryFn: () => readChain(thread), placeholderData: (before) => before });
  if (isPending) return error ? <Trouble err={error} /> : <p className="quiet">Loading …</p>;
  const { lanes, steps, cut } = sequence(data ?? []);
  const columns = { gridTemplateColumns: `4.5rem repeat(${lanes.length}, minmax(0, 1fr))`, minWidth: `${4.5 + 7 * lanes.length}rem` };
  return (
    <div className="view-sequence" tabIndex={0} role="region" aria-label={`${steps.length} messages between ${lanes.length} agents`}>
      <Chain of={data ?? []} />
      <div className="lanes" style={columns}>
        {lanes.map((id, at) => (
          <span key={id} className="lane" style={{ gridColumn: at + 2 }}>
            <Who id={id} />
          </span>
        ))}
      </div>
      <ol>
        {steps.map((s, n) => (
          <li key={s.id} style={columns} className={s.earlier ? "earlier" : ""}>
            <time className="quiet" title={moment(s.at)}>
              {clock(s.at)}
            </time>
            {lanes.map((id, at) => (
              <span key={id} className="line1" style={{ gridColumn: at + 2 }} />
            ))}
            <Arrow step={s} lanes={lanes} first={n === 0 || steps[n - 1]!.thread !== s.thread} />
          </li>
        ))}
      </ol>
      {cut && <p className="quiet">Only the start of a long conversation is drawn.</p>}
    </div>
  );
}

// Chain leads from the conversation with which it began to the one that is drawn.
function Chain({ of }: { of: Message[][] }) {
  if (of.length < 2) return null;
  return (
    <nav className="chain" aria-label="Conversations it follows from">
      <ol>
        {of.toReversed().map(([first], n) => {
          if (!first) return null;
          const name = plain(subject(textOf(first))) || "The text was trimmed";
          return (
            <li key={first.id} dir="auto">
              {n === of.length - 1 ? <strong>{name}</strong> : <a href={to("conversations", first.thread || first.id, "sequence")}>{name}</a>}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Arrow({ step: s, lanes, first }: { step: Step; lanes: string[]; first: boolean }) {
  const left = Math.min(s.from, s.to);
  const right = Math.max(s.from, s.to);
  const way = s.from === s.to ? "self" : s.from < s.to ? "right" : "left";
  const words = `${plain(lanes[s.from]!)} to ${plain(lanes[s.to]!)}`;
  return (
    <a
      className={`arrow ${way} ${s.reply ? "reply" : ""}`}
      style={{ gridColumn: `${left + 2} / ${right + 3}`, ["--lanes" as string]: right - left + 1 }}
      href={to("conversations", s.thread)}
      title={`${words}: ${plain(s.text)}`}
    >
      <span className="hidden">{words}: </span>
      <span className="label" dir="auto">
        {s.earlier && first && <span className="badge">before</span>} {plain(s.text) || "The text was trimmed"}
      </span>
      <span className="shaft" />
    </a>
  );
}
