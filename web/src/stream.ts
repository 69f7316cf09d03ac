export interface Entry {
  id?: string;
  name?: string;
  data?: string;
  retry?: number; // ms
}

// parse reads one entry of a text/event-stream.
export function parse(block: string): Entry {
  const entry: Entry = {};
  for (const row of block.split("\n")) {
    const at = row.indexOf(": ");
    if (at <= 0) continue;
    const value = row.slice(at + 2);
    switch (row.slice(0, at)) {
      case "id":
        entry.id = value;
        break;
      case "event":
        entry.name = value;
        break;
      case "data":
        entry.data = value;
        break;
      case "retry":
        entry.retry = Number(value) || 1000;
        break;
    }
  }
  return entry;
}
