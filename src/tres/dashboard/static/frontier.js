// What waits in the frontier, by leaf and by site. The server computes it in a separate process, and
// only while this part of the page is open.

import { Poll, get, runPath } from "./api.js";
import { dialog } from "./controls.js";
import { button, count, counted, h, keyed, percent, write } from "./dom.js";

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
    if (this.element.open) this.poll = new Poll(() => this.refresh(), this.frame.reportConnection, 2);
  }

  update(run) {
    this.canBlock = run.state === "crawling" || run.state === "paused";
    for (const control of this.sites.querySelectorAll("button")) control.hidden = !this.canBlock;
  }

  async refresh() {
    const { busy, result, gave } = await get(runPath(this.key, "/frontier"));
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
    dialog(`Block ${site}?`, ["This crawl will fetch nothing more from this site. You cannot undo this."], null, "Block", () =>
      this.frame.send(runPath(this.key, "/orders"), { order: "block", site }),
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
  if (!result) return "Reading the journal; this may take some seconds …";
  const more = result.more_leaves ? `; ${counted(result.more_leaves, "more leaf is", "more leaves are")} not shown` : "";
  const again = busy ? " Reading what is new …" : "";
  return `As of page ${count(result.step)}: ${counted(result.waiting, "link waits", "links wait")}${more}.${again}`;
}

// The sites with most waiting links, and those with most pages.
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
