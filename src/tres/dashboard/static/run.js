// One run: its numbers, its charts, its last pages, what waits, and what can be done.

import { Poll, ask, runPath } from "./api.js";
import { CHARTS } from "./charts.js";
import { Controls } from "./controls.js";
import { count, duration, h, keyed, moment, pace, percent, webLink, write } from "./dom.js";
import { Frontier } from "./frontier.js";
import { LastPages } from "./pages.js";
import { badge, doing, learning } from "./runs.js";

const REDRAW = 2000; // milliseconds between two drawings: the browser shares the machine with the crawl
const EARLY = 20; // pages of which a recent share or a pace says nothing yet
const TITLES = {
  harvest: "Harvest rate",
  sites: "Relevant sites",
  frontier: "Frontier",
  pace: "Pages a second",
  relevance: "Relevance of the pages",
};

export function runView(main, key, frame) {
  return new RunView(main, key, frame);
}

class RunView {
  constructor(main, key, frame) {
    this.key = key;
    this.since = { edition: 0, stride: 0, point: 0, page: 0, failed: 0 };
    this.points = [];
    this.controls = new Controls(key, frame);
    this.pages = new LastPages(key, frame);
    this.frontier = new Frontier(key, frame);
    this.build(main);
    this.poll = new Poll(() => this.refresh(), frame.heard);
  }

