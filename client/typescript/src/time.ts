/** sleep ends after that many milliseconds, or fails when the signal ends. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(reasonOf(signal));
    const stop = () => {
      clearTimeout(timer);
      fail(reasonOf(signal!));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** reasonOf is why a signal has ended, as an error. */
export function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}

/** jitter keeps callers that failed together from coming back all at once. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}

/** randomKey makes a repeated call the same one. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
