// What the dashboard says of a session's state is what the commands say: the same
// cases, from the same file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

test("a state is shown with how old it is, in the words of the commands", async () => {
  const { standing } = await load("plain.ts");
  const cases = JSON.parse(readFileSync(new URL("../../testdata/standing.json", import.meta.url), "utf8"));
  const now = Date.parse("2026-11-15T12:00:00Z");
  const before = (seconds) => (seconds === undefined ? undefined : new Date(now - seconds * 1000).toISOString());
  for (const c of cases) {
    const agent = {
      status: c.status,
      state: c.state,
      state_since: before(c.since),
      last_seen: before(c.seen) ?? "0001-01-01T00:00:00Z",
      read: now - (c.read ?? 0) * 1000,
      reachability: c.quota === undefined ? undefined : "when_quota_returns",
      out_of_quota: c.quota === undefined ? undefined : { until: before(-c.quota), exact: c.exact ?? false },
    };
    assert.equal(standing(agent, now), c.want, JSON.stringify(c));
  }
  assert.ok(cases.length > 20);
});
