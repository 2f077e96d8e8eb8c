// `fetch`, for a service that may be busy or out of reach for a moment.

const TRIES = 6;
const TIMEOUT_MS = 30_000;

/** How often each status code was waited for. */
export const waits = new Map<number, number>();

/**
 * Sends a request again if its connection broke, and after 429 and 503 as soon as `Retry-After`
 * allows. Give it only what may be repeated: reading, and adding with an `Idempotency-Key`.
 */
export async function patientFetch(request: Request): Promise<Response> {
  for (let tried = 1; ; tried++) {
    let seconds = 0.1 * 2 ** tried;
    try {
      // A clone, since a body can be read once.
      const response = await fetch(request.clone(), { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const busy = response.status === 429 || response.status === 503;
      if (!busy || tried === TRIES) return response;
      seconds = Number(response.headers.get("Retry-After") ?? seconds);
      waits.set(response.status, (waits.get(response.status) ?? 0) + 1);
      await response.body?.cancel();
    } catch (error) {
      if (tried === TRIES) throw error;
    }
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
  }
}
