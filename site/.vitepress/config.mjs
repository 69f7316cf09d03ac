// The documents of this repository as a site. The Markdown is read where it lies,
// and must read well without the site; what only the site needs is in this folder.
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { address, pagesOf } from "./pages.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
// Documents in these folders are for developers of c3po.
const notPages = [".ci", ".github", "bin", "cmd", "deploy", "dist", "docs/dev", "image", "internal", "plugin", "site", "test", "testdata", "tools", "web"];
const source = "https://github.com/c3po-dev/c3po";

export default {
  title: "c3po",
  description: "Coding agents ask each other for help",
  lang: "en",
  base: new URL(address).pathname, // GitHub Pages has it below the name of the repository
  srcDir: "..",
  srcExclude: ["AGENTS.md", "CLAUDE.md", ...notPages.map((folder) => `${folder}/**`), "**/node_modules/**"],
  outDir: "dist",
  rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md" },
  cleanUrls: true,
  // A dead link fails the build; addresses of a coordinator on this machine are none.
  ignoreDeadLinks: "localhostLinks",
  markdown: {
    anchor: { slugify: nameOfHeading },
    config: (md) => md.use(linksToSource).use(indentedAsFenced).use(namesOfTerminals),
  },
  vite: {
    build: { chunkSizeWarningLimit: 2000 }, // a page of long tables is long; that is no fault
    // The pages lie outside this folder, and would look for it beside themselves.
    resolve: { alias: ["vue/server-renderer", "vue"].map((name) => ({ find: new RegExp(`^${name}$`), replacement: join(root, "site/node_modules", name) })) },
  },
  themeConfig: {
    nav: [
      { text: "Documents", link: "/docs/" },
      { text: "Quick start", link: "/docs/start/quickstart" },
      { text: "Concepts", link: "/docs/explain/concepts" },
      { text: "FAQ", link: "/docs/explain/faq" },
    ],
    sidebar: [{ text: "c3po", link: "/" }, ...pagesOf(join(root, "docs"))],
    outline: { level: [2, 3] },
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: source }],
    footer: { message: "Apache-2.0" },
  },
};

// nameOfHeading makes the names that GitHub makes, so that a link is good in both.
function nameOfHeading(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-");
}

// linksToSource leads links to what is no page (scripts, folders, manifests) to
// the repository, where they can be read. A link to nothing is left as it is, and
// fails the build. An address on the site is a page like any other.
function linksToSource(md) {
  const plain = md.renderer.rules.link_open ?? ((tokens, i, options, env, self) => self.renderToken(tokens, i, options));
  md.renderer.rules.link_open = (tokens, i, options, env, self) => {
    let href = tokens[i].attrGet("href") ?? "";
    if (href.startsWith(address)) tokens[i].attrSet("href", (href = href.replace(address, "/")));
    const target = href.split("#")[0];
    if (target && !/^[a-z]+:|^\//.test(target)) {
      const file = join(dirname(join(root, env.relativePath)), decodeURIComponent(target));
      const page = file.endsWith(".md") && !notPages.some((folder) => relative(root, file).startsWith(`${folder}/`));
      if (!page && existsSync(file) && file.startsWith(root)) {
        const kind = statSync(file).isDirectory() ? "tree" : "blob";
        tokens[i].attrSet("href", `${source}/${kind}/main/${relative(root, file)}`);
        tokens[i].attrSet("target", "_blank");
        tokens[i].attrSet("rel", "noreferrer");
        return self.renderToken(tokens, i, options);
      }
    }
    return plain(tokens, i, options, env, self);
  };
}

// indentedAsFenced shows code that is indented as code between fences is shown:
// left to itself it is wider than a phone.
function indentedAsFenced(md) {
  md.renderer.rules.code_block = (tokens, i, options, env, self) => {
    tokens[i].info = "txt";
    return md.renderer.rules.fence(tokens, i, options, env, self);
  };
}

// namesOfTerminals shows in which terminal a block is typed: `console [laptop]`.
function namesOfTerminals(md) {
  const plain = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    const [, name] = tokens[i].info.match(/^console \[(\S+)\]/) ?? [];
    const html = plain(tokens, i, ...rest);
    return name ? html.replace(/<span class="lang">[^<]*<\/span>/, `<span class="lang">${md.utils.escapeHtml(name)}</span>`) : html;
  };
}
