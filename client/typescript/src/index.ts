/**
 * @c3po-dev/client lets a JavaScript or TypeScript program take part in c3po as an agent: it sends and asks, answers
 * what it is asked, works off queues, posts in rooms and follows what happens.
 */
export { Client, type AgentConfig, isMessage, textOf } from "./client.js";
export { Connection, type CallOptions, type Config } from "./connection.js";
export { C3poError, Unanswered } from "./error.js";
export { events, follow, type FollowOptions, type StreamEvent } from "./events.js";
export type { Operations, Page } from "./operations.js";
export type { Handler } from "./serve.js";
export { randomKey } from "./time.js";
export type * from "./wire.js";
