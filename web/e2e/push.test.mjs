// A person whose page is closed is told by their browser's push service. A real one
// can't be had: the service is a server on loopback, and Chromium is handed what it got.
import assert from "node:assert/strict";
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { launch, open, view, violations } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

describe("a browser's push service", () => {
  let rig, browser, service;
  before(async () => {
    rig = await Rig.start(["--notify-allow", "127.0.0.1"]);
    browser = await launch();
    service = await Service.start();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await rig?.stop();
  });

  test("tells of a question when the page is closed, and a click opens it", async () => {
    const { page, wrong, context } = await open(browser, rig, { permissions: ["notifications"] });
    await page.evaluate((subscription) => {
      window.PushManager.prototype.subscribe = async function (options) {
        window.asked = options;
        return { endpoint: subscription.endpoint, toJSON: () => ({ keys: subscription }) };
      };
    }, service.subscription());
    await Promise.all([context.waitForEvent("serviceworker"), page.getByRole("button", { name: "Notify me of questions" }).click()]);
    await page.getByText("also when this page is closed").waitFor();
    assert.match(await page.evaluate(() => window.asked.applicationServerKey), /^B[\w-]{86}$/);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(wrong, []);

    const cdp = await context.newCDPSession(page);
    const known = new Promise((is) => cdp.on("ServiceWorker.workerRegistrationUpdated", (e) => e.registrations[0] && is(e.registrations[0].registrationId)));
    await cdp.send("ServiceWorker.enable");
    const registrationId = await known;
    // The page goes elsewhere, so that nothing of it is left.
    await page.goto(`${rig.url}/assets/icon.svg`);
    await rig.as("api", "register_agent", {});
    const { message_id: id } = await rig.as("api", "escalate_to_human", { reason: "May I drop orders.legacy_total?" });
    const notice = JSON.parse(await until("the notice", async () => service.notices[0]));
    assert.deepEqual(notice, { title: "api asks you", body: "May I drop orders.legacy_total?", id, space: "main" });
    // Chromium may end an idle worker at any time, and the message handed to one that is
    // ending is lost without a word: it is handed over until it shows, as one notification.
    const worker = () => context.serviceWorkers().at(-1);
    const shown = () =>
      worker().evaluate(async () => (await self.registration.getNotifications()).map((n) => ({ title: n.title, body: n.body, link: n.data.link })));
    const handOver = async () => {
      await cdp.send("ServiceWorker.deliverPushMessage", { origin: rig.url, registrationId, data: service.notices[0] });
      return until("the notification", async () => ((await shown()).length > 0 ? shown() : undefined), 2_000);
    };
    const all = await until("the notification", handOver);
    assert.equal(all.length, 1);
    assert.deepEqual(all[0], { title: "api asks you", body: notice.body, link: `/#/q/${encodeURIComponent(id)}` });
    // A click is not to be had in a test: its event is, and a page that it leads to.
    const [link] = await worker().evaluate(async () => {
      const opened = [];
      self.clients.openWindow = async (link) => void opened.push(link);
      self.clients.matchAll = async () => [];
      const [notification] = await self.registration.getNotifications();
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
      while (opened.length === 0) await new Promise((is) => setTimeout(is, 10));
      return opened;
    });
    await page.goto(rig.url + link);
    await page.locator(".card", { hasText: "May I drop orders.legacy_total?" }).waitFor();
    await context.close();
  });

  test("is told no longer when the person signs out", async () => {
    const { page, context } = await open(browser, rig, { permissions: ["notifications"] });
    const ended = page.waitForResponse((r) => r.url().endsWith("/api/push/end"));
    await page.getByRole("button", { name: "Sign out" }).click();
    assert.equal((await ended).status(), 200);
    await context.close();
  });

  test("is not needed: without one the page tells as long as it is open", async () => {
    const { page, context } = await open(browser, rig, { permissions: ["notifications"] });
    await page.evaluate(() => (window.PushManager.prototype.subscribe = () => Promise.reject(new Error("there is none"))));
    await page.getByRole("button", { name: "Notify me of questions" }).click();
    await page.getByText("as long as this page is open").waitFor();
    await view(page, rig, "questions");
    await context.close();
  });
});

// Service takes notices and reads them as the browser would (RFC 8291).
class Service {
  notices = [];
  #keys = createECDH("prime256v1");
  #secret = randomBytes(16);
  #server;

  static async start() {
    const made = new Service();
    made.#keys.generateKeys();
    made.#server = http.createServer((req, res) => {
      const parts = [];
      req.on("data", (part) => parts.push(part));
      req.on("end", () => {
        made.notices.push(made.#open(Buffer.concat(parts)));
        res.writeHead(201).end();
      });
    });
    await new Promise((is) => made.#server.listen(0, "127.0.0.1", is));
    return made;
  }

  subscription() {
    const { port } = this.#server.address();
    return { endpoint: `http://127.0.0.1:${port}/push/1`, p256dh: this.#keys.getPublicKey("base64url"), auth: this.#secret.toString("base64url") };
  }

  #open(sealed) {
    const [salt, sender, box] = [sealed.subarray(0, 16), sealed.subarray(21, 86), sealed.subarray(86)];
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#keys.getPublicKey(), sender]);
    const main = hkdfSync("sha256", this.#keys.computeSecret(sender), this.#secret, info, 32);
    const key = hkdfSync("sha256", main, salt, "Content-Encoding: aes128gcm\0", 16);
    const nonce = hkdfSync("sha256", main, salt, "Content-Encoding: nonce\0", 12);
    const cipher = createDecipheriv("aes-128-gcm", Buffer.from(key), Buffer.from(nonce));
    cipher.setAuthTag(box.subarray(-16));
    const record = Buffer.concat([cipher.update(box.subarray(0, -16)), cipher.final()]);
    return record.subarray(0, record.lastIndexOf(2)).toString();
  }

  stop() {
    return new Promise((is) => this.#server.close(is));
  }
}
