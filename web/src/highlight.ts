import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

// The colours of code. The library only says where a token begins and ends: its
// markup is never made, and the page draws each piece as a text node.

export interface Piece {
  kind: string; // a class of Body.css, or nothing
  text: string;
}

const kinds: Record<string, string> = {
  keyword: "key",
  built_in: "key",
  literal: "num",
  number: "num",
  string: "str",
  regexp: "str",
  comment: "com",
  quote: "com",
  doctag: "com",
  meta: "com",
  title: "fun",
  name: "fun",
  section: "fun",
  attr: "fun",
  attribute: "fun",
  type: "typ",
  tag: "typ",
  addition: "add",
  deletion: "del",
};

// Pieces collects them in place of the library's own emitter of HTML.
class Pieces {
  readonly pieces: Piece[] = [];
  private readonly scopes: string[] = [];

  addText(text: string): void {
    const kind = this.scopes.findLast((s) => s !== "") ?? "";
    const last = this.pieces.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== "") this.pieces.push({ kind, text });
  }
  startScope(name: string): void {
    this.scopes.push(kinds[name.split(".")[0]!] ?? "");
  }
  endScope(): void {
    this.scopes.pop();
  }
  openNode(name: string): void {
    this.startScope(name);
  }
  closeNode(): void {
    this.endScope();
  }
  __addSublanguage(other: Pieces): void {
    for (const p of other.pieces) this.pieces.push(p);
  }
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

const engine = hljs.newInstance();
engine.configure({ __emitter: Pieces });
for (const [name, language] of Object.entries({ bash, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml }))
  engine.registerLanguage(name, language);

const maxCharacters = 20_000; // a pattern may take long on what was made for that
const maxLine = 1000;

// highlight divides code into pieces, which together are the code unchanged. What it
// does not know, or what is too long, is one piece.
export function highlight(text: string, language: string): Piece[] {
  const whole = [{ kind: "", text }];
  if (text.length > maxCharacters || !engine.getLanguage(language) || text.split("\n").some((l) => l.length > maxLine)) return whole;
  const { pieces } = engine.highlight(text, { language, ignoreIllegals: true })._emitter as unknown as Pieces;
  return pieces.map((p) => p.text).join("") === text ? pieces : whole;
}
