// Beginning a crawl: one of the topic files in the folder where the dashboard was started.

import { ask } from "./api.js";
import { dialog, inform } from "./controls.js";
import { button, count, h } from "./dom.js";

export function newCrawl(frame) {
  const open = async () => {
    try {
      choose((await ask("/api/topics")).topics, frame);
    } catch (problem) {
      frame.say(problem.message, true);
    }
  };
  return button("New crawl …", open, { class: "primary", hidden: true });
}

function choose(topics, frame) {
  const usable = topics.find((topic) => !topic.problem);
  const field = h("div", { class: "topics", role: "radiogroup", "aria-label": "Topic" }, topics.map((topic) => line(topic, topic === usable)));
  if (!usable) {
    const none = h("p", {}, "There is no topic file in this folder that can be crawled. “tres init” writes one.");
    return inform("New crawl", h("div", {}, none, field), false);
  }
  const lines = ["The crawl does what its topic file says. It runs on its own, and goes on if you end the dashboard."];
  dialog("New crawl", lines, field, "Begin", () => {
    const chosen = field.querySelector("input:checked");
    if (chosen) frame.does("/api/crawls", { topic: chosen.value });
  });
}

function line(topic, checked) {
  const about = topic.problem
    ? h("small", { class: "problem" }, topic.problem)
    : h("small", {}, `${topic.file} · ${count(topic.pages)} pages · ${topic.keywords}`);
  const choice = h("input", { type: "radio", name: "topic", value: topic.key, checked, disabled: Boolean(topic.problem) });
  return h("label", {}, choice, h("span", {}, h("b", {}, topic.name), about));
}