  build(main) {
    this.state = h("span", { "aria-live": "polite" });
    this.name = h("h1", {}, this.key);
    this.about = h("p", { class: "muted about" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Pages of the budget" });
    this.tiles = h("dl", { class: "tiles" });
    this.failures = h("ul", { class: "bars" });
    this.lastFailures = h("ul", { class: "plain" });
    this.lastFailed = h("details", { class: "card", open: true }, h("summary", {}, h("h2", {}, "Last failures")), this.lastFailures);
    this.learnt = h("p", { class: "card", role: "status", hidden: true });
    const canvases = Object.keys(TITLES).map((name) => [name, h("canvas", { role: "img" })]);
    this.begun = h(
      "div",
      { class: "begun" },
      this.tiles,
      h("div", { class: "charts" }, canvases.map(([name, canvas]) => chartCard(TITLES[name], canvas)), this.failureCard()),
      this.pages.element,
      this.frontier.element,
      this.lastFailed,
    );
    main.append(
      h("div", { class: "title" }, this.name, this.state, h("span", { class: "grow" }), this.controls.element),
      this.about,
      this.problem,
      this.bar,
      this.learnt,
      this.begun,
    );
    this.charts = Object.fromEntries(canvases.map(([name, canvas]) => [name, CHARTS[name](canvas)]));
  }

  failureCard() {
    return h(
      "section",
      { class: "card" },
      h("h2", {}, "Failures"),
      this.failures,
    );
  }

  async refresh() {
    const told = await ask(`${runPath(this.key)}?${new URLSearchParams(this.since)}`);
    if (this.poll.stopped) return 1; // somebody looks at something else by now
    if (told.edition !== this.since.edition) this.pages.clear();
    this.take(told.curve);
    this.since = {
      edition: told.edition,
      stride: told.curve.stride,
      point: this.points.at(-1)?.[0] ?? 0,
      page: Math.max(told.last_pages.at(-1)?.step ?? 0, told.edition === this.since.edition ? this.since.page : 0),
      failed: told.failed,
    };
    this.show(told);
    return told.state === "crawling" ? 1 : 2;
  }

  take(curve) {
    if (curve.whole) this.points = [];
    this.points.push(...curve.points);
    this.at = Object.fromEntries(curve.fields.map((field, i) => [field, i]));
    this.tip = curve.tip;
  }

  show(told) {
    document.title = `${told.name}: tres`;
    write(this.name, told.name);
    if (this.state.textContent !== doing(told)) this.state.replaceChildren(badge(doing(told)));
    write(this.about, aboutOf(told));
    this.problem.hidden = !told.problem;
    write(this.problem, told.problem);
    this.bar.max = told.exploring?.of ?? told.budget ?? 1;
    this.bar.value = told.exploring?.pages ?? told.pages;
    this.learnt.hidden = !told.exploring;
    this.begun.hidden = Boolean(told.exploring);
    this.controls.update(told);
    if (told.exploring) return write(this.learnt, learntOf(told));
    keyed(this.tiles, tilesOf(told), ([name]) => name, newTile, fillTile);
    this.drawCharts(told);
    this.showFailures(told);
    this.pages.update(told);
    this.frontier.update(told);
  }

  drawCharts(told) {
    const drawn = `${told.edition} ${told.pages}`;
    const now = performance.now();
    if (this.drawn === drawn || (told.state === "crawling" && now - (this.drawnAt ?? -REDRAW) < REDRAW - 100)) return;
    [this.drawn, this.drawnAt] = [drawn, now];
    const rows = this.tip && this.tip[0] !== this.points.at(-1)?.[0] ? [...this.points, this.tip] : this.points;
    const column = (field, from = rows) => from.map((row) => ({ x: row[this.at.step], y: row[this.at[field]] }));
    const settled = rows.filter((row) => row[this.at.step] >= EARLY);
    this.charts.harvest.update([column("recent", settled), column("harvest")]);
    this.charts.sites.update([column("relevant_sites")]);
    this.charts.frontier.update([column("frontier"), column("leaves")]);
    this.charts.pace.update([paceOf(settled, this.at)]);
    this.charts.relevance.update([told.histogram]);
  }

  showFailures(told) {
    const kinds = Object.entries(told.failures);
    const most = Math.max(1, ...kinds.map(([, number]) => number));
    keyed(this.failures, kinds, ([kind]) => kind, newBar, (line, [, number]) => {
      write(line.lastChild, count(number));
      line.style.setProperty("--share", number / most);
    });
    this.lastFailed.hidden = kinds.length === 0;
    if (told.last_failures === null) return; // as before
    keyed(this.lastFailures, told.last_failures, (one) => `${one.kind} ${one.url}`, newFailure);
  }

  soon() {
    this.poll.soon();
    this.frontier.soon();
  }

  stop() {
    this.poll.stop();
    this.frontier.stop();
    for (const chart of Object.values(this.charts)) chart.stop();
  }
}

function chartCard(title, canvas) {
  return h("section", { class: "card" }, h("h2", {}, title), h("div", { class: "canvas" }, canvas));
}

function learntOf(told) {
  const done = learning(told);
  const text = `${done[0].toUpperCase()}${done.slice(1)}.`;
  if (told.state === "stopped") return `${text} It was stopped; what it has fetched is kept, and it can go on.`;
  return `${text} The crawl begins when it has seen enough; it can be paused from then on.`;
}

function aboutOf(told) {
  const end = told.state === "finished" || told.state === "stopped" ? told.stopped : "";
  const when = told.begun ? `begun ${moment(told.begun)}` : `last change ${moment(told.changed)}`;
  const facts = [told.topic, `policy ${told.policy}`, `model ${told.model}`, told.web, when, end && `ended: ${end}`];
  return facts.filter(Boolean).join(" · ");
}

function tilesOf(told) {
  const left = told.state === "crawling" && told.pace ? (told.budget - told.pages) / told.pace : NaN;
  return [
    ["pages", count(told.pages), `of ${count(told.budget)}`],
    ["relevant", count(told.relevant), `${count(told.pages - told.relevant)} are not`],
    ["harvest rate", percent(told.harvest_rate), `${percent(told.recent_rate)} lately`],
    ["relevant sites", count(told.relevant_sites), `of ${count(told.sites)} visited`],
    ["links waiting", count(told.frontier), told.leaves ? `in ${count(told.leaves)} leaves` : "in one queue"],
    ["pages a second", pace(told.pace), Number.isNaN(left) ? `${duration(told.seconds)} in all` : `${duration(left)} left`],
  ];
}

const newTile = ([name]) => h("div", {}, h("dt", {}, name), h("dd", {}), h("dd", { class: "muted" }));

function fillTile(tile, [, value, more]) {
  write(tile.children[1], value);
  write(tile.children[2], more);
}

const newBar = ([kind]) => h("li", {}, h("span", {}, kind), h("b", {}));

function newFailure(one) {
  return h("li", {}, h("b", {}, one.kind), " ", webLink(one.href, one.url), one.note ? ` (${one.note})` : "");
}

// Pages a second between points, over a few of them: single fetches jump about.
function paceOf(rows, at) {
  const width = Math.max(1, Math.round(rows.length / 50));
  return rows.slice(width).map((row, i) => {
    const spent = row[at.seconds] - rows[i][at.seconds];
    return { x: row[at.step], y: spent > 0 ? (row[at.step] - rows[i][at.step]) / spent : null };
  });
}
