// Asking the server. What changes anything is a POST of JSON with a header that no page of another
// site can send. An answer that is an error becomes an Error with a message for the user.

export class Unwelcome extends Error {}

export function ask(path) {
  return answer(path, { cache: "no-store" });
}

export function tell(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Tres": "1" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function answer(path, request) {
  const response = await fetch(path, { credentials: "same-origin", ...request }).catch(() => {
    throw new Error("there is no answer from tres dashboard; is it still running?");
  });
  const told = await response.json().catch(() => ({}));
  if (response.ok) return told;
  const message = told.error ?? `the dashboard answers ${response.status}`;
  throw response.status === 401 ? new Unwelcome(message) : new Error(message);
}

export const runPath = (key, rest = "") => `/api/runs/${encodeURIComponent(key)}${rest}`;

// Asks again and again while somebody looks: not in a hidden tab, and never twice at once.
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
