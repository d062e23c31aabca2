// Why a page was fetched, with the sentences and numbers of “tres explain”.

import { get, runPath } from "./api.js";
import { inform } from "./controls.js";
import { count, counted, h, webLink } from "./dom.js";

export async function showWhy(key, step) {
  const content = h("div", { class: "why", tabindex: 0 }, h("p", { class: "muted", role: "status" }, "Loading …"));
  inform(`Why page ${count(step)}?`, content);
  try {
    const quick = await get(runPath(key, `/explain?step=${step}`));
    content.replaceChildren(...partsOf(quick));
    if (quick.pending) content.replaceChildren(...partsOf(await get(runPath(key, `/explain?step=${step}&wait=1`))));
  } catch (problem) {
    content.replaceChildren(h("p", { class: "problem", role: "alert" }, problem.message));
  }
}

function partsOf(why) {
  return [
    h("p", {}, h("b", {}, webLink(why.href, why.title || why.url)), why.title ? h("span", { class: "muted" }, ` ${why.url}`) : null),
    h("p", { class: "lead" }, why.summary),
    why.asked ? h("p", {}, `It was requested as ${why.asked}, which leads there.`) : null,
    why.path.length > 1 ? part("The way from a seed", wayOf(why.path)) : null,
    why.cited.length ? part("Other pages that link to it", citedOf(why)) : null,
    why.features.length ? part("What tres saw of the link, the most unusual first", featuresOf(why.features)) : null,
    leafOf(why),
    why.others.length ? part("The next best links", othersOf(why)) : null,
    part("What it led to", h("p", {}, why.outcome), h("p", {}, why.judged)),
  ].filter(Boolean);
}

const part = (title, ...content) => h("section", {}, h("h3", {}, title), content);

function wayOf(path) {
  return h(
    "ol",
    { class: "way" },
    path.map((page, i) =>
      h(
        "li",
        { class: page.relevant ? "relevant" : "" },
        h("span", { class: "step muted" }, count(page.step)),
        h("span", { class: "step", title: "relevance" }, page.relevance.toFixed(2)),
        h("span", {}, i === path.length - 1 ? h("b", {}, "this page") : page.title || page.url),
        h("span", { class: "anchor muted" }, i ? `through the link “${page.anchor}”` : "a seed"),
      ),
    ),
  );
}

function citedOf({ cited, more_cited: more }) {
  const rows = cited.map((page) => [count(page.step), page.relevance.toFixed(2), `“${page.anchor}”`, page.url]);
  return [table(["page", "relevance", "link", "address"], rows, 2), more ? h("p", { class: "muted" }, `… and ${count(more)} more`) : null];
}

function featuresOf(features) {
  return table(["value", "of what", "feature"], features, 1);
}

function leafOf({ leaf, leaf_note: note, pending }) {
  if (pending) return part("Links of its kind", h("p", { class: "muted", role: "status" }, "Growing the decision tree from the journal …"));
  if (!leaf) return note ? part("Links of its kind", h("p", { class: "muted" }, `The rule of its leaf is not known: ${note}.`)) : null;
  const earned = leaf.fetched
    ? `The ${leaf.fetched === 1 ? "only such link" : counted(leaf.fetched, "such link")} fetched so far earned ` +
      `${leaf.reward.toFixed(2)}${leaf.fetched === 1 ? "" : " on average"}; a relevant page earns up to 1.`
    : "No such link has been fetched yet.";
  return part(`Links of its kind (leaf ${leaf.id})`, h("ul", {}, leaf.conditions.map((text) => h("li", {}, text))), h("p", {}, earned));
}

function othersOf({ value, candidates, meaning, others }) {
  const among = candidates ? ` of ${counted(candidates, "link")}` : "";
  const rows = others.map((link) => [link.value.toFixed(3), fateOf(link), webLink(link.href, link.url)]);
  return [
    h("p", {}, `Its value of ${value.toFixed(3)} was the highest${among}. ${meaning.replace(/^\(|\)\s*$/g, "")}`),
    table(["value", "what became of it", "address"], rows, 1),
  ];
}

function fateOf({ step, relevant, failure }) {
  if (step !== null) return `page ${count(step)}, ${relevant ? "" : "not "}relevant`;
  return failure ? `failed: ${failure}` : "not fetched";
}

// The first columns are numbers.
function table(heads, rows, numbers) {
  const kind = (i) => ({ class: i < numbers ? "n" : "" });
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, heads.map((name, i) => h("th", { scope: "col", ...kind(i) }, name)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) => h("td", kind(i), cell))))),
    ),
  );
}
