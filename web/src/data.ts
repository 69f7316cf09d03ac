import { type InfiniteData, type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { settle, useAnswering } from "./answers";
import { call, type Page, request } from "./api";
import { backfill, onEvents } from "./live";
import { mayAct, useSession } from "./session";
import { type SeenAgent, ends } from "./mail";
import { asks } from "./needs";
import { refreshConversations } from "./conversations";
import { refreshThreads } from "./thread";
import type { Agent, Event, Message, Passkeys, Stuck } from "@c3po-dev/client";

type AgentPage = Page<SeenAgent>;

const firstPage = 200; // soon on the screen
const page = 1000;
const pagesAtOnce = 12; // the rest comes when somebody scrolls there

export function useAgents() {
  const query = useInfiniteQuery({
    queryKey: ["agents"],
    queryFn: async ({ pageParam }) => {
      const answer = await call("list_agents", { cursor: pageParam, limit: pageParam ? page : firstPage });
      return { ...answer, rows: answer.rows.map((a) => ({ ...a, read: Date.now() })) };
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    structuralSharing: false, // each row has when it was read, so none is as before
    // Who comes and goes without a word is not among the events, nor what a session does.
    refetchInterval: (q) => [5_000, 5_000, 20_000][q.state.data?.pages.length ?? 0] ?? 120_000,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && (data?.pages.length ?? 0) < pagesAtOnce) void fetchNextPage();
  }, [data, hasNextPage, isFetching, fetchNextPage]);
  const agents = useMemo(() => data?.pages.flatMap((p) => p.rows) ?? [], [data]);
  return { ...query, agents };
}

// useAgent reads one agent, again and again: what a session does is not among the events.
export function useAgent(id: string) {
  return useQuery({
    queryKey: ["agent", id],
    queryFn: async (): Promise<SeenAgent> => ({ ...(await call("get_agent_status", { agent_id: id })), read: Date.now() }),
    refetchInterval: 5_000,
  });
}

// useRecentMail reads what an agent wrote and was written lately, the latest last.
export function useRecentMail(agent: string) {
  return useQuery({ queryKey: ["mail", agent], queryFn: () => call("recent", { agent_id: agent, limit: 50 }), refetchInterval: 60_000 });
}

// useQuestions reads what waits for the person. An observer may see that there
// are questions, and read them in their conversations.
export function useQuestions() {
  const act = mayAct(useSession());
  return useQuery({
    queryKey: ["questions"],
    queryFn: async (): Promise<Message[]> => {
      if (act) return (await call("human_list", { limit: 200 })).rows;
      const open = await call("tickets", { which: "all", state: "open", limit: 500 });
      return open.rows
        .filter((t) => t.to_agent === "human")
        .map((t) => ({
          id: t.id,
          from_agent: t.from_agent,
          to_agent: t.to_agent,
          thread: t.thread,
          timestamp: t.created_at,
          kind: "escalation",
          expects_reply: true,
        }));
    },
    refetchInterval: 60_000,
  });
}

// useNeeds is what waits for the person's answer, without what is being answered,
// and what only informs.
export function useNeeds() {
  const query = useQuestions();
  const answering = useAnswering();
  const { data } = query;
  useEffect(() => {
    if (data) settle(data);
  }, [data]);
  return useMemo(() => {
    const gone = new Set(answering.map((o) => o.question.id));
    const rest = (data ?? []).filter((q) => !gone.has(q.id));
    return { ...query, questions: rest.filter(asks), informing: rest.filter((q) => !asks(q)) };
  }, [query, data, answering]);
}

// useAnyAgent says whether there is an agent at all.
export function useAnyAgent(): boolean {
  const none = (rows: Agent[] | undefined) => rows?.length === 0;
  const { data } = useQuery({
    queryKey: ["agents", "any"],
    queryFn: () => call("list_agents", { limit: 1 }),
    staleTime: 60_000,
    refetchInterval: (q) => none(q.state.data?.rows) && 5_000,
  });
  return !none(data?.rows);
}

// usePausedAll gives why everybody is paused; nothing if they are not.
export function usePausedAll(): string | undefined {
  return useQuery({ queryKey: ["pause"], queryFn: () => call("server_info", {}), refetchInterval: 60_000 }).data?.paused;
}

// usePasskeys reads what the person confirms with which passkeys. Who only looks has none.
export function usePasskeys() {
  const act = mayAct(useSession());
  return useQuery({ queryKey: ["passkeys"], queryFn: () => request<Passkeys>("GET", "/api/passkeys"), enabled: act, refetchInterval: 60_000 });
}

export function useQuestionCount(): number {
  return useNeeds().questions.length;
}

// useStuck reads who waits for whom, soon after an event about somebody in it. Where
// all of it is on the screen, it is also read again by itself.
export function useStuck(all = false) {
  return useQuery({
    queryKey: ["stuck"],
    queryFn: () => call("stuck", {}),
    refetchInterval: (q) => Math.max(all ? 5_000 : 60_000, q.state.data ? rest(q.state.data) : 0),
  });
}

// touches says whether events may have changed who waits for whom, as far as it is
// known: a side of them waits, is waited for, or is the person.
export function touches(events: Event[], stuck: Stuck): boolean {
  const known = new Set(["human", ...stuck.hold_ups.flatMap((h) => [h.agent, ...h.waits.flatMap((w) => [w.from_agent, w.to_agent])])]);
  return events.some((e) => {
    const { from, to } = ends(e.message_id ?? "");
    return waitKinds.has(e.kind) && (known.has(from) || known.has(to));
  });
}

const pauseKinds = new Set(["paused", "resumed", "registered"]);

function aboutPerson(e: Event): boolean {
  const { from, to } = ends(e.message_id ?? "");
  return from === "human" || to === "human";
}

const waitKinds = new Set(["accepted", "answered", "cancelled", "timed_out", "delivered", "dead"]);

// useOpenTickets reads the latest questions without an answer.
export function useOpenTickets() {
  return useQuery({
    queryKey: ["open"],
    queryFn: () => call("tickets", { which: "all", state: "open", limit: 200 }),
    refetchInterval: 15_000,
  });
}

const logPage = 1000;

// useLog puts what has happened lately before the events that come.
export function useLog(): void {
  const { data } = useQuery({ queryKey: ["log"], queryFn: () => call("tail_log", { limit: logPage }), staleTime: Infinity });
  useEffect(() => {
    if (data) backfill(data.events, data.events.length < logPage);
  }, [data]);
}

// useNow is the time, every few seconds, for "5 s ago".
export function useNow(every = 5000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(tick);
  }, [every]);
  return now;
}

