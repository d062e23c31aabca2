// One run: its numbers, charts, last pages, frontier and controls.

import { Poll, get, runPath } from "./api.js";
import { CHARTS } from "./charts.js";
import { Controls } from "./controls.js";
import { RECENT, count, counted, duration, h, keyed, moment, pace, percent, webLink, write } from "./dom.js";
import { Frontier } from "./frontier.js";
import { LastPages } from "./pages.js";
import { badge } from "./runs.js";

const REDRAW = 2000; // milliseconds between two redraws: the browser shares the machine with the crawl
const EARLY = 20; // pages before which a recent rate or a pace says nothing yet
const TITLES = {
  harvest: "Harvest rate",
  sites: "Relevant sites",
  frontier: "Frontier",
  pace: "Pages per second",
  relevance: "Relevance of the pages",
};

export function runView(main, key, frame) {
  return new RunView(main, key, frame);
}

class RunView {
  constructor(main, key, frame) {
    this.key = key;
    this.since = { edition: 0, verdicts: 0, stride: 0, point: 0, page: 0, failed: 0 };
    this.points = [];
    this.controls = new Controls(key, frame);
    this.pages = new LastPages(key, frame);
    this.frontier = new Frontier(key, frame);
    this.build(main);
    this.poll = new Poll(() => this.refresh(), frame.reportConnection);
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
    const canvases = Object.keys(TITLES).map((name) => [name, h("canvas", { role: "img" })]);
    main.append(
      h("div", { class: "title" }, this.name, this.state, h("span", { class: "grow" }), this.controls.element),
      this.about,
      this.problem,
      this.bar,
      this.tiles,
      h("div", { class: "charts" }, canvases.map(([name, canvas]) => chartCard(TITLES[name], canvas)), this.failureCard()),
      this.pages.element,
      this.frontier.element,
      this.lastFailed,
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
    const run = await get(`${runPath(this.key)}?${new URLSearchParams(this.since)}`);
    if (this.poll.stopped) return 1; // another view is shown by now
    if (run.edition !== this.since.edition) this.pages.clear();
    else if (run.verdicts !== this.since.verdicts) this.pages.forget();
    this.take(run.curve);
    this.since = {
      edition: run.edition,
      verdicts: run.verdicts,
      stride: run.curve.stride,
      point: this.points.at(-1)?.[0] ?? 0,
      page: Math.max(run.last_pages.at(-1)?.step ?? 0, run.edition === this.since.edition ? this.since.page : 0),
      failed: run.failed,
    };
    this.show(run);
    return run.state === "crawling" ? 1 : 2;
  }

  take(curve) {
    if (curve.whole) this.points = [];
    this.points.push(...curve.points);
    this.at = Object.fromEntries(curve.fields.map((field, i) => [field, i]));
    this.tip = curve.tip;
  }

  show(run) {
    document.title = `${run.name}: tres`;
    write(this.name, run.name);
    if (this.state.textContent !== run.state) this.state.replaceChildren(badge(run.state));
    write(this.about, aboutOf(run));
    this.problem.hidden = !run.problem;
    write(this.problem, run.problem);
    this.bar.max = run.budget ?? 1;
    this.bar.value = run.pages;
    this.controls.update(run);
    keyed(this.tiles, tilesOf(run), ([name]) => name, newTile, fillTile);
    this.drawCharts(run);
    this.showFailures(run);
    this.pages.update(run);
    this.frontier.update(run);
  }

  drawCharts(run) {
    const drawn = `${run.edition} ${run.verdicts} ${run.pages}`;
    const now = performance.now();
    if (this.drawn === drawn || (run.state === "crawling" && now - (this.drawnAt ?? -REDRAW) < REDRAW - 100)) return;
    [this.drawn, this.drawnAt] = [drawn, now];
    const rows = this.tip && this.tip[0] !== this.points.at(-1)?.[0] ? [...this.points, this.tip] : this.points;
    const column = (field, from = rows) => from.map((row) => ({ x: row[this.at.step], y: row[this.at[field]] }));
    const settled = rows.filter((row) => row[this.at.step] >= EARLY);
    this.charts.harvest.update([column("recent", settled), column("harvest")]);
    this.charts.sites.update([column("relevant_sites")]);
    this.charts.frontier.update([column("frontier"), column("leaves")]);
    this.charts.pace.update([paceOf(settled, this.at)]);
    this.charts.relevance.update([run.histogram]);
  }

  showFailures(run) {
    const kinds = Object.entries(run.failures);
    const most = Math.max(1, ...kinds.map(([, number]) => number));
    keyed(this.failures, kinds, ([kind]) => kind, newBar, (line, [, number]) => {
      write(line.lastChild, count(number));
      line.style.setProperty("--share", number / most);
    });
    this.lastFailed.hidden = kinds.length === 0;
    if (run.last_failures === null) return; // unchanged
    keyed(this.lastFailures, run.last_failures, (one) => `${one.kind} ${one.url}`, newFailure);
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

function aboutOf(run) {
  const end = run.state === "finished" || run.state === "stopped" ? run.stopped : "";
  const when = run.begun ? `started ${moment(run.begun)}` : `last change ${moment(run.changed)}`;
  const facts = [run.topic, `policy ${run.policy}`, `model ${run.model}`, run.web, when, end && `ended: ${end}`];
  return facts.filter(Boolean).join(" · ");
}

function tilesOf(run) {
  const left = run.state === "crawling" && run.pace ? (run.budget - run.pages) / run.pace : NaN;
  return [
    ["pages", count(run.pages), `of ${count(run.budget)}`],
    ["relevant", count(run.relevant), `${count(run.pages - run.relevant)} not relevant`],
    ["harvest rate", percent(run.harvest_rate), `${percent(run.recent_rate)} of the last ${RECENT}`],
    ["relevant sites", count(run.relevant_sites), `of ${count(run.sites)} visited`],
    ["links waiting", count(run.frontier), run.leaves ? `in ${counted(run.leaves, "leaf", "leaves")}` : "in one queue"],
    ["pages per second", pace(run.pace), Number.isNaN(left) ? `${duration(run.seconds)} in all` : `${duration(left)} left`],
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

// Pages per second between points, over a few of them, as single fetches vary.
function paceOf(rows, at) {
  const width = Math.max(1, Math.round(rows.length / 50));
  return rows.slice(width).map((row, i) => {
    const spent = row[at.seconds] - rows[i][at.seconds];
    return { x: row[at.step], y: spent > 0 ? (row[at.step] - rows[i][at.step]) / spent : null };
  });
}
