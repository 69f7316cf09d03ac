// A real coordinator on a Redis of its own, and what agents and people ask of
// it. C3PO_BIN is the program under test.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const program = process.env.C3PO_BIN;
if (!program) throw new Error("C3PO_BIN names the program under test");

async function freePort() {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await new Promise((is) => probe.once("listening", is));
  const { port } = probe.address();
  await new Promise((is) => probe.close(is));
  return port;
}

// until asks again until there is an answer.
export async function until(what, ask, most = 60_000) {
  const end = Date.now() + most;
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`${what}: not within ${most} ms`);
    await pause(25);
  }
}

export class Rig {
  static async start(flags = [], settings = "") {
    const rig = new Rig();
    rig.folder = mkdtempSync(path.join(tmpdir(), "c3po-web-"));
    rig.flags = flags;
    if (settings) {
      mkdirSync(path.join(rig.folder, ".config/c3po"), { recursive: true, mode: 0o700 });
      writeFileSync(path.join(rig.folder, ".config/c3po/c3po.yaml"), settings, { mode: 0o600 });
    }
    rig.socket = path.join(rig.folder, "redis.sock");
    rig.redis = spawn("redis-server", ["--port", "0", "--unixsocket", rig.socket, "--save", "", "--dir", rig.folder], { stdio: "ignore" });
    rig.port = await freePort();
    rig.url = `http://127.0.0.1:${rig.port}`;
    await rig.up();
    // The person's own tokens are for the coordinator's socket.
    const made = (role) => rig.c3po("token", "create", "--role", role, "--for", "main,*");
    const mine = JSON.parse(readFileSync(path.join(rig.folder, ".config/c3po/credentials.json"), "utf8"));
    rig.tokens = { human: await made("human"), admin: await made("admin"), agent: mine.token };
    return rig;
  }

  // environment is that of a person's own terminal.
  environment() {
    return { PATH: process.env.PATH, HOME: this.folder };
  }

  async up() {
    await until(
      "redis",
      () =>
        new Promise((is, not) =>
          net
            .connect(this.socket)
            .once("connect", () => is(true))
            .once("error", not),
        ),
    );
    this.coordinator = spawn(
      program,
      ["serve", "--redis", `unix://${this.socket}`, "--listen", `127.0.0.1:${this.port}`, "--log-level", "warn", ...this.flags],
      {
        env: this.environment(),
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    await until("coordinator", async () => (await fetch(`${this.url}/readyz`)).ok);
  }

  async down() {
    const gone = new Promise((is) => this.coordinator.once("exit", is));
    this.coordinator.kill("SIGTERM");
    await gone;
  }

  async stop() {
    await this.down();
    const gone = new Promise((is) => this.redis.once("exit", is));
    this.redis.kill("SIGTERM");
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }

  // c3po runs a command as the person.
  c3po(...args) {
    return new Promise((is, not) => {
      const child = spawn(program, [...args, "--url", this.url], { env: this.environment(), stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      let err = "";
      child.stdout.on("data", (d) => (out += d));
      child.stderr.on("data", (d) => (err += d));
      child.on("exit", (code) => (code === 0 ? is(out.trim()) : not(new Error(`c3po ${args.join(" ")}: ${err}`))));
    });
  }

  // op runs an operation with a token, as an agent if one is named.
  async op(token, agent, name, args = {}, space = "main") {
    const answer = await fetch(`${this.url}/api/op/${name}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${token}`,
        "X-C3PO-Space": space,
        ...(agent ? { "X-Agent-ID": agent, "X-C3PO-Run": `${agent}-run` } : {}),
      },
      body: JSON.stringify(args),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${name}: ${JSON.stringify(said)}`);
    return said;
  }

  as(agent, name, args, space) {
    // The token of this machine is for bare names.
    return this.op(agent.includes("/") ? this.tokens.admin : this.tokens.agent, agent, name, args, space);
  }

  person(name, args) {
    return this.op(this.tokens.human, "", name, args);
  }

  async token(role) {
    const answer = await fetch(`${this.url}/api/admin/tokens`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.tokens.admin}` },
      body: JSON.stringify({ role, spaces: ["main"], label: `e2e ${role}` }),
    });
    return (await answer.json()).token;
  }
}
