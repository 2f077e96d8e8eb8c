// `fetch` with retries, for a service that may be busy or unreachable for a moment.

const ATTEMPTS = 6;
const TIMEOUT_MS = 30_000;

/** The number of retries after each status code. */
export const waits = new Map<number, number>();

/**
 * Retries a request if its connection broke, and after 429 and 503 when the time in `Retry-After`
 * is over. Use it only for requests that are safe to retry: reads, and creates with an
 * `Idempotency-Key`.
 */
export async function fetchWithRetries(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    let seconds = 0.1 * 2 ** attempt;
    try {
      // A clone, because a body can be read only once.
      const response = await fetch(request.clone(), { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const busy = response.status === 429 || response.status === 503;
      if (!busy || attempt === ATTEMPTS) return response;
      seconds = Number(response.headers.get("Retry-After") ?? seconds);
      waits.set(response.status, (waits.get(response.status) ?? 0) + 1);
      await response.body?.cancel();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
  }
}
