import { useState } from "react";
import { fileOf } from "../api";
import { plain, sizeText } from "../plain";
import { InOrder, sayError } from "../ui";
import type { Attachment, Message } from "@c3po-dev/client";

// Files lists what travels with a message. A file is saved, never shown: it comes as bytes
// without a type, and goes from memory into the browser's downloads.
export function Files({ message: m }: { message: Message }) {
  if (!m.attachments?.length) return null;
  return (
    <ul className="files">
      {m.attachments.map((file) => (
        <File key={file.id} message={m.id} file={file} />
      ))}
    </ul>
  );
}

function File({ message, file }: { message: string; file: Attachment }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await fileOf(message, file.id));
      link.download = plain(file.name);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it after the click
    } catch (err) {
      sayError(err);
    } finally {
      setBusy(false);
    }
  };
  return (
    <li title={`SHA-256 ${file.sha256}`}>
      <bdi className="name" dir="ltr">
        <InOrder>{plain(file.name)}</InOrder>
      </bdi>
      <span className="quiet">
        {sizeText(file.size)}
        {file.type && `, ${plain(file.type)}`}
      </span>
      <button disabled={busy} onClick={() => void save()} aria-label={`Save ${plain(file.name)}`}>
        Save
      </button>
    </li>
  );
}
