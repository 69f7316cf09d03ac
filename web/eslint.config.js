import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["dist*", "node_modules", "src/hidden.ts"] },
  js.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [ts.configs.recommendedTypeChecked],
    plugins: { "react-hooks": hooks },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      // What others wrote becomes text nodes only.
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Others' text is never markup." },
        { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]", message: "Others' text is never markup." },
        { selector: "JSXAttribute[name.name='target'][value.value='_blank']", message: "Others' addresses are shown, not opened." },
      ],
    },
  },
  {
    files: ["**/*.mjs", "vite.config.ts", "eslint.config.js"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "process",
          "console",
          "fetch",
          "URL",
          "setTimeout",
          "performance",
          "window",
          "document",
          "location",
          "innerWidth",
          "requestAnimationFrame",
          "PerformanceObserver",
          "getComputedStyle",
          "sessionStorage",
          "localStorage",
          "navigator",
          "Buffer",
          "EventTarget",
          "self",
          "NotificationEvent",
        ].map((name) => [name, "readonly"]),
      ),
    },
    rules: { "no-unused-vars": ["error", { varsIgnorePattern: "^_", argsIgnorePattern: "^_" }] },
  },
  { files: ["vite.config.ts"], extends: [ts.configs.recommended] },
);
