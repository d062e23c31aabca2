// What can be done to a run as a whole: pause, continue, stop, change the budget, resume.

import { runPath } from "./api.js";
import { button, count, h, set, write } from "./dom.js";

export class Controls {
  constructor(key, frame) {
    this.key = key;
    this.frame = frame;
    this.pause = button("Pause", () => this.order({ order: this.paused ? "continue" : "pause" }), { class: "primary" });
    this.stopIt = button("Stop …", () => this.confirmStop());
    this.more = button("Budget …", () => this.askBudget());
    this.resume = button("Resume …", () => this.askResume(), { class: "primary" });
    this.report = h("a", { class: "button", href: runPath(key, "/report"), target: "_blank", rel: "noopener" }, "Report");
    this.save = button("Export …", () => askExport(key, this.run.formats));
    this.element = h("div", { class: "controls", role: "group", "aria-label": "Steer the crawl" }, [
      this.report,
      this.save,
      this.pause,
      this.more,
      this.stopIt,
      this.resume,
    ]);
    this.element.hidden = true;
  }

  update(run) {
    this.run = run;
    this.paused = run.state === "paused";
    const running = this.paused || run.state === "crawling";
    this.element.hidden = false;
    for (const control of [this.pause, this.more, this.stopIt]) control.hidden = !running;
    for (const control of [this.report, this.save]) control.hidden = run.pages === 0;
    this.resume.hidden = running;
    write(this.pause, this.paused ? "Continue" : "Pause");
  }

  order(order) {
    return this.frame.send(runPath(this.key, "/orders"), order);
  }

  confirmStop() {
    dialog("Stop this crawl?", ["Requests in flight are finished first. You can resume the crawl later."], null, "Stop", () =>
      this.order({ order: "stop" }),
    );
  }

  askBudget() {
    dialog(
      "Pages to fetch in all",
      [`The crawl has fetched ${count(this.run.pages)} of ${count(this.run.budget)} pages.`],
      pagesField(this.run.budget * 2, this.run.pages + 1),
      "Set",
      (pages) => this.order({ order: "budget", pages }),
    );
  }

  askResume() {
    const spent = this.run.pages >= this.run.budget;
    dialog(
      "Resume this crawl",
      ["It runs as its own process, with the newest model, and does not need the dashboard."],
      pagesField(spent ? this.run.budget * 2 : this.run.budget, this.run.pages + 1),
      "Resume",
      (pages) => this.frame.send(runPath(this.key, "/resume"), { pages }),
    );
  }
}

const FORMATS = {
  jsonl: "JSON lines: title, text and links of every page, with all its numbers",
  csv: "CSV: one line per page, for a spreadsheet",
  parquet: "Parquet: the same as JSON lines, as a table",
  warc: "WARC: what the servers sent (live crawls)",
  urls: "addresses, one per line",
};

// Links that the browser saves; the dashboard writes no file.
function askExport(key, formats) {
  const relevant = h("input", { type: "checkbox", id: "only-relevant", checked: true });
  const links = [...new Set([...Object.keys(FORMATS), ...formats])]
    .filter((form) => formats.includes(form))
    .map((form) => [form, h("a", { download: "" }, form), FORMATS[form] ?? form]);
  const setLinks = () => {
    for (const [form, link] of links) {
      const query = new URLSearchParams({ to: form, relevant: relevant.checked ? "1" : "0" });
      link.href = runPath(key, `/export?${query}`);
    }
  };
  relevant.addEventListener("change", setLinks);
  setLinks();
  const list = h("ul", { class: "plain downloads" }, links.map(([, link, what]) => h("li", {}, link, ` – ${what}`)));
  inform("Export pages", h("div", {}, h("label", { for: "only-relevant" }, relevant, " only relevant pages"), list), false);
}

function pagesField(value, min) {
  return h("label", {}, "Pages", h("input", { type: "number", value, min, step: 1, required: true }));
}

// A dialog that can be confirmed or cancelled; Escape cancels, too.
export function dialog(title, lines, field, verb, done) {
  const box = document.getElementById("dialog");
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "dialog-title" }, title),
    lines.map((line) => h("p", {}, line)),
    field,
    h(
      "div",
      { class: "controls" },
      button("Cancel", () => box.close()),
      h("button", { class: "primary" }, verb),
    ),
  );
  set(form, "onsubmit", () => done(field ? Number(field.querySelector("input")?.value) : null));
  box.replaceChildren(form);
  box.showModal();
}

// A dialog with something to read.
export function inform(title, content, wide = true) {
  const box = document.getElementById("dialog");
  const close = button("Close", () => box.close(), { class: "primary", autofocus: true });
  box.replaceChildren(h("h2", { id: "dialog-title" }, title), content, h("div", { class: "controls" }, close));
  box.classList.toggle("wide", wide);
  box.addEventListener("close", () => box.classList.remove("wide"), { once: true });
  box.showModal();
}
