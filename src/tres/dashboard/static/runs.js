// The list of runs, running and finished.

import { Poll, ask } from "./api.js";
import { count, duration, h, keyed, percent, write } from "./dom.js";
import { sparkline } from "./charts.js";

export const STATES = { crawling: "crawling", paused: "paused", finished: "finished", stopped: "stopped" };

export function badge(state = "") {
  return h("span", { class: `badge ${state in STATES ? state : "reading"}` }, state || "reading …");
}

export function runsView(main, frame) {
  document.title = "tres: runs";
  const lines = h("ul", { class: "runs" });
  const empty = h(
    "p",
    { class: "empty", hidden: true },
    "There is no run below ./runs yet. Start one in a terminal, with “tres crawl topic.toml --run runs/first”; " +
      "it appears here by itself.",
  );
  main.append(h("h1", {}, "Runs"), empty, lines);
  return new Poll(
    async () => {
      const { runs } = await ask("/api/runs");
      empty.hidden = runs.length > 0;
      keyed(lines, runs, (run) => run.key, newLine, fill);
      return runs.every((run) => "state" in run) ? 2 : 0.3;
    },
    frame.heard,
    2,
  );
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
  const told = JSON.stringify(run);
  if (line.told === told) return;
  line.told = told;
  const find = (name) => line.querySelector(`.${name}`);
  find("state").replaceChildren(badge(run.state));
  if (!run.state) return;
  write(find("about"), run.problem || [run.topic, run.policy, run.web].filter(Boolean).join(" · "));
  fact(find("fetched"), count(run.pages), `of ${count(run.budget)} pages`);
  fact(find("harvest"), percent(run.harvest_rate), "relevant");
  fact(find("sites"), count(run.relevant_sites), "relevant sites");
  fact(find("time"), duration(run.seconds), "crawled");
  const label = `Harvest rate of the last pages, now ${percent(run.recent_rate)}`;
  find("spark-place").replaceChildren(sparkline(run.spark, label));
}

function fact(place, value, what) {
  place.replaceChildren(h("b", {}, value), h("small", {}, what));
}
