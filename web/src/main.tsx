import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Refusal } from "./api";
import { App } from "./App";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // What is refused stays so; what was away comes back.
      retry: (n, err) => n < 3 && !(err instanceof Refusal && err.status >= 400 && err.status < 500),
      refetchOnWindowFocus: true,
    },
  },
});

createRoot(document.getElementById("page")!).render(
  <QueryClientProvider client={client}>
    <App />
  </QueryClientProvider>,
);
