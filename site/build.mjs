// Builds the site. A warning is a failure: what is built with one is not what was meant.
import { spawnSync } from "node:child_process";

const { status, stdout, stderr } = spawnSync("node_modules/.bin/vitepress", ["build"], { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
const said = stdout + stderr;
process.stdout.write(said);
const warnings = said.split("\n").filter((line) => /warn|\(!\)/i.test(line));
if (status !== 0 || warnings.length > 0) {
  process.stderr.write(`the site was not built as it should be\n${warnings.join("\n")}\n`);
  process.exitCode = 1;
}
