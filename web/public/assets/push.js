// The part of the page that is there when the page is not: it shows what the
// coordinator sent by the browser's push service. It reads nothing else.
async function openPages() {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((p) => new URL(p.url).pathname === "/");
}

self.addEventListener("push", (event) => {
  const { title, body, id, space } = event.data.json();
  event.waitUntil(
    (async () => {
      if ((await openPages()).some((p) => p.focused)) return; // the person is looking at it
      const link = id ? `/#/q/${encodeURIComponent(id)}` : "/#/questions";
      await self.registration.showNotification(title, { body, tag: id || `questions of ${space}`, icon: "/assets/icon.svg", data: { id, link } });
    })(),
  );
});

self.addEventListener("notificationclick", (event) => {
  const { id, link } = event.notification.data;
  event.notification.close();
  event.waitUntil(
    (async () => {
      const [page] = await openPages();
      if (!page) return self.clients.openWindow(link);
      await page.focus();
      page.postMessage({ id }); // it goes there by itself, with what is typed in it kept
    })(),
  );
});
