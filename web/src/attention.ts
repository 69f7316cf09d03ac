import { useEffect, useRef, useState } from "react";
import { request } from "./api";
import { asking, textOf } from "./mail";
import { subject } from "./markdown";
import { inPlace, plain } from "./plain";
import { go } from "./route";
import type { Message, PushKey, PushState } from "@c3po-dev/client";

// What tells a person outside of the tab that an agent needs them: the icon, and
// a notification of the desktop if they want it.

const key = "c3po.notify";
const worker = "/assets/push.js";
const maxCount = 9; // icons there are

export function iconFor(count: number): string {
  if (count <= 0) return "/assets/icon.svg";
  return `/assets/icon-${count > maxCount ? "more" : count}.svg`;
}

export function showCount(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const icon = iconFor(count);
  if (link && link.getAttribute("href") !== icon) link.setAttribute("href", icon);
}

export function canNotify(): boolean {
  return typeof Notification !== "undefined" && window.isSecureContext;
}

export type Reach = "" | "page" | "push"; // nothing, while the page is open, or also when it is closed

// useNotifying says whether the person wants notifications, and asks the browser.
export function useNotifying(): [boolean, () => Promise<Reach>] {
  const [on, setOn] = useState(() => wanted());
  const turn = async (): Promise<Reach> => {
    const next = !on && (await Notification.requestPermission()) === "granted";
    if (next) localStorage.setItem(key, "on");
    else localStorage.removeItem(key);
    setOn(next);
    if (next) return (await subscribe()) ? "push" : "page";
    await endPush();
    return "";
  };
  return [on, turn];
}

let pushed = false; // the browser's push service tells of questions, so that the page need not

// usePush has this sign-in told by the browser's push service if the person wanted that
// before: what was asked for ended with the token it was asked with.
export function usePush(): void {
  useEffect(() => {
    if (!("serviceWorker" in navigator)) return;
    if (wanted()) void subscribe();
    const opened = (e: MessageEvent<{ id?: string }>) => (e.data.id ? go("q", e.data.id) : go("questions"));
    navigator.serviceWorker.addEventListener("message", opened);
    navigator.serviceWorker.startMessages();
    return () => navigator.serviceWorker.removeEventListener("message", opened);
  }, []);
}

// subscribe asks the browser's push service and tells the coordinator. Without such a
// service the page tells of questions as long as it is open.
async function subscribe(): Promise<boolean> {
  try {
    const registration = await navigator.serviceWorker.register(workerAddress() as string);
    await active(registration);
    const { key } = await request<PushKey>("GET", "/api/push");
    const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { keys } = made.toJSON();
    const input = { endpoint: made.endpoint, p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" };
    pushed = (await request<PushState>("POST", "/api/push", input)).on;
  } catch {
    pushed = false;
  }
  return pushed;
}

export async function endPush(): Promise<void> {
  pushed = false;
  try {
    await request<PushState>("POST", "/api/push/end");
    const registration = await navigator.serviceWorker.getRegistration(worker);
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
  } catch {
    // The coordinator is away, and forgets it with the token; or there is no push service.
  }
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (text: string) => string }): { createScriptURL(text: string): unknown };
}

let address: unknown;

// workerAddress is the one address the page's policy makes a script of.
function workerAddress(): unknown {
  const { trustedTypes } = window as { trustedTypes?: Policies };
  address ??= trustedTypes ? trustedTypes.createPolicy("c3po-push", { createScriptURL: () => worker }).createScriptURL(worker) : worker;
  return address;
}

// active waits until a worker can be subscribed for.
function active(registration: ServiceWorkerRegistration): Promise<void> {
  const made = registration.installing ?? registration.waiting;
  if (registration.active || !made) return Promise.resolve();
  return new Promise((is, not) =>
    made.addEventListener("statechange", () => {
      if (made.state === "activated") is();
      if (made.state === "redundant") not(new Error("the worker was replaced"));
    }),
  );
}

function wanted(): boolean {
  return canNotify() && localStorage.getItem(key) === "on" && Notification.permission === "granted";
}

// useNotify tells of each question once that comes while nobody looks at the page.
export function useNotify(questions: Message[] | undefined): void {
  const told = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!questions) return;
    const before = told.current;
    told.current = new Set([...(before ?? []), ...questions.map((q) => q.id)]);
    if (!before || pushed || !wanted() || (document.visibilityState === "visible" && document.hasFocus())) return;
    for (const q of questions) {
      if (before.has(q.id)) continue;
      const note = new Notification(`${plain(q.from_agent)} ${asking(q)}`, {
        body: q.kind === "approval" ? inPlace(textOf(q)) : plain(subject(textOf(q))),
        tag: q.id,
        icon: "/assets/icon.svg",
      });
      note.onclick = () => {
        window.focus();
        go("q", q.id);
        note.close();
      };
    }
  }, [questions]);
}
