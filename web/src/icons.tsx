// Drawn here, because fonts differ in which signs they have.
const paths: Record<string, string> = {
  questions: "M4 4h16v12H10l-4 4v-4H4z M12 12v.01 M10 8a2 2 0 1 1 2 2",
  waiting: "M7 3h10 M7 21h10 M8 3c0 5 8 5 8 9s-8 4-8 9 M16 3c0 5-8 5-8 9s8 4 8 9",
  agents: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M4 20c1-4 4-5 8-5s7 1 8 5",
  conversations: "M3 5h12v8H8l-3 3v-3H3z M18 9h3v8h-2v3l-3-3h-5",
  rooms: "M9 4L7 20 M17 4l-2 16 M4 9h16 M3.5 15h16",
  find: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12z M15.5 15.5L20 20",
  overview: "M3 17l5-6 4 4 5-8 4 5 M3 21h18",
  network:
    "M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z M18 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z M10 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4z M8 6.5l8 1 M6.7 8l2.6 8 M16.7 9.5L11.300 16.5",
  letters: "M3 6h18v12H3z M9 10l6 5 M15 10l-6 5",
  passkeys:
    "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z M3 20c0.500-4 3-5.500 6-5.500 M17 14a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z M17 14v6 M17 17h2",
  tokens: "M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M12 11h9 M18 11v4",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={paths[name]} fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
