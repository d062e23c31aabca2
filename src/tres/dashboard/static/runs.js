// The list of runs, running and finished.

import { Poll, get } from "./api.js";
import { RECENT, count, counted, duration, h, keyed, moment, percent, write } from "./dom.js";
import { sparkline } from "./charts.js";
import { newCrawl } from "./topics.js";

const STATES = ["crawling", "paused", "finished", "stopped", "failed", "starting"];

export function badge(state = "") {
  return h("span", { class: `badge ${STATES.includes(state) ? state : "reading"}` }, state || "reading …");
}

export function runsView(main, frame) {
  document.title = "tres: runs";
  const lines = h("ul", { class: "runs" });
  const empty = h(
    "p",
    { class: "empty", hidden: true },
    "There are no runs below ./runs yet. Start a crawl of a topic file in this folder here, or in a terminal with " +
      "“tres crawl topic.toml --run runs/first”; it appears here by itself.",
  );
  const begin = newCrawl(frame);
  const begun = h("ul", { class: "runs" });
  main.append(h("div", { class: "heading" }, h("h1", {}, "Runs"), h("span", { class: "grow" }), begin), empty, begun, lines);
  return new Poll(
    async () => {
      const { runs, begun: starting, can_begin: canBegin } = await get("/api/runs");
      begin.hidden = !canBegin;
      empty.hidden = runs.length + starting.length > 0;
      keyed(begun, starting, (one) => one.name, newBegun, fillBegun);
      keyed(lines, runs, (run) => run.key, newLine, fill);
      return runs.every((run) => "state" in run) ? 2 : 0.3;
    },
    frame.reportConnection,
    2,
  );
}

// A crawl that was started here and has no run directory yet: it is starting, or has failed.
function newBegun({ name }) {
  return h(
    "li",
    { class: "card run" },
    h("span", { class: "name" }, name),
    h("span", { class: "state" }),
    h("span", { class: "about muted" }),
  );
}

function fillBegun(line, { problem }) {
  line.querySelector(".state").replaceChildren(badge(problem ? "failed" : "starting"));
  write(line.querySelector(".about"), problem || "starting …");
}

function newLine(run) {
  return h(
    "li",
    { class: "card run" },
    h("a", { class: "name", href: `#/run/${encodeURIComponent(run.key)}` }, run.name),
    h("span", { class: "state" }),
    h("span", { class: "about muted" }),
    h("span", { class: "spark-place" }),
    ...["fetched", "harvest", "sites", "time"].map((name) => h("span", { class: `fact ${name}` })),
  );
}

function fill(line, run) {
  const shown = JSON.stringify(run);
  if (line.shown === shown) return;
  line.shown = shown;
  const find = (name) => line.querySelector(`.${name}`);
  find("state").replaceChildren(badge(run.state));
  if (!run.state) return;
  const about = [run.topic, run.policy, run.web, `${duration(run.seconds)} crawled`].filter(Boolean).join(" · ");
  write(find("about"), run.problem || about);
  if (run.pages || !run.problem) {
    fact(find("fetched"), count(run.pages), `of ${counted(run.budget, "page")}`);
    fact(find("harvest"), percent(run.harvest_rate), "relevant");
    fact(find("sites"), count(run.relevant_sites), run.relevant_sites === 1 ? "relevant site" : "relevant sites");
  }
  fact(find("time"), moment(run.changed), "last change");
  const label = `Harvest rate of the last ${RECENT} pages, now ${percent(run.recent_rate)}`;
  find("spark-place").replaceChildren(sparkline(run.spark, label));
}

function fact(place, value, what) {
  place.replaceChildren(h("b", {}, value), h("small", {}, what));
}