const gather = 120; // ms: a burst of events is one look
const maxLooks = 12; // agents looked at one by one; more of them are listed anew
const listsEvery = 5000; // ms for each page of agents that was read
const ticketsEvery = 1000;
const waitsEach = 20; // as many waits are read again a second

// rest is how long who waits for whom is not read again: a long list changes with
// nearly every event.
export function rest(stuck: Stuck): number {
  return (ticketsEvery * stuck.hold_ups.reduce((sum, h) => sum + h.waits.length, 0)) / waitsEach;
}

// useLiveData turns events into looks at what they have changed.
export function useLiveData(): void {
  const client = useQueryClient();
  useEffect(() => {
    let waiting: Event[] = [];
    let timer = 0;
    let ticketTimer = 0;
    let listTimer = 0;
    let stuckRead = 0;
    let ticketEvents: Event[] = [];
    const readTickets = () => {
      const events = ticketEvents;
      ticketTimer = 0;
      ticketEvents = [];
      const stuck = client.getQueryData<Stuck>(["stuck"]);
      const now = performance.now();
      if (!stuck || events.some((e) => aboutPerson(e)) || (now - stuckRead > rest(stuck) && touches(events, stuck))) {
        stuckRead = now;
        void client.invalidateQueries({ queryKey: ["stuck"] });
      }
      if (events.some((e) => e.message_id?.includes("::role/"))) void client.invalidateQueries({ queryKey: ["open"] });
      void refreshConversations(client);
    };
    // A list that is being read is not begun again, or under load it would never end.
    const listAgents = () => {
      listTimer = 0;
      const listed = client.getQueryState<InfiniteData<AgentPage>>(["agents"]);
      if (!listed?.data) return;
      const due = listed.fetchStatus === "fetching" ? listsEvery : listed.dataUpdatedAt + listsEvery * listed.data.pages.length - Date.now();
      if (due > 0) listTimer = window.setTimeout(listAgents, due);
      else void client.invalidateQueries({ queryKey: ["agents"], exact: true });
    };
    const look = () => {
      const events = waiting;
      waiting = [];
      timer = 0;
      const agents = new Set<string>();
      const messages = new Set<string>();
      let everybody = false;
      let questions = false;
      let letters = false;
      const rooms = new Set<string>();
      for (const e of events) {
        const { from, to } = ends(e.message_id ?? "");
        for (const id of [e.agent, from, to]) if (id && id !== "human" && !id.includes("#")) agents.add(id);
        if (from === "human" || to === "human") questions = true;
        if (e.message_id) messages.add(e.message_id);
        if ((e.kind === "paused" || e.kind === "resumed") && !e.agent) everybody = true;
        if (e.kind === "dead" || e.kind === "redelivered") letters = true;
        if (e.kind === "paused" || e.kind === "resumed") questions = true;
        if (e.room) rooms.add(e.room);
      }
      if (questions) void client.invalidateQueries({ queryKey: ["questions"] });
      if (events.some((e) => pauseKinds.has(e.kind))) void client.invalidateQueries({ queryKey: ["pause"] });
      if (letters) void client.invalidateQueries({ queryKey: ["letters"] });
      if (rooms.size > 0) void client.invalidateQueries({ queryKey: ["rooms"] });
      for (const room of rooms) void client.invalidateQueries({ queryKey: ["room", room] });
      refreshThreads(client, events);
      if (messages.size > 0) {
        for (const id of messages) void client.invalidateQueries({ queryKey: ["trace", id] });
        ticketEvents.push(...events);
        if (!ticketTimer) ticketTimer = window.setTimeout(readTickets, ticketsEvery);
      }
      for (const id of agents) {
        void client.invalidateQueries({ queryKey: ["agent", id] });
        void client.invalidateQueries({ queryKey: ["mail", id] });
      }
      if (everybody || agents.size > maxLooks) {
        if (!listTimer) listAgents();
      } else {
        for (const id of agents) void patch(client, id);
      }
    };
    const stop = onEvents((events) => {
      waiting.push(...events);
      if (!timer) timer = window.setTimeout(look, gather);
    });
    return () => {
      stop();
      clearTimeout(timer);
      clearTimeout(ticketTimer);
      clearTimeout(listTimer);
    };
  }, [client]);
}

// patch reads one agent anew.
async function patch(client: QueryClient, id: string): Promise<void> {
  const listed = client.getQueryCache().find({ queryKey: ["agents"], exact: true });
  if (!listed?.state.data) return;
  if (!listed.isActive()) {
    // Nobody looks at the list: it is read when somebody does.
    listed.invalidate();
    return;
  }
  let agent: SeenAgent;
  try {
    agent = { ...(await call("get_agent_status", { agent_id: id })), read: Date.now() };
  } catch {
    return; // it is gone, or the next look will tell
  }
  client.setQueryData<InfiniteData<AgentPage>>(
    ["agents"],
    (data) => {
      if (!data) return data;
      let found = false;
      const pages = data.pages.map((p) => {
        const at = p.rows.findIndex((a) => a.id === agent.id);
        if (at < 0) return p;
        found = true;
        return { ...p, rows: p.rows.with(at, agent) };
      });
      const last = pages.at(-1);
      if (!found && last && !last.next) pages[pages.length - 1] = { ...last, rows: [...last.rows, agent] };
      return { ...data, pages };
    },
    { updatedAt: listed.state.dataUpdatedAt },
  );
}
