// The last pages of a run, and what you think of them.

import { ask, runPath } from "./api.js";
import { inform } from "./controls.js";
import { button, count, h, keyed, set, webLink, write } from "./dom.js";

const SHOWN = 15;
const KEPT = 200;
const FILTERS = {
  all: () => true,
  relevant: (page) => page.relevant,
  "not relevant": (page) => !page.relevant,
  "not sure": (page) => page.relevance > 0.2 && page.relevance < 0.8,
};

export class LastPages {
  constructor(key, frame) {
    this.key = key;
    this.frame = frame;
    this.pages = [];
    this.shown = SHOWN;
    this.list = h("ol", { class: "pages", reversed: true });
    this.more = button("Show more", () => {
      this.shown *= 2;
      this.draw();
    });
    this.still = h("input", { type: "checkbox", id: "still" });
    this.filter = h("select", { id: "filter", onchange: () => this.draw() }, Object.keys(FILTERS).map((name) => h("option", {}, name)));
    this.teach = button("Teach the model", () => frame.does(runPath(key, "/learn")));
    this.lesson = h("span", { class: "muted", role: "status" });
    this.element = h(
      "section",
      { class: "card" },
      h("h2", {}, "Last pages"),
      h(
        "div",
        { class: "controls" },
        h("label", { for: "filter" }, "Show"),
        this.filter,
        h("label", { for: "still" }, this.still, " hold still"),
        h("span", { class: "grow" }),
        this.lesson,
        this.teach,
      ),
      this.list,
      this.more,
    );
  }

  clear() {
    this.pages = [];
  }

  update(run) {
    this.judged = run.judgements.steps;
    this.pages = [...run.last_pages.reverse(), ...this.pages].slice(0, KEPT);
    this.teach.hidden = run.judgements.total === 0;
    this.teach.disabled = run.learning.busy || !run.judgements.new;
    write(this.lesson, lessonOf(run));
    this.draw();
  }

  draw() {
    const wanted = FILTERS[this.filter.value];
    const held = this.still.checked && this.list.children.length > 0;
    const found = this.pages.filter(wanted);
    if (!held) this.drawn = found.slice(0, this.shown);
    this.more.hidden = found.length <= this.shown;
    keyed(this.list, this.drawn, (page) => page.step, (page) => this.line(page), (line, page) => this.mark(line, page));
  }

  line(page) {
    const say = (relevant) => () =>
      this.frame.does(runPath(this.key, "/judgements"), { step: page.step, relevant });
    const about = `page ${page.step}`;
    const line = h(
      "li",
      { class: page.relevant ? "page relevant" : "page" },
      h("span", { class: "step muted" }, count(page.step)),
      h("span", { class: "relevance", title: "relevance" }, page.relevance.toFixed(2)),
      h(
        "div",
        { class: "what" },
        h("div", { class: "name" }, webLink(page.href, page.title || page.url)),
        page.title ? h("div", { class: "muted" }, page.url) : null,
        h("div", { class: "muted" }, page.reason),
      ),
      h("div", { class: "judge", role: "group", "aria-label": `Is ${about} relevant?` }, [
        button("why?", () => this.explain(page), { class: "quiet", "aria-label": `Why was ${about} fetched?` }),
        button("relevant", say(true), { class: "quiet yes" }),
        button("not", say(false), { class: "quiet no" }),
      ]),
    );
    line.style.setProperty("--share", page.relevance);
    return line;
  }

  async explain(page) {
    const told = h("pre", { class: "prose", role: "status", tabindex: 0 }, "The journal of the run is being read …");
    inform(`Why page ${count(page.step)}?`, told);
    try {
      const { prose, error } = await ask(runPath(this.key, `/explain?step=${page.step}`));
      write(told, prose ?? error);
    } catch (problem) {
      write(told, problem.message);
    }
  }

  mark(line, page) {
    const verdict = this.judged[page.step];
    set(line.querySelector(".yes"), "aria-pressed", String(verdict === true));
    set(line.querySelector(".no"), "aria-pressed", String(verdict === false));
  }
}

function lessonOf({ judgements, learning }) {
  if (learning.busy) return "The model is learning …";
  if (learning.result?.error && judgements.new) return learning.result.error;
  if (judgements.new) return `${count(judgements.total)} judged; the model has not learnt from all of it yet`;
  if (judgements.total === 0) return "";
  const told = learning.result?.told ? "; the crawl follows" : "";
  return `The model has learnt from ${count(judgements.total)} judgements${told}`;
}
