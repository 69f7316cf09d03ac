// Chromium of the system, and what a test wants to know of a page.
import { chromium } from "playwright-core";

const program = process.env.C3PO_CHROMIUM || "/usr/bin/chromium";

export function launch() {
  // The sandbox needs user namespaces, which containers often do not have.
  return chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

// open gives a page that is signed in by a link, and notes everything that must
// not happen in it.
export async function open(browser, rig, { admin = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const wrong = watch(page, rig);
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  await page.goto(await rig.c3po("open", "--print", ...(admin ? ["--admin"] : [])));
  await page.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
  await page.locator(".line.live").waitFor();
  return { page, wrong, context };
}

function watch(page, rig) {
  const wrong = [];
  page.on("dialog", (d) => {
    wrong.push(`dialog ${d.message()}`);
    void d.dismiss();
  });
  page.on("pageerror", (e) => wrong.push(`error ${e}`));
  page.on("request", (r) => {
    if (!r.url().startsWith(rig.url + "/") && !r.url().startsWith("about:")) wrong.push(`request to ${r.url()}`);
  });
  return wrong;
}

export async function violations(page) {
  return page.evaluate(() => window.violations);
}

// settled waits until a view has what it asked for. The stream of events stays
// open, so the network is never idle.
export async function settled(page) {
  await page.waitForFunction(() => !document.body.innerText.includes("Loading …") && document.querySelector("main h1") !== null);
  await page.waitForTimeout(250);
}

export async function view(page, rig, ...route) {
  await page.goto(`${rig.url}/#/${route.map(encodeURIComponent).join("/")}`);
}

// limit prints a measurement. It fails only far beyond its limit, because other
// work may be going on; with C3PO_EXACT=1 it fails at it.
export function limit(what, got, most, unit = "ms") {
  console.log(`# ${what}: ${Math.round(got)} ${unit} (limit ${most})`);
  const bar = process.env.C3PO_EXACT === "1" ? most : 5 * most;
  if (!(got <= bar)) throw new Error(`${what}: ${got} ${unit}, limit ${most}`);
}
