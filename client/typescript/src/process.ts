import { randomKey } from "./time.js";

/** OwnProcess is what holds an agent's id, and how its host can tell that it has ended. */
export interface OwnProcess {
  run: string;
  host?: string;
  pid?: number;
  pid_start?: number;
}

interface Node {
  pid?: number;
  getBuiltinModule?: (name: string) => unknown;
}

let own: OwnProcess | undefined;

/** ownProcess names this process; by chance where it cannot be told when it started, as in a browser. */
export function ownProcess(): OwnProcess {
  return (own ??= fromNode() ?? { run: `typescript-${randomKey()}` });
}

// fromNode is host:pid:start, with the start as Linux counts it.
function fromNode(): OwnProcess | undefined {
  const node = (globalThis as { process?: Node }).process;
  const os = node?.getBuiltinModule?.("node:os") as { hostname(): string } | undefined;
  const fs = node?.getBuiltinModule?.("node:fs") as { readFileSync(name: string, encoding: "utf8"): string } | undefined;
  if (!node?.pid || !os || !fs) return undefined;
  try {
    // The name of the program stands in parentheses, and may hold any of them.
    const stat = fs.readFileSync("/proc/self/stat", "utf8");
    const start = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    const host = os.hostname();
    return start > 0 ? { run: `${host}:${node.pid}:${start}`, host, pid: node.pid, pid_start: start } : undefined;
  } catch {
    return undefined;
  }
}
