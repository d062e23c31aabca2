// The last pages of a run, and your judgements of them.

import { get, runPath } from "./api.js";
import { button, count, counted, h, keyed, marked, set, webLink, write } from "./dom.js";
import { showWhy } from "./why.js";

const SHOWN = 15;
const KEPT = 200;
const AT_ONCE = 30; // texts per request
const FILTERS = {
  all: () => true,
  relevant: (page) => page.relevant,
  "not relevant": (page) => !page.relevant,
  "not sure": (page) => page.relevance > 0.2 && page.relevance < 0.8,
};

const JUDGES = { model: "relevance", person: "as a person judged", teacher: "as a language model judged" };

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
    this.teach = button("Teach the model", () => frame.send(runPath(key, "/learn")));
    this.lesson = h("span", { class: "muted", role: "status" });
    this.lessonBar = h("progress", { "aria-label": "The model is learning" });
    this.judgedBar = h("progress", { "aria-label": "Judged pages among those shown" });
    this.judgedText = h("span", { class: "muted" });
    this.texts = new Map(); // by step: the text of a page; null while it is requested
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
        h("span", { class: "lesson" }, this.judgedBar, this.judgedText),
        this.teach,
      ),
      h("div", { class: "lesson" }, this.lessonBar, this.lesson),
      this.list,
      this.more,
    );
  }

  clear() {
    this.forget();
    this.texts.clear();
  }

  // The pages come again, with new verdicts; their texts stay as they are.
  forget() {
    this.pages = [];
  }

  update(run) {
    this.judged = run.judgements.steps;
    this.pages = [...run.last_pages.reverse(), ...this.pages].slice(0, KEPT);
    this.teach.hidden = run.judgements.total === 0;
    this.teach.disabled = run.learning.busy || !run.judgements.new;
    this.lessonBar.hidden = !run.learning.busy;
    write(this.lesson, lessonOf(run));
    this.draw();
  }

  draw() {
    const wanted = FILTERS[this.filter.value];
    const frozen = this.still.checked && this.list.children.length > 0;
    const found = this.pages.filter(wanted);
    if (!frozen) this.drawn = found.slice(0, this.shown);
    this.more.hidden = found.length <= this.shown;
    keyed(this.list, this.drawn, (page) => page.step, (page) => this.line(page), (line, page) => this.mark(line, page));
    this.showJudged();
    this.getTexts();
  }

  showJudged() {
    const judged = this.drawn.filter((page) => page.step in this.judged).length;
    this.judgedBar.max = this.drawn.length || 1;
    this.judgedBar.value = judged;
    this.judgedBar.hidden = judged === 0;
    write(this.judgedText, judged ? `${judged} of ${this.drawn.length} shown pages judged` : "");
  }

  // Texts are requested once, and only for the pages shown.
  async getTexts() {
    if (this.asking) return;
    const steps = this.drawn.map((page) => page.step).filter((step) => !this.texts.has(step)).slice(0, AT_ONCE);
    if (!steps.length) return;
    this.asking = true;
    for (const step of steps) this.texts.set(step, null);
    try {
      const { texts } = await get(runPath(this.key, `/texts?steps=${steps}`));
      for (const [step, text] of Object.entries(texts)) this.texts.set(Number(step), text);
    } catch (problem) {
      for (const step of steps) this.texts.delete(step); // request them again later
    }
    this.asking = false;
    for (const line of this.list.children) this.fillText(line, Number(line.dataset.key));
  }

  fillText(line, step) {
    const text = this.texts.get(step);
    const place = line.querySelector(".text");
    if (!text || place.hasChildNodes()) return;
    place.append(...marked(text.pieces));
    const name = line.querySelector(".name > *");
    if (text.title && name.dataset.untitled) write(name, text.title);
  }

  line(page) {
    const judge = (relevant) => (event) => this.judge(event.target, page.step, relevant);
    const about = `page ${page.step}`;
    const line = h(
      "li",
      { class: "page" },
      h("span", { class: "step muted" }, count(page.step)),
      h("span", { class: "relevance" }),
      h(
        "div",
        { class: "what" },
        h("div", { class: "name" }, named(page)),
        h("div", { class: "muted" }, page.url),
        h("div", { class: "text" }),
        h("div", { class: "muted" }, page.reason),
      ),
      h("div", { class: "judge", role: "group", "aria-label": `Is ${about} relevant?` }, [
        button("why?", () => showWhy(this.key, page.step), { class: "quiet", "aria-label": `Why was ${about} fetched?` }),
        button("relevant", judge(true), { class: "quiet yes" }),
        button("not", judge(false), { class: "quiet no" }),
      ]),
    );
    return line;
  }

  // The judgement shows at once, and is taken back if it cannot be saved.
  async judge(pressed, step, relevant) {
    const before = this.judged[step];
    this.judged[step] = relevant;
    this.draw();
    set(pressed, "aria-busy", "true");
    const kept = await this.frame.send(runPath(this.key, "/judgements"), { step, relevant });
    set(pressed, "aria-busy", null);
    if (kept) return;
    if (before === undefined) delete this.judged[step];
    else this.judged[step] = before;
    this.draw();
  }

  mark(line, page) {
    this.fillText(line, page.step);
    const relevance = line.querySelector(".relevance");
    line.classList.toggle("relevant", page.relevant);
    line.style.setProperty("--share", page.relevance);
    write(relevance, page.relevance.toFixed(2));
    set(relevance, "title", JUDGES[page.judged_by]);
    const verdict = this.judged[page.step];
    set(line.querySelector(".yes"), "aria-pressed", String(verdict === true));
    set(line.querySelector(".no"), "aria-pressed", String(verdict === false));
  }
}

function named(page) {
  const link = webLink(page.href, page.title || page.url);
  if (!page.title) link.dataset.untitled = "yes";
  return link;
}

function lessonOf({ judgements, learning }) {
  if (learning.busy) return `The model is learning: ${learning.progress || "starting"} … ${count(learning.seconds)} s`;
  if (learning.result?.error && judgements.new) return learning.result.error;
  if (judgements.new) return `${counted(judgements.total, "judgement")}; the model has not learnt from all of them yet`;
  if (judgements.total === 0) return "";
  const adopted = learning.result?.told ? "; the crawl uses it" : "";
  return `The model has learnt from ${counted(judgements.total, "judgement")}${adopted}`;
}
