import { useQuery } from "@tanstack/react-query";
import { call } from "../api";
import { ago, moment, plain } from "../plain";
import { mayAct, useSession } from "../session";
import { say, sayError, Who } from "../ui";
import type { Lease } from "@c3po-dev/client";

const shown = 50;

// Leases lists who edits which files, where leases are on. Nothing is shown while nobody does.
export default function Leases({ now }: { now: number }) {
  const act = mayAct(useSession());
  const { data, refetch } = useQuery({ queryKey: ["leases"], queryFn: () => call("lease_list", {}), refetchInterval: 5_000 });
  const leases = data?.leases ?? [];
  const free = async (lease: Lease) => {
    try {
      await call("lease_break", { number: lease.number });
      say(`${plain(lease.path)} is free`);
    } catch (err) {
      sayError(err);
    }
    await refetch();
  };
  if (leases.length === 0) return null;
  return (
    <>
      <h2>Who edits what</h2>
      <ul className="plainlist leases">
        {leases.slice(0, shown).map((l) => (
          <li key={l.number} title={moment(l.since)}>
            <code>{plain(l.path)}</code>
            <Who id={l.holder} />
            <span className="quiet">
              {plain(l.repository)}
              {l.branch ? `, ${plain(l.branch)}` : ""}, {ago(l.since, now)}
            </span>
            {act && (
              <button title="Another session can edit the file at once" onClick={() => void free(l)}>
                End lease
              </button>
            )}
          </li>
        ))}
      </ul>
      {leases.length > shown && <p className="quiet">and {leases.length - shown} more</p>}
    </>
  );
}
