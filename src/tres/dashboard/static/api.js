// Requests to the server. A change is a POST of JSON with a header that no page of another site can
// send. An error response becomes an Error with a message for the user.

export class Unauthorized extends Error {}

export function get(path) {
  return answer(path, { cache: "no-store" });
}

export function post(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Tres": "1" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function answer(path, request) {
  const response = await fetch(path, { credentials: "same-origin", ...request }).catch(() => {
    throw new Error("tres dashboard does not answer; is it still running?");
  });
  const data = await response.json().catch(() => ({}));
  if (response.ok) return data;
  const message = data.error ?? `the dashboard answers ${response.status}`;
  throw response.status === 401 ? new Unauthorized(message) : new Error(message);
}

export const runPath = (key, rest = "") => `/api/runs/${encodeURIComponent(key)}${rest}`;

// Polls while the tab is visible, never twice at once.
export class Poll {
  constructor(work, onError, seconds = 1) {
    this.work = work;
    this.onError = onError;
    this.seconds = seconds;
    this.wake = () => document.visibilityState === "visible" && this.soon();
    document.addEventListener("visibilitychange", this.wake);
    this.turn();
  }

  async turn() {
    if (this.stopped || this.working) return;
    this.working = true;
    try {
      this.seconds = (await this.work()) ?? this.seconds;
      this.onError(null);
    } catch (problem) {
      this.onError(problem);
    }
    this.working = false;
    clearTimeout(this.timer);
    if (document.visibilityState === "visible") {
      this.timer = setTimeout(() => this.turn(), 1000 * this.seconds);
    }
  }

  soon() {
    clearTimeout(this.timer);
    this.turn();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
  }
}
