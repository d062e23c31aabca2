// Starting a crawl of a topic file in the folder where the dashboard was started.

import { get } from "./api.js";
import { dialog, inform } from "./controls.js";
import { button, counted, h } from "./dom.js";

export function newCrawl(frame) {
  const open = async () => {
    try {
      choose((await get("/api/topics")).topics, frame);
    } catch (problem) {
      frame.notify(problem.message, true);
    }
  };
  return button("New crawl …", open, { class: "primary", hidden: true });
}

function choose(topics, frame) {
  const usable = topics.find((topic) => !topic.problem);
  const field = h("div", { class: "topics", role: "radiogroup", "aria-label": "Topic" }, topics.map((topic) => line(topic, topic === usable)));
  if (!usable) {
    const none = h("p", {}, "No topic file in this folder can be crawled. “tres init” writes one.");
    return inform("New crawl", h("div", {}, none, field), false);
  }
  const lines = ["The crawl does what its topic file says. It runs on its own and continues if you end the dashboard."];
  dialog("New crawl", lines, field, "Start", () => {
    const chosen = field.querySelector("input:checked");
    if (chosen) frame.send("/api/crawls", { topic: chosen.value });
  });
}

function line(topic, checked) {
  const about = topic.problem
    ? h("small", { class: "problem" }, topic.problem)
    : h("small", {}, `${topic.file} · ${counted(topic.pages, "page")} · ${topic.about}`);
  const choice = h("input", { type: "radio", name: "topic", value: topic.key, checked, disabled: Boolean(topic.problem) });
  return h("label", {}, choice, h("span", {}, h("b", {}, topic.name), about));
}
