// What waits in the frontier, by leaf and by site. The server works it out in a process of its own,
// and only while this part of the page is open.

import { Poll, ask, runPath } from "./api.js";
import { dialog } from "./controls.js";
import { button, count, h, keyed, percent, write } from "./dom.js";

export class Frontier {
  constructor(key, frame) {
    this.key = key;
    this.frame = frame;
    this.when = h("p", { class: "muted", role: "status" });
    this.leaves = h("tbody");
    this.sites = h("tbody");
    this.element = h(
      "details",
      { class: "card", ontoggle: () => this.toggle() },
      h("summary", {}, h("h2", {}, "What waits in the frontier")),
      this.when,
      h("div", { class: "columns" }, [
        table("By leaf", ["rule", "reward", "fetched", "waiting"], this.leaves),
        table("By site", ["site", "relevant", "fetched", "waiting", ""], this.sites),
      ]),
    );
  }

  toggle() {
    this.stop();
    if (this.element.open) this.poll = new Poll(() => this.refresh(), this.frame.heard, 2);
  }

  update(run) {
    this.canBlock = run.state === "crawling" || run.state === "paused";
    for (const control of this.sites.querySelectorAll("button")) control.hidden = !this.canBlock;
  }

  async refresh() {
    const { busy, result, gave } = await ask(runPath(this.key, "/frontier"));
    write(this.when, whenOf(busy, result));
    keyed(this.leaves, result?.leaves ?? [], (one) => one.leaf, newLeaf, fillLeaf);
    keyed(this.sites, sitesOf(result, gave), (one) => one.site, (one) => this.newSite(one), fillSite);
    return busy ? 1 : 4;
  }

  newSite({ site }) {
    const block = button("block …", () => this.confirmBlock(site), { class: "quiet" });
    block.hidden = !this.canBlock;
    block.setAttribute("aria-label", `Block ${site}`);
    return h("tr", {}, h("th", { scope: "row" }, site), h("td"), h("td"), h("td"), h("td", {}, block));
  }

  confirmBlock(site) {
    dialog(`Block ${site}?`, ["Nothing more of this site is fetched in this crawl; that cannot be undone."], null, "Block", () =>
      this.frame.does(runPath(this.key, "/orders"), { order: "block", site }),
    );
  }

  soon() {
    this.poll?.soon();
  }

  stop() {
    this.poll?.stop();
    this.poll = null;
  }
}

function whenOf(busy, result) {
  if (result?.error) return result.error;
  if (!result) return "The journal of the run is being read; that may take some seconds …";
  const more = result.more_leaves ? `; ${count(result.more_leaves)} more leaves are not shown` : "";
  const again = busy ? " It is being looked at again …" : "";
  return `As of page ${count(result.step)}: ${count(result.waiting)} links wait${more}.${again}`;
}

// Those of which most waits, and those that gave most.
function sitesOf(result, gave) {
  const known = new Map(gave.map((one) => [one.site, one]));
  for (const { site, waiting } of result?.sites ?? []) {
    known.set(site, { fetched: 0, relevant: 0, ...known.get(site), site, waiting });
  }
  return [...known.values()].sort((a, b) => (b.waiting ?? 0) - (a.waiting ?? 0) || b.relevant - a.relevant).slice(0, 60);
}

function table(caption, columns, body) {
  const heads = columns.map((name) => h("th", { scope: "col" }, name));
  return h("div", { class: "scroll" }, h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body));
}

const newLeaf = (leaf) => h("tr", {}, h("th", { scope: "row" }), h("td"), h("td"), h("td"));

function fillLeaf(line, leaf) {
  write(line.children[0], leaf.rule);
  write(line.children[1], percent(leaf.reward));
  write(line.children[2], count(leaf.fetched));
  write(line.children[3], count(leaf.waiting));
}

function fillSite(line, site) {
  write(line.children[1], count(site.relevant));
  write(line.children[2], count(site.fetched));
  write(line.children[3], site.waiting === undefined ? "–" : count(site.waiting));
}
