// Building the page. Text becomes text nodes, never markup: whatever a title from the Web holds is
// shown, not executed. Links send no referrer.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function set(element, name, value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "class") element.className = value;
  else if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}

// Writing the same text again would disturb screen readers and selections.
export function write(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

export function webLink(href, text) {
  if (!/^https?:\/\//i.test(href ?? "")) return h("span", {}, text);
  return h("a", { href, rel: "noreferrer noopener nofollow", target: "_blank" }, text);
}

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

// Lines by key: lines that stay are kept, so that focus and selection stay, too.
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const old = new Map([...parent.children].map((line) => [line.dataset.key, line]));
  let before = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let line = old.get(key);
    if (line) old.delete(key);
    else {
      line = make(item);
      line.dataset.key = key;
    }
    update(line, item);
    if (line === before) before = before.nextElementSibling;
    else parent.insertBefore(line, before);
  }
  for (const line of old.values()) line.remove();
}

// Pages over which the recent harvest rate is taken, as in tres.report.series.
export const RECENT = 100;

export const count = (value) => (value ?? 0).toLocaleString("en");
// “no links”, “1 link”, “2 links”
export function counted(value, singular, plural = `${singular}s`) {
  return `${value ? count(value) : "no"} ${value === 1 ? singular : plural}`;
}

export const percent = (value) => `${(100 * (value ?? 0)).toFixed(1)}%`;

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86400)} d`;
}

// A time (seconds of the epoch), with the year only if it is not this year.
export function moment(seconds) {
  if (!seconds) return "–";
  const then = new Date(1000 * seconds);
  const now = new Date();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === now.toDateString()) return `today ${time}`;
  const year = then.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year })} ${time}`;
}

// Text in pieces; every second one is a keyword.
export function marked(pieces) {
  return pieces.map((piece, i) => (i % 2 ? h("mark", {}, piece) : piece));
}

export function pace(value) {
  return value >= 10 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2);
}
