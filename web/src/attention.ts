import { useEffect, useRef, useState } from "react";
import { asking, textOf } from "./mail";
import { subject } from "./markdown";
import { inPlace, plain } from "./plain";
import { go } from "./route";
import type { Message } from "@c3po-dev/client";

// What tells a person outside of the tab that an agent needs them: the icon, and
// a notification of the desktop if they want it.

const key = "c3po.notify";
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

// useNotifying says whether the person wants notifications, and asks the browser.
export function useNotifying(): [boolean, () => Promise<boolean>] {
  const [on, setOn] = useState(() => wanted());
  const turn = async (): Promise<boolean> => {
    const next = !on && (await Notification.requestPermission()) === "granted";
    if (next) localStorage.setItem(key, "on");
    else localStorage.removeItem(key);
    setOn(next);
    return next;
  };
  return [on, turn];
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
    if (!before || !wanted() || (document.visibilityState === "visible" && document.hasFocus())) return;
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
