// A person at the dashboard, for tests that are not written in JavaScript:
//   node person.mjs URL
// It opens the page of a coordinator that asks for no token and then does, one
// after the other, what it is told on stdin in lines of JSON. Each is answered
// with a line: {} when it was done and the page shows it, or {"error": …}.
import readline from "node:readline";
import { launch } from "./browser.mjs";

const url = process.argv[2];
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(30_000);

const button = (name) => page.getByRole("button", { name, exact: true });
const agentPage = (agent) => page.goto(`${url}/#/agents/${encodeURIComponent(agent)}`);

const questions = () => page.goto(`${url}/#/questions`);

const acts = {
  async pauses({ agent }) {
    await agentPage(agent);
    await button("Pause").click();
    await button("Resume").waitFor();
  },
  async resumes({ agent }) {
    await agentPage(agent);
    await button("Resume").click();
    await button("Pause").waitFor();
  },
  async writes({ agent, text }) {
    await agentPage(agent);
    await page.getByLabel(`Write to ${agent}`).fill(text);
    await button("Send").click();
    await page.locator(".view-conversation").waitFor();
  },
  async waits() {
    await questions();
    await page.getByText("Nobody waits for you").waitFor();
    await page.locator(".line.live").waitFor();
  },
  // A question comes onto the page by itself, if that is where they are.
  async finds({ question }) {
    await questions();
    await page.getByText(question).waitFor();
  },
  async chooses({ choice }) {
    await page.getByRole("button", { name: choice }).click();
    await page.getByText("Nobody waits for you").waitFor();
  },
};

console.log("{}");
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { act, ...how } = JSON.parse(line);
  try {
    await acts[act](how);
    console.log("{}");
  } catch (error) {
    console.log(JSON.stringify({ error: String(error), page: await page.locator("body").innerText() }));
  }
}
await browser.close();
